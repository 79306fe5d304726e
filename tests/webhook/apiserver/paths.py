"""Parses the URL path of an API request."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from tests.webhook.apiserver.http import Request
from tests.webhook.apiserver.store import Object


@dataclass(frozen=True)
class ResourcePath:
    """The verb of a request, and the object or collection that it addresses."""

    verb: str  # of RBAC
    root: str  # such as /api/v1 or /apis/apps/v1
    plural: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def collection(self) -> str:
        return f"{self.root}/{self.plural}"

    def matches(self, item: Object, field_selector: str) -> bool:
        """Whether the object is in the namespace and matches the field selector."""
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
