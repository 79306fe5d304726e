"""What a stage gives API servers rests on what they accept: of another cluster, or of one that is not heard, nothing is handed out."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cwiictl import oidc
from cwiictl.actions.order import Order
from cwiictl.actions.soak import Soak, Try
from cwiictl.actions.stage import Stage
from cwiictl.actions.succession import (
    MANAGERS,
    Facing,
    accepting,
    forgetting,
    signing,
    unpublishing,
)
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, Report, silent
from cwiictl.errors import BadInput
from cwiictl.issuer.rotation import Rotation, begin
from cwiictl.issuer.stores.keys import PublicKey
from cwiictl.model import Cluster
from cwiictl.rotate.servers import Server
from tests.journeys.ground import a_key, public_pem

OLD, NEW, OTHER = (oidc.public_key(public_pem(a_key(number)), "a key") for number in range(3))
DAY = 86400


@dataclass
class Running:
    found: Sequence[Server] = ()
    seen: Sequence[Mapping[str, Any]] = ()
    secrets: Sequence[Mapping[str, Any]] = ()
    asking: Sequence[Mapping[str, Any]] = ()
    context: str = "staging"
    doubt: str = ""

    def servers(self) -> Sequence[Server]:
        return self.found

    def pods(self) -> Sequence[Mapping[str, Any]]:
        return self.seen

    def drivers(self) -> Sequence[Mapping[str, Any]]:
        return self.asking

    def token_secrets(self) -> Sequence[Mapping[str, Any]]:
        return self.secrets


def server(*keys: oidc.VerificationKey, problem: str = "") -> Server:
    return Server(
        "10.0.0.1:6443", {key.kid: key.jwk for key in keys}, keys[-1].kid if keys else "", problem
    )


def facing(folder: Path, cluster: Running, **stands: Any) -> Facing:
    (folder / "new.pub").write_text(NEW.pem)
    order = Order(Cluster("prod"), {}, output=folder / "out", installers=("kubeadm",))
    stage = Stage(order, (), Pace(), Plan([]), PublicKey(folder / "new.pub"))
    return Facing(
        stage, cluster, Rotation(old=begin(OLD.kid), new=begin(NEW.kid), **stands), writes=True
    )


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ((), "names no API server"),
        ((server(OTHER),), f"no API server accepts the key {begin(OLD.kid)}..."),
        (
            (server(OLD), server(problem="it cannot be asked: no route")),
            "10.0.0.1:6443 accepts is not known: it cannot be asked: no route",
        ),
    ],
    ids=["nobody", "another cluster", "silent"],
)
def test_to_a_cluster_that_is_not_known_to_be_this_one_nothing_is_given(
    tmp_path: Path, servers: tuple[Server, ...], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem) as raised:
        accepting(facing(tmp_path, Running(servers), stage="add", since=0))

    assert not servers or "is the context staging the cluster?" in raised.value.remedy
    assert not (tmp_path / "out").exists()


def test_what_is_given_has_all_that_is_accepted_and_the_new_key(tmp_path: Path) -> None:
    step = accepting(facing(tmp_path, Running((server(OTHER, OLD),)), stage="add", since=0))

    assert not step.reached
    given = (tmp_path / "out/kubeadm/rotation/accept/sa.pub").read_text()
    assert all(key.pem in given for key in (OLD, NEW, OTHER))


def test_who_forgets_by_force_is_told_all_that_will_break(tmp_path: Path) -> None:
    at = facing(
        tmp_path,
        Running((server(OLD, NEW),), secrets=[a_secret("legacy", "1970-01-01T00:00:00Z")]),
        stage="unpublish",
        since=DAY,
        signed=DAY,
    )

    step = forgetting(at, DAY + 60, force=True)

    assert [hint.partition(":")[0] for hint in step.hints] == ["By --force"] * 2
    assert "API servers refuse tokens of the old key from now on" in step.hints[0]
    assert "shop/legacy" in step.hints[1]
    with pytest.raises(BadInput, match="comes too early"):
        forgetting(at, DAY + 60, force=False)


def test_whose_token_is_younger_than_the_new_key_tells_of_a_controller_manager(
    tmp_path: Path,
) -> None:
    """`signed` and no clock's skew apart."""
    before, after = (
        a_secret(name, at)
        for name, at in (("before", "1970-01-02T00:14:59Z"), ("after", "1970-01-02T00:15:00Z"))
    )
    signs = (server(OLD, NEW),)
    at = facing(tmp_path, Running(signs), stage="unpublish", since=DAY, signed=DAY)

    with pytest.raises(
        BadInput, match=r"of the Secret shop/before, which would be refused$"
    ) as legacy:
        forgetting(replace(at, cluster=Running(signs, secrets=[before])), 9 * DAY, force=False)
    with pytest.raises(
        BadInput,
        match=r"and that of the Secret shop/after since 1970-01-02T00:15:00Z: a controller manager may have",
    ) as lagging:
        forgetting(
            replace(at, cluster=Running(signs, secrets=[before, after])), 9 * DAY, force=False
        )

    assert legacy.value.remedy.startswith("delete these Secrets")
    assert lagging.value.remedy.startswith("restart each controller manager with the new key")


def test_who_has_come_back_with_the_old_key_alone_while_clouds_were_tried_is_given_no_private_key(
    tmp_path: Path,
) -> None:
    cluster = Running((server(NEW, OLD),))

    def restarted(_stage: Stage, _report: Report) -> Mapping[str, Try]:
        cluster.found = (server(OLD),)
        return {}

    with pytest.raises(BadInput, match="is not where accept had brought it: it does not accept"):
        signing(
            facing(tmp_path, cluster, stage="accept", since=0),
            Soak(restarted, 0, lambda: 0.0, silent),
        )

    assert not (tmp_path / "out").exists()


def test_that_all_api_servers_sign_says_nothing_of_the_controller_managers(tmp_path: Path) -> None:
    step = signing(
        facing(tmp_path, Running((server(OLD, NEW),)), stage="accept", since=0),
        Soak(lambda _stage, _report: {}, 0, lambda: 0.0, silent),
    )

    assert step.reached
    assert step.hints == (MANAGERS,)


def a_secret(name: str, at: str) -> Mapping[str, Any]:
    """Made long ago, and given its token then."""
    head = base64.urlsafe_b64encode(json.dumps({"kid": OLD.kid}).encode()).decode()
    fields: list[dict[str, Any]] = [
        {"time": at, "fieldsV1": {"f:data": {"f:token": {}}}},
        {"time": "1970-02-01T00:00:00Z", "fieldsV1": {"f:metadata": {}}},
    ]
    about = {
        "namespace": "shop",
        "name": name,
        "creationTimestamp": "1970-01-01T00:00:00Z",
        "managedFields": fields,
    }
    return {
        "metadata": about,
        "data": {"token": base64.b64encode(f"{head}.e30.x".encode()).decode()},
    }


def a_pod(name: str, made: str) -> Mapping[str, Any]:
    token = {"audience": "sts.amazonaws.com", "expirationSeconds": 365 * DAY}
    volumes = [{"name": "year", "projected": {"sources": [{"serviceAccountToken": token}]}}]
    return {
        "metadata": {"namespace": "shop", "name": name, "creationTimestamp": made},
        "spec": {"volumes": volumes},
    }


def test_who_unpublishes_by_force_is_told_whose_tokens_and_who_was_made_anew_is_none_of_them(
    tmp_path: Path,
) -> None:
    signs = Server("10.0.0.1:6443", {key.kid: key.jwk for key in (OLD, NEW)}, NEW.kid)
    at = facing(
        tmp_path,
        Running(
            (signs,), [a_pod("old", "1970-01-01T23:00:00Z"), a_pod("new", "1970-01-02T01:00:00Z")]
        ),
        stage="sign",
        since=DAY,
        signed=DAY,
    )

    with pytest.raises(BadInput, match="shop/old has tokens that live 31536000 seconds"):
        unpublishing(at, 0, 3 * DAY, force=False)
    (told,) = unpublishing(at, 0, 3 * DAY, force=True).hints
    assert (
        "good yet are shop/old (volume year, for sts.amazonaws.com, until Sat, 02 Jan 1971 00:00:00 GMT)."
        in told
    )
    assert (
        unpublishing(
            replace(at, cluster=Running((signs,), [a_pod("new", "1970-01-02T01:00:00Z")])),
            0,
            3 * DAY,
            force=False,
        ).hints
        == ()
    )


def test_by_no_force_a_key_goes_that_an_api_server_has_signed_with_again(tmp_path: Path) -> None:
    signs = Server("10.0.0.1:6443", {key.kid: key.jwk for key in (OLD, NEW)}, NEW.kid)

    with pytest.raises(BadInput, match="since when none does any more is not known"):
        unpublishing(
            facing(tmp_path, Running((signs,)), stage="sign", since=DAY), 0, 9 * DAY, force=True
        )


def test_a_csi_driver_asks_for_tokens_too(tmp_path: Path) -> None:
    signs = Server("10.0.0.1:6443", {key.kid: key.jwk for key in (OLD, NEW)}, NEW.kid)
    driver = {
        "metadata": {"name": "vault.example.org"},
        "spec": {
            "tokenRequests": [{"audience": "vault", "expirationSeconds": 7 * DAY}, {"audience": ""}]
        },
    }
    at = facing(tmp_path, Running((signs,), asking=[driver]), stage="sign", since=DAY, signed=DAY)

    with pytest.raises(
        BadInput, match=r"the CSI driver vault\.example\.org has tokens that live 604800 seconds"
    ) as raised:
        unpublishing(at, 0, 3 * DAY, force=False)

    assert "restart" not in raised.value.remedy
    assert (
        "the CSI driver vault.example.org (for vault, until Fri, 09 Jan 1970 00:00:00 GMT)"
        in unpublishing(at, 0, 3 * DAY, force=True).hints[0]
    )
    assert unpublishing(at, 0, 9 * DAY, force=False).hints == ()
