"""Serves EC2 instance metadata on loopback, with session tokens (IMDSv2) or without (IMDSv1)."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENT = json.dumps({"accountId": "111122223333", "region": "us-gov-west-1", "instanceId": "i-1"})
TOKEN = "the-token"


@contextmanager
def serve_metadata(
    *, tokens: bool = True, document: str = DOCUMENT, failing: int = 0
) -> Generator[tuple[str, list[str]]]:
    """Yields the address and the list of requests. The first `failing` requests get status 503."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            requests.append(f"PUT {self.path}")
            if len(requests) <= failing:
                self.respond(503)
            elif not tokens:
                self.respond(404)
            elif self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
                self.respond(200, TOKEN)
            else:
                self.respond(400)

        def do_GET(self) -> None:
            requests.append(f"GET {self.path}")
            if self.path != "/latest/dynamic/instance-identity/document":
                self.respond(404)
            elif tokens and self.headers.get("X-aws-ec2-metadata-token") != TOKEN:
                self.respond(401)
            else:
                self.respond(200, document)

        def respond(self, code: int, text: str = "") -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride] - no log

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
