"""The discovery document and the key set, wherever they are hosted; and the issuer that anybody can read because of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypedDict, cast, get_args

from cwiictl import names, oidc
from cwiictl.engine.resource import Difference, Known, Resource, State, Store, aside, differences
from cwiictl.errors import BadInput, Conflict, Failed, Problem
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import KeyState, SigningKey
from cwiictl.issuer.rotation import DROPPING, Rotation, Turn, begin, rotation
from cwiictl.oidc import KeySet as PublishedKeys
from cwiictl.oidc import VerificationKey

JSON = "application/json"
CACHE = "public, max-age=60"  # short: clouds that honour it learn of a new key within a minute

Plain = Literal[
    "published", "looked at", "add", "replace"
]  # "looked at" is "published" of who writes nothing
PLAIN: tuple[Plain, ...] = get_args(Plain)
Keys = Plain | Turn
EMPTY = "no key is in it, so nobody's token is believed"
PUBLISH = "publish the cluster's key in it with create-all --add-key"


def hidden() -> Any:
    """Of the found one: why nobody here may say what is in it. It is read before anything is written over it."""
    return field(default="", compare=False, metadata={"bookkeeping": True})


def version() -> Any:
    """Of the found one, as its place counts them: what is written over it says which it saw."""
    return field(default="", compare=False, repr=False, metadata={"aside": True})


@dataclass(frozen=True)
class Hosting:
    """How an issuer is to be hosted: what may be done to published keys, at which URL, if that is not the host's own, and who else trusts it."""

    keys: Keys
    url: str = ""
    clouds: frozenset[str] = frozenset()  # others than the host
    web: Store[IssuerState] | None = (
        None  # how the world reads it there, if not as it reads the host
    )


class _Headers(TypedDict):
    content_type: str
    cache_control: str
    version: str


@dataclass(frozen=True, kw_only=True)
class DocumentState(State):
    """It bears no mark of its own: it is its parent's."""

    markless: ClassVar[bool] = True
    body: Mapping[str, object]
    content_type: str = JSON
    cache_control: str = CACHE
    hidden: str = hidden()
    version: str = version()

    @classmethod
    def read(
        cls, text: bytes, content_type: str = JSON, cache_control: str = CACHE, seen: str = ""
    ) -> DocumentState:
        """What is no JSON is kept as it is, and so differs from all that we want."""
        try:
            body: object = json.loads(text)
        except ValueError:
            body = None
        whole = (
            cast("Mapping[str, object]", body)
            if isinstance(body, dict)
            else {"malformed": text[:200].decode(errors="replace")}
        )
        return cls(body=whole, content_type=content_type, cache_control=cache_control, version=seen)


@dataclass(frozen=True)
class DiscoveryDocument(Resource[DocumentState]):
    """Says to everybody who the issuer is and where its keys are."""

    parent: Resource[Any] | None  # whose mark speaks for it, if it has one
    home: Home
    jwks: str  # the key set's path
    cluster: str = ""

    def want(self, known: Known) -> DocumentState:
        url = self.home.url(known)
        return DocumentState(body=oidc.discovery(url, f"{url}/{self.jwks}"))

    def differing(self, want: DocumentState, have: DocumentState) -> tuple[Difference, ...]:
        return _unread(have.hidden) or differences(want, have)

    def objection(self, found: Known) -> Problem | None:
        """In a place that is not ours, another issuer's document is another's."""
        have = found.get(self)
        if have is None or have.hidden or self.parent is None or not self.parent.brought:
            return None
        if have.owner is None and have.body.get("issuer") != self.home.text:
            return Conflict(
                f"{self.address} is there already, of another issuer",
                remedy="give this issuer a place of its own: another bucket, container or path",
            )
        return _anothers(self.address, have, self.cluster)


@dataclass(frozen=True, kw_only=True)
class KeySetState(State):
    markless: ClassVar[bool] = True
    kids: frozenset[str]
    malformed: str = ""
    content_type: str = JSON
    cache_control: str = CACHE
    hidden: str = hidden()
    mode: Keys = field(
        default="published", compare=False
    )  # what may be done to keys that are published
    version: str = version()
    rotation: Rotation | None = field(default=None, compare=False, metadata={"bookkeeping": True})
    keys: tuple[VerificationKey, ...] = aside()  # of the wanted one
    published: tuple[PublishedKeys, ...] = aside()  # of the found one: the document itself

    @classmethod
    def read(
        cls,
        text: bytes,
        source: str,
        content_type: str = JSON,
        cache_control: str = CACHE,
        seen: str = "",
    ) -> KeySetState:
        headers = _Headers(content_type=content_type, cache_control=cache_control, version=seen)
        try:
            published = oidc.key_set(text, source)
        except Problem as e:
            return cls(kids=frozenset(), malformed=e.problem, **headers)
        return cls(kids=frozenset(published.kids), published=(published,), **headers)

    def saying(self, word: str, where: str) -> KeySetState:
        """The same, with what is said of a rotation beside it."""
        return replace(self, rotation=rotation(word, where))

    def merged(self, have: KeySetState | None) -> bytes:
        """What is to be published over what was seen: nobody's key is lost, and nobody's trust is widened, unless that was asked for."""
        wanted = self.beside(have)
        if have and self.mode == "published" and not have.serves(self.signing):
            raise Conflict(
                "the published key set has changed, and does not hold our key",
                remedy="run again, and decide with --add-key or --replace-keys",
            )
        if have is None and isinstance(self.mode, Turn):
            raise Conflict(
                "the published key set is gone, and a rotation begins with one",
                remedy="look what became of it, and publish the cluster's key again",
            )
        if not self.signing.kids <= wanted.kids:
            raise Conflict(
                "a rotation has taken our key away meanwhile",
                remedy="run again, with the key that came after it",
            )
        document = have.published[0] if have and have.published else PublishedKeys()
        for number, key in enumerate(wanted.keys):
            document = (
                document.only(key)
                if self.mode == "replace" and not number
                else document.with_key(key)
            )
        return oidc.dump(document.without(self.gone(document.kids)).document)

    @property
    def signing(self) -> KeySetState:
        """Of the wanted one, the first key alone: the others are taken because the cluster takes them, and never prove whose set it is."""
        return self._of(self.keys[:1])

    def beside(self, have: KeySetState | None) -> KeySetState:
        """What is wanted of what was seen: a cluster takes a key for a while yet that a rotation has taken away, and nobody else is to any more."""
        if have is None or self.mode not in {"published", "add"}:
            return self
        return self._of(tuple(key for key in self.keys if not have.dropped(key.kid)))

    def dropped(self, kid: str) -> bool:
        """Of the found one: whether a rotation has taken this key away."""
        return bool(
            self.rotation
            and self.rotation.drops
            and begin(kid) == self.rotation.old
            and kid not in self.kids
        )

    def _of(self, keys: tuple[VerificationKey, ...]) -> KeySetState:
        return replace(self, kids=frozenset(key.kid for key in keys), keys=keys)

    def gone(self, kids: Iterable[str]) -> frozenset[str]:
        """Of what is published, what a rotation takes away."""
        return frozenset(
            kid for kid in kids if isinstance(self.mode, Turn) and self.mode.takes(kid)
        )

    def word(self, have: KeySetState | None) -> str:
        """What is to be said of a rotation, over what was seen: whoever turns nothing leaves it; who replaces all keys has ended it."""
        stands = self.rotation or (have.rotation if have and self.mode != "replace" else None)
        return stands.word if stands else ""

    def serves(self, want: KeySetState) -> bool:
        """Raises where the same id stands for another key: that is nobody's wish."""
        return (
            all(document.holds(key) for document in self.published for key in want.keys)
            and want.kids <= self.kids
        )


@dataclass(frozen=True)
class KeySet(Resource[KeySetState]):
    """The public keys that tokens are checked with: ours must be there, others may be.

    A shared document: it gains or loses a key only when that was asked for.
    """

    parent: Resource[Any] | None  # whose mark speaks for it, if it has one
    key: SigningKey
    keys: Keys = "published"
    cluster: str = ""

    def want(self, known: Known) -> KeySetState:
        key = known[self.key]
        turned = self.keys.to(key.kid) if isinstance(self.keys, Turn) else None
        mode = "published" if self.keys == "looked at" else self.keys
        return KeySetState(
            kids=frozenset(every.kid for every in key.every),
            mode=mode,
            keys=key.every,
            rotation=turned,
        )

    def differing(self, want: KeySetState, have: KeySetState) -> tuple[Difference, ...]:
        if have.hidden:
            return _unread(have.hidden)
        want = want.beside(have)
        right = (
            want.kids == have.kids
            if want.mode == "replace"
            else have.serves(want) and not want.gone(have.kids)
        )
        after = (
            want.kids if want.mode == "replace" else (have.kids | want.kids) - want.gone(have.kids)
        )
        told = (
            Difference("kids", have.kids, after) if d.field == "kids" else d
            for d in differences(want, have)
        )
        return (
            *(d for d in told if d.field != "kids" or not right),
            *_turned(want.rotation, have.rotation),
        )

    def remarks(self, want: KeySetState, have: KeySetState) -> tuple[str, ...]:  # noqa: ARG002 - whatever is wanted
        told = (have.rotation.told,) if have.rotation and self.keys in PLAIN else ()
        return (*told, f"{EMPTY}: {PUBLISH}") if self._emptied(have) else told

    def _emptied(self, have: KeySetState) -> bool:
        """Nobody could mistake another's key for the cluster's: it has been emptied, and whoever only looks is told so."""
        return self.keys == "looked at" and not (have.kids or have.malformed or have.hidden)

    def objection(self, found: Known) -> Problem | None:
        """A key that the world does not know yet would make it forget, or doubt, the one that it knows."""
        have, key = found.get(self), found.get(self.key)
        if problem := have and _anothers(self.address, have, self.cluster):
            return problem
        if isinstance(self.keys, Turn):
            return _untimely(self.address, self.keys, have, key)
        if self.keys == "replace" or have is None or have.hidden:
            return None
        if have.malformed:
            return Failed(
                have.malformed, remedy="repair it by hand, or replace it with --replace-keys"
            )
        return self._unasked(have, key)

    def _unasked(self, have: KeySetState, key: KeyState | None) -> Problem | None:
        if key and have.dropped(key.kid):
            return _taken(self.address, key)
        if self._emptied(have):
            return None
        if self.keys == "add" or (key and key.kid in have.kids):
            return self._doubt(have, key)
        misnamed = (
            (document.misnamed(key.verifies, self.address) for document in have.published)
            if key
            else ()
        )
        return next(filter(None, misnamed), None) or _lacking(self.address, have, key)

    @staticmethod
    def _doubt(have: KeySetState, key: KeyState | None) -> Problem | None:
        """The same id for another key is nobody's wish."""
        try:
            if key:
                have.serves(KeySetState(kids=frozenset({key.kid}), keys=(key.verifies,)))
        except Problem as e:
            return e
        return None


def _taken(address: str, key: KeyState) -> Problem:
    return BadInput(
        f"{address} has the key {key.kid} no more: a rotation has taken it away",
        remedy="give the public half of the key that came after it as --public-key-file",
    )


def _lacking(address: str, have: KeySetState, key: KeyState | None) -> Problem:
    """The key at hand is not among those that are published."""
    if not have.kids:
        return BadInput(
            f"{address} is published, but {EMPTY}",
            remedy=f"find out who has emptied it, and {PUBLISH}",
        )
    ours = f"the key {key.kid}" if key else "a key that is yet to be made"
    return BadInput(
        f"{address} is published already with the key {', '.join(sorted(have.kids))}, and {ours} is not in it",
        remedy="give the folder of the cluster's key as --output-dir, or its public half as --public-key-file; to change the key"
        " create with --add-key (both are believed) or --replace-keys (tokens of the old one are refused)",
    )


def _untimely(
    address: str, turn: Turn, have: KeySetState | None, key: KeyState | None
) -> Problem | None:
    """Who else turns the same keys was first, or what they are turned from is not there."""
    if have is None or have.hidden:
        return BadInput(
            f"{address} is not there, or cannot be read",
            remedy="publish the cluster's key first, with create-identity-provider",
        )
    if have.malformed:
        return Failed(have.malformed, remedy="repair it by hand, or replace it with --replace-keys")
    ours = {*turn.over, *((turn.to(key.kid).word,) if key else ())}
    if (have.rotation.word if have.rotation else "") not in ours:
        told = f"stage {have.rotation.stage}" if have.rotation else "no rotation at all"
        return Conflict(
            f"somebody else has brought {address} to {told} meanwhile",
            remedy="look where it stands with status, and go on from there",
        )
    if not (turn.stage in DROPPING or any(begin(kid) == turn.old for kid in have.kids)):
        return BadInput(
            f"{address} is published without the key {turn.old}... that the cluster signs with",
            remedy="publish it first, with create-identity-provider --add-key",
        )
    return None


def _turned(want: Rotation | None, have: Rotation | None) -> tuple[Difference, ...]:
    """Since when is the clock's to say, and nobody's wish."""
    if want is None or want == have:
        return ()
    return (Difference("rotation", have.stage if have else None, want.stage),)


def _unread(why: str) -> tuple[Difference, ...]:
    return (Difference("readable", why, "by whoever runs this"),) if why else ()


def _anothers(address: str, have: State, cluster: str) -> Problem | None:
    """In a place that is not ours there are documents of other clusters too."""
    if have.owner is None or names.own(have.owner.cluster) == cluster:
        return None
    return Conflict(
        f"{address} is there already, and bears the mark of cluster {have.owner.cluster}",
        remedy="give this cluster a place of its own",
    )


@dataclass(frozen=True, kw_only=True)
class IssuerState(State):
    """What anybody can read of an issuer on the web."""

    markless: ClassVar[bool] = True
    url: str
    readable: str = "by anybody"  # or what stands against it
    kids: frozenset[str] = frozenset()
    remedy: str = field(
        default="", compare=False, metadata={"bookkeeping": True}
    )  # of the wanted one: who can make it readable, and how, if not we
    turn: Turn | None = field(
        default=None, compare=False, metadata={"bookkeeping": True}
    )  # of the wanted one

    def gone(self, kids: Iterable[str]) -> frozenset[str]:
        """Of what is read there, what a rotation has taken away."""
        return frozenset(kid for kid in kids if self.turn and self.turn.takes(kid))


@dataclass(frozen=True)
class Issuer(Resource[IssuerState]):
    """The issuer as anybody sees it on the web.

    A wait as a resource: who needs the issuer to be readable holds it, and who needs its URL holds only that.
    """

    home: Home
    key: SigningKey
    behind: tuple[Resource[Any], ...] = ()  # what must be there before it can be read
    remedy: str = ""  # where somebody else must let everybody read it

    @property
    def late(self) -> bool:
        return self.home.of is not None

    def place(self, known: Known) -> str:
        return self.home.url(known)

    def want(self, known: Known) -> IssuerState:
        """Of the keys that one alone which signs: of the others, a rotation may have taken one away."""
        turn = next(
            (
                thing.keys
                for thing in self.behind
                if isinstance(thing, KeySet) and isinstance(thing.keys, Turn)
            ),
            None,
        )
        return IssuerState(
            url=self.home.url(known),
            kids=frozenset({known[self.key].kid}),
            remedy=self.remedy,
            turn=turn,
        )

    def differing(self, want: IssuerState, have: IssuerState) -> tuple[Difference, ...]:
        """Others' keys are read there too, and stay, but for the one that a rotation takes away."""
        after = (have.kids | want.kids) - want.gone(have.kids)
        told = (
            Difference("kids", have.kids, after) if d.field == "kids" else d
            for d in differences(want, have)
        )
        return tuple(d for d in told if d.field != "kids" or d.have != d.want)
