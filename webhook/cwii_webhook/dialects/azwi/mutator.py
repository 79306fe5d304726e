"""Azure workload identity's dialect: pods that are labelled act as the client that their ServiceAccount names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import NotCached, ObjectRef
from cwii_webhook.admission.injection import (
    NO_TOKEN,
    ContainerInjection,
    Injection,
    Origin,
    PodRefused,
    Skip,
    Variable,
    Volume,
    more,
    variable,
    weight,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerRefs, Pod
from cwii_webhook.dialects.azwi.annotations import (
    CLIENT_ID,
    DOMAIN,
    EXPIRATION,
    PORT,
    PROXY,
    SKIP,
    TENANT_ID,
    USE,
    YES,
    endpoint,
)
from cwii_webhook.dialects.azwi.paths import CA_PATH, LAYOUTS, PREFIX, TokenPaths
from cwii_webhook.dialects.azwi.proxy import INIT, SIDECAR, Proxies
from cwii_webhook.dialects.azwi.settings import AUDIENCE, Endpoint, Settings
from cwii_webhook.dialects.common import go_values as peers
from cwii_webhook.dialects.common import warnings as cautions
from cwii_webhook.dialects.common.pod_traits import declares_windows, runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints, printable

LEAST, MOST = 3600, 86400
PROXY_PORT = 8000
HEARD = (CLIENT_ID.key, TENANT_ID.key, EXPIRATION.key)  # of a ServiceAccount
Said = tuple[
    ObjectRef, tuple[str | None, ...], ObjectRef | None, str | None, bool, str, ContainerRefs
]


class Wish(Struct, frozen=True, gc=False):
    """What is asked for a pod."""

    account: AnnotationSource
    client: str
    tenant: Origin
    expiration: Origin
    seconds: int
    bound: bool  # to the cluster's own token endpoint


class Usual(Struct, frozen=True):
    """What is given to a pod that asks for no proxy, and has nothing in the way. The same is asked for many pods: it is worked out once."""

    injection: Injection
    variables: tuple[Variable, ...]
    place: TokenPaths


class AzwiMutator:
    provider = "azure"

    def __init__(self, settings: Settings) -> None:
        end = settings.endpoint
        self.settings = settings
        self.plan = LAYOUTS[settings.layout]
        self.volumes = frozenset({PREFIX + "*", self.plan.volumes})
        self.authority = variable("AZURE_AUTHORITY_HOST", settings.authority)
        self.endpoint = endpoint(end.suffix).key if end.suffix else ""
        self.before = (
            variable("AZURE_KUBERNETES_TOKEN_PROXY", end.proxy),
            variable("AZURE_KUBERNETES_SNI_NAME", end.sni_name),
        )
        self.ca_data = variable("AZURE_KUBERNETES_CA_DATA", end.ca_data)
        self.audiences = {False: settings.audience or AUDIENCE, True: end.audience}
        self.authorities = {False: (), True: tuple(_authorities(end))}
        self.proxies = Proxies(settings)
        self.spelling = TypoHints(
            "azwi",
            DOMAIN,
            (
                USE,
                CLIENT_ID,
                TENANT_ID,
                EXPIRATION,
                SKIP,
                PROXY,
                PORT,
                *([endpoint(end.suffix)] if end.suffix else ()),
            ),
        )
        ends = (
            (*self.before, self.ca_data, Variable("AZURE_KUBERNETES_CA_FILE", ""))
            if end.suffix
            else ()
        )
        names = (
            "AZURE_CLIENT_ID",
            "AZURE_TENANT_ID",
            "AZURE_FEDERATED_TOKEN_FILE",
            self.authority.name,
        )
        self.variables = frozenset({*names, *(v.name for v in ends)})
        self._known: Memo[Said, Usual] = Memo()

    def skipped(self, pod: Pod) -> frozenset[str]:
        return peers.split_names((pod.metadata.annotations or {}).get(SKIP.key, ""), ";")

    def __call__(self, subject: PodContext) -> Injection | Skip:
        if self.settings.label and (subject.pod.metadata.labels or {}).get(USE.key) != YES:
            subject.annotation_warnings = self.spelling.of(subject, None)
            return Skip(
                "azure",
                "not-asked",
                f'the pod has no label {USE.key}: "{YES}"',
                tuple(_unlabelled(subject)),
            )
        name = subject.pod.spec.service_account_name or "default"
        account = subject.service_account(name)
        if account is None:
            remedy = f"create ServiceAccount {subject.namespace}/{name} before pods that run as it"
            raise PodRefused(f"serviceaccounts {peers.quoted(name)} not found", warnings=(remedy,))
        subject.annotation_warnings = self.spelling.of(subject, account)
        port, skipped = _port(subject), self.skipped(subject.pod)
        usual = self._usual(subject, account, skipped)
        joined = () if port is None else (SIDECAR, INIT)
        own = (
            *_of_port(subject, port),
            *cautions.skipped(subject, SKIP.key, skipped, joined),
            *cautions.own_values(subject, usual.variables, skipped),
        )
        if port is None:
            return more(usual.injection, (), own)
        joining = self.proxies.joining(
            subject.pod, port, usual.variables, usual.place.mount, skipped
        )
        volumes = (*usual.injection.volumes, NO_TOKEN) if joining else usual.injection.volumes
        return replace(
            usual.injection,
            volumes=volumes,
            helpers=joining,
            warnings=(*usual.injection.warnings, *own),
        )

    def _usual(
        self, subject: PodContext, account: AnnotationSource, skipped: frozenset[str]
    ) -> Usual:
        """Of the pod itself only its own expiration counts, its endpoint, how its volume is called, and which of its containers there are."""
        said = subject.pod.metadata.annotations or {}
        own, bound = (
            said.get(EXPIRATION.key) or None,
            bool(self.endpoint) and said.get(self.endpoint, "").lower() == YES,
        )
        places, volume = subject.container_refs(skipped), self.plan.called(subject.pod)
        key = (
            account.ref,
            tuple(map(account.annotations.get, HEARD)),
            None if own is None else subject.ref,
            own,
            bound,
            volume,
            places,
        )
        known = self._known.get(key)
        if known is None:
            pod = AnnotationSource(
                "pod", subject.ref, {} if own is None else {EXPIRATION.key: own}
            )  # it is kept: no more than what is heard
            known = self._worked_out(self._wish(pod, account, bound=bound), volume, places)
            self._known.keep(key, known, weight(known.injection, places))
        return known

    def _wish(self, pod: AnnotationSource, account: AnnotationSource, *, bound: bool) -> Wish:
        expiration, seconds = _expiration(pod, account)
        return Wish(
            account,
            account.annotations.get(CLIENT_ID.key, ""),
            _said("AZURE_TENANT_ID", TENANT_ID.key, account)
            or Origin("AZURE_TENANT_ID", self.settings.tenant_id),
            expiration,
            seconds,
            bound,
        )

    def _worked_out(self, wish: Wish, volume: str, places: ContainerRefs) -> Usual:
        place = self.plan.at(volume)
        variables = self._variables(wish, place)
        injection = Injection(
            provider="azure",
            volumes=(self._volume(place, wish),),
            containers=tuple(
                [ContainerInjection(*where, variables, (place.mount,)) for where in places]
            ),
            replaces=frozenset((place.mount.name,)) if self.plan.named else frozenset(),
            warnings=tuple(_of_values(wish)),
            origins=tuple(self._origins(wish, place)),
        )
        return Usual(injection, variables, place)

    def _variables(self, wish: Wish, place: TokenPaths) -> tuple[Variable, ...]:
        """In the peer's order, and none that is empty."""
        every = (
            variable("AZURE_CLIENT_ID", wish.client),
            variable("AZURE_TENANT_ID", wish.tenant.value),
            place.token,
            self.authority,
        )
        if wish.bound:
            every = (*every, *self.before, place.ca, self.ca_data)
        return tuple(v for v in every if v.value)

    def _volume(self, place: TokenPaths, wish: Wish) -> Volume:
        token = {
            "path": self.plan.token,
            "expirationSeconds": wish.seconds,
            "audience": self.audiences[wish.bound],
        }
        return Volume(
            place.mount.name,
            {
                "projected": {
                    "sources": [{"serviceAccountToken": token}, *self.authorities[wish.bound]]
                }
            },
        )

    def _origins(self, wish: Wish, place: TokenPaths) -> Iterator[Origin]:
        if wish.client:
            yield Origin("AZURE_CLIENT_ID", wish.client, CLIENT_ID.key, wish.account)
        if wish.tenant.value:
            yield wish.tenant
        yield wish.expiration
        yield Origin("audience", self.audiences[wish.bound])
        yield Origin(place.token.name, place.token.value)
        yield Origin(self.authority.name, self.authority.value)


def _authorities(end: Endpoint) -> Iterator[Mapping[str, object]]:
    """Who vouches for the endpoint, beside the token in the same volume."""
    if end.ca_config_map:
        yield {
            "configMap": {
                "name": end.ca_config_map,
                "items": [{"key": "ca.crt", "path": CA_PATH}],
                "optional": False,
            }
        }
    if end.ca_signer:
        selector = {} if end.ca_selector is None else {"labelSelector": end.ca_selector}
        yield {
            "clusterTrustBundle": {
                "signerName": end.ca_signer,
                **selector,
                "path": CA_PATH,
                "optional": False,
            }
        }


def _said(what: str, key: str, *voices: AnnotationSource) -> Origin | None:
    """The first who says it, be it nothing that he says."""
    return next(
        (
            Origin(what, voice.annotations[key], key, voice)
            for voice in voices
            if key in voice.annotations
        ),
        None,
    )


def _port(subject: PodContext) -> int | None:
    """None where no proxy is asked for. The host's network is everybody's: its routes are not for one pod to change."""
    if PROXY.key not in (subject.pod.metadata.annotations or ()):
        return None
    pod = subject.own_annotations()
    if subject.pod.spec.host_network:
        remedy = f"remove {PROXY.key} of {pod}, or its hostNetwork"
        raise PodRefused(
            "hostNetwork is set to true, cannot inject proxy sidecar", warnings=(remedy,)
        )
    if declares_windows(subject.pod):
        raise PodRefused(
            "the proxy sidecar does not run on Windows", warnings=(f"remove {PROXY.key} of {pod}",)
        )
    text = pod.annotations.get(PORT.key)
    try:
        return PROXY_PORT if text is None else peers.parse_int(text, 32)
    except peers.InvalidNumber as e:
        remedy = f"{PORT.key} of {pod} is {text!r}: write a port's number, or remove it"
        raise PodRefused(f"failed to parse proxy sidecar port: {e}", warnings=(remedy,)) from e


def _expiration(*voices: AnnotationSource) -> tuple[Origin, int]:
    """Who says nothing in it has not said it."""
    spoken: Sequence[AnnotationSource] = [
        voice for voice in voices if voice.annotations.get(EXPIRATION.key)
    ]
    origin = _said("expiration", EXPIRATION.key, *spoken) or Origin("expiration", str(LEAST))
    remedy = f"{EXPIRATION.key} of {origin.source} is {origin.value!r}: write seconds from {LEAST} to {MOST}, or remove it"
    try:
        seconds = peers.parse_int(origin.value)
    except peers.InvalidNumber as e:
        raise PodRefused(str(e), warnings=(remedy,)) from e
    if not LEAST <= seconds <= MOST:
        raise PodRefused(
            f"token expiration {seconds} not valid. Expected value to be between {LEAST} and {MOST}",
            warnings=(remedy,),
        )
    return origin, seconds


def _unlabelled(subject: PodContext) -> Iterator[str]:
    """The label is often put on the ServiceAccount, or on the workload in place of its pods. Whoever cannot be seen yet did not ask."""
    said = (subject.pod.metadata.labels or {}).get(USE.key)
    if said is not None:
        if said != "false":
            yield f'label {USE.key} of {subject.ref} is {printable(said)}, and only "{YES}" is heard'
        return
    try:
        account = subject.service_account(subject.pod.spec.service_account_name or "default")
    except NotCached:
        return
    if account and account.annotations.get(CLIENT_ID.key):
        yield f'{account} has {CLIENT_ID.key}, but the pod gets nothing: it has no label {USE.key}: "{YES}"'


def _of_values(wish: Wish) -> Iterator[str]:
    if wish.client:
        yield from cautions.client(f"{CLIENT_ID.key} of {wish.account}", wish.client)
    else:
        yield f"{wish.account} has no {CLIENT_ID.key}: AZURE_CLIENT_ID is not set"
    if not wish.tenant.value:
        yield f"{wish.account} has {'an empty' if wish.tenant.source else 'no'} {TENANT_ID.key}: AZURE_TENANT_ID is not set"
    elif wish.tenant.source:
        yield from cautions.tenant(f"{TENANT_ID.key} of {wish.account}", wish.tenant.value)


def _of_port(subject: PodContext, port: int | None) -> Iterator[str]:
    if port is None:
        return
    if not 1 <= port <= 65535:
        yield f"{PORT.key}: the API server refuses port {port}; it takes 1 to 65535"
    if (asked := subject.own_annotations().annotations.get(PROXY.key, "")).lower() in {
        "",
        "false",
        "no",
    }:
        yield f"{PROXY.key} is {asked!r}, and its presence alone asks for the proxy: remove it if there should be none"
    if runs_on_windows(subject.pod):
        yield f"{PROXY.key}: the proxy does not run on Windows"
