"""What is asked of a cluster beside its being as it should: readings, tokens, logs, and what whoever asks may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from cwiictl.engine.pace import Job, Pace, run
from cwiictl.errors import Failed
from cwiictl.kubernetes.fields import MANAGER
from cwiictl.kubernetes.kinds import Kinds
from cwiictl.kubernetes.place import Answer
from cwiictl.kubernetes.rights import ACCOUNTS, Right
from cwiictl.kubernetes.stores.errors import Refused, told
from cwiictl.kubernetes.stores.wire import MERGE, PAGE, TEXT, Wire

Body = Mapping[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
REVIEWS_OF_OTHERS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
PATIENCE = 30.0  # seconds, with an API server that has no time for a review


class Asked:
    """Fulfils `place.Api`."""

    def __init__(self, wire: Wire, kinds: Kinds, width: int) -> None:
        self.wire, self.kinds, self.width = wire, kinds, width

    @told()
    def get(self, kind: str, namespace: str, name: str, /) -> Body | None:
        return self.wire.find(self.kinds[kind].path(namespace, name))

    @told()
    def list(
        self, kind: str, namespace: str = "", selector: str = "", fields: str = "", most: int = 0
    ) -> list[Body]:
        """Each says its kind, which the API server leaves out in a list."""
        of = self.kinds[kind]
        found = islice(
            self.wire.list(of.path(namespace), selector, fields=fields, page=most or PAGE),
            most or None,
        )
        return [{**each, "apiVersion": of.api, "kind": of.name} for each in found]

    @told()
    def create(self, body: Body, *, dry: bool = False) -> Body:
        of = self.kinds.of(body)
        query = {
            "fieldManager": MANAGER,
            "fieldValidation": "Strict",
            **({"dryRun": "All"} if dry else {}),
        }
        return self.wire.call(
            "POST", of.path(body["metadata"].get("namespace", "")), query, dict(body)
        )

    @told()
    def patch(self, kind: str, namespace: str, name: str, part: Body, /) -> Body:
        return self.wire.call(
            "PATCH",
            self.kinds[kind].path(namespace, name),
            {"fieldManager": MANAGER, "fieldValidation": "Strict"},
            dict(part),
            MERGE,
        )

    @told()
    def delete(self, kind: str, namespace: str, name: str, /) -> None:
        try:
            self.wire.call(
                "DELETE",
                self.kinds[kind].path(namespace, name),
                {"propagationPolicy": "Background"},
            )
        except Refused as e:
            if e.status != 404:
                raise

    @told()
    def logs(self, namespace: str, pod: str, container: str = "", lines: int = 100) -> str:
        query = {"tailLines": str(lines), **({"container": container} if container else {})}
        return self.wire.text(
            "GET", f"{self.kinds['Pod'].path(namespace, pod)}/log", query, form=TEXT
        )

    def answer(self, namespace: str, pod: str, port: int, path: str) -> str:
        """By way of the API server, which says itself whether it reaches the pod."""
        try:
            return self.wire.text(
                "GET", f"{self.kinds['Pod'].path(namespace, pod)}:{port}/proxy{path}", form=TEXT
            )
        except Refused as e:
            return "" if e.status == 403 else e.message

    @told()
    def token(self, namespace: str, account: str, audience: str, seconds: int = 600) -> str:
        spec = {"audiences": [audience] if audience else [], "expirationSeconds": seconds}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        try:
            answer = self.wire.call(
                "POST", f"{self.kinds['ServiceAccount'].path(namespace, account)}/token", body=body
            )
        except Refused as e:
            if e.status == 404:
                raise Failed(
                    f"there is no ServiceAccount {namespace}/{account}",
                    remedy="make it, or name another",
                ) from e
            raise
        return str(answer["status"]["token"])

    @told()
    def document(self, path: str) -> Any:
        return self.wire.call("GET", path, form=TEXT)

    @told()
    def text(self, path: str) -> str:
        return self.wire.text("GET", path, form=TEXT)

    @told()
    def through(self, namespace: str, pod: str, port: int, path: str, /) -> Answer:
        """A refusal is the pod's own, but for the one to have it passed on."""
        try:
            return Answer(
                200,
                self.wire.text(
                    "GET", f"{self.kinds['Pod'].path(namespace, pod)}:{port}/proxy{path}", form=TEXT
                ),
            )
        except Refused as e:
            if e.status in {401, 403}:
                raise
            return Answer(e.status, e.message)

    def lacking(self, rights: Iterable[Right], user: str = "") -> tuple[Right, ...]:
        """Asked for all at once."""
        asked = {str(right): right for right in rights}
        lacking: set[Right] = set()

        def ask(key: str, _tried: int) -> str:
            if not self._may(asked[key], user):
                lacking.add(asked[key])
            return "read"

        run(
            Job(dict.fromkeys(asked, ()), ask, patience=lambda _key: PATIENCE, verb="reading"),
            Pace(self.width),
        ).checked()
        return tuple(sorted(lacking))

    @told()
    def _may(self, right: Right, user: str) -> bool:
        where = {
            "verb": right.verb,
            "group": right.group,
            "resource": right.resource,
            "namespace": right.namespace,
            "subresource": right.subresource,
        }
        spec: dict[str, Any] = {
            "resourceAttributes": {key: said for key, said in where.items() if said},
            **(_somebody(user) if user else {}),
        }
        kind, path = (
            ("SubjectAccessReview", REVIEWS_OF_OTHERS)
            if user
            else ("SelfSubjectAccessReview", REVIEWS)
        )
        answer = self.wire.call(
            "POST", path, body={"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
        )
        return bool(answer["status"].get("allowed"))


def _somebody(user: str) -> dict[str, Any]:
    """A ServiceAccount with the groups that it has in its tokens."""
    space = user.removeprefix(ACCOUNTS).partition(":")[0]
    groups = (
        ["system:serviceaccounts", f"system:serviceaccounts:{space}"]
        if user.startswith(ACCOUNTS)
        else []
    )
    return {"user": user, "groups": [*groups, "system:authenticated"]}
