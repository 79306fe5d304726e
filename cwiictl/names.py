"""Every name and mark that we give, and the limits that they keep."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import cast, get_args

from cwiictl.engine.resource import Hold, Mark
from cwiictl.errors import BadInput
from cwiictl.model import SUBDOMAIN, Cluster, Workload

CLUSTER_KEY = "cwii.dev/cluster/"  # + the cluster's name; the value says how we hold the thing
ORIGIN_KEY = "cwii.dev/origin"
ISSUER_KEY = (
    "cwii.dev/issuer"  # on what trusts one, where that can be read of many at once only as a tag
)
DOCUMENTS_KEY = "cwii.dev/documents"  # on what trusts an issuer: the place of the user's own that its documents were put in
SCOPES_KEY = "cwii.dev/scopes"  # on what is given roles: where outside of its own subscription or project it has some
SHARED_KEY = "cwii.dev/shared-role"  # on a role of Google's that is no cluster's own
TRUSTED_KEY = "cwii.dev/trusted-by-"  # + a cloud, on what hosts an issuer that another cloud was made to trust
ROTATION_KEY = "cwii.dev/rotation"  # on published keys: where the change to the next key stands
ROTATION = "cwii_rotation"  # the same, as a key of metadata
CCOCTL_KEY = "openshift.io/cloud-credential-operator/"  # + the name: so ccoctl too can take down what we made

INSTALLATION_KEY = "cwii.dev/installation"  # a label: the name of what an object in Kubernetes was installed as a part of
HOLD_KEY = "cwii.dev/hold"  # how we hold it, for a label has no room for more than one word
MANAGED_BY = "app.kubernetes.io/managed-by"

CCOCTL = "ccoctl"

_CCOCTLS_ROLE = re.compile(r"Custom role for OpenShift\. Owned by: (?P<name>\S+)")
_CCOCTLS = re.compile(r"Created By OpenShift ccoctl(?P<account> for service account .*)?")
_ACCOUNT = re.compile(r"[a-z0-9]{3,24}")
_CONTAINER = re.compile(r"(?=.{3,63}\Z)[a-z0-9]+(-[a-z0-9]+)*")
_CREDENTIAL = re.compile(r"[a-zA-Z0-9][-\w]{2,119}", re.ASCII)
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)
_WITHHELD = re.compile(
    r"microsoft|windows|\Alogin", re.IGNORECASE
)  # which Azure takes in no name that it serves, wherever they are in it
_TRADEMARKS = {
    "access", "azure", "bing", "bizspark", "biztalk", "cortana", "directx", "dotnet", "dynamics", "excel", "exchange", "forefront", "groove", "hololens",
    "hyperv", "kinect", "lync", "msdn", "o365", "office", "office365", "onedrive", "onenote", "outlook", "powerpoint", "sharepoint", "skype", "visio",
    "visualstudio", "xbox",
}  # fmt: skip
_SPACE = uuid.UUID(
    "f2c9a1a8-7a0b-5d57-9f7a-6c1a5e0f4c11"
)  # of the names that Azure wants to be UUIDs

PRIVATE_KEY = "serviceaccount-signer.private"
PUBLIC_KEY = "serviceaccount-signer.public"
INSTALLER_KEY = "tls/bound-service-account-signing-key.key"

AFTER = "after-"  # + the beginning of a key's id: the folder of the pair that comes after that key

_ISSUERS = {  # where each cloud serves those whose place is of our choosing
    "aws": re.compile(r"https://(?P<cluster>[^/.]+)-oidc\.s3\.(?P<region>[^/.]+)\.[^/]+"),
    "azure": re.compile(r"https://(?P<account>[^/.]+)\.blob\.[^/]+/(?P<cluster>[^/]+)"),
    "gcp": re.compile(r"https://storage\.[^/]+/(?P<cluster>[^/]+)-oidc"),
}

DISCOVERY = ".well-known/openid-configuration"


def fit(name: str, limit: int) -> str:
    """The name, or its beginning and a hash of all of it: two long names that begin alike stay two."""
    if len(name) <= limit:
        return name
    return _hashed(name, name, limit)


def _hashed(begin: str, whole: str, limit: int) -> str:
    return f"{begin[: limit - 9].rstrip('-.')}-{_hash(whole)}".lstrip("-")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def bucket(cluster: Cluster) -> str:
    return f"{cluster.name}-oidc"


def hosted(issuer: str) -> Mapping[str, str]:
    """Of an issuer whose address is of our choosing: in which `cloud` it is, for which `cluster`, and what `region` it names. Of CloudFront's, only where."""
    for cloud, pattern in _ISSUERS.items():
        if match := pattern.fullmatch(issuer):
            found = {"account": match["cluster"], **match.groupdict(), "cloud": cloud}
            ours = found["account"] == found["cluster"] or found["account"].startswith(
                _without(found["cluster"].replace("-", ""))[:16]
            )
            return found if ours else {}
    return {"cloud": "aws"} if issuer.endswith(".cloudfront.net") else {}


def cluster_of(issuer: str) -> str:
    return hosted(issuer).get("cluster", "")


def role(cluster: Cluster, workload: Workload) -> str:
    return fit(f"{cluster.name}-{workload.namespace}-{workload.name}", 64)


def part(cluster: Cluster, workload: Workload, number: int) -> str:
    """Of a policy that holds a part of what a role may do."""
    return fit(f"{cluster.name}-{workload.namespace}-{workload.name}-{number}", 128)


def role_prefix(cluster: str) -> str:
    """What the name of every role of the cluster begins with; `fit` leaves that much of it."""
    return f"{cluster}-"


def group(cluster: Cluster) -> str:
    """Of what makes the cluster believable: the issuer, and the identities."""
    return f"{cluster.name}-oidc"


def installation(cluster: Cluster) -> str:
    """The resource group that the cluster itself is installed in."""
    return cluster.name


def withheld(name: str) -> bool:
    """Whether Azure gives such a name to nobody, because of a word in it or because it is one."""
    return name.lower() in _TRADEMARKS or _WITHHELD.search(name) is not None


def _without(name: str) -> str:
    """The rest of it, without such words."""
    while (rest := _WITHHELD.sub("", name).lstrip("-")) != name:
        name = rest
    return name


def account(cluster: Cluster, subscription: str) -> str:
    """A storage account's name is the world's, and has neither hyphens nor room: one that does not fit is told apart by its subscription too."""
    if _ACCOUNT.fullmatch(cluster.name) and not withheld(cluster.name):
        return cluster.name
    return (
        f"{_without(cluster.name.replace('-', ''))[:16]}{_hash(f'{cluster.name} {subscription}')}"
    )


def container(cluster: Cluster) -> str:
    return (
        cluster.name
        if _CONTAINER.fullmatch(cluster.name)
        else _hashed(re.sub("-+", "-", cluster.name), cluster.name, 63)
    )


def identity(cluster: Cluster, workload: Workload) -> str:
    """Azure takes no dots: a name that had some gets a hash, so that it does not become one that had hyphens there."""
    name = f"{cluster.name}-{workload.namespace}-{workload.name}"
    return (
        _hashed(_without(name.replace(".", "-")), name, 128)
        if "." in name or withheld(name)
        else fit(name, 128)
    )


def credential(service_account: str) -> str:
    """ccoctl's own name for it, which is the ServiceAccount's, wherever Azure takes that."""
    if _CREDENTIAL.fullmatch(service_account) and not withheld(service_account):
        return service_account
    return _hashed(_without(re.sub(r"[^-a-zA-Z0-9_]", "-", service_account)), service_account, 120)


def kubernetes(name: str) -> str:
    """What a thing of the cloud is called as an object in Kubernetes."""
    if SUBDOMAIN.fullmatch(name):
        return name
    return _hashed(re.sub("[^a-z0-9]+", "-", name.lower()).lstrip("-"), name, 253)


def custom_role(subscription: str, title: str) -> str:
    """The GUID of a role that is ours: the same in every run, so that a cut one is not followed by a second."""
    return str(uuid.uuid5(_SPACE, f"role {subscription} {title}".lower()))


def assignment(scope: str, role: str, grantee: str) -> str:
    """The GUID of a role's assignment: the same in every run, so that a cut one is not followed by a second. The grantee's name is the world's."""
    return str(uuid.uuid5(_SPACE, f"assignment {scope} {role} {grantee}".lower()))


def service_account(cluster: Cluster, key: str) -> str:
    """The id of Google's: what is readable of both, and a hash of all. The key of a request is one word, and that of any other workload is two."""
    begin = "-".join(
        re.sub("[^a-z0-9]+", "-", text)[:10].strip("-") for text in (cluster.name, key)
    )
    return f"{begin.lstrip('-0123456789') or 'cwii'}-{_hash(f'{cluster.name} {key}')}"


def account_title(cluster: Cluster, key: str) -> str:
    """What people see of it: of a request ccoctl's own, by which it finds one; of any other workload what no request could have."""
    return fit(f"{cluster.name} {key}", 100) if "/" in key else f"{cluster.name[:50]}-{key[:49]}"


def shared_role(permissions: Iterable[str]) -> str:
    """The id of a custom role of Google's: the same for all who ask for the same."""
    return f"cwii_{hashlib.sha256(' '.join(sorted(permissions)).encode()).hexdigest()[:12]}"


def own_role(cluster: Cluster, key: str) -> str:
    """The id of a custom role of Google's that is one workload's alone."""
    begin = "_".join(
        re.sub("[^a-z0-9]+", "_", text)[:20].strip("_") for text in (cluster.name, key)
    )
    return f"cwii_{begin}_{_hash(f'{cluster.name} {key}')}"


def tags(cluster: Cluster) -> dict[str, str]:
    """What a thing tells people, and what its owner wants it to tell. The mark itself is `marked`."""
    return {"Name": cluster.name, **cluster.tags}


def marked(mark: Mark) -> dict[str, str]:
    """Only what we made bears ccoctl's tag too: ccoctl drops what bears it, however it was come by."""
    ccoctl = {f"{CCOCTL_KEY}{mark.cluster}": "owned"} if mark.hold == "owned" else {}
    return {f"{CLUSTER_KEY}{mark.cluster}": mark.hold, ORIGIN_KEY: mark.origin, **ccoctl}


def trusted(clouds: Iterable[str]) -> dict[str, str]:
    """Tags of what hosts an issuer, for whoever takes down one cloud and not the others."""
    return {f"{TRUSTED_KEY}{cloud}": "true" for cloud in clouds}


def apart(tags: Mapping[str, str], owner: Mark | None) -> dict[str, str]:
    """All but those that are the mark: whose a thing is, is no tag of it to us. Another cluster's mark beside ours is a tag like others."""
    own = marked(owner) if owner else {}
    shared = (
        {ORIGIN_KEY}
        if any(key.startswith(CLUSTER_KEY) and key not in own for key in tags)
        else set[str]()
    )
    return {key: value for key, value in tags.items() if key not in own.keys() - shared}


def mark(found: Mapping[str, str], cluster: str) -> Mark | None:
    """Whose a thing with these tags is: this cluster's, if it says so, or another's, or ccoctl's, or nobody's that we know.

    A hold that we do not know is taken for "adopted": such a thing is never dropped.
    """
    others = (
        key.removeprefix(CLUSTER_KEY)
        for key in sorted(found)
        if key.startswith(CLUSTER_KEY) and found[key] != "brought"
    )
    owner = cluster if f"{CLUSTER_KEY}{cluster}" in found else next(others, None)
    if owner is None:
        return _ccoctls(found, cluster)
    hold = found[f"{CLUSTER_KEY}{owner}"]
    clouds = frozenset(
        key.removeprefix(TRUSTED_KEY) for key in found if key.startswith(TRUSTED_KEY)
    )
    read = Mark(
        owner,
        cast("Hold", hold) if hold in get_args(Hold) else "adopted",
        found.get(ORIGIN_KEY, "create-all"),
        clouds=clouds,
    )
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
    cluster = next(
        (key.removeprefix(CLUSTER_KEY) for key in words if key.startswith(CLUSTER_KEY)), ""
    )
    read = mark(words, cluster) if cluster else None
    return replace(read, whole=described(read) == description) if read else None


def signed(sentence: str, mark: Mark) -> str:
    """A description for people, with the mark behind it."""
    return f"{sentence} {described(mark)}".lstrip()


def unsigned(description: str, cluster: str) -> tuple[str, Mark | None]:
    """What it says to people, and the mark behind that; the words of ccoctl's roles are its mark."""
    if ccoctls_role := _CCOCTLS_ROLE.fullmatch(description):
        return description, mark({f"{CCOCTL_KEY}{ccoctls_role['name']}": "owned"}, cluster)
    sentence, key, rest = description.partition(CLUSTER_KEY)
    return (sentence.rstrip(" "), undescribed(key + rest)) if key else (description, None)


def entitled(description: str, title: str, cluster: str) -> tuple[str, Mark | None]:
    """The same of Google's things. ccoctl's words leave it to their title whose they are: to all of it, or of a service account to its beginning."""
    sentence, signed_ = unsigned(description, cluster)
    ccoctls_ = None if signed_ else _CCOCTLS.fullmatch(description)
    if ccoctls_ is None:
        return sentence, signed_
    wanted = own(cluster)
    mine = title.startswith(f"{wanted[:50]}-") if ccoctls_["account"] else title == wanted
    return description, mark({f"{CCOCTL_KEY}{wanted if mine else title}": "owned"}, cluster)


def labelled(mark: Mark) -> dict[str, str]:
    """The mark of an object in Kubernetes, as far as it is looked for by it. Who manages what was adopted is not ours to say."""
    if not _LABEL_VALUE.fullmatch(mark.cluster):
        raise BadInput(
            f"the name {mark.cluster!r} of an installation cannot be a label",
            remedy="choose one of at most 63 letters, digits, and - within",
        )
    return {
        INSTALLATION_KEY: mark.cluster,
        **({MANAGED_BY: "cwiictl"} if mark.hold == "owned" else {}),
    }


def annotated(mark: Mark) -> dict[str, str]:
    """The rest of it."""
    return {HOLD_KEY: mark.hold, ORIGIN_KEY: mark.origin}


def installed(labels: Mapping[str, str], annotations: Mapping[str, str]) -> Mark | None:
    """Whose an object with these is. A hold that we do not know is taken for "adopted": such a thing is never dropped."""
    if INSTALLATION_KEY not in labels:
        return None
    hold = annotations.get(HOLD_KEY, "")
    read = Mark(
        labels[INSTALLATION_KEY],
        cast("Hold", hold) if hold in get_args(Hold) else "adopted",
        annotations.get(ORIGIN_KEY, "install-webhook"),
    )
    return replace(
        read,
        whole=labelled(read).items() <= labels.items()
        and annotated(read).items() <= annotations.items(),
    )


def scoped(sentence: str, scopes: Iterable[str]) -> str:
    """A sentence for people, with where else its thing is given roles; the mark stands behind both."""
    told = ",".join(sorted(scopes))
    return f"{sentence} {SCOPES_KEY}={told}".lstrip(" ") if told else sentence


def turned(sentence: str, word: str) -> str:
    """A sentence for people, with where a rotation stands; the mark stands behind both."""
    return f"{sentence} {ROTATION_KEY}={word}".lstrip(" ") if word else sentence


def unturned(sentence: str) -> tuple[str, str]:
    rest, _, word = sentence.partition(f"{ROTATION_KEY}=")
    return (rest.rstrip(" "), word.strip()) if word else (sentence, "")


def unscoped(sentence: str) -> tuple[str, frozenset[str]]:
    rest, key, told = sentence.partition(f"{SCOPES_KEY}=")
    return (
        (rest.rstrip(" "), frozenset(filter(None, told.split(","))))
        if key
        else (sentence, frozenset())
    )
