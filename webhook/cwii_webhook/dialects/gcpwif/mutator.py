"""The dialect of Google's workload identity federation: a provider and a service account, by the ServiceAccount's annotations."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.admission.injection import (
    ContainerInjection,
    Injection,
    Origin,
    PodRefused,
    Skip,
    Variable,
    Volume,
    describe_origins,
    more,
    variable,
    weight,
)
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerRefs, Pod
from cwii_webhook.dialects.common import go_values as peers
from cwii_webhook.dialects.common import warnings as cautions
from cwii_webhook.dialects.common.pod_traits import common_user, declares_windows, runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints
from cwii_webhook.dialects.gcpwif.annotations import GcpwifAnnotations, gcpwif_annotations
from cwii_webhook.dialects.gcpwif.paths import (
    DIRECT,
    GCLOUD,
    MOUNTS,
    OURS,
    POINTERS,
    REPLACED,
    TOKEN,
    TOKEN_FILE,
    volumes,
)
from cwii_webhook.dialects.gcpwif.request import IdentityRequest, wish
from cwii_webhook.dialects.gcpwif.settings import LEAST, Settings
from cwii_webhook.dialects.gcpwif.setup_container import NAME, SetupContainer

ALWAYS = frozenset({NAME})  # skipped
Said = tuple[ObjectRef, tuple[str | None, ...], ObjectRef | None, str | None, ContainerRefs]


class Usual(Struct, frozen=True):
    """What is asked, and what comes of it for a pod in which nothing is in the way. The same is asked for many pods: it is worked out once."""

    asked: IdentityRequest
    injection: Injection
    variables: tuple[Variable, ...]


class GcpwifMutator:
    provider = "gcp"
    volumes = frozenset({TOKEN.name, GCLOUD.name, DIRECT.name})
    variables = frozenset(
        {
            "GOOGLE_APPLICATION_CREDENTIALS",
            "CLOUDSDK_CONFIG",
            "CLOUDSDK_COMPUTE_REGION",
            "CLOUDSDK_CORE_PROJECT",
        }
    )

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words = gcpwif_annotations(settings.domain)
        self.region = variable("CLOUDSDK_COMPUTE_REGION", settings.region)
        self.more = volumes(self.words.credentials.key, settings.file_mode)
        self.setup = SetupContainer(settings.image, settings.resources)
        every = [getattr(self.words, name) for name in GcpwifAnnotations.__struct_fields__]
        written = (self.words.provider, self.words.email, self.words.audience)
        self.spelling = TypoHints(
            "gcpwif", settings.domain, every, written=[word.key for word in written]
        )
        self._heard = tuple(
            [
                getattr(self.words, name).key
                for name in ("provider", "email", "audience", "expiration", "user", "mode")
            ]
        )
        self._known: Memo[Said, Usual] = Memo()

    def skipped(self, pod: Pod) -> frozenset[str]:
        listed = (pod.metadata.annotations or {}).get(self.words.skip.key, "")
        return peers.split_names(listed, ",") | ALWAYS if listed else ALWAYS

    def __call__(self, subject: PodContext) -> Injection | Skip:
        name = subject.pod.spec.service_account_name
        if not name:
            return Skip("gcp", "no-account", "the pod names no ServiceAccount")
        account = subject.service_account(name)
        if account is None:
            return Skip(
                "gcp", "no-account", f"there is no ServiceAccount {subject.namespace}/{name}"
            )
        subject.annotation_warnings = self.spelling.of(subject, account)
        usual = self._usual(subject, account)
        return self._injection(subject, usual) if usual else self._unasked(subject, account)

    def _usual(self, subject: PodContext, account: AnnotationSource) -> Usual | None:
        """Of the pod itself only its own expiration counts, and which of its containers there are."""
        pod = subject.pod
        own = (pod.metadata.annotations or {}).get(self.words.expiration.key)
        places = subject.container_refs(self.skipped(pod))
        key = (
            account.ref,
            tuple(map(account.annotations.get, self._heard)),
            None if own is None else subject.ref,
            own,
            places,
        )
        known = self._known.get(key)
        if known is None:
            said = AnnotationSource(
                "pod", subject.ref, {} if own is None else {self.words.expiration.key: own}
            )  # it is kept: no more than what is heard
            asked = wish(self.settings, self.words, said, account)
            if asked is None:
                return None
            known = self._worked_out(asked, places)
            self._known.keep(key, known, weight(known.injection, places))
        return known

    def _unasked(self, subject: PodContext, account: AnnotationSource) -> Skip:
        """On the pod itself they are but written, for others to read."""
        pair = f"{self.words.provider.key} and {self.words.email.key}"
        if self.words.mode.key in account.annotations or self.words.user.key in account.annotations:
            return Skip(
                "gcp",
                "incomplete",
                f"{account} lacks {pair}",
                (f"{account} is annotated for Google's credentials, but lacks {pair}",),
            )
        own = subject.pod.metadata.annotations or {}
        astray = [
            f"{key} of {subject.ref} is not heard there: write it on {account}"
            for key in (self.words.provider.key, self.words.email.key)
            if key in own
        ]
        return Skip(
            "gcp", "not-asked", f"{account} has no {self.words.provider.key}", tuple(astray)
        )

    def _worked_out(self, asked: IdentityRequest, places: ContainerRefs) -> Usual:
        variables = (
            *POINTERS[asked.mode],
            self.region,
            variable("CLOUDSDK_CORE_PROJECT", asked.project),
        )
        origins = tuple(self._origins(asked, variables))
        injection = Injection(
            provider="gcp",
            volumes=(self._token(asked), *self.more[asked.mode]),
            containers=tuple(
                [ContainerInjection(*where, variables, MOUNTS[asked.mode]) for where in places]
            ),
            replaces=OURS[asked.mode],
            annotations=self._annotations(asked),
            warnings=tuple(self._of_values(asked)),
            origins=origins,
            summary=describe_origins(origins),
        )
        return Usual(asked, injection, variables)

    def _injection(self, subject: PodContext, usual: Usual) -> Injection:
        pod, asked = subject.pod, usual.asked
        if asked.mode == "gcloud" and declares_windows(pod):
            raise PodRefused(
                f"{NAME} does not run on Windows",
                warnings=(f"set {self.words.mode.key} of {asked.account} to direct",),
            )
        joining = (self.setup.joining(pod, asked),) if asked.mode == "gcloud" else ()
        skipped = self.skipped(pod)
        own = cautions.own_values(subject, usual.variables, skipped, REPLACED[asked.mode])
        return more(
            usual.injection,
            joining,
            (
                *self._warnings(subject, asked),
                *cautions.skipped(subject, self.words.skip.key, skipped, ALWAYS),
                *own,
            ),
        )

    def _annotations(self, asked: IdentityRequest) -> dict[str, str]:
        effective = {
            self.words.provider.key: asked.provider,
            self.words.email.key: asked.email,
            self.words.audience.key: asked.audience.value,
            self.words.expiration.key: str(asked.seconds),
        }
        return effective | (
            {self.words.credentials.key: credentials(asked)} if asked.mode == "direct" else {}
        )

    def _token(self, asked: IdentityRequest) -> Volume:
        token = {
            "audience": asked.audience.value,
            "expirationSeconds": asked.seconds,
            "path": "token",
        }
        return Volume(
            TOKEN.name,
            {
                "projected": {
                    "sources": [{"serviceAccountToken": token}],
                    "defaultMode": self.settings.file_mode,
                }
            },
        )

    def _origins(self, asked: IdentityRequest, variables: tuple[Variable, ...]) -> Iterator[Origin]:
        yield Origin("provider", asked.provider, self.words.provider.key, asked.account)
        yield Origin("service account", asked.email, self.words.email.key, asked.account)
        yield asked.audience
        yield asked.expiration
        if asked.user is not None:
            yield Origin("gcloud's user", str(asked.user), self.words.user.key, asked.account)
        by_email = variables[-1]
        yield from (Origin(v.name, v.value) for v in variables[:-1] if v.value)
        if by_email.value:
            yield Origin(by_email.name, by_email.value, self.words.email.key, asked.account)

    def _of_values(self, asked: IdentityRequest) -> Iterator[str]:
        expiration = asked.expiration
        if not asked.audience.value:
            yield f"{self.words.audience.key} of {asked.account} is empty: the token is for the API server, and Google will refuse it"
        if asked.email:
            yield from cautions.service_account(
                f"{self.words.email.key} of {asked.account}", asked.email
            )
        else:
            yield f"{self.words.email.key} of {asked.account} is empty: there is nobody to act as"
        if expiration.source and asked.said < LEAST:
            yield f"{expiration.key} of {expiration.source} is {asked.said}: the token lasts {LEAST} seconds, the least that there is"
        yield from cautions.expiration(asked.seconds, self.words.expiration.key)
        if asked.mode == "gcloud" and asked.user is not None and not 0 <= asked.user < 1 << 31:
            yield f"{self.words.user.key}: the API server refuses user {asked.user}; it takes 0 to {(1 << 31) - 1}"

    def _warnings(self, subject: PodContext, asked: IdentityRequest) -> Iterator[str]:
        if asked.mode == "gcloud":
            yield from self._of_gcloud(subject, asked)
        yield from cautions.unreadable(subject.pod, self.settings.file_mode, TOKEN_FILE)

    def _of_gcloud(self, subject: PodContext, asked: IdentityRequest) -> Iterator[str]:
        if runs_on_windows(subject.pod):
            yield f"{NAME} does not run on Windows: set {self.words.mode.key} of {asked.account} to direct"
        if asked.user is None:
            return
        base, shared = subject.pod.spec.security_context, common_user(subject.pod)
        alone = not (base and base.fs_group is not None) and not self.settings.file_mode & 0o004
        if alone and shared and asked.user != shared:
            yield f"{self.words.user.key} of {asked.account} is {asked.user}, but containers run as {shared}: they will not be able to read {TOKEN_FILE}"


def credentials(asked: IdentityRequest) -> str:
    """The file that Google's libraries look for. Its keys stand as the peer writes them."""
    return msgspec.json.encode({
        "type": "external_account",
        "audience": f"//iam.googleapis.com/{asked.provider}",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "service_account_impersonation_url": f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{asked.email}:generateAccessToken",
        "credential_source": {"file": TOKEN_FILE, "format": {"type": "text"}},
    }).decode()  # fmt: skip
