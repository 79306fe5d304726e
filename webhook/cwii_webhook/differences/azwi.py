"""Where we do not do what azure-workload-identity's webhook does."""

from __future__ import annotations

from cwii_webhook.differences import Difference

ALL: tuple[Difference, ...] = (
    Difference(
        "a path is mounted once",
        "mounts its token where the container has mounted a volume of its own",
        "leaves what is mounted there, and warns",
        "The API server refuses two mounts at one path, and with them the pod.",
    ),
    Difference(
        "proxies see no token of the API server",
        "adds its containers without saying what lies at /var/run/secrets/kubernetes.io/serviceaccount",
        "mounts an empty volume there",
        "The API server would mount the pod's own token into containers that have no use for it.",
    ),
    Difference(
        "a reinvoked pod keeps its volume",
        "names its volume after the pod, anew when the pod has come by its name between two calls, and mounts both at one path",
        "keeps the volume with the reserved name that is there",
        "The API server refuses two mounts at one path, and with them the pod.",
    ),
    Difference(
        "a volume of another name is not asked for twice",
        "under v1.5, adds no volume where the pod mounts a token of the same file name under another volume's name, and mounts one that is not there",
        "adds its own volume, unless there is one of its name",
        "The API server refuses a mount of a volume that is not there, and with it the pod.",
    ),
    Difference(
        "what runs on Linux alone is not given to a Windows pod",
        "adds its proxies to a pod that says that its system is Windows, and the API server refuses the pod",
        "refuses it first, and says what to do; where only the pod's nodes say so, it warns",
        "Whoever reads of forbidden fields in a container that he has not written does not know where to look.",
    ),
    Difference(
        "unknown fields survive",
        "writes the pod anew, and loses what its version of Kubernetes does not know",
        "adds what is new, and touches nothing else",
        "Fields of newer clusters were lost so.",
    ),
    Difference(
        "proxies leave a pod its class",
        "adds containers without requests and limits, and a Guaranteed pod becomes Burstable",
        "gives them limits, and requests alike, where all of the pod's containers have limits; where all have requests alone, requests of 0",
        "Who asks for that class is evicted last, and may count on CPUs of his own; and where there is a quota, no container may be without.",
    ),
    Difference(
        "dollars arrive",
        "writes values as they are, and the kubelet expands $(NAME) in them to other variables",
        "doubles the dollars, so that the value comes out as it was written",
        "Nobody writes $(NAME) into a client ID to have it replaced; somebody may to read a variable.",
    ),
    Difference(
        "the label may be looked at",
        "leaves the label to the selector of its webhook configuration",
        "looks at it itself too, where it is told to",
        "It then holds in a configuration that is made for several webhooks as well.",
    ),
    Difference(
        "mirror pods are left alone",
        "changes them, and the API server refuses what has been changed",
        "never changes them",
        "A mirror pod only shows what a node runs already.",
    ),
    Difference(
        "refusals say what to do",
        "refuses with one sentence that names neither annotation nor object",
        "refuses with the same sentence, and warnings that name both, and the remedy",
        "Scripts find the message that they know; people find what to change.",
    ),
)
