"""Every name and mark that we give, and the limits that they keep."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import cast, get_args

from cwiictl.engine.resource import Hold, Mark
from cwiictl.model import Cluster, Workload

CLUSTER_KEY = "cwii.dev/cluster/"  # + the cluster's name; the value says how we hold the thing
ORIGIN_KEY = "cwii.dev/origin"
DOCUMENTS_KEY = "cwii.dev/documents"  # on what trusts an issuer: the place of the user's own that its documents were put in
CCOCTL_KEY = "openshift.io/cloud-credential-operator/"  # + the name: so ccoctl too can take down what we made

CCOCTL = "ccoctl"

PRIVATE_KEY = "serviceaccount-signer.private"
PUBLIC_KEY = "serviceaccount-signer.public"
INSTALLER_KEY = "tls/bound-service-account-signing-key.key"

DISCOVERY = ".well-known/openid-configuration"


def fit(name: str, limit: int) -> str:
    """The name, or its beginning and a hash of all of it: two long names that begin alike stay two."""
    if len(name) <= limit:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: limit - 9].rstrip('-.')}-{mark}"


def bucket(cluster: Cluster) -> str:
    return f"{cluster.name}-oidc"


def role(cluster: Cluster, workload: Workload) -> str:
    return fit(f"{cluster.name}-{workload.namespace}-{workload.name}", 64)


def part(cluster: Cluster, workload: Workload, number: int) -> str:
    """Of a policy that holds a part of what a role may do."""
    return fit(f"{cluster.name}-{workload.namespace}-{workload.name}-{number}", 128)


def role_prefix(cluster: str) -> str:
    """What the name of every role of the cluster begins with; `fit` leaves that much of it."""
    return f"{cluster}-"


def tags(cluster: Cluster) -> dict[str, str]:
    """What a thing tells people, and what its owner wants it to tell. The mark itself is `marked`."""
    return {"Name": cluster.name, **cluster.tags}


def marked(mark: Mark) -> dict[str, str]:
    """Only what we made bears ccoctl's tag too: ccoctl drops what bears it, however it was come by."""
    ccoctl = {f"{CCOCTL_KEY}{mark.cluster}": "owned"} if mark.hold == "owned" else {}
    return {f"{CLUSTER_KEY}{mark.cluster}": mark.hold, ORIGIN_KEY: mark.origin, **ccoctl}


def mark(found: Mapping[str, str], cluster: str) -> Mark | None:
    """Whose a thing with these tags is: this cluster's, if it says so, or another's, or ccoctl's, or nobody's that we know.

    A hold that we do not know is taken for "adopted": such a thing is never dropped.
    """
    others = (key.removeprefix(CLUSTER_KEY) for key in sorted(found) if key.startswith(CLUSTER_KEY) and found[key] != "brought")
    owner = cluster if f"{CLUSTER_KEY}{cluster}" in found else next(others, None)
    if owner is None:
        return _ccoctls(found, cluster)
    hold = found[f"{CLUSTER_KEY}{owner}"]
    read = Mark(owner, cast("Hold", hold) if hold in get_args(Hold) else "adopted", found.get(ORIGIN_KEY, "create-all"))
    return replace(read, whole=marked(read).items() <= found.items())


def _ccoctls(found: Mapping[str, str], cluster: str) -> Mark | None:
    """What it made under this name can be taken over as a whole; what it made under another cannot."""
    named = [key.removeprefix(CCOCTL_KEY) for key in sorted(found) if key.startswith(CCOCTL_KEY)]
    wanted = cluster.removeprefix(f"{CCOCTL}/")
    if wanted in named:
        return Mark(ccoctls(wanted), tool=CCOCTL, whole=False)
    return Mark(ccoctls(named[0]), whole=False) if named else None


def ccoctls(cluster: str) -> str:
    """The name under which ccoctl's things of a cluster are found: nobody can give a cluster such a name."""
    return f"{CCOCTL}/{cluster}"


def own(owner: str) -> str:
    """The cluster's own name, by whichever of its two we look for its things: ccoctl's names are ours."""
    return owner.removeprefix(ccoctls(""))


def described(mark: Mark) -> str:
    """The mark of what has no tags, in its description."""
    return f"{CLUSTER_KEY}{mark.cluster}={mark.hold} {ORIGIN_KEY}={mark.origin}"


def undescribed(description: str) -> Mark | None:
    words = dict(word.split("=", 1) for word in description.split() if "=" in word)
    cluster = next((key.removeprefix(CLUSTER_KEY) for key in words if key.startswith(CLUSTER_KEY)), "")
    read = mark(words, cluster) if cluster else None
    return replace(read, whole=described(read) == description) if read else None
