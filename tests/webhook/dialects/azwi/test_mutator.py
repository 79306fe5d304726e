"""Tests what the mutator of the dialect azwi injects."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, cast

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.cluster_view import NotCached, ObjectMetadata, ObjectRef
from cwii_webhook.admission.injection import EnvVar
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.dialects.azwi.settings import AUTHORITIES, Endpoint, Layout, Settings

from tests.webhook.recorded_answers import FakeClusterView, decide, make_request, make_route

DOMAIN = "azure.workload.identity"
CLIENT_ID = "11111111-2222-4333-8444-555555555555"
ACCOUNT_ANNOTATIONS = {f"{DOMAIN}/client-id": CLIENT_ID}
SETTINGS = Settings(tenant_id="tenant")
RESERVED = "azure-workload-identity-reserved-"


def make_pod(**spec: Any) -> dict[str, Any]:
    """Makes a pod with the opt-in label. Fields of the metadata are arguments, too."""
    metadata = {"name": "p", "namespace": "shop", "labels": {f"{DOMAIN}/use": "true"}}
    metadata |= {
        key: spec.pop(key)
        for key in ("name", "generateName", "annotations", "labels")
        if key in spec
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "worker"} | spec,
    }


def inject(
    pod: dict[str, Any],
    account: Mapping[str, str] | None = ACCOUNT_ANNOTATIONS,
    settings: Settings = SETTINGS,
) -> tuple[Decision, dict[str, Any]]:
    names = [pod["spec"].get("serviceAccountName") or "default"]
    objects = (
        {}
        if account is None
        else {
            ObjectRef("", "ServiceAccount", "shop", name): ObjectMetadata(account) for name in names
        }
    )
    return decide(make_route("azwi", AzwiMutator(settings)), pod, FakeClusterView(objects))


def env(container: Mapping[str, Any]) -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in container.get("env", ())}


def first_container(pod: Mapping[str, Any]) -> Mapping[str, Any]:
    return pod["spec"]["containers"][0]


def projected_sources(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return pod["spec"]["volumes"][0]["projected"]["sources"]


def digest(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:30]


@pytest.mark.parametrize(
    ("layout", "volume", "path", "file"),
    [
        ("v1.5", "azure-identity-token", "/var/run/secrets/azure/tokens", "azure-identity-token"),
        ("v1.6", RESERVED + digest("p"), "/var/run/secrets/azure/wi", "token/azure-identity-token"),
        (
            "next",
            RESERVED + digest("p"),
            f"/var/run/secrets/azure/wi/{digest('p')}",
            "token/azure-identity-token",
        ),
    ],
)
def test_each_layout_has_its_own_paths(layout: Layout, volume: str, path: str, file: str) -> None:
    _, pod = inject(make_pod(), settings=Settings(tenant_id="tenant", layout=layout))

    assert first_container(pod)["volumeMounts"] == [
        {"name": volume, "mountPath": path, "readOnly": True}
    ]
    assert env(first_container(pod))["AZURE_FEDERATED_TOKEN_FILE"] == f"{path}/{file}"
    assert (
        pod["spec"]["volumes"][0]["name"],
        projected_sources(pod)[0]["serviceAccountToken"]["path"],
    ) == (
        volume,
        file,
    )


@pytest.mark.parametrize(
    ("metadata", "volume"),
    [
        ({"name": "pod"}, RESERVED + "425c89ed5bb78a7623fae60fd8a6f6"),
        ({"name": "", "generateName": "web-"}, RESERVED + "2f3cfc2eb6118051c2b0e512de0d8e"),
        ({"name": "pod", "generateName": "web-"}, RESERVED + "425c89ed5bb78a7623fae60fd8a6f6"),
        ({"name": ""}, RESERVED + digest(" (prefix)")),
        ({"name": "x" * 253}, RESERVED + digest("x" * 253)),
    ],
    ids=["named", "to be named", "both", "neither", "long"],
)
def test_volume_name_is_derived_from_the_name_of_the_pod(
    metadata: dict[str, str], volume: str
) -> None:
    _, pod = inject(make_pod(**metadata))

    assert pod["spec"]["volumes"][0]["name"] == volume
    assert len(volume) == 63


@pytest.mark.parametrize("layout", ["v1.5", "v1.6", "next"])
def test_volume_name_stays_after_the_pod_gets_its_name(layout: Layout) -> None:
    settings = Settings(tenant_id="tenant", layout=layout)
    _, pod = inject(make_pod(name="", generateName="web-"), settings=settings)
    pod["metadata"]["name"] = "web-abcde"

    decision, _ = inject(pod, settings=settings)

    assert not decision.ops
    assert not decision.warnings


@pytest.mark.parametrize(
    "cloud", ["", *AUTHORITIES, *map(str.upper, AUTHORITIES), "azurechinacloud"]
)
def test_authority_host_follows_the_cloud(cloud: str) -> None:
    hosts = {name.lower(): host for name, host in AUTHORITIES.items()}

    _, pod = inject(make_pod(), settings=Settings(tenant_id="tenant", cloud=cloud))

    assert (
        env(first_container(pod))["AZURE_AUTHORITY_HOST"]
        == hosts[cloud.lower() or "azurepubliccloud"]
    )


@pytest.mark.parametrize(
    ("account", "flag", "tenant"),
    [
        ({}, "tenant", "tenant"),
        ({f"{DOMAIN}/tenant-id": "theirs"}, "tenant", "theirs"),
        ({f"{DOMAIN}/tenant-id": ""}, "tenant", None),
        ({f"{DOMAIN}/tenant-id": "theirs"}, "", "theirs"),
        ({}, "", None),
    ],
    ids=["the server's", "the account's", "an empty one", "the account's alone", "none"],
)
def test_tenant_comes_from_the_account_or_the_flag(
    account: dict[str, str], flag: str, tenant: str | None
) -> None:
    decision, pod = inject(make_pod(), ACCOUNT_ANNOTATIONS | account, Settings(tenant_id=flag))

    assert env(first_container(pod)).get("AZURE_TENANT_ID") == tenant
    assert any("AZURE_TENANT_ID is not set" in w for w in decision.warnings) == (tenant is None)


@pytest.mark.parametrize("account", [{}, {f"{DOMAIN}/client-id": ""}], ids=["none", "empty"])
def test_account_without_a_client_id_gets_the_other_variables(account: dict[str, str]) -> None:
    decision, pod = inject(make_pod(), account)

    assert list(env(first_container(pod))) == [
        "AZURE_TENANT_ID",
        "AZURE_FEDERATED_TOKEN_FILE",
        "AZURE_AUTHORITY_HOST",
    ]
    assert decision.warnings == (
        f"ServiceAccount shop/worker has no {DOMAIN}/client-id: AZURE_CLIENT_ID is not set",
    )


@pytest.mark.parametrize(
    ("pod", "account", "seconds"),
    [
        (None, None, 3600),
        ("", "4800", 4800),
        ("86400", "3600", 86400),
        ("+3600", None, 3600),
        ("007200", None, 7200),
        (None, "", 3600),
        ("5000", "x", 5000),
    ],
)
def test_expiration_comes_from_the_pod_or_the_account(
    pod: str | None, account: str | None, seconds: int
) -> None:
    key = f"{DOMAIN}/service-account-token-expiration"

    _, injected = inject(
        make_pod(annotations={key: pod} if pod is not None else {}),
        ACCOUNT_ANNOTATIONS | ({key: account} if account is not None else {}),
    )

    assert projected_sources(injected)[0]["serviceAccountToken"]["expirationSeconds"] == seconds


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        ("", ""),
        ("c", "c"),
        (" c ; i ", "ci"),
        ("c,i", ""),
        ("c;;i", "ci"),
        ("C", ""),
        (";", ""),
        ("i", "i"),
    ],
    ids=repr,
)
def test_skipped_container_is_not_changed(text: str, skipped: str) -> None:
    _, pod = inject(
        make_pod(annotations={f"{DOMAIN}/skip-containers": text}, initContainers=[{"name": "i"}])
    )

    for container in (*pod["spec"]["containers"], *pod["spec"]["initContainers"]):
        assert (container == {"name": container["name"]}) == (container["name"] in skipped)
    assert pod["spec"]["volumes"]


@pytest.mark.parametrize("value", ["$(HOME)", "a$(b)$$", "$$", "$"])
def test_variable_reference_in_a_value_is_escaped(value: str) -> None:
    """The kubelet replaces $$ by $, and expands $(NAME)."""
    _, pod = inject(make_pod(), {f"{DOMAIN}/client-id": value, f"{DOMAIN}/tenant-id": value})

    for name in ("AZURE_CLIENT_ID", "AZURE_TENANT_ID"):
        variable = env(first_container(pod))[name]
        assert "$(" not in variable.replace("$$", "")
        assert variable.replace("$$", "$") == value or variable == value == "$"


ENDPOINT = Endpoint("bound", "api://bound", "https://proxy", "sni", ca_data="data")


@pytest.mark.parametrize(
    ("annotation", "is_selected"),
    [
        ("true", True),
        ("TRUE", True),
        ("tRue", True),
        ("false", False),
        ("", False),
        ("yes", False),
        (" true", False),
        (None, False),
    ],
    ids=repr,
)
def test_annotation_selects_the_custom_endpoint(annotation: str | None, is_selected: bool) -> None:  # noqa: FBT001 - a table
    annotations = {f"{DOMAIN}/use-bound": annotation} if annotation is not None else {}

    _, pod = inject(
        make_pod(annotations=annotations), settings=Settings(tenant_id="tenant", endpoint=ENDPOINT)
    )

    assert projected_sources(pod)[0]["serviceAccountToken"]["audience"] == (
        "api://bound" if is_selected else "api://AzureADTokenExchange"
    )
    names = [
        "AZURE_KUBERNETES_TOKEN_PROXY",
        "AZURE_KUBERNETES_SNI_NAME",
        "AZURE_KUBERNETES_CA_FILE",
        "AZURE_KUBERNETES_CA_DATA",
    ]
    assert list(env(first_container(pod)))[4:] == (names if is_selected else [])


@pytest.mark.parametrize(
    ("ca", "projected"),
    [
        ({}, []),
        ({"ca_data": "data"}, []),
        (
            {"ca_config_map": "ca"},
            [
                {
                    "configMap": {
                        "name": "ca",
                        "items": [{"key": "ca.crt", "path": "ca-cert/ca.crt"}],
                        "optional": False,
                    }
                }
            ],
        ),
        (
            {"ca_signer": "a/b"},
            [
                {
                    "clusterTrustBundle": {
                        "signerName": "a/b",
                        "path": "ca-cert/ca.crt",
                        "optional": False,
                    }
                }
            ],
        ),
        (
            {"ca_signer": "a/b", "ca_selector": {"matchLabels": {"a": "b"}}},
            [
                {
                    "clusterTrustBundle": {
                        "signerName": "a/b",
                        "labelSelector": {"matchLabels": {"a": "b"}},
                        "path": "ca-cert/ca.crt",
                        "optional": False,
                    }
                }
            ],
        ),
    ],
    ids=["none", "data", "ConfigMap", "signer", "selector"],
)
def test_ca_of_the_custom_endpoint_is_projected_beside_the_token(
    ca: dict[str, Any], projected: list[object]
) -> None:
    settings = Settings(tenant_id="tenant", endpoint=Endpoint("bound", "api://bound", **ca))

    decision, pod = inject(make_pod(annotations={f"{DOMAIN}/use-bound": "true"}), settings=settings)
    second, _ = inject(pod, settings=settings)

    assert projected_sources(pod)[1:] == projected
    assert (
        env(first_container(pod))["AZURE_KUBERNETES_CA_FILE"]
        == "/var/run/secrets/azure/wi/ca-cert/ca.crt"
    )
    assert decision.ops
    assert not second.ops


def test_volume_with_the_reserved_name_is_replaced() -> None:
    """Otherwise the author of the pod could provide another file as the token."""
    name = RESERVED + digest("p")
    mounts = [{"name": name, "mountPath": "/mine"}]

    decision, pod = inject(
        make_pod(
            volumes=[{"name": name, "emptyDir": {}}],
            containers=[{"name": "c", "volumeMounts": mounts}],
        )
    )

    assert (
        projected_sources(pod)[0]["serviceAccountToken"]["audience"] == "api://AzureADTokenExchange"
    )
    assert first_container(pod)["volumeMounts"] == [
        {"name": name, "mountPath": "/var/run/secrets/azure/wi", "readOnly": True}
    ]
    assert len(decision.warnings) == 2


def test_api_server_defaults_in_the_volume_are_no_change() -> None:
    _, pod = inject(make_pod())
    pod["spec"]["volumes"][0]["projected"]["defaultMode"] = 420

    assert not inject(pod)[0].ops


def test_v15_keeps_a_volume_of_the_pod_with_that_name() -> None:
    volume: dict[str, object] = {"name": "azure-identity-token", "emptyDir": {}}

    _, pod = inject(
        make_pod(volumes=[volume]), settings=Settings(tenant_id="tenant", layout="v1.5")
    )

    assert pod["spec"]["volumes"] == [volume]


def test_ephemeral_container_is_injected() -> None:
    _, pod = inject(make_pod())
    pod["spec"]["ephemeralContainers"] = [{"name": "debug"}]
    old: dict[str, Any] = {**pod, "spec": {**pod["spec"], "ephemeralContainers": []}}
    route = make_route("azwi", AzwiMutator(SETTINGS))

    decision = admit(
        route,
        make_request(pod, subResource="ephemeralcontainers", operation="UPDATE", oldObject=old),
        FakeClusterView({}),
    )

    values = {
        v.name
        for op in decision.ops
        if op.path.endswith("/env")
        for v in cast("list[EnvVar]", op.value)
    }
    assert values == {
        "AZURE_CLIENT_ID",
        "AZURE_TENANT_ID",
        "AZURE_FEDERATED_TOKEN_FILE",
        "AZURE_AUTHORITY_HOST",
    }


def test_account_that_is_not_cached_is_left_to_the_caller() -> None:
    class EmptyCache:
        def get(self, ref: ObjectRef) -> ObjectMetadata | None:
            raise NotCached(ref)

    with pytest.raises(NotCached):
        admit(make_route("azwi", AzwiMutator(SETTINGS)), make_request(make_pod()), EmptyCache())


def test_audit_annotation_names_the_source_of_each_value() -> None:
    decision, _ = inject(
        make_pod(), ACCOUNT_ANNOTATIONS | {f"{DOMAIN}/service-account-token-expiration": "4800"}
    )

    assert decision.audit["azure"] == (
        "AZURE_CLIENT_ID from ServiceAccount shop/worker; AZURE_TENANT_ID by default; "
        "expiration from ServiceAccount shop/worker; audience by default; "
        "AZURE_FEDERATED_TOKEN_FILE by default; AZURE_AUTHORITY_HOST by default"
    )
