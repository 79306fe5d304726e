"""Where we do not do what cwii does."""

from __future__ import annotations

from cwii_webhook.differences import Difference

INIT_CONTAINERS = Difference(
    "init-containers",
    "The pod's init containers and sidecars get no identity.",
    "They get what its other containers get.",
    "A migration that runs before its server needs the same database, and a sidecar the same secrets.",
)
WRITER = Difference(
    "writer-first",
    "The container that writes Google's credentials runs after the pod's init containers.",
    "It runs before them.",
    "They are given the identity too, and would find no file.",
)
GUESTS = Difference(
    "guests",
    "Injected containers run as their image's user, with the API server's token, within 32 MiB, and make a pod of best effort burstable.",
    "They run as the pod's containers do, under the restricted standard, without that token, with the memory that their tools need, in the pod's QoS class.",
    "The clouds' tools are killed at 32 MiB, and where that is a container's whole group the pod never starts; namespaces that enforce the standard refuse it.",
)
MOUNTS = Difference(
    "mounted-once",
    "A mount is added where the container has mounted a volume of its own.",
    "What the container has mounted stays, and a warning says so.",
    "The API server refuses two mounts at one path: the pod could not be created.",
)
WINDOWS = Difference(
    "windows",
    "Paths are those of Linux, and injected containers run sh.",
    "Paths begin with C:, Google's credentials come by annotation rather than by a container, and nothing is tried beforehand.",
    "None of the injected containers runs on Windows: the pod would never start.",
)
IMAGES = Difference(
    "verify-images",
    "Any annotation may name any image to try an identity with.",
    "Where --verify-images lists none, those of a ServiceAccount or a namespace may name the server's own alone; the pod's and its owner's may name any.",
    "Who may edit a ServiceAccount, but not run pods, would else run what he likes with its identity.",
)
DELIVERY = Difference(
    "gcp-delivery",
    "A way of delivery that there is not is refused as: mutation failed.",
    "It is refused with the annotation's name, where it is, and the words that it may have.",
    "Who reads the refusal can mend it.",
)
DEFAULT_DELIVERY = Difference(
    "default-delivery",
    "Without --gcp-delivery, Google's credentials are written to a ConfigMap.",
    "Without it, they stand in an annotation of the pod, which a downwardAPI volume shows; with it, or with the chart's values, they come as cwii's.",
    "Nothing is written to the cluster, and no container is added.",
)
VALUES = Difference(
    "values",
    "Regions, ARNs, ids, hosts and audiences are taken as they are.",
    "One that has not the form of its kind is refused, and so is an authority host of no known cloud that --authority-hosts does not list.",
    "Values reach shells, URLs and a host that the token is sent to.",
)
EXPIRATION = Difference(
    "expiration",
    "An expiration above 2^32 is handed on, and the API server refuses the pod.",
    "It is refused with the annotation's name; one that is no number is passed over with a warning.",
    "The API server names a volume that nobody wrote.",
)
EXPANSION = Difference(
    "expansion",
    "A $( in a value is handed on, and the kubelet puts other variables in its place.",
    "It comes out as it went in.",
    "A value of one annotation could read other variables of the container.",
)
OWNERS = Difference(
    "owners",
    "Any owner reference is followed, by its kind and name; a Job's own owner is not.",
    "Only the controller's is, if group, kind, name and uid agree; a ReplicaSet's Rollout and a Job's CronJob are asked too.",
    "An owner reference can name what does not own the pod.",
)
MARKER = Difference(
    "marker",
    "The marker is written again on every pass.",
    "It is written where it differs.",
    "A second pass changes nothing.",
)
UNDECIDED = Difference(
    "undecided",
    "Where the API server cannot be read, the pod is denied, whatever failurePolicy says.",
    "The answer is an HTTP error, and failurePolicy decides.",
    "Under Ignore, a hiccup of the API server must not keep pods from starting.",
)

ALL: tuple[Difference, ...] = (
    INIT_CONTAINERS,
    WRITER,
    GUESTS,
    MOUNTS,
    WINDOWS,
    IMAGES,
    DELIVERY,
    DEFAULT_DELIVERY,
    VALUES,
    EXPIRATION,
    EXPANSION,
    OWNERS,
    MARKER,
    UNDECIDED,
)
