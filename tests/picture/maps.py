"""Maps as no small cluster has them: three clouds, any number of workloads, and one of everything that can be wrong."""

from __future__ import annotations

from cwiictl.picture.map import Acting, Cloud, Identity, Issuer, Map, Note, Pods, State, Thing

CLOUDS = {"aws": "AWS", "azure": "Azure", "gcp": "Google Cloud"}
TEAMS = (
    "billing",
    "catalogue",
    "checkout",
    "data-platform",
    "identity",
    "logistics",
    "observability",
    "search-and-recommendations",
)
JOBS = (
    "api",
    "worker",
    "nightly-export",
    "reconciler",
    "thumbnails",
    "a-controller-with-quite-a-long-name-of-its-own",
)
CALLERS = {
    "aws": "arn:aws:iam::123456789012:user/sandbox",
    "azure": "aaaaaaaa-0000-4000-8000-000000000001",
    "gcp": "operator@prod.iam.gserviceaccount.com",
}
NASTY = "<script>alert(1)</script>\"'&`${x}"

MISSING = Thing("", "missing", "warning")
DRIFTED = Thing(
    "",
    "drifted",
    "warning",
    (Note("warning", "managed: add arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"),),
)
REFUSED = Thing(
    "",
    "not believed",
    "wrong",
    (
        Note(
            "wrong",
            "The role trusts system:serviceaccount:billing:apl, and not system:serviceaccount:billing:api.",
            "Run create-all, which mends it.",
        ),
    ),
)
FLAWS = {5: REFUSED, 17: DRIFTED, 18: DRIFTED, 40: MISSING, 41: MISSING}


def a_map(workloads: int, *, pods: bool = False, nasty: bool = False) -> Map:
    identities = [each for number in range(workloads) for each in _identities(number)]
    if nasty:
        identities.append(
            _identity(
                NASTY,
                NASTY,
                "aws",
                Thing(f"aws/role/{NASTY}", NASTY, "wrong", (Note("wrong", NASTY, NASTY),)),
            )
        )
    clouds = tuple(_cloud(name) for name in CLOUDS)
    issuer = Issuer(
        "https://prod-oidc.s3.eu-west-1.amazonaws.com",
        "0vEsSSQdOxx8BsdxNR5G78iLNKrFBxVhJorxcv8N7uY",
        (Thing("local/key/signing-key", "as wanted"),),
    )
    return Map(
        NASTY if nasty else "prod",
        issuer,
        clouds,
        tuple(identities),
        _pods(identities) if pods else None,
        "Read 2026-11-19 13:30 UTC by cwiictl status.",
    )


def _identities(number: int) -> list[Identity]:
    namespace, account = TEAMS[number % len(TEAMS)], f"{JOBS[number % len(JOBS)]}-{number}"
    clouds = [name for place, name in enumerate(CLOUDS) if number % 4 in {place, 3}]
    return [
        _identity(namespace, account, cloud, FLAWS.get(number, Thing("", "as wanted")))
        for cloud in clouds
    ]


def _identity(namespace: str, account: str, cloud: str, how: Thing) -> Identity:
    title = f"prod-{namespace}-{account}"
    ids = {
        "aws": f"arn:aws:iam::123456789012:role/{title}",
        "azure": "6f1c2d3e-0000-4000-8000-0123456789ab",
        "gcp": f"{title[:30]}@prod.iam.gserviceaccount.com",
    }
    thing = Thing(f"{cloud}/identity/{title}", how.condition, how.state, how.notes)
    powers = (
        "s3:GetObject, s3:PutObject on arn:aws:s3:::prod-exports/*",
        "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy",
    )
    accounts = (account, f"{account}-jobs") if "nightly" in account else (account,)
    return Identity(
        Acting(thing.address, namespace, accounts, title, ids[cloud], powers), cloud, (thing,)
    )


def _cloud(name: str) -> Cloud:
    state: State = "warning" if name == "azure" else "fine"
    things = (
        Thing(f"{name}/provider/prod", "drifted" if state == "warning" else "as wanted", state),
        Thing(f"{name}/policy/prod", "as wanted"),
    )
    others = (
        (Thing("aws/role/prod-retired-importer", "left over", "warning"),) if name == "aws" else ()
    )
    return Cloud(
        name,
        CLOUDS[name],
        "prod-cluster-project" if name == "gcp" else "123456789012",
        CALLERS[name],
        things,
        others,
    )


def _pods(identities: list[Identity]) -> Pods:
    accounts = {
        (each.acting.namespace, account) for each in identities for account in each.acting.accounts
    }
    ranked = sorted(accounts)
    return {
        account: tuple(f"{account[1]}-7d9f8-{pod:05}" for pod in range(place % 5))
        for place, account in enumerate(ranked)
        if place % 11
    }
