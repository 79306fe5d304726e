"""An instance's metadata service on loopback, as EC2 has it: with tokens, or, as once, without."""

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
    """Its address, and what was asked. The first so many requests fail."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            asked.append(f"PUT {self.path}")
            if len(asked) <= failing:
                self.say(503)
            elif not tokens:
                self.say(404)
            elif self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
                self.say(200, TOKEN)
            else:
                self.say(400)

        def do_GET(self) -> None:
            asked.append(f"GET {self.path}")
            if self.path != "/latest/dynamic/instance-identity/document":
                self.say(404)
            elif tokens and self.headers.get("X-aws-ec2-metadata-token") != TOKEN:
                self.say(401)
            else:
                self.say(200, document)

        def say(self, code: int, text: str = "") -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride] - it tells nobody

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
