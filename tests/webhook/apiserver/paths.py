"""What a request to an API server is about."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from tests.webhook.apiserver.http import Request
from tests.webhook.apiserver.store import Object


@dataclass(frozen=True)
class ResourcePath:
    verb: str  # as RBAC has it
    root: str  # /api/v1, /apis/apps/v1
    plural: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def path(self) -> str:
        return f"{self.root}/{self.plural}"

    def matches(self, item: Object, field_selector: str) -> bool:
        """Of a collection: whether it is in the namespace, and has the name that a field selector says."""
        metadata = item["metadata"]
        return self.namespace in {"", metadata.get("namespace")} and field_selector in {
            "",
            f"metadata.name={metadata.get('name')}",
        }


def parse_path(request: Request) -> ResourcePath:
    parts = [unquote(part) for part in request.path.strip("/").split("/")]
    length = 2 if parts[0] == "api" else 3
    root, rest = "/" + "/".join(parts[:length]), parts[length:]
    if len(rest) >= 3 and rest[0] == "namespaces":
        namespace, plural, name = rest[1], rest[2], "".join(rest[3:4])
    else:
        namespace, plural, name = "", "".join(rest[:1]), "".join(rest[1:2])
    return ResourcePath(_verb(request, name), root, plural, namespace, name)


def _verb(request: Request, name: str) -> str:
    if request.method != "GET":
        return {"POST": "create", "PATCH": "patch", "DELETE": "delete"}[request.method]
    return "watch" if "watch" in request.query else "get" if name else "list"
