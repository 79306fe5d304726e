"""Cloud Storage: google-cloud-storage as it is, and answers to the letter."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import requests
from google.api_core.exceptions import (
    BadRequest,
    Conflict,
    Forbidden,
    GoogleAPICallError,
    NotFound,
    PreconditionFailed,
)

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT
from tests.cwiictl.sandbox.gcp.owner import BUCKET, STORAGE, Begin, Owner
from tests.cwiictl.sandbox.gcp.shelf import KEYS, READER, bucket, let, put


def told(answer: requests.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    assert error["message"] == error["errors"][0]["message"]
    return answer.status_code, error["errors"][0]["reason"], error["message"]


def test_a_bucket_is_what_it_was_asked_to_be(owner: Owner) -> None:
    made = bucket(owner)
    made.labels = {"cwiictl": "mine", "other": "x"}
    made.patch()
    made.labels = {"cwiictl": "mine"}
    made.patch()
    found = owner.storage.get_bucket(BUCKET)
    configuration: Any = found.iam_configuration
    assert (found.labels, found.location, found.metageneration) == ({"cwiictl": "mine"}, "EU", 3)
    assert (
        configuration.uniform_bucket_level_access_enabled,
        configuration.public_access_prevention,
    ) == (True, "inherited")
    assert [one.name for one in owner.storage.list_buckets()] == [BUCKET]


def test_a_change_of_what_was_changed_since_is_refused(owner: Owner) -> None:
    made = bucket(owner)
    made.labels = {"a": "b"}
    with pytest.raises(PreconditionFailed):
        made.patch(if_metageneration_match=7)
    made.patch(if_metageneration_match=1)


@pytest.mark.parametrize(
    "labels",
    [
        {"A": "b"},
        {"a": "B"},
        {"1a": "b"},
        {"a" * 64: "b"},
        {"a": "b" * 64},
        {f"a{n}": "b" for n in range(65)},
    ],
)
def test_labels_have_their_grammar(owner: Owner, labels: dict[str, str]) -> None:
    made = bucket(owner)
    made.labels = labels
    with pytest.raises(BadRequest):
        made.patch()


@pytest.mark.parametrize(
    "name", ["ab", "Abc", "-abc", "abc-", "google-x", "goog-x", "1.2.3.4", "a" * 64, "a..b"]
)
def test_a_name_that_no_bucket_can_have_is_refused(owner: Owner, name: str) -> None:
    answer = owner.session.post(f"{STORAGE}?project={PROJECT}", json={"name": name})
    assert told(answer) == (400, "invalid", f"Invalid bucket name: '{name}'")


def test_a_name_with_dots_is_a_domain_that_somebody_owns(owner: Owner) -> None:
    answer = owner.session.post(f"{STORAGE}?project={PROJECT}", json={"name": "oidc.example.org"})
    assert told(answer)[:2] == (403, "forbidden")


def test_names_are_the_worlds(begin: Begin) -> None:
    owner = begin(strangers=frozenset({"taken"}))
    bucket(owner)
    with pytest.raises(Conflict, match="you already own it"):
        bucket(owner)
    with pytest.raises(Conflict, match="The bucket namespace is shared by all users of the system"):
        bucket(owner, "taken")
    with pytest.raises(
        Forbidden,
        match=f"{OPERATOR} does not have storage.buckets.get access to the Google Cloud Storage bucket",
    ):
        owner.storage.get_bucket("taken")
    assert owner.ask("GET", "https://storage.googleapis.com/taken/keys.json").status == 403


def test_a_bucket_with_objects_stays(owner: Owner) -> None:
    made = bucket(owner)
    blob = put(made)
    with pytest.raises(Conflict, match="The bucket you tried to delete is not empty"):
        made.delete()
    blob.delete()
    made.delete()
    with pytest.raises(NotFound, match="The specified bucket does not exist"):
        made.delete()


def test_an_object_keeps_what_was_said_of_it(owner: Owner) -> None:
    blob = bucket(owner).blob("a/b c.json")
    blob.cache_control, blob.metadata = "max-age=60", {"cwiictl": "mine"}
    blob.upload_from_string(b"\r\n--x\x00\xff\n", "application/json")
    found: Any = owner.storage.bucket(BUCKET).get_blob("a/b c.json")
    assert (found.cache_control, found.metadata, found.content_type, found.size) == (
        "max-age=60",
        {"cwiictl": "mine"},
        "application/json",
        8,
    )
    assert found.download_as_bytes() == b"\r\n--x\x00\xff\n"
    found.metadata, found.cache_control = {"other": "x"}, "no-store"
    found.patch()
    found.reload()
    assert (found.metadata, found.cache_control, found.metageneration) == (
        {"other": "x", "cwiictl": "mine"},
        "no-store",
        2,
    )


def test_an_object_is_written_only_in_place_of_what_one_has_seen(owner: Owner) -> None:
    made = bucket(owner)
    first = put(made, if_generation_match=0)
    with pytest.raises(
        PreconditionFailed, match="At least one of the pre-conditions you specified did not hold"
    ):
        put(made, if_generation_match=0)
    second = put(made, body="{}", if_generation_match=first.generation)
    assert second.generation > first.generation
    with pytest.raises(PreconditionFailed):
        made.blob("keys.json").delete(if_generation_match=first.generation)
    made.blob("keys.json").delete(if_generation_match=second.generation)
    with pytest.raises(NotFound, match=r"No such object: cwii-oidc/keys\.json"):
        made.blob("keys.json").delete()


def test_a_precondition_is_told_with_its_place(owner: Owner) -> None:
    put(bucket(owner))
    where = f"https://storage.googleapis.com/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name=keys.json&ifGenerationMatch=0"
    answer = owner.session.post(where, data=b"{}")
    assert told(answer)[:2] == (412, "conditionNotMet")
    assert answer.json()["error"]["errors"][0] | {"message": ""} == {
        "message": "", "domain": "global", "reason": "conditionNotMet", "locationType": "header", "location": "If-Match",
    }  # fmt: skip


def test_a_large_object_comes_in_pieces_and_goes_in_pieces(owner: Owner) -> None:
    blob = bucket(owner).blob("large", chunk_size=256 * 1024)
    body = bytes(range(256)) * 3000
    blob.upload_from_file(io.BytesIO(body))
    assert blob.download_as_bytes() == body
    statuses = [seen.status for seen in owner.sandbox.record]
    assert (statuses.count(308), statuses.count(206)) == (2, 3)


def test_content_that_is_not_what_it_was_said_to_be_is_refused(owner: Owner) -> None:
    bucket(owner)
    body = b'--x\r\nContent-Type: application/json\r\n\r\n{"name": "a", "md5Hash": "AAAA"}\r\n--x\r\nContent-Type: text/plain\r\n\r\nhi\r\n--x--'
    where = f"https://storage.googleapis.com/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart"
    answer = owner.session.post(
        where, data=body, headers={"Content-Type": "multipart/related; boundary=x"}
    )
    assert told(answer)[2].startswith('Provided MD5 hash "AAAA" doesn\'t match calculated MD5 hash')


def test_objects_are_listed_by_prefix_folder_and_page(owner: Owner) -> None:
    made = bucket(owner)
    for name in ("a", "b/1", "b/2", "c"):
        put(made, name)
    assert [one.name for one in made.list_blobs(prefix="b/")] == ["b/1", "b/2"]
    pages = made.list_blobs(delimiter="/", page_size=1)
    assert [one.name for one in pages] == ["a", "c"]
    assert pages.prefixes == {"b/"}


def test_the_public_reads_what_everybody_may_read_and_keeps_it_for_an_hour(owner: Owner) -> None:
    made = bucket(owner)
    put(made)
    assert owner.ask("GET", KEYS).status == 403
    let(made, READER)
    for url in (KEYS, f"https://{BUCKET}.storage.googleapis.com/keys.json"):
        answer = owner.ask("GET", url)
        assert (answer.status, answer.body, answer.headers["content-type"]) == (
            200,
            b'{"keys":[]}',
            "application/json",
        )
        assert answer.headers["cache-control"] == "public, max-age=3600"
    assert owner.ask("HEAD", KEYS).headers["content-length"] == "11"


def test_what_an_object_says_of_its_cache_counts(owner: Owner) -> None:
    made = bucket(owner)
    let(made, READER)
    blob = made.blob("keys.json")
    blob.cache_control = "public, max-age=300"
    blob.upload_from_string("{}")
    assert owner.ask("GET", KEYS).headers["cache-control"] == "public, max-age=300"


def test_nobody_is_asked_who_they_are_over_json(owner: Owner) -> None:
    bucket(owner)
    answer = owner.ask("GET", f"{STORAGE}/{BUCKET}")
    words = "Anonymous caller does not have storage.buckets.get access to the Google Cloud Storage bucket."
    assert answer.status == 401
    assert json.loads(answer.body)["error"]["message"].startswith(words)


def test_a_project_that_is_not_there_has_no_buckets(owner: Owner) -> None:
    assert told(owner.session.get(f"{STORAGE}?project=nowhere")) == (
        400,
        "invalid",
        "Unknown project id: nowhere",
    )
    assert told(owner.session.get(STORAGE))[:2] == (400, "required")


def test_an_api_that_is_off_is_told(owner: Owner) -> None:
    owner.project.services.pop("storage.googleapis.com")
    status, reason, words = told(owner.session.get(f"{STORAGE}?project={PROJECT}"))
    assert (status, reason, "has not been used in project" in words) == (
        403,
        "accessNotConfigured",
        True,
    )


def test_an_acl_has_no_place_where_access_is_uniform(owner: Owner) -> None:
    with pytest.raises(
        BadRequest,
        match="Cannot insert legacy ACL for an object when uniform bucket-level access is enabled",
    ):
        put(bucket(owner), predefined_acl="publicRead")


@pytest.mark.parametrize("seed", range(4))
def test_faults_are_told_in_the_words_of_who_is_asked(begin: Begin, seed: int) -> None:
    owner = begin(failures=1.0, seed=seed)
    answer = owner.ask("GET", f"{STORAGE}/{BUCKET}")
    reason = json.loads(answer.body)["error"]["errors"][0]["reason"]
    assert (answer.status, reason) in {
        (429, "rateLimitExceeded"),
        (503, "backendError"),
        (500, "internalError"),
    }
    assert b"<Error><Code>" in owner.ask("GET", KEYS).body


def test_the_sdk_tries_again_what_failed_for_a_moment(begin: Begin) -> None:
    owner = begin(seed=3)
    made = bucket(owner)
    owner.sandbox.faults.rate = 0.3
    for _ in range(5):
        assert made.exists()
    assert any(seen.status >= 429 for seen in owner.sandbox.record)


def test_expired_credentials_are_told_and_the_public_needs_none(owner: Owner) -> None:
    made = bucket(owner)
    put(made)
    let(made, READER)
    owner.sandbox.faults.expired = True
    assert owner.ask("GET", KEYS).status == 200
    answer = owner.ask("GET", f"{STORAGE}/{BUCKET}", headers={"Authorization": "Bearer ya29.x"})
    assert (answer.status, json.loads(answer.body)["error"]["message"]) == (
        401,
        "Invalid Credentials",
    )


def test_the_record_tells_who_needs_what_and_what_writes(owner: Owner) -> None:
    put(bucket(owner))
    seen = [(one.action, one.permissions) for one in owner.sandbox.record if one.mutating]
    assert seen == [
        ("storage.buckets.create", ("storage.buckets.create",)),
        ("storage.objects.create", ("storage.objects.create",)),
    ]


def test_what_is_not_here_is_not_found(owner: Owner) -> None:
    bucket(owner)
    with pytest.raises(GoogleAPICallError, match="the sandbox does not have this part"):
        owner.storage.bucket(BUCKET).notification(topic_name="x").create()
