"""Pods of one workload are answered as the first of them was, and nobody is who only looks alike."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from cwii_webhook.admission import Admission
from cwii_webhook.dialects import ALL, service
from cwii_webhook.diary import Diary
from cwii_webhook.exchange import JSON, Asked, Reply, told
from cwii_webhook.log import Log
from cwii_webhook.metrics import Metrics
from cwii_webhook.picture import Picture, Ref, Seen, Unknown, account
from cwii_webhook.source import Sourced
from cwii_webhook.twins import head, mould
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.pods import Json
from tests.properties.test_admission import any_pod, objects
from tests.webhook.answering import LINES, ROLE, ROUTES, SENSIBLE, Counter, Nowhere, Sight
from tests.webhook.cwii_pods import a_pod, said
from tests.webhook.recorded import Objects

OWN = "OWN"  # in a pod: the end of the name of its volume
FIRST, SECOND, THIRD, LAST = ((f"0000000{n}-6c1f-400e-a355-c0f31931946c", f"zw9n{n}", f"2026-11-19T15:19:0{n}Z") for n in range(4))


def written(pod: Json, own: tuple[str, str, str], **more: object) -> bytes:
    """A review of it as an API server writes one, after what it has put into the pod itself."""
    uid, volume, time = own
    pod = copy.deepcopy(pod)
    pod["metadata"]["managedFields"] = [{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": time}]
    pod["spec"]["volumes"] = [*(pod["spec"].get("volumes") or ()), {"name": f"kube-api-access-{OWN}", "projected": {"sources": []}}]
    for container in pod["spec"].get("containers") or ():
        mount = {"name": f"kube-api-access-{OWN}", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
    request = {"uid": uid, "kind": {"group": "", "version": "v1", "kind": "Pod"}, "operation": "CREATE", "namespace": "shop", "object": pod, **more}
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    return json.dumps(body, separators=(",", ":")).replace(OWN, volume).encode()


class Asking:
    """An admission of which the log and the numbers are read, and a picture that may change."""

    def __init__(self, log: BinaryIO, picture: Picture, words: tuple[str, ...] = ("cwii",)) -> None:
        self.picture = picture
        self.asked: list[Ref] = []
        self.metrics = Metrics()
        self._log = Path(log.name)
        self.route = service(ALL[words[0]], words[1:], {}).route
        diary = Diary(self.metrics, Log(log.fileno()), tuple(ALL))
        self.admission = Admission({b"/": self.route}, lambda: Sight(self), Nowhere(), diary, lambda _: told(404, "no review"))
        self.admission.lacks = ""

    def seen(self, ref: Ref) -> Seen | None:
        self.asked.append(ref)
        return self.picture.seen(ref)

    def __call__(self, body: bytes) -> dict[str, Any]:
        reply = self.admission(Asked(b"POST", b"/", JSON, body))
        assert isinstance(reply, Reply)
        return json.loads(reply.body)["response"]

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


def test_a_third_is_answered_as_the_second_was_under_its_own_name(made: Made) -> None:
    asking = made(said(account=asks()))
    answers = [asking(written(a_pod(), own)) for own in (FIRST, SECOND, THIRD)]

    assert [each.pop("uid") for each in answers] == [FIRST[0], SECOND[0], THIRD[0]]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["patchType"] == "JSONPatch"


def test_it_is_told_and_counted_like_all_others(made: Made) -> None:
    asking = made(said(account=asks()))
    for own in (FIRST, SECOND, THIRD, LAST):
        asking(written(a_pod(), own))

    lines = asking.lines

    assert [line.pop("uid") for line in lines] == [own[0] for own in (FIRST, SECOND, THIRD, LAST)]
    assert len({line.pop("time") for line in lines}) == 4
    assert all(line == lines[0] for line in lines)
    assert b'cwii_decisions_total{dialect="cwii",provider="aws",outcome="injected",reason=""} 4' in asking.metrics.exposition()
    assert b"cwii_repeated_decisions_total 2" in asking.metrics.exposition()  # the first may be the only one, and is not kept


def test_only_whoever_was_heard_is_asked_again(made: Made) -> None:
    asking = made(said(account=asks()))
    for own in (FIRST, SECOND):
        asking(written(a_pod(), own))
    before = list(dict.fromkeys(asking.asked))
    asking.asked.clear()

    asking(written(a_pod(), THIRD))

    assert asking.asked == before  # each once, where a decision asks as often as it likes


@pytest.mark.parametrize("changed", [asks(**{"cwii.dev/aws-region": "eu-west-1"}), {}], ids=["another word", "none left"])
def test_when_the_cluster_says_another_thing_so_is_the_answer(made: Made, changed: Mapping[str, str]) -> None:
    asking = made(said(account=asks()))
    for own in (FIRST, SECOND, THIRD):
        asking(written(a_pod(), own))

    asking.picture = said(account=changed)
    answers = [asking(written(a_pod(), own)) for own in (LAST, FIRST, SECOND)]

    fresh = made(said(account=changed))
    assert answers == [fresh(written(a_pod(), own)) for own in (LAST, FIRST, SECOND)]


def test_what_is_not_known_any_more_is_looked_up(made: Made) -> None:
    asking = made(said(account=asks()))
    for own in (FIRST, SECOND, THIRD):
        asking(written(a_pod(), own))

    class Blank:
        def seen(self, ref: Ref) -> Seen | None:
            raise Unknown(ref)

    asking.picture = Blank()
    reply = asking.admission(Asked(b"POST", b"/", JSON, written(a_pod(), LAST)))

    assert not isinstance(reply, Reply)
    with pytest.raises(AssertionError, match="is known to be there"):
        reply.__await__().send(None)


def test_with_other_routes_nothing_is_remembered(made: Made) -> None:
    asking = made(said(account=asks()))
    for own in (FIRST, SECOND, THIRD):
        asking(written(a_pod(), own))

    asking.admission.serve({b"/": service(ALL["cwii"], ("--aws-default-region=eu-west-3",), {}).route})

    fresh = made(said(account=asks()), ("cwii", "--aws-default-region=eu-west-3"))
    assert asking(written(a_pod(), LAST)) == fresh(written(a_pod(), LAST))


def test_where_a_map_of_roles_is_heeded_each_is_decided_anew(made: Made) -> None:
    """For a map can change without any object that was heard."""
    held = Objects({account("shop", "worker"): Seen({})})
    asking = made(held, ("eks", "--watch-config-map"))
    (roles,) = [source for mutator in asking.route.mutators if isinstance(mutator, Sourced) for source in mutator.sources]
    before = [asking(written(a_pod(), own)) for own in (FIRST, SECOND, THIRD)]
    assert not roles.take(json.dumps({"shop/worker": {"RoleARN": ROLE}}))

    assert "patch" not in before[2]
    assert "patch" in asking(written(a_pod(), LAST))


def test_a_name_of_its_own_that_comes_into_the_answer_makes_it_nobody_elses(made: Made) -> None:
    """It mounts that volume where its token belongs, and is warned by the volume's name."""
    pod = a_pod()
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": f"kube-api-access-{OWN}", "mountPath": "/var/run/secrets/cwii.dev/aws"}]
    asking = made(said(account=asks()))

    warnings = [asking(written(pod, own))["warnings"] for own in (FIRST, SECOND, THIRD, LAST)]

    assert [each[0].count(f"kube-api-access-{own[1]}") for each, own in zip(warnings, (FIRST, SECOND, THIRD, LAST), strict=True)] == [1] * 4


@pytest.mark.parametrize(
    ("whole", "other"),
    [(b'"uid":"00000000-', b'"uid":"0000000\\u0030'), (b'"kind":"AdmissionReview","apiVersion"', b'"kind":"AdmissionReview", "apiVersion"')],
    ids=["escaped", "other blanks"],
)
def test_what_no_api_server_writes_has_no_twins(whole: bytes, other: bytes) -> None:
    body = written(a_pod(), FIRST)
    assert whole in body
    assert head(body)
    assert head(body.replace(whole, other)) is None


@pytest.mark.parametrize("name", [b"", b"abc", b"abcdefg", b"a\\u00", b'a"b\\"'])
def test_what_is_not_quite_such_a_name_is_the_same_in_all(name: bytes) -> None:
    body = written(a_pod(), FIRST).replace(b"zw9n0", name)
    assert b"kube-api-access-" + name in b"".join(text for _, text in mould(body).fixed)


@pytest.mark.parametrize(
    ("whole", "other"),
    [(b'"zw9n1', b'"zw9\\1'), (b"access-zw9n1", b'access-zw9"1'), (b":01Z", b':0"Z'), (b'"operation":"CREATE"', b'"operation":"UPDATE"')],
    ids=["nothing", "a quote in the name", "a quote in the time", "another word"],
)
def test_a_mould_fits_its_twins_alone(whole: bytes, other: bytes) -> None:
    made = mould(written(a_pod(), FIRST))
    twin = written(a_pod(), SECOND)

    assert made.fits(twin)
    assert made.fits(twin.replace(whole, other)) == (whole not in twin)


def test_one_name_is_the_same_wherever_it_stands() -> None:
    made = mould(written(a_pod(), FIRST))
    at_one_place = written(a_pod(), SECOND).replace(b"zw9n1", b"other", 1)

    assert len(at_one_place) == len(written(a_pod(), SECOND))
    assert not made.fits(at_one_place)


shapes = pytest.mark.parametrize("shape", ROUTES)
COUNTERS = {shape: Counter(route, objects(SENSIBLE[LINES[shape][0]])) for shape, route in ROUTES.items()}
texts = st.sampled_from([f"kube-api-access-{OWN}", OWN, "true", ROLE])


@shapes
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_the_pod_its_answer_is_what_it_would_be_without_any_twin(shape: str, data: st.DataObject) -> None:
    """Whatever it says with its own name in it, too."""
    pod = data.draw(any_pod(shape))
    keys = st.sampled_from([word.key for word in ALL[LINES[shape][0]].words])
    more = data.draw(st.dictionaries(keys, texts, max_size=2))
    pod["metadata"]["annotations"] = {**(pod["metadata"].get("annotations") or {}), **more}

    for own in (FIRST, SECOND, THIRD):
        body = written(pod, own)
        alone = Counter(ROUTES[shape], objects(SENSIBLE[LINES[shape][0]]))
        assert COUNTERS[shape](body) == alone(body)
