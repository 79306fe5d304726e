"""Injects Azure identities as azure-workload-identity does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import NotCached
from cwii_webhook.admission.injection import (
    NO_TOKEN,
    ContainerInjection,
    EnvVar,
    HelperContainer,
    Injection,
    Origin,
    PodRefused,
    Skip,
    Volume,
    env_var,
)
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.azwi.annotations import (
    CLIENT_ID,
    DOMAIN,
    EXPIRATION,
    PORT,
    PROXY,
    SKIP,
    TENANT_ID,
    TRUE,
    USE,
    endpoint_annotation,
)
from cwii_webhook.dialects.azwi.paths import CA_PATH, LAYOUTS, PREFIX, TokenPaths
from cwii_webhook.dialects.azwi.proxy import INIT, SIDECAR, ProxyContainers
from cwii_webhook.dialects.azwi.settings import AUDIENCE, Endpoint, Settings
from cwii_webhook.dialects.common.go_values import InvalidNumber, parse_int, quote, split_names
from cwii_webhook.dialects.common.pod_traits import declares_windows, runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints, printable
from cwii_webhook.dialects.common.warnings import (
    client_id_warnings,
    env_conflict_warnings,
    tenant_id_warnings,
    unknown_container_warnings,
)

PROVIDER = "azure"
MIN_SECONDS, MAX_SECONDS = 3600, 86400  # the peer's limits
DEFAULT_PROXY_PORT = 8000


class IdentityRequest(Struct, frozen=True, gc=False):
    """What a pod asks for."""

    account: AnnotationSource
    client_id: str
    tenant: Origin
    expiration: Origin
    seconds: int
    uses_endpoint: bool  # the cluster's own token endpoint


class AzwiMutator:
    """Injects the client ID of the pod's ServiceAccount, and a proxy if the pod asks for it."""

    provider = PROVIDER

    def __init__(self, settings: Settings) -> None:
        endpoint = settings.endpoint
        self._settings = settings
        self._layout = LAYOUTS[settings.layout]
        self._authority = env_var("AZURE_AUTHORITY_HOST", settings.authority)
        self._endpoint = endpoint_annotation(endpoint.suffix) if endpoint.suffix else None
        self._endpoint_env = (
            env_var("AZURE_KUBERNETES_TOKEN_PROXY", endpoint.proxy),
            env_var("AZURE_KUBERNETES_SNI_NAME", endpoint.sni_name),
        )
        self._ca_data = env_var("AZURE_KUBERNETES_CA_DATA", endpoint.ca_data)
        self._proxies = ProxyContainers(settings)
        known = (USE, CLIENT_ID, TENANT_ID, EXPIRATION, SKIP, PROXY, PORT)
        endpoints = (self._endpoint,) if self._endpoint else ()
        self._typo_hints = TypoHints("azwi", DOMAIN, (*known, *endpoints))
        self.volume_names = frozenset({PREFIX + "*", self._layout.volume_pattern})
        self.env_names = frozenset(
            {
                "AZURE_CLIENT_ID",
                "AZURE_TENANT_ID",
                "AZURE_FEDERATED_TOKEN_FILE",
                self._authority.name,
            }
        )
        if self._endpoint:
            endpoint_names = [variable.name for variable in (*self._endpoint_env, self._ca_data)]
            self.env_names |= {*endpoint_names, "AZURE_KUBERNETES_CA_FILE"}

    def skipped_containers(self, pod: Pod) -> frozenset[str]:
        return split_names((pod.metadata.annotations or {}).get(SKIP.key, ""), ";")

    def typo_hints(self, context: PodContext) -> tuple[str, ...]:
        if not self._is_selected(context):
            return self._typo_hints.for_pod(context, None)
        account = context.service_account(context.service_account_name)
        return self._typo_hints.for_pod(context, account) if account else ()

    def __call__(self, context: PodContext) -> Injection | Skip:
        if not self._is_selected(context):
            detail = f'the pod has no label {USE.key}: "{TRUE}"'
            return Skip(PROVIDER, "not-asked", detail, tuple(_label_warnings(context)))
        name = context.service_account_name
        account = context.service_account(name)
        if account is None:
            remedy = f"create ServiceAccount {context.namespace}/{name} before pods that run as it"
            raise PodRefused(f"serviceaccounts {quote(name)} not found", warnings=(remedy,))
        port = _proxy_port(context)
        request = self._request(context, account)
        return self._injection(context, request, port)

    def _is_selected(self, context: PodContext) -> bool:
        """A selector in the webhook configuration may check the label instead."""
        labels = context.pod.metadata.labels or {}
        return not self._settings.label or labels.get(USE.key) == TRUE

    def _request(self, context: PodContext, account: AnnotationSource) -> IdentityRequest:
        default_tenant = Origin("AZURE_TENANT_ID", self._settings.tenant_id)
        expiration, seconds = _expiration(context.own_annotations(), account)
        endpoint = context.annotations.get(self._endpoint.key, "") if self._endpoint else ""
        return IdentityRequest(
            account,
            account.annotations.get(CLIENT_ID.key, ""),
            _first_origin("AZURE_TENANT_ID", TENANT_ID.key, account) or default_tenant,
            expiration,
            seconds,
            uses_endpoint=endpoint.lower() == TRUE,
        )

    def _injection(
        self, context: PodContext, request: IdentityRequest, port: int | None
    ) -> Injection:
        paths = self._layout.paths(self._layout.volume_name(context.pod))
        env = self._env(request, paths)
        skipped = self.skipped_containers(context.pod)
        helpers: tuple[HelperContainer, ...] = ()
        if port is not None:
            helpers = self._proxies.helpers(context.pod, port, env, paths.mount, skipped)
        helper_names = () if port is None else (SIDECAR, INIT)
        return Injection(
            provider=PROVIDER,
            volumes=(self._volume(paths, request), *((NO_TOKEN,) if helpers else ())),
            containers=tuple(
                [
                    ContainerInjection(*ref, env, (paths.mount,))
                    for ref in context.container_refs(skipped)
                ]
            ),
            helpers=helpers,
            replaced_names=frozenset([paths.mount.name] if self._layout.is_named_after_pod else []),
            warnings=(
                *_value_warnings(request),
                *_proxy_warnings(context, port),
                *unknown_container_warnings(context, SKIP.key, skipped, helper_names),
                *env_conflict_warnings(context, env, skipped),
            ),
            origins=tuple(self._origins(request, paths)),
        )

    def _env(self, request: IdentityRequest, paths: TokenPaths) -> tuple[EnvVar, ...]:
        """Returns the variables in the peer's order, without empty ones."""
        client_id = env_var("AZURE_CLIENT_ID", request.client_id)
        tenant_id = env_var("AZURE_TENANT_ID", request.tenant.value)
        env = (client_id, tenant_id, paths.token, self._authority)
        if request.uses_endpoint:
            env = (*env, *self._endpoint_env, paths.ca, self._ca_data)
        return tuple([variable for variable in env if variable.value])

    def _volume(self, paths: TokenPaths, request: IdentityRequest) -> Volume:
        token = {
            "path": self._layout.token,
            "expirationSeconds": request.seconds,
            "audience": self._audience(request),
        }
        sources = [
            {"serviceAccountToken": token},
            *(_ca_sources(self._settings.endpoint) if request.uses_endpoint else ()),
        ]
        return Volume(paths.mount.name, {"projected": {"sources": sources}})

    def _audience(self, request: IdentityRequest) -> str:
        if request.uses_endpoint:
            return self._settings.endpoint.audience
        return self._settings.audience or AUDIENCE

    def _origins(self, request: IdentityRequest, paths: TokenPaths) -> Iterator[Origin]:
        if request.client_id:
            yield Origin("AZURE_CLIENT_ID", request.client_id, CLIENT_ID.key, request.account)
        if request.tenant.value:
            yield request.tenant
        yield request.expiration
        yield Origin("audience", self._audience(request))
        yield Origin(paths.token.name, paths.token.value)
        yield Origin(self._authority.name, self._authority.value)


def _ca_sources(endpoint: Endpoint) -> Iterator[Mapping[str, object]]:
    """Yields the sources of the endpoint's CA certificates, which share the token's volume."""
    if endpoint.ca_config_map:
        items = [{"key": "ca.crt", "path": CA_PATH}]
        yield {"configMap": {"name": endpoint.ca_config_map, "items": items, "optional": False}}
    if endpoint.ca_signer:
        selector = {} if endpoint.ca_selector is None else {"labelSelector": endpoint.ca_selector}
        yield {
            "clusterTrustBundle": {
                "signerName": endpoint.ca_signer,
                **selector,
                "path": CA_PATH,
                "optional": False,
            }
        }


def _first_origin(name: str, key: str, *sources: AnnotationSource) -> Origin | None:
    """Returns the value of the first source that has the annotation, even if it is empty."""
    for source in sources:
        if key in source.annotations:
            return Origin(name, source.annotations[key], key, source)
    return None


def _proxy_port(context: PodContext) -> int | None:
    """Returns the port of the proxy, or None if the pod asks for none.

    The proxy changes iptables rules, which pods on the host's network share with the node.
    """
    if PROXY.key not in context.annotations:
        return None
    if context.pod.spec.host_network:
        remedy = f"remove {PROXY.key} of {context.ref}, or its hostNetwork"
        message = "hostNetwork is set to true, cannot inject proxy sidecar"
        raise PodRefused(message, warnings=(remedy,))
    if declares_windows(context.pod):
        remedy = f"remove {PROXY.key} of {context.ref}"
        raise PodRefused("the proxy sidecar does not run on Windows", warnings=(remedy,))
    text = context.annotations.get(PORT.key)
    try:
        return DEFAULT_PROXY_PORT if text is None else parse_int(text, 32)
    except InvalidNumber as e:
        remedy = f"{PORT.key} of {context.ref} is {text!r}: write a port's number, or remove it"
        raise PodRefused(f"failed to parse proxy sidecar port: {e}", warnings=(remedy,)) from e


def _expiration(*sources: AnnotationSource) -> tuple[Origin, int]:
    """Returns the lifetime from the first source that has a non-empty value."""
    non_empty = [source for source in sources if source.annotations.get(EXPIRATION.key)]
    default = Origin("expiration", str(MIN_SECONDS))
    origin = _first_origin("expiration", EXPIRATION.key, *non_empty) or default
    remedy = (
        f"{EXPIRATION.key} of {origin.source} is {origin.value!r}: "
        f"write seconds from {MIN_SECONDS} to {MAX_SECONDS}, or remove it"
    )
    try:
        seconds = parse_int(origin.value)
    except InvalidNumber as e:
        raise PodRefused(str(e), warnings=(remedy,)) from e
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise PodRefused(
            f"token expiration {seconds} not valid. "
            f"Expected value to be between {MIN_SECONDS} and {MAX_SECONDS}",
            warnings=(remedy,),
        )
    return origin, seconds


def _label_warnings(context: PodContext) -> Iterator[str]:
    """Warns of a wrong label, and of a missing one if the ServiceAccount has a client ID.

    Users often put the label on the ServiceAccount, or on the workload instead of its pods.
    """
    label = (context.pod.metadata.labels or {}).get(USE.key)
    if label is not None:
        if label != "false":
            text = f"label {USE.key} of {context.ref} is {printable(label)}, "
            yield f'{text}and only "{TRUE}" is heard'
        return
    try:
        account = context.service_account(context.service_account_name)
    except NotCached:  # not worth a lookup
        return
    if account and account.annotations.get(CLIENT_ID.key):
        yield (
            f"{account} has {CLIENT_ID.key}, but the pod gets nothing: "
            f'it has no label {USE.key}: "{TRUE}"'
        )


def _value_warnings(request: IdentityRequest) -> Iterator[str]:
    account, tenant = request.account, request.tenant
    if request.client_id:
        yield from client_id_warnings(f"{CLIENT_ID.key} of {account}", request.client_id)
    else:
        yield f"{account} has no {CLIENT_ID.key}: AZURE_CLIENT_ID is not set"
    if not tenant.value:
        what = "an empty" if tenant.source else "no"
        yield f"{account} has {what} {TENANT_ID.key}: AZURE_TENANT_ID is not set"
    elif tenant.source:
        yield from tenant_id_warnings(f"{TENANT_ID.key} of {account}", tenant.value)


def _proxy_warnings(context: PodContext, port: int | None) -> Iterator[str]:
    if port is None:
        return
    if not 1 <= port <= 65535:
        yield f"{PORT.key}: the API server refuses port {port}; it takes 1 to 65535"
    value = context.annotations.get(PROXY.key, "")
    if value.lower() in {"", "false", "no"}:
        yield (
            f"{PROXY.key} is {value!r}, and its presence alone asks for the proxy: "
            "remove it if there should be none"
        )
    if runs_on_windows(context.pod):
        yield f"{PROXY.key}: the proxy does not run on Windows"
