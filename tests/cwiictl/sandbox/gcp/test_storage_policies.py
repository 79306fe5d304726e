"""Who may do what with buckets and objects of Cloud Storage."""

from __future__ import annotations

import pytest
from google.api_core.exceptions import BadRequest, Forbidden, PreconditionFailed

from cwiictl.sandbox.gcp.world import OPERATOR, PROJECT
from tests.cwiictl.sandbox.gcp.owner import BUCKET, Begin, Owner
from tests.cwiictl.sandbox.gcp.shelf import KEYS, READER, bucket, let, put

GETTER = "roles/storage.legacyObjectReader"


@pytest.mark.parametrize(
    ("role", "status", "code"),
    [(READER, 404, b"<Code>NoSuchKey</Code>"), (GETTER, 403, b"<Code>AccessDenied</Code>")],
)
def test_only_who_may_list_hears_that_an_object_is_not_there(
    owner: Owner, role: str, status: int, code: bytes
) -> None:
    let(bucket(owner), role)
    answer = owner.ask("GET", KEYS)
    assert answer.status == status
    assert code in answer.body


def test_the_public_hears_of_a_bucket_that_is_not_there(owner: Owner) -> None:
    answer = owner.ask("GET", KEYS)
    assert (answer.status, b"<Code>NoSuchBucket</Code>" in answer.body) == (404, True)


def test_prevention_of_public_access_refuses_the_public_in_policies_and_at_the_door(
    owner: Owner,
) -> None:
    made = bucket(owner)
    put(made)
    let(made, READER)
    made.iam_configuration.public_access_prevention = "enforced"
    made.patch()
    assert owner.ask("GET", KEYS).status == 403
    with pytest.raises(
        PreconditionFailed,
        match="The member bindings allUsers and allAuthenticatedUsers are not allowed since public access prevention is enforced",
    ):
        let(made, GETTER)
    made.iam_configuration.public_access_prevention = "inherited"
    made.patch()
    assert owner.ask("GET", KEYS).status == 200


def test_an_organisation_may_prevent_public_access(owner: Owner) -> None:
    owner.project.forbids_public = True
    made = bucket(owner)
    assert made.iam_configuration.public_access_prevention == "inherited"
    with pytest.raises(PreconditionFailed, match="public access prevention is enforced"):
        let(made, READER)


def test_an_organisation_may_let_only_its_own_people_in(owner: Owner) -> None:
    owner.project.domains_only = True
    with pytest.raises(
        PreconditionFailed,
        match="One or more users named in the policy do not belong to a permitted customer",
    ):
        let(bucket(owner), READER)


def test_a_policy_is_written_only_over_the_one_that_was_read(owner: Owner) -> None:
    made = bucket(owner)
    mine, theirs = (
        made.get_iam_policy(requested_policy_version=3),
        made.get_iam_policy(requested_policy_version=3),
    )
    theirs.bindings.append({"role": READER, "members": {f"serviceAccount:{OPERATOR}"}})
    made.set_iam_policy(theirs)
    mine.bindings.append({"role": READER, "members": {"allUsers"}})
    with pytest.raises(
        PreconditionFailed, match="At least one of the pre-conditions you specified did not hold"
    ):
        made.set_iam_policy(mine)


def test_a_new_bucket_is_its_projects(owner: Owner) -> None:
    policy = bucket(owner).get_iam_policy(requested_policy_version=3)
    assert {one["role"]: one["members"] for one in policy.bindings} == {
        "roles/storage.legacyBucketOwner": {f"projectEditor:{PROJECT}", f"projectOwner:{PROJECT}"},
        "roles/storage.legacyBucketReader": {f"projectViewer:{PROJECT}"},
        "roles/storage.legacyObjectOwner": {f"projectEditor:{PROJECT}", f"projectOwner:{PROJECT}"},
        "roles/storage.legacyObjectReader": {f"projectViewer:{PROJECT}"},
    }


def test_conditions_need_uniform_access_and_who_reads_version_3(owner: Owner) -> None:
    condition = {
        "title": "docs",
        "expression": f"resource.name.startsWith('projects/_/buckets/{BUCKET}/objects/keys')",
    }
    with pytest.raises(PreconditionFailed, match="uniform bucket-level access"):
        let(
            bucket(owner, "not-uniform", uniform=False),
            READER,
            f"serviceAccount:{OPERATOR}",
            condition,
        )
    made = bucket(owner)
    let(made, READER, f"serviceAccount:{OPERATOR}", condition)
    shown = [
        one
        for one in made.get_iam_policy(requested_policy_version=3).bindings
        if "condition" in one
    ]
    assert [one["condition"]["title"] for one in shown] == ["docs"]
    assert any(
        role.startswith(f"{READER}_withcond_")
        for role in made.get_iam_policy(requested_policy_version=1)
    )


def test_a_member_who_is_not_there_is_refused(owner: Owner) -> None:
    email = f"nobody@{PROJECT}.iam.gserviceaccount.com"
    with pytest.raises(BadRequest, match=f"Service account {email} does not exist"):
        let(bucket(owner), READER, f"serviceAccount:{email}")


def test_permissions_that_are_lacking_are_not_among_those_one_has(begin: Begin) -> None:
    owner = begin(deny=frozenset({"storage.buckets.delete", "storage.objects.*"}))
    made = bucket(owner)
    asked = ["storage.buckets.get", "storage.buckets.delete", "storage.objects.create"]
    assert made.test_iam_permissions(asked) == ["storage.buckets.get"]
    with pytest.raises(
        Forbidden, match=r"Permission 'storage\.buckets\.delete' denied on resource"
    ):
        made.delete()
    with pytest.raises(
        Forbidden, match=r"Permission 'storage\.objects\.create' denied on resource"
    ):
        put(made)


def test_to_write_over_an_object_takes_the_right_to_delete_it(begin: Begin) -> None:
    owner = begin(deny=frozenset({"storage.objects.delete"}))
    made = bucket(owner)
    put(made)
    with pytest.raises(Forbidden, match=r"Permission 'storage\.objects\.delete' denied"):
        put(made)
