"""`create-identities --preset hypershift-aws`: what `hypershift create iam aws` makes, made like everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.sandbox.aws.policy import like
from tests.examples import ACCOUNT
from tests.journeys.goldens import compared
from tests.journeys.ground import ISSUER, NAME, NOTHING, REGION, Done, Ground

KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/0b1c"
ZONES = (
    "--set",
    "publicZone=Z1PUBLIC",
    "--set",
    "privateZone=Z2PRIVATE",
    "--set",
    "localZone=Z3LOCAL",
)
MORE = ("--set", "karpenter=true", "--set", "kms=true", "--set", f"kmsKey={KEY}")
PRESET = ("--preset", "hypershift-aws", "--output-file", "iam.json", "-o", "json")
ROLES = {
    "ingressARN": "openshift-ingress",
    "imageRegistryARN": "openshift-image-registry",
    "storageARN": "aws-ebs-csi-driver-controller",
    "networkARN": "cloud-network-config-controller",
    "kubeCloudControllerARN": "cloud-controller",
    "nodePoolManagementARN": "node-pool",
    "controlPlaneOperatorARN": "control-plane-operator",
}
WORKER = f"{NAME}-worker"


def arn(role: str) -> str:
    return f"arn:aws:iam::{ACCOUNT}:role/{NAME}-{role}"


def run(ground: Ground, *arguments: str) -> Done:
    return ground.cwiictl("create-identities", *ground.where, *PRESET, *arguments)


def profile(ground: Ground) -> dict[str, Any]:
    with ground.aws("iam") as iam:
        found = iam.get_instance_profile(InstanceProfileName=WORKER)["InstanceProfile"]
    return {
        "roles": [role["RoleName"] for role in found["Roles"]],
        "tags": {tag["Key"]: tag["Value"] for tag in found["Tags"]},
    }


def profiles(ground: Ground) -> list[str]:
    with ground.aws("iam") as iam:
        return [
            each["InstanceProfileName"] for each in iam.list_instance_profiles()["InstanceProfiles"]
        ]


@pytest.fixture
def guest(ground: Ground) -> Ground:
    """With the provider of the key that the hosted cluster is given."""
    ground.keys()
    done = ground.cwiictl(
        "create-identity-provider", *ground.where, "--output-dir", "out", "-o", "json"
    )
    assert done.code == 0, done.out
    return ground


def test_it_makes_the_roles_and_tells_hypershift_who_they_are(guest: Ground) -> None:
    done = run(guest, *ZONES)

    assert done.code == 0, done.err
    assert json.loads((guest.folder / "iam.json").read_text(encoding="utf-8")) == {
        "region": REGION,
        "profileName": WORKER,
        "infraID": NAME,
        "issuerURL": ISSUER,
        "roles": {key: arn(role) for key, role in ROLES.items()},
        "kmsKeyARN": "",
        "kmsProviderRoleARN": "",
    }
    assert done.data["files"] == ["iam.json"], "and no Secrets: HyperShift writes its own"


def test_everything_that_it_makes_is_the_golden_one(guest: Ground) -> None:
    """Roles, trust and policies, with those that are made on request."""
    assert run(guest, *ZONES, *MORE).code == 0

    roles = guest.clouds()["roles"]
    assert roles.keys() == {
        f"{NAME}-{role}" for role in (*ROLES.values(), "karpenter", "kms-provider", "worker-role")
    }
    told = json.loads((guest.folder / "iam.json").read_text(encoding="utf-8"))
    assert (told["kmsKeyARN"], told["kmsProviderRoleARN"], told["karpenterRoleARN"]) == (
        KEY,
        arn("kms-provider"),
        arn("karpenter"),
    )
    things = {"roles": roles, "profiles": {WORKER: profile(guest)}, "iam.json": told}
    compared("hypershift", {"things.json": f"{json.dumps(things, indent=2)}\n".encode()})


def passes(roles: Any, role: str) -> bool:
    """Whether the guest's maker of nodes may pass it."""
    (passed,) = [
        each["Resource"]
        for each in roles[f"{NAME}-node-pool"]["inline"][f"{NAME}-node-pool"]["Statement"]
        if each["Action"] == "iam:PassRole"
    ]
    return any(like(role, each) for each in passed)


def test_nodes_are_given_the_role_of_their_profile_which_their_maker_may_pass(
    guest: Ground,
) -> None:
    assert run(guest, *ZONES).code == 0

    roles, found = guest.clouds()["roles"], profile(guest)
    (worker,) = found["roles"]
    (statement,) = roles[worker]["trust"]["Statement"]
    assert (statement["Principal"], statement["Action"]) == (
        {"Service": "ec2.amazonaws.com"},
        "sts:AssumeRole",
    )
    assert passes(roles, roles[worker]["arn"])
    assert not passes(roles, arn("worker-role").replace(NAME, "another"))
    assert not passes(roles, arn("worker-role").replace(NAME, f"x-{NAME}"))
    assert found["tags"][f"cwii.dev/cluster/{NAME}"] == "owned"


def test_so_they_are_where_roles_have_a_path(guest: Ground) -> None:
    assert run(guest, *ZONES, "--role-path", "/clusters/").code == 0

    roles = guest.clouds()["roles"]
    assert roles[f"{WORKER}-role"]["arn"] == f"arn:aws:iam::{ACCOUNT}:role/clusters/{WORKER}-role"
    assert passes(roles, roles[f"{WORKER}-role"]["arn"])


def test_a_second_run_is_silent_and_drift_is_repaired(guest: Ground) -> None:
    assert run(guest, *ZONES).code == 0
    guest.fresh()
    again = run(guest, *ZONES)
    assert (again.code, again.but("as wanted"), guest.mutating()) == (0, {}, [])
    with guest.aws("iam") as iam:
        iam.remove_role_from_instance_profile(InstanceProfileName=WORKER, RoleName=f"{WORKER}-role")
        iam.tag_instance_profile(
            InstanceProfileName=WORKER, Tags=[{"Key": "Name", "Value": "theirs"}]
        )

    status = guest.cwiictl(
        "status",
        *guest.where,
        "--output-dir",
        "out",
        "--preset",
        "hypershift-aws",
        *ZONES,
        "-o",
        "json",
    )
    mended = run(guest, *ZONES)

    assert status.but("as wanted") == {f"aws/instance-profile/{WORKER}": "drifted"}
    assert status.fields == {f"aws/instance-profile/{WORKER}": ["role", "tags"]}
    assert mended.but("as wanted") == {f"aws/instance-profile/{WORKER}": "repaired"}
    assert (profile(guest)["roles"], profile(guest)["tags"]["Name"]) == ([f"{WORKER}-role"], NAME)


def test_a_run_that_was_cut_before_the_profile_was_filled_goes_on(guest: Ground) -> None:
    guest.sandbox.faults.deny = {"iam:PassRole", "iam:SimulatePrincipalPolicy"}
    cut = run(guest, *ZONES)
    assert (cut.code, cut.things[f"aws/instance-profile/{WORKER}"]) == (1, "unfinished")
    assert "iam:PassRole" in cut.out
    assert not (guest.folder / "iam.json").exists(), "half of it would be taken for all of it"
    guest.sandbox.faults.deny = set()

    assert run(guest, *ZONES).code == 0
    assert profile(guest)["roles"] == [f"{WORKER}-role"]
    assert (guest.folder / "iam.json").exists()


def allowed(ground: Ground, command: str) -> set[str]:
    policy: Any = ground.cwiictl("permissions", command, *ground.where).data
    return {
        action
        for each in policy["Statement"]
        for action in ([each["Action"]] if isinstance(each["Action"], str) else each["Action"])
    }


def needed(ground: Ground) -> set[str]:
    return {
        permission
        for seen in ground.sandbox.record[ground.before :]
        for permission in seen.permissions
    }


def test_delete_takes_it_down_like_everything_else(guest: Ground) -> None:
    assert run(guest, *ZONES, *MORE).code == 0

    done = guest.delete("--yes")

    assert done.code == 0, done.out
    assert (guest.clouds(), profiles(guest)) == (NOTHING, [])


def test_the_printed_policies_are_enough_for_it(guest: Ground) -> None:
    policies = {command: allowed(guest, command) for command in ("create", "delete")}
    guest.fresh()
    assert run(guest, *ZONES).code == 0
    assert "iam:PassRole" in needed(guest) <= policies["create"]
    guest.fresh()

    assert guest.delete("--yes").code == 0
    assert "iam:DeleteInstanceProfile" in needed(guest) <= policies["delete"]


@pytest.mark.parametrize("lacking", ["iam:CreateInstanceProfile", "iam:PassRole"])
def test_what_is_lacking_is_named_before_the_first_write(guest: Ground, lacking: str) -> None:
    guest.sandbox.faults.deny = {lacking}
    guest.fresh()

    done = run(guest, *ZONES)

    assert (done.code, guest.mutating()) == (1, [])
    assert f"may not do {lacking}" in done.out


def test_one_that_is_another_s_is_left_alone_unless_it_is_taken_over_and_stays_then(
    guest: Ground,
) -> None:
    with guest.aws("iam") as iam:
        iam.create_instance_profile(InstanceProfileName=WORKER)
    guest.fresh()

    refused = run(guest, *ZONES)

    assert (refused.code, guest.mutating()) == (4, [])
    assert refused.things[f"aws/instance-profile/{WORKER}"] == "foreign"
    assert run(guest, *ZONES, "--adopt", f"aws/instance-profile/{WORKER}").code == 0
    assert profile(guest)["roles"] == [f"{WORKER}-role"]
    assert guest.delete("--yes").code == 0
    assert profile(guest) == {"roles": [], "tags": {"Name": NAME}}


WRONG = [
    (
        ("--set", "publicZone=Z1"),
        "The preset hypershift-aws needs privateZone.",
        "--set privateZone=VALUE",
    ),
    (
        (*ZONES, "--set", "publicZone=/hostedzone/Z1"),
        "--set publicZone=/hostedzone/Z1 cannot be meant",
        "--public-zone-id",
    ),
    (
        (*ZONES, "--set", "kms=true"),
        "The preset hypershift-aws needs kmsKey.",
        "--set kmsKey=VALUE",
    ),
]


@pytest.mark.parametrize(("arguments", "problem", "remedy"), WRONG)
def test_what_cannot_be_meant_is_found_before_the_first_call(
    ground: Ground, arguments: tuple[str, ...], problem: str, remedy: str
) -> None:
    done = run(ground, *arguments)

    assert (done.code, ground.asked()) == (2, [])
    assert problem in done.err
    assert remedy in done.err
