"""A program of its own, run where Services have addresses: a review over a connection that is new each time, until its input ends.

Its words: HOST:PORT, the name that the certificate is for, the file with the CA, the path. What became of them it prints as one line of JSON.
"""

from __future__ import annotations

import http.client
import json
import select
import ssl
import sys

PAUSE = 0.1  # seconds
REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {
        "uid": "u",
        "operation": "CREATE",
        "namespace": "default",
        "object": {
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"serviceAccountName": "default", "containers": [{"name": "c", "image": "c"}]},
        },
    },
}


class Named(http.client.HTTPSConnection):
    """Asked under another name than its address."""

    def __init__(self, place: str, name: str, context: ssl.SSLContext) -> None:
        super().__init__(place, timeout=5, context=context)
        self.context, self.name = context, name

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self.context.wrap_socket(self.sock, server_hostname=self.name)


def asked(place: str, name: str, context: ssl.SSLContext, path: str) -> str:
    """What is wrong with the answer."""
    connection = Named(place, name, context)
    try:
        connection.request("POST", path, json.dumps(REVIEW), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        return (
            ""
            if answer.status == 200 and json.loads(content)["response"]["allowed"]
            else f"{answer.status} {content!r}"
        )
    except (OSError, http.client.HTTPException, ValueError) as e:
        return f"{type(e).__name__}: {e}"
    finally:
        connection.close()


def main(place: str, name: str, authority: str, path: str) -> None:
    context, answered, failed = ssl.create_default_context(cafile=authority), 0, list[str]()
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        if wrong := asked(place, name, context, path):
            failed.append(wrong)
        else:
            answered += 1
    print(json.dumps({"answered": answered, "failed": failed}))


if __name__ == "__main__":
    main(*sys.argv[1:])
