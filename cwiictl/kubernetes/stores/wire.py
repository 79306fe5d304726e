"""Requests to an API server, as plain data, by the official client: it knows TLS, proxies and tokens, and its types of objects are not needed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from cwiictl.errors import Failed
from cwiictl.kubernetes.fields import MANAGER
from cwiictl.kubernetes.stores.errors import Refused, unreached

Query = Mapping[str, str]
NOTHING: Query = {}

TIMEOUT = (10, 60)  # seconds: to connect, and until it answers
PAGE = 500
RETRY = Retry(
    total=1,
    redirect=0,
    status=0,
    other=0,
    allowed_methods=("GET",),
    respect_retry_after_header=False,
)  # the engine does the waiting


@dataclass(frozen=True)
class Form:
    """How a request is written, and its answer."""

    sent: str = "application/json"
    accept: str = "application/json"


PLAIN = Form()
TEXT = Form(accept="*/*")  # also of what is JSON under a name of its own
APPLY = Form(sent="application/apply-patch+yaml")
MERGE = Form(sent="application/merge-patch+json")
METADATA = Form(accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
DISCOVERY = Form(
    accept=",".join(
        f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
        for version in ("v2", "v2beta1")
    )
)


class Wire:
    def __init__(self, configuration: Configuration, width: int) -> None:
        configuration.retries = RETRY
        configuration.connection_pool_maxsize = width
        self.configuration: Any = configuration
        self.server: str = self.configuration.host
        self.client: Any = ApiClient(configuration)
        self.close = self.client.close

    def call(
        self,
        method: str,
        path: str,
        query: Query = NOTHING,
        body: object = None,
        form: Form = PLAIN,
    ) -> Any:
        """One request; who is refused learns it as Refused."""
        answer = self.text(method, path, query, body, form)
        try:
            return json.loads(answer or "{}")
        except ValueError as e:
            raise Failed(
                f"what {self.server} answers is not a Kubernetes API server's",
                remedy="see that the kubeconfig's server and the proxy are right",
            ) from e

    def text(
        self,
        method: str,
        path: str,
        query: Query = NOTHING,
        body: object = None,
        form: Form = PLAIN,
    ) -> str:
        url = f"{self.server}{quote(path)}{f'?{urlencode(query)}' if query else ''}"
        headers = {
            "Accept": form.accept,
            "User-Agent": MANAGER,
            **self._authorization(),
            **({"Content-Type": form.sent} if body is not None else {}),
        }
        try:
            answer = self.client.call_api(
                method, url, header_params=headers, body=body, _request_timeout=TIMEOUT
            )
            data: bytes = answer.read() or b""
        except (HTTPError, ApiException, OSError) as e:
            raise unreached(self.server, getattr(e, "reason", None) or e) from e
        if answer.status >= 400:
            raise Refused(answer.status, _status(data), str(answer.headers.get("Retry-After", "")))
        return data.decode(errors="replace")

    def find(self, path: str) -> dict[str, Any] | None:
        try:
            return self.call("GET", path)
        except Refused as e:
            if e.status == 404:
                return None
            raise

    def apply(
        self, path: str, body: Mapping[str, Any], *, force: bool = False, dry: bool = False
    ) -> dict[str, Any]:
        """By the server: what we have said and no longer say goes. A field that is not of its kind is an error, and never passed over."""
        query = {
            "fieldManager": MANAGER,
            "force": str(force).lower(),
            "fieldValidation": "Strict",
            **({"dryRun": "All"} if dry else {}),
        }
        return self.call("PATCH", path, query, json.dumps(body), APPLY)

    def list(
        self, path: str, selector: str = "", form: Form = PLAIN, fields: str = "", page: int = PAGE
    ) -> Iterator[dict[str, Any]]:
        """Page by page. Nothing is there of what is not served."""
        query = {
            "limit": str(page),
            **({"labelSelector": selector} if selector else {}),
            **({"fieldSelector": fields} if fields else {}),
        }
        while found := self._page(path, query, form):
            yield from found.get("items") or ()
            query["continue"] = str(found["metadata"].get("continue") or "")
            if not query["continue"]:
                return

    def _page(self, path: str, query: Query, form: Form) -> dict[str, Any]:
        try:
            return self.call("GET", path, query, form=form)
        except Refused as e:
            if e.status in {404, 405}:
                return {}
            raise

    def _authorization(self) -> dict[str, str]:
        """Asked for each time: a token may have run out since."""
        return {
            setting["key"]: setting["value"]
            for setting in self.configuration.auth_settings().values()
            if setting["value"]
        }


def _status(data: bytes) -> dict[str, Any]:
    try:
        said: Any = json.loads(data)
        return dict(said)
    except (ValueError, TypeError):
        return {"message": data[:200].decode(errors="replace")}
