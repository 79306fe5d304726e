"""What installers are given: a real API server, started as each would start it, signs what clouds are told of, and takes what it has signed before."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import jwt
import pytest

from cwiictl import files, oidc
from cwiictl.installers import INSTALLERS, talos
from cwiictl.model import Succession
from tests.cluster.conftest import BUILDING, skipped_where_missing, started
from tests.cluster.installers import command_lines
from tests.cluster.installers.command_lines import OWN, talos_flags
from tests.cluster.installers.given import ISSUER, JWKS_URI, given
from tests.cluster.installers.rotations import Machine, commands
from tests.cluster.installers.talosctl import ENDPOINT
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.pki import write
from tests.cluster.objects import ACCOUNTS, named
from tests.journeys.ground import a_key, private_pem, public_pem

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(BUILDING),
]  # what installers are made of may have to be built
USER = "system:serviceaccount:default:billing"
MIGRATED = sorted(OWN)


@dataclass(frozen=True)
class Running:
    """A cluster whose API server is started again and again, with one account in it."""

    cluster: Cluster
    private: bytes = field(repr=False)
    public: bytes

    def start(self, flags: list[str], private: bytes, folder: Path) -> None:
        key = write(folder / "sa.key", private)
        (server,) = self.cluster.servers
        server.stop()
        server.start(
            [
                *flags,
                f"--service-account-signing-key-file={key}",
                f"--service-account-key-file={write(folder / 'sa.pub', self.public)}",
            ]
        )
        server.wait()

    def held(self, flags: list[str]) -> tuple[set[str], str]:
        """The ids of the keys that it accepts when it is started so, and of the one that it signs with."""
        (server,) = self.cluster.servers
        server.stop()
        server.start(flags)
        server.wait()
        return {
            key["kid"] for key in self.cluster.admin.get("/openid/v1/jwks")["keys"]
        }, jwt.get_unverified_header(self.token())["kid"]

    def token(self, *audiences: str) -> str:
        spec = {"audiences": list(audiences), "expirationSeconds": 3600}
        return self.cluster.admin.create(f"{ACCOUNTS}/billing/token", {"spec": spec})["status"][
            "token"
        ]

    def of_before(self, issuer: str, audience: str) -> str:
        """As this API server would have signed it when it had another issuer."""
        claims = jwt.decode(self.token(), options={"verify_signature": False}) | {
            "iss": issuer,
            "aud": [audience],
        }
        return jwt.encode(
            claims, self.private.decode(), "RS256", {"kid": oidc.public_key(self.public, "").kid}
        )

    def who(self, token: str) -> str:
        kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        return self.cluster.reach.bearer(token).create(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews", kind
        )["status"]["userInfo"]["username"]


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    private, public = private_pem(a_key(0)), public_pem(a_key(0))
    with started(Settings(signing_key=private)) as cluster:
        cluster.admin.create(ACCOUNTS, named("billing"))
        yield Running(cluster, private, public)


def tree(name: str, folder: Path, *, runs: bool = False) -> dict[str, bytes]:
    """On the disk, too."""
    found = given(name, runs=runs)
    files.write(folder, found)
    return found


def lines(name: str, found: dict[str, bytes], folder: Path) -> dict[str, list[str]]:
    with skipped_where_missing():
        return command_lines.lines(name, found, folder)


@pytest.mark.parametrize("name", INSTALLERS)
def test_what_is_signed_is_what_clouds_are_told_of(
    running: Running, tmp_path: Path, name: str
) -> None:
    found = tree(name, tmp_path)
    keys = command_lines.signing_key(name, found) or {"the output folder's own": running.private}
    key = oidc.public_key(running.public, "")
    assert set(keys.values()) == {running.private}

    for dialect, flags in lines(name, found, tmp_path).items():
        running.start(flags, next(iter(keys.values())), tmp_path)
        token = running.token("sts.amazonaws.com")

        assert (
            jwt.decode(
                token,
                running.public.decode(),
                ["RS256"],
                audience="sts.amazonaws.com",
                issuer=ISSUER,
            )["sub"]
            == USER
        ), dialect
        assert jwt.get_unverified_header(token)["kid"] == key.kid
        (published,) = running.cluster.admin.get("/openid/v1/jwks")["keys"]
        assert published.items() >= key.jwk.items()
        discovery = running.cluster.admin.get("/.well-known/openid-configuration")
        assert discovery["issuer"] == ISSUER
        assert discovery["jwks_uri"] == JWKS_URI or name in {
            "kops",
            "openshift",
        }  # they say it themselves
        assert running.who(running.token()) == USER


@pytest.mark.parametrize("name", MIGRATED)
def test_a_cluster_that_runs_signs_for_the_new_issuer_and_takes_what_its_pods_have(
    running: Running, tmp_path: Path, name: str
) -> None:
    issuer, audiences = OWN[name]

    for dialect, flags in lines(name, tree(name, tmp_path, runs=True), tmp_path).items():
        running.start(flags, running.private, tmp_path)

        assert (
            jwt.decode(running.token("openshift"), options={"verify_signature": False})["iss"]
            == ISSUER
        ), dialect
        assert [running.who(running.of_before(issuer, audience)) for audience in audiences] == [
            USER for _ in audiences
        ]


@pytest.mark.parametrize("name", MIGRATED)
def test_before_that_it_signs_as_it_did_and_takes_what_those_sign_that_are_changed_already(
    running: Running, tmp_path: Path, name: str
) -> None:
    issuer, audiences = OWN[name]
    found = tree(name, tmp_path, runs=True)
    first = {
        path.replace(f"{name}/first/", f"{name}/"): text
        for path, text in found.items()
        if f"{name}/first/" in path
    }

    for dialect, flags in lines(name, first, tmp_path).items():
        running.start(flags, running.private, tmp_path)

        assert (
            jwt.decode(running.token("openshift"), options={"verify_signature": False})["iss"]
            == issuer
        ), dialect
        assert [running.who(running.of_before(ISSUER, audience)) for audience in audiences] == [
            USER for _ in audiences
        ]


def test_a_machine_of_talos_is_told_of_no_issuer_twice_however_often_it_is_patched(
    running: Running, tmp_path: Path
) -> None:
    """An API server would not start. Talos adds to the lists that it has, and several nodes are patched with one file first, and then with another."""
    with skipped_where_missing():
        machine = Machine("talos", tmp_path, running.private.decode())
    found = tree("talos", machine.given, runs=True)
    final = next(
        line for line in commands(found["talos/README.txt"]) if line.startswith("talosctl patch")
    )
    first = final.replace(talos.NEW, talos.NEW.replace("talos/", "talos/first/"))
    assert first.count("talos/first/") == 1

    for command, issuers in (
        (first, [ENDPOINT, ISSUER]),
        (first, [ENDPOINT, ISSUER]),
        (final, [ISSUER, ENDPOINT]),
        (final, [ISSUER, ENDPOINT]),
    ):
        machine.run(command)
        flags = talos_flags(machine.configuration)
        running.start(flags, running.private, tmp_path)

        assert [
            flag.partition("=")[2] for flag in flags if flag.startswith("--service-account-issuer")
        ] == issuers
        assert (
            jwt.decode(running.token("openshift"), options={"verify_signature": False})["iss"]
            == issuers[0]
        )
        assert [running.who(running.of_before(issuer, ENDPOINT)) for issuer in issuers] == [
            USER,
            USER,
        ]


@pytest.mark.parametrize("name", INSTALLERS)
def test_who_follows_the_readme_of_each_stage_brings_an_api_server_from_one_key_to_the_next(
    running: Running, tmp_path: Path, name: str
) -> None:
    old, new = (
        (private_pem(a_key(number)), oidc.public_key(public_pem(a_key(number)), ""))
        for number in (0, 1)
    )
    if name == "openshift" and not shutil.which("jq"):
        pytest.skip("jq is what its administrator has")
    with skipped_where_missing():
        machine = Machine(name, tmp_path, old[0].decode())
        seen = [running.held(machine.flags())]
    for stage in ("accept", "sign", "forget"):
        accepted = [old[1].pem, new[1].pem] if stage != "forget" else [new[1].pem]
        machine.follow(
            Succession(
                stage,
                "".join(accepted).encode(),
                old[1].pem.encode(),
                new[1].kid[:12],
                new[1].pem.encode(),
                new[0],
            )
        )
        seen.append(running.held(machine.flags()))

    both = {old[1].kid, new[1].kid}
    assert seen == [
        ({old[1].kid}, old[1].kid),
        (both, old[1].kid),
        (both, new[1].kid),
        ({new[1].kid}, new[1].kid),
    ]
