"""Pods of one workload are answered as the first of them was, and nobody is who only looks alike."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from cwii_webhook.admission.admit import admit
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    NotCached,
    ObjectMetadata,
    ObjectRef,
    service_account_ref,
)
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import AdmissionHandler
from cwii_webhook.admission.memo import BUDGET
from cwii_webhook.admission.twins import MET, MISFITS, Twins, lasting
from cwii_webhook.dialects.common.external_config import HasExternalConfig
from cwii_webhook.dialects.registry import ALL, build_service
from cwii_webhook.server.messages import JSON, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.log import Log, form
from cwii_webhook.telemetry.metrics import Metrics
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.pods import Json
from tests.properties.test_admission import any_pod, objects
from tests.webhook.dialects.cwii.pods import a_pod, said
from tests.webhook.harness import (
    LINES,
    OWN,
    OWNS,
    ROLE,
    ROUTES,
    SENSIBLE,
    Counter,
    Nowhere,
    Sight,
    written,
)
from tests.webhook.recorded_answers import Objects, request

FIRST, SECOND, THIRD, LAST = OWNS
REPEATED = b"cwii_repeated_decisions_total %d\n"


class Asking:
    """An admission of which the log and the numbers are read, and a picture that may change."""

    def __init__(
        self, log: BinaryIO, picture: ClusterView, words: tuple[str, ...] = ("cwii",)
    ) -> None:
        self.picture = picture
        self.asked: list[ObjectRef] = []
        self.metrics = Metrics()
        self._log = Path(log.name)
        self.route = build_service(ALL[words[0]], words[1:], {}).route
        diary = DecisionLog(self.metrics, Log(log.fileno()), tuple(ALL))
        self.admission = AdmissionHandler(
            {b"/": self.route},
            lambda: Sight(self),
            Nowhere(),
            diary,
            lambda _: text_response(404, "no review"),
        )
        self.admission.not_ready_reason = ""

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        self.asked.append(ref)
        return self.picture.get(ref)

    def reply(self, body: bytes, method: bytes = b"POST", kind: bytes = JSON) -> HttpResponse:
        reply = self.admission(HttpRequest(method, b"/", kind, body))
        assert isinstance(reply, HttpResponse)
        return reply

    def __call__(self, body: bytes) -> dict[str, Any]:
        return json.loads(self.reply(body).body)["response"]

    def thrice(self, pod: Json) -> list[dict[str, Any]]:
        return [self(written(pod, own)) for own in (FIRST, SECOND, THIRD)]

    @property
    def repeated(self) -> int:
        (line,) = [
            line
            for line in self.metrics.exposition().splitlines()
            if line.startswith(b"cwii_repeated_decisions_total ")
        ]
        return int(line.split()[1])

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]


Made = Callable[..., Asking]


@pytest.fixture
def made(tmp_path: Path) -> Generator[Made]:
    with ExitStack() as stack:
        names = map(str, itertools.count())
        yield lambda *told: Asking(stack.enter_context((tmp_path / next(names)).open("wb")), *told)


def asks(**more: str) -> Mapping[str, str]:
    return {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE, **more}


# What is answered again.


def test_a_third_is_answered_as_the_second_was_under_its_own_name(made: Made) -> None:
    asking = made(said(account=asks()))
    answers = asking.thrice(a_pod())

    assert [each.pop("uid") for each in answers] == [FIRST.uid, SECOND.uid, THIRD.uid]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["patchType"] == "JSONPatch"
    assert asking.repeated == 1  # the first may be the only one, and is not kept


def test_it_is_told_and_counted_like_all_others(made: Made) -> None:
    asking = made(said(account=asks()))
    for own in OWNS:
        asking(written(a_pod(), own))

    lines = asking.lines

    assert [line.pop("uid") for line in lines] == [own.uid for own in OWNS]
    assert len({line.pop("time") for line in lines}) == 4
    assert all(line == lines[0] for line in lines)
    assert (
        b'cwii_decisions_total{dialect="cwii",provider="aws",outcome="injected",reason=""} 4'
        in asking.metrics.exposition()
    )


def test_what_is_not_told_of_one_is_told_of_no_other(made: Made) -> None:
    """That nothing was asked for is said for whoever looks for mistakes, and for nobody else."""
    asking = made(said())
    asking.thrice(a_pod())

    assert asking.repeated == 1
    assert asking.lines == []


def test_a_line_in_which_whose_it_is_stands_twice_is_not_said_again() -> None:
    assert form("info", "injected", {"pod": FIRST.uid, "uid": FIRST.uid}, FIRST.uid) is None
    assert form("info", "injected", {"pod": "p", "uid": FIRST.uid}, FIRST.uid)


# What is not.


@pytest.mark.parametrize(
    ("number", "answered"), [(1, 200), (2, 403)], ids=["an API server", "anybody"]
)
def test_who_may_not_ask_hears_nothing_of_what_others_were_answered(
    made: Made, number: int, answered: int
) -> None:
    asking = made(said(account=asks()))
    asking.thrice(a_pod())
    asking.admission.client_names = frozenset({"1"})

    reply = asking.admission(
        HttpRequest(b"POST", b"/", JSON, written(a_pod(), LAST), (str(number),))
    )

    assert isinstance(reply, HttpResponse)
    assert reply.status == answered


def test_nor_does_who_asks_wrongly(made: Made) -> None:
    asking = made(said(account=asks()))
    asking.thrice(a_pod())

    assert asking.reply(written(a_pod(), LAST), method=b"PUT").status == 405
    assert asking.reply(written(a_pod(), LAST), kind=b"text/plain").status == 415


def test_nothing_is_answered_again_while_something_is_lacking(made: Made) -> None:
    asking = made(said(account=asks()))
    asking.thrice(a_pod())
    asking.admission.not_ready_reason = "the machine has not said what it is"

    assert asking.reply(written(a_pod(), LAST)).status == 503


SPACE, WORKER, OWNER = (
    ObjectRef("", "Namespace", "", "shop"),
    service_account_ref("shop", "worker"),
    ObjectRef("apps", "StatefulSet", "shop", "web"),
)
NOBODY = Objects({SPACE: ObjectMetadata({})})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (said(account=asks()), said(account=asks(**{"cwii.dev/aws-region": "eu-west-1"}))),
        (said(account=asks()), said()),
        (NOBODY, said(account=asks())),
        (said(), said(namespace=asks())),
        (
            said(owner=asks()),
            Objects(
                {
                    SPACE: ObjectMetadata({}),
                    WORKER: ObjectMetadata({}),
                    OWNER: ObjectMetadata(asks(), (), "another"),
                }
            ),
        ),
    ],
    ids=[
        "another word",
        "none left",
        "an account that is new",
        "a namespace that asks",
        "another owner of its name",
    ],
)
def test_when_the_cluster_says_another_thing_so_is_the_answer(
    made: Made, before: Objects, after: Objects
) -> None:
    asking, fresh = made(before), made(after)
    asking.thrice(a_pod())

    asking.picture = after
    answers = asking.thrice(a_pod())

    assert answers == fresh.thrice(a_pod())
    assert answers[0].get("patch") != made(before)(written(a_pod(), FIRST)).get("patch")


class Blank:
    """Knows nobody yet."""

    def __init__(self, kind: str = "") -> None:
        self._kind = kind

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if self._kind in {"", ref.kind}:
            raise NotCached(ref)
        return ObjectMetadata({})


def test_what_is_not_known_any_more_is_looked_up(made: Made) -> None:
    asking = made(said(account=asks()))
    asking.thrice(a_pod())

    asking.picture = Blank()
    reply = asking.admission(HttpRequest(b"POST", b"/", JSON, written(a_pod(), LAST)))

    assert not isinstance(reply, HttpResponse)
    with pytest.raises(AssertionError, match="is known to be there"):
        reply.__await__().send(None)


def test_what_was_answered_without_knowing_all_is_not_answered_again(made: Made) -> None:
    """Who has no label is let through, and warned if the account would be somebody: as soon as that is known."""
    asking = made(Blank("ServiceAccount"), ("azwi", "--tenant-id=t", "--check-label=true"))
    assert not any("warnings" in each for each in asking.thrice(a_pod()))

    asking.picture = said(account=SENSIBLE["azwi"])

    assert "warnings" in asking(written(a_pod(), LAST))


def test_with_other_routes_nothing_is_remembered(made: Made) -> None:
    asking = made(said(account=asks()))
    asking.thrice(a_pod())

    asking.admission.set_routes(
        {b"/": build_service(ALL["cwii"], ("--aws-default-region=eu-west-3",), {}).route}
    )

    fresh = made(said(account=asks()), ("cwii", "--aws-default-region=eu-west-3"))
    assert asking(written(a_pod(), LAST)) == fresh(written(a_pod(), LAST))


def test_where_a_map_of_roles_is_heeded_each_is_decided_anew(made: Made) -> None:
    """For a map can change without any object that was heard."""
    held = Objects({service_account_ref("shop", "worker"): ObjectMetadata({})})
    asking = made(held, ("eks", "--watch-config-map"))
    (roles,) = [
        source
        for mutator in asking.route.mutators
        if isinstance(mutator, HasExternalConfig)
        for source in mutator.external_config
    ]

    before = asking.thrice(a_pod())
    assert not roles.update(json.dumps({"shop/worker": {"RoleARN": ROLE}}))

    assert "patch" not in before[2]
    assert "patch" in asking(written(a_pod(), LAST))


def test_a_name_of_its_own_that_comes_into_the_answer_makes_it_nobody_elses() -> None:
    """No mutator says one now. One that did would find its decision forgotten."""
    body = written(a_pod(), SECOND)
    route, counter = ROUTES["cwii"], Counter(ROUTES["cwii"], said(account=asks()))
    diary = DecisionLog(Metrics(), Log(0), tuple(ALL))
    decision = admit(route, request(a_pod()), said(account=asks()))
    reply = counter(body)
    asked = replace(request(a_pod()), uid=SECOND.uid)
    told_of = diary.lasting("cwii", asked, decision)

    assert told_of
    assert lasting(body, decision, (), reply.body, told_of)
    assert (
        lasting(
            body,
            replace(decision, warnings=(f"kube-api-access-{SECOND.volume}",)),
            (),
            reply.body,
            told_of,
        )
        is None
    )
    assert (
        lasting(body, replace(decision, warnings=(SECOND.time,)), (), reply.body, told_of) is None
    )


# What it may cost.


def test_of_many_that_only_begin_alike_a_few_are_kept_and_then_none(made: Made) -> None:
    """The pods of a DaemonSet say each to which node they go."""
    asking = made(said(account=asks()))
    on_nodes = [a_pod(nodeName=f"node-{number}") for number in range(9)]
    for _ in range(3):
        for pod in on_nodes:
            asking(written(pod, FIRST))

    assert asking.repeated == 2, "the last that was kept has come twice more"
    asking.thrice(on_nodes[-1])
    assert asking.repeated == 2, f"of {MISFITS} more the answers were kept, and of none after them"


def test_what_is_remembered_has_its_bounds(made: Made) -> None:
    """Heads that came once, and all that others said on whose word an answer was given."""
    long = {"cwii.dev/x": "x" * 40_000}
    asking = made(said(account=asks(**long)))
    twins = Twins(asking.route)

    for number in range(2 * MET):
        assert not twins.met((number, b""))
    kept = [twins.met((number, b"")) for number in range(MET)]
    for number in range(80):
        for own in (FIRST, SECOND):
            asking(written(a_pod({"number": f"{number:03}"}), own))
    for number in reversed(range(80)):
        asking(written(a_pod({"number": f"{number:03}"}), THIRD))

    assert not any(kept)
    assert 0 < asking.repeated <= BUDGET // 40_000


# And whatever comes.

shapes = pytest.mark.parametrize("shape", ROUTES)
NAMES = [f"kube-api-access-{OWN}", *[f"kube-api-access-{own.volume}" for own in OWNS[:2]]]
texts = st.sampled_from([*NAMES, OWN, "true", "false", ROLE])


class Changing:
    """Of what the clouds' users say of accounts, some are promised something, and some are not there at all."""

    def __init__(self, shape: str) -> None:
        sensible = SENSIBLE[LINES[shape][0]]
        self.objects = {
            SPACE: ObjectMetadata({}),
            WORKER: ObjectMetadata(sensible),
            OWNER: ObjectMetadata({}, (), "u"),
        }
        for number, own in enumerate(OWNS):
            self.objects[service_account_ref("shop", f"kube-api-access-{own.volume}")] = (
                ObjectMetadata(sensible if number % 2 else {})
            )

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self.objects.get(ref)


KNOWING = {shape: Changing(shape) for shape in ROUTES}
COUNTERS = {shape: Counter(route, KNOWING[shape]) for shape, route in ROUTES.items()}


@shapes
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_the_pod_its_answer_is_what_it_would_be_without_any_twin(
    shape: str, data: st.DataObject
) -> None:
    """Whatever it says with its own name in it, too, or with another's."""
    pod = data.draw(any_pod(shape))
    keys = st.sampled_from([word.key for word in ALL[LINES[shape][0]].annotations])
    more = data.draw(st.dictionaries(keys, texts, max_size=2))
    pod["metadata"]["annotations"] = {**(pod["metadata"].get("annotations") or {}), **more}
    pod["spec"]["serviceAccountName"] = data.draw(st.sampled_from(["worker", "worker", *NAMES]))
    for container in (pod["spec"].get("containers") or ())[: data.draw(st.integers(0, 1))]:
        container["name"] = data.draw(st.sampled_from(NAMES))
    mounts, others = (
        data.draw(st.booleans()),
        data.draw(st.sampled_from([ObjectMetadata(SENSIBLE[LINES[shape][0]]), ObjectMetadata({})])),
    )

    for own in (FIRST, SECOND, THIRD, LAST):
        body = written(pod, own, mounts=mounts)
        alone = Counter(ROUTES[shape], KNOWING[shape])
        assert COUNTERS[shape](body) == alone(body)
        if own is THIRD:
            KNOWING[shape].objects[WORKER] = others


@shapes
def test_it_is_so_for_every_dialect(shape: str) -> None:
    counter = Counter(ROUTES[shape], objects(SENSIBLE[LINES[shape][0]]))
    pod = a_pod()
    pod["metadata"]["labels"] = {"azure.workload.identity/use": "true"}

    for own in OWNS:
        counter(written(pod, own))

    assert (REPEATED % 2 in counter.metrics.exposition()) == (
        shape != "cwii by ConfigMap"
    )  # which has to be there before each
