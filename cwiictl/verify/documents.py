"""The issuer's two documents, as a cloud would find them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import cast

from cwiictl import names, oidc
from cwiictl.errors import Conflict, Problem
from cwiictl.issuer.page import MOST, SECONDS, Page
from cwiictl.issuer.rotation import Rotation, begin, rotation
from cwiictl.oidc import KeySet, VerificationKey
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import Finding, Severity, whole
from cwiictl.verify.letter import unlike

DISCOVERY, KEYS, KEY, CLOCK = "discovery document", "key set", "signing key", "clock"
LONG = 3600  # seconds that an old key set may be believed in some cache
SKEW, MOST_SKEW = 60.0, 300.0  # seconds: what is worth a word, and what no cloud forgives
ASKED = (
    "response_types_supported",
    "subject_types_supported",
    "id_token_signing_alg_values_supported",
)
AGAIN = "publish it again with create-all, or with create-identity-provider"

_TYPES = {DISCOVERY: ("application/json",), KEYS: ("application/json", "application/jwk-set+json")}
_AGE = re.compile(r"\bmax-age\s*=\s*\"?(\d+)", re.IGNORECASE)


def jwks_uri(page: Page) -> str:
    """Where a cloud would look for the keys; empty if it would not look."""
    found = (_document(page) or {}).get("jwks_uri")
    return found if isinstance(found, str) and found.startswith("https://") else ""


def kids(page: Page | None) -> frozenset[str]:
    """Of what is published; none if that is nothing, or cannot be read."""
    try:
        return frozenset(oidc.key_set(page.text, page.url).kids) if page else frozenset()
    except Problem:
        return frozenset()


def judged(thing: str, expected: Expected, discovery: Page, keys: Page | None) -> Iterator[Finding]:
    """Each of them by itself: what follows from something else is not told beside it."""
    found = whole(thing, DISCOVERY, _discovery(thing, expected.url, discovery))
    yield from found
    if keys is None or _stops(found):
        why = "the discovery document comes first"
        yield from (Finding(thing, check, "not tried", why) for check in (KEYS, KEY))
        return
    told = whole(thing, KEYS, _key_set(thing, keys))
    yield from told
    yield from (
        [Finding(thing, KEY, "not tried", "the key set comes first")]
        if _stops(told)
        else signing_key(thing, expected.key, keys)
    )
    yield from _clock(thing, discovery)


def _stops(found: tuple[Finding, ...]) -> bool:
    return any(each.severity == "failed" for each in found)


# --- either ---


def _unread(thing: str, check: str, page: Page) -> Finding | None:
    problem, remedy = _trouble(page) if page.trouble else _status(page)
    return Finding(thing, check, "failed", problem, remedy) if problem else None


def _trouble(page: Page) -> tuple[str, str]:
    match page.trouble:
        case "insecure":
            return (
                f"{page.url} is not https, and no cloud would read it",
                "serve the documents over https",
            )
        case "private":
            return (
                f"private issuer: {page.url} is at {page.why}, which no cloud can reach",
                "serve the two documents from a host that everybody reaches, or let a cloud host them",
            )
        case "distrusted":
            return (
                f"the certificate of {page.url} is not believed: {page.why}",
                "have one made by an authority that everybody knows, for this very host, and send what is between; clouds look at the whole chain",
            )
        case "long":
            return (
                f"{page.url} is longer than {MOST} bytes, and a cloud reads no further",
                "serve the document alone",
            )
        case "slow":
            return (
                f"{page.url} does not answer within {SECONDS:g} seconds ({page.why})",
                "serve the documents as files, from somewhere near",
            )
        case _:
            return (
                f"{page.url} cannot be reached: {page.why}",
                "see that its host has an address in public DNS, and answers on port 443",
            )


def _status(page: Page) -> tuple[str, str]:
    code = page.headers.get("x-ms-error-code", "")
    said = f"{page.url} answers {page.status}{f' ({code})' if code else ''}"
    if page.status == 200:
        return "", ""
    if 300 <= page.status < 400:
        where = page.headers.get("location", "")
        return (
            f"{said} and leads to {where or 'nowhere'}, and clouds do not follow",
            "serve the document itself at this address, without a redirect",
        )
    if page.status in {401, 403, 409}:
        return (
            f"{said}: it is not for everybody, or not there",
            "let everybody read the two documents without credentials: in a place of ours create-all does",
        )
    if page.status == 404:
        return (
            f"{said}: it is not there, or not for everybody",
            f"{AGAIN}; where the place is yours, let everybody read it",
        )
    return (
        f"{said}, which is no document",
        "see that its host works, and answers 200 to whoever has no credentials",
    )


def _served(thing: str, check: str, page: Page) -> Iterator[Finding]:
    """What a cloud might live with."""
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _TYPES[check]:
        told = f"{page.url} is served as {kind or 'nothing in particular'}, and not as {_TYPES[check][0]}"
        yield Finding(
            thing,
            check,
            "warning",
            told,
            "have its host say Content-Type: application/json: some clouds read nothing else",
        )
    age = _AGE.search(page.headers.get("cache-control", ""))
    if age and int(age[1]) > LONG:
        told = f"{page.url} may be kept for {int(age[1])} seconds, and so long a new key is not heard of"
        yield Finding(
            thing,
            check,
            "warning",
            told,
            f"have its host say Cache-Control: max-age of at most {LONG}",
        )


def _document(page: Page) -> Mapping[str, object] | None:
    try:
        document: object = json.loads(page.text)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, object]", document) if isinstance(document, dict) else None


# --- the discovery document ---


def _discovery(thing: str, url: str, page: Page) -> Iterator[Finding]:
    if unread := _unread(thing, DISCOVERY, page):
        yield unread
        return
    document = _document(page)
    if (
        problem := f"{page.url} is no JSON object"
        if document is None
        else _wrong(url, page, document)
    ):
        yield Finding(thing, DISCOVERY, "failed", problem, AGAIN)
        return
    yield from _served(thing, DISCOVERY, page)
    lacking = [field for field in ASKED if field not in (document or {})]
    if lacking:
        yield Finding(
            thing,
            DISCOVERY,
            "warning",
            f"{page.url} lacks {', '.join(lacking)}, for which AWS asks",
            AGAIN,
        )


def _wrong(url: str, page: Page, document: Mapping[str, object]) -> str:
    issuer, found = str(document.get("issuer", "")), document.get("jwks_uri")
    if issuer != url:
        hint = unlike(issuer, url)
        return f"{page.url} is the document of the issuer {issuer or '(none)'}, and not of {url}{f': {hint}' if hint else ''}"
    if not isinstance(found, str):
        return f"{page.url} does not say where the keys are: it has no jwks_uri"
    return (
        ""
        if jwks_uri(page)
        else f"{page.url} says that the keys are at {found}, which is not https"
    )


# --- the keys ---


def _key_set(thing: str, page: Page) -> Iterator[Finding]:
    if unread := _unread(thing, KEYS, page):
        yield unread
        return
    try:
        oidc.key_set(page.text, page.url)
    except Problem as e:
        yield Finding(thing, KEYS, "failed", e.problem, e.remedy)
        return
    yield from _served(thing, KEYS, page)


def signing_key(thing: str, key: VerificationKey | None, page: Page) -> tuple[Finding, ...]:
    """Of a key set that can be read."""
    if key is None:
        why = "the cluster's key is not known here"
        return (
            Finding(
                thing,
                KEY,
                "not tried",
                why,
                "give its public half with --public-key-file, or its folder with --output-dir",
            ),
        )
    return whole(
        thing,
        KEY,
        published(thing, key, oidc.key_set(page.text, page.url), page.url, _rotation(page)),
    )


def _rotation(page: Page) -> Rotation | None:
    """Clouds give out what was said of an object with it, each behind a word of its own. What cannot be read says nothing."""
    word = next(
        (
            text
            for name, text in page.headers.items()
            if name.replace("-", "_").endswith(f"_meta_{names.ROTATION}")
        ),
        "",
    )
    try:
        return rotation(word, page.url)
    except Problem:
        return None


def published(
    thing: str, key: VerificationKey, found: KeySet, where: str, stands: Rotation | None = None
) -> Iterator[Finding]:
    try:
        holds = found.holds(key)
    except Conflict as e:
        yield Finding(thing, KEY, "failed", e.problem, e.remedy)
        return
    if holds:
        return
    if misnamed := found.misnamed(key, where):
        yield Finding(thing, KEY, "failed", misnamed.problem, misnamed.remedy)
        return
    if stands and stands.drops and begin(key.kid) == stands.old:
        told = f"the key {key.kid} is not published any more: a rotation has taken it away from {where}"
        yield Finding(
            thing,
            KEY,
            "failed",
            told,
            f"give the key that came after it, {stands.new}..., which the cluster signs with",
        )
        return
    told = f"the cluster's key {key.kid} is not published: {where} has {', '.join(found.kids) or 'none'}"
    yield Finding(
        thing,
        KEY,
        "failed",
        told,
        "publish it too with create-all --add-key; or give the key that the cluster signs with, if this is another's",
    )


# --- the clock ---


def _clock(thing: str, page: Page) -> Iterator[Finding]:
    if page.ahead is None:
        return
    if abs(page.ahead) <= SKEW:
        yield Finding(thing, CLOCK)
        return
    told = f"this machine's clock is {abs(page.ahead):.0f} seconds {'ahead of' if page.ahead > 0 else 'behind'} that of the issuer's host"
    severity: Severity = "failed" if abs(page.ahead) > MOST_SKEW else "warning"
    yield Finding(
        thing,
        CLOCK,
        severity,
        told,
        "set it by NTP, here and on the machines of the cluster: a token that is not valid yet, or no more, is refused",
    )
