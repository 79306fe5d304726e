"""What two reviews may differ in and still be of one mould: what an API server writes anew into each, where it writes it, and no letter besides."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.admission.mould import LONG, PLACES, Mould, head, mould

from tests.webhook.dialects.cwii.pods import a_pod
from tests.webhook.harness import OWN, OWNS, written

FIRST, SECOND, *_ = OWNS


def cast() -> Mould:
    made = mould(written(a_pod(), FIRST))
    assert made
    return made


@pytest.mark.parametrize(
    ("whole", "other"),
    [
        (b'"uid":"00000000-', b'"uid":"0000000\\u0030'),
        (b'"uid":"00000000-', b'"uid":"0000000"-'),
        (b'"uid":"00000000-', b'"uid":"0000000\n-'),
        (b'"kind":"AdmissionReview","apiVersion"', b'"kind":"AdmissionReview", "apiVersion"'),
        (b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1"),
    ],
    ids=["escaped", "a quote", "the end of a line", "other blanks", "another version"],
)
def test_what_no_api_server_writes_has_no_head(whole: bytes, other: bytes) -> None:
    body = written(a_pod(), FIRST)

    assert whole in body
    assert head(body)
    assert head(body.replace(whole, other, 1)) is None


def test_one_that_is_long_is_not_looked_at() -> None:
    assert head(written(a_pod({"x": "x" * LONG}), FIRST)) is None


def test_twins_have_one_head_and_who_is_longer_has_another() -> None:
    first = head(written(a_pod(), FIRST))
    assert first == head(written(a_pod(), SECOND))
    assert first != head(written(a_pod(), SECOND) + b" ")
    assert first != head(written(a_pod({"app": "other"}), SECOND))


@pytest.mark.parametrize(
    ("whole", "other"),
    [
        (b'"x', b'"x'),
        (b"access-zw9n1", b'access-zw9"1'),
        (b":01Z", b':0"Z'),
        (b'"operation":"CREATE"', b'"operation":"UPDATE"'),
    ],
    ids=["nothing", "a quote in the name", "a quote in the time", "another word"],
)
def test_it_fits_its_twins_alone(whole: bytes, other: bytes) -> None:
    assert cast().fits(written(a_pod(), SECOND).replace(whole, other)) == (whole == other)


def test_one_name_is_the_same_wherever_it_stands() -> None:
    at_one_place = written(a_pod(), SECOND).replace(b"zw9n1", b"other", 1)

    assert len(at_one_place) == len(written(a_pod(), SECOND))
    assert not cast().fits(at_one_place)


@pytest.mark.parametrize("name", [b"", b"abc", b"abcdefg", b"a\\u00", b'a"b\\"'])
def test_what_is_not_quite_such_a_name_is_the_same_in_all(name: bytes) -> None:
    made = mould(written(a_pod(), FIRST).replace(b"zw9n0", name))

    assert made
    assert b"kube-api-access-" + name in b"".join(text for _, text in made.fixed)


@pytest.mark.parametrize(
    "says",
    [
        {"annotations": {"cwii.dev/aws-audience": f"kube-api-access-{OWN}"}},
        {"serviceAccountName": f"kube-api-access-{OWN}"},
        {"containers": [{"name": f"kube-api-access-{OWN}"}]},
        {"containers": [{"name": "c", "env": [{"name": f"kube-api-access-{OWN}", "value": "x"}]}]},
        {
            "containers": [
                {
                    "name": "c",
                    "volumeMounts": [
                        {"name": f"kube-api-access-{OWN}", "readOnly": True, "mountPath": "/mine"}
                    ],
                }
            ]
        },
        {"volumes": [{"name": f"kube-api-access-{OWN}", "emptyDir": {"medium": ""}}]},
    ],
    ids=["annotation", "account", "container", "variable", "mount", "volume"],
)
@pytest.mark.parametrize("mounts", [True, False])
def test_what_a_pod_says_itself_is_in_the_mould(says: dict[str, Any], mounts: bool) -> None:  # noqa: FBT001  # a parameter
    """Also where it says it in the same letters, with or without a volume of the API server's."""
    made = mould(written(a_pod(**says), FIRST, mounts=mounts))

    assert made
    assert not made.fits(written(a_pod(**says), SECOND, mounts=mounts))


def test_a_label_that_is_called_as_the_time_is_not_taken_for_it() -> None:
    pod = a_pod()
    pod["metadata"]["labels"] = {"apiVersion": "v1", "time": "2020-01-01T00:00:00Z"}
    made = mould(written(pod, FIRST))

    assert made
    assert made.fits(written(pod, SECOND))


def test_a_pod_that_says_its_own_name_on_and_on_has_none() -> None:
    many = [{"name": f"kube-api-access-{OWN}", "projected": {"sources": ""}}] * (PLACES + 1)

    assert mould(written(a_pod(volumes=many[3:]), FIRST)) is not None
    assert mould(written(a_pod(volumes=many), FIRST)) is None
