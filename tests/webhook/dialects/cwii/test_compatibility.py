"""Exercises differences from cwii that no other test of the dialect covers."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import LookupFailed, NotCached, ObjectMetadata, ObjectRef

from tests.webhook.dialects.cwii.pods import ALL_CLOUDS, make_cluster, make_pod
from tests.webhook.harness import ROUTES, FakeRequestView, InProcessWebhook, make_review
from tests.webhook.recorded_answers import decide

REFERENCE = "$(SECRET)"


class EmptyCache:
    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        raise NotCached(ref)


class FailingLookup(FakeRequestView):
    async def look_up(self, ref: ObjectRef) -> None:
        raise LookupFailed(f"the API server did not answer for {ref}")


CWII_ANNOTATIONS = (
    "cwii.dev/aws-role-arn",
    "cwii.dev/aws-region",
    "cwii.dev/aws-role-session-name",
    "cwii.dev/az-client-id",
    "cwii.dev/az-tenant-id",
    "cwii.dev/az-authority-host",
    "cwii.dev/gcp-audience",
    "cwii.dev/gcp-service-account",
)
# By annotation of another webhook: the annotation of cwii that overrides it.
NATIVE_ANNOTATIONS = {
    "eks.amazonaws.com/role-arn": "cwii.dev/aws-role-arn",
    "azure.workload.identity/client-id": "cwii.dev/az-client-id",
    "azure.workload.identity/tenant-id": "cwii.dev/az-tenant-id",
    "iam.gke.io/gcp-service-account": "cwii.dev/gcp-service-account",
}


@pytest.mark.parametrize("key", [*CWII_ANNOTATIONS, *NATIVE_ANNOTATIONS])
def test_variable_reference_is_refused(key: str) -> None:
    """Covers each annotation whose value becomes an environment variable."""
    annotations = {**ALL_CLOUDS, key: REFERENCE}
    annotations.pop(NATIVE_ANNOTATIONS.get(key, ""), None)

    decision, pod = decide(
        ROUTES["cwii by container"], make_pod(), make_cluster(account=annotations)
    )

    assert decision.outcome == "refused"
    assert key in decision.message
    assert pod == make_pod()


def test_failed_lookup_is_an_http_error() -> None:
    reply = InProcessWebhook(ROUTES["cwii"], EmptyCache(), FailingLookup)(make_review(make_pod()))

    assert reply.status == 503
    assert b"did not answer" in reply.body
    assert b"AdmissionReview" not in reply.body
