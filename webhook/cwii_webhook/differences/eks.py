"""Where we do not do what amazon-eks-pod-identity-webhook does."""

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
        "unknown fields survive",
        "writes containers anew, and loses what its version of Kubernetes does not know",
        "adds what is new, and touches nothing else",
        "startupProbe and restartPolicy of sidecars were lost so.",
    ),
    Difference(
        "nothing is said where nothing changes",
        "answers with a patch of all containers in any case",
        "answers without a patch",
        "The API server calls other webhooks again when a pod has changed.",
    ),
    Difference(
        "Windows is seen where it is said",
        "looks at the node selector alone",
        "looks at spec.os and at required node affinity too",
        "Such a pod runs on Windows, where the token is behind C: and backslashes.",
    ),
    Difference(
        "a day's jitter is the request's",
        "draws how much less than a day a token for the agent lasts",
        "takes it from the request's uid",
        "The same question gets the same answer; different pods still come at different times.",
    ),
    Difference(
        "dollars arrive",
        "writes values as they are, and the kubelet expands $(NAME) in them to other variables",
        "doubles the dollars, so that the value comes out as it was written",
        "Nobody writes $(NAME) into a role to have it replaced; somebody may to read a variable.",
    ),
    Difference(
        "a label suffices everywhere",
        "leaves skip-pod-identity-webhook to the selector of its webhook configuration",
        "looks at it itself too",
        "It holds in a configuration without that selector as well.",
    ),
    Difference(
        "an odd key of the ConfigMap costs itself alone",
        "ends at a key of its ConfigMap that is no NAMESPACE/SERVICEACCOUNT",
        "passes that key over and tells of it in the log and by a gauge, as of a ConfigMap or a file that cannot be read",
        "A slip of the pen would cost all pods their roles.",
    ),
)
