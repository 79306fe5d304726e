"""The dialect of Google's workload identity federation: a provider and a service account, by the ServiceAccount's annotations."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cwii_webhook.injection import Injection, Nothing, Origin, Touch, Variable, Volume, containers, variable
from cwii_webhook.mutators import cautions, peers
from cwii_webhook.mutators.gcpwif_layout import DIRECT, GCLOUD, MOUNTS, OURS, POINTERS, REPLACED, TOKEN, TOKEN_FILE, volumes
from cwii_webhook.mutators.gcpwif_setup import NAME, Setup
from cwii_webhook.mutators.gcpwif_wish import Wish, wish
from cwii_webhook.review import Pod
from cwii_webhook.settings.gcpwif import LEAST, Settings
from cwii_webhook.shape import common_user, on_windows
from cwii_webhook.vocabulary.gcpwif import words
from cwii_webhook.voices import Subject, Voice


class Gcpwif:
    gives = "gcp"
    volumes = frozenset({TOKEN.name, GCLOUD.name, DIRECT.name})
    variables = frozenset({"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "CLOUDSDK_COMPUTE_REGION", "CLOUDSDK_CORE_PROJECT"})

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.words = words(settings.domain)
        self.region = variable("CLOUDSDK_COMPUTE_REGION", settings.region)
        self.more = volumes(self.words.credentials.key, settings.file_mode)
        self.setup = Setup(settings.image, settings.resources)

    def skipped(self, pod: Pod) -> frozenset[str]:
        return peers.listed((pod.metadata.annotations or {}).get(self.words.skip.key, ""), ",") | {NAME}

    def __call__(self, subject: Subject) -> Injection | Nothing:
        name = subject.pod.spec.service_account_name
        if not name:
            return Nothing("gcp", "no-account", "the pod names no ServiceAccount")
        account = subject.account(name)
        if account is None:
            return Nothing("gcp", "no-account", f"there is no ServiceAccount {subject.namespace}/{name}")
        asked = wish(self.settings, self.words, subject.itself(), account)
        if asked is None:
            return self._unasked(account)
        return self._injection(subject, asked)

    def _unasked(self, account: Voice) -> Nothing:
        pair = f"{self.words.provider.key} and {self.words.email.key}"
        if self.words.mode.key in account.annotations or self.words.user.key in account.annotations:
            return Nothing("gcp", "incomplete", f"{account} lacks {pair}", (f"{account} is annotated for Google's credentials, but lacks {pair}",))
        return Nothing("gcp", "not-asked", f"{account} has no {self.words.provider.key}")

    def _injection(self, subject: Subject, asked: Wish) -> Injection:
        pod, mode = subject.pod, asked.mode
        skipped = self.skipped(pod)
        variables = (*POINTERS[mode], self.region, variable("CLOUDSDK_CORE_PROJECT", asked.project))
        return Injection(
            gives="gcp",
            volumes=(self._token(asked), *self.more[mode]),
            touches=tuple([Touch(at, i, variables, MOUNTS[mode]) for at, i, c in containers(pod) if c.name not in skipped]),
            joining=(self.setup.joining(pod, asked),) if mode == "gcloud" else (),
            ours=OURS[mode],
            annotations=self._annotations(asked),
            warnings=(*self._warnings(subject, asked), *cautions.own_values(pod, variables, skipped, REPLACED[mode])),
            origins=tuple(self._origins(asked, variables)),
        )

    def _annotations(self, asked: Wish) -> dict[str, str]:
        effective = {
            self.words.provider.key: asked.provider,
            self.words.email.key: asked.email,
            self.words.audience.key: asked.audience.value,
            self.words.expiration.key: str(asked.seconds),
        }
        return effective | ({self.words.credentials.key: credentials(asked)} if asked.mode == "direct" else {})

    def _token(self, asked: Wish) -> Volume:
        token = {"audience": asked.audience.value, "expirationSeconds": asked.seconds, "path": "token"}
        return Volume(TOKEN.name, {"projected": {"sources": [{"serviceAccountToken": token}], "defaultMode": self.settings.file_mode}})

    def _origins(self, asked: Wish, variables: tuple[Variable, ...]) -> Iterator[Origin]:
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

    def _warnings(self, subject: Subject, asked: Wish) -> Iterator[str]:
        pod, expiration = subject.pod, asked.expiration
        if not asked.audience.value:
            yield f"{self.words.audience.key} of {asked.account} is empty: the token is for the API server, and Google will refuse it"
        if not asked.email:
            yield f"{self.words.email.key} of {asked.account} is empty: there is nobody to act as"
        if expiration.voice and int(expiration.value) < LEAST:
            yield f"{expiration.key} of {expiration.voice} is {expiration.value}: the token lasts {LEAST} seconds, the least that there is"
        yield from cautions.expiration(asked.seconds, self.words.expiration.key)
        yield from self._of_gcloud(subject, asked)
        yield from cautions.unreadable(pod, self.settings.file_mode, TOKEN_FILE)

    def _of_gcloud(self, subject: Subject, asked: Wish) -> Iterator[str]:
        if asked.mode != "gcloud":
            return
        if on_windows(subject.pod):
            yield f"{NAME} does not run on Windows: set {self.words.mode.key} of {asked.account} to direct"
        if asked.user is not None and not 0 <= asked.user < 1 << 31:
            yield f"{self.words.user.key}: the API server refuses user {asked.user}; it takes 0 to {(1 << 31) - 1}"
        base, shared = subject.pod.spec.security_context, common_user(subject.pod)
        alone = not (base and base.fs_group is not None) and not self.settings.file_mode & 0o004
        if alone and shared and asked.user not in {None, shared}:
            yield f"{self.words.user.key} of {asked.account} is {asked.user}, but containers run as {shared}: they will not be able to read {TOKEN_FILE}"


def credentials(asked: Wish) -> str:
    """The file that Google's libraries look for. Its keys stand as the peer writes them."""
    return msgspec.json.encode({
        "type": "external_account",
        "audience": f"//iam.googleapis.com/{asked.provider}",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "service_account_impersonation_url": f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{asked.email}:generateAccessToken",
        "credential_source": {"file": TOKEN_FILE, "format": {"type": "text"}},
    }).decode()  # fmt: skip
