"""Where we do not do what gcp-workload-identity-federation-webhook does."""

from __future__ import annotations

from cwii_webhook.differences import Difference

ALL: tuple[Difference, ...] = (
    Difference(
        "a path is mounted once",
        "mounts its volumes where the container has mounted a volume of its own",
        "leaves what is mounted there, and warns",
        "The API server refuses two mounts at one path, and with them the pod.",
    ),
    Difference(
        "gcloud-setup sees no token of the API server",
        "adds its container without saying what lies at /var/run/secrets/kubernetes.io/serviceaccount",
        "mounts an empty volume there",
        "The API server would mount the pod's own token into a container that has no use for it.",
    ),
    Difference(
        "gcloud-setup runs as the pod does",
        "sets the user of gcloud-setup by annotation alone, and no seccomp profile",
        "sets it to the one that the pod's containers share, or to nobody where the pod must not be root, with the runtime's seccomp profile",
        "Only where all containers share a user is the token theirs to read; and namespaces under the restricted standard refuse less.",
    ),
    Difference(
        "no shell reads what users wrote",
        "lets the kubelet write the provider and the service account into a shell's script",
        "hands them over as variables, quoted; and refuses quotes, backslashes, line ends and any of `$;&|<>() in them in gcloud mode",
        "Whoever may annotate a ServiceAccount could run what he likes in the pods of others.",
    ),
    Difference(
        "gcloud-setup leaves a pod its class",
        "adds it as --setup-container-resources says or without any, and a Guaranteed pod becomes Burstable",
        "gives it limits, and requests alike, where all of the pod's containers have limits; where all have requests alone, requests of 0, or as it is told",
        "Who asks for that class is evicted last, and may count on CPUs of his own; and where there is a quota, no container may be without.",
    ),
    Difference(
        "what runs on Linux alone is not given to a Windows pod",
        "adds gcloud-setup to a pod that says that its system is Windows, and the API server refuses the pod",
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
        "dollars arrive",
        "writes values as they are, and the kubelet expands $(NAME) in them to other variables",
        "doubles the dollars, so that the value comes out as it was written",
        "Nobody writes $(NAME) into an address to have it replaced; somebody may to read a variable.",
    ),
    Difference(
        "mirror pods are left alone",
        "changes them, where they name a ServiceAccount",
        "never changes them",
        "A mirror pod only shows what a node runs already.",
    ),
    Difference(
        "refusals say what to do",
        "refuses with one sentence, which in one case names the wrong annotation",
        "refuses with the same sentence, and a warning that names annotation, object and remedy",
        "Scripts find the message that they know; people find what to change.",
    ),
)
