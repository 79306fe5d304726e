"""gRPC behind the door: each call becomes a request like any other, and its answer a message or a status.

The conversation itself is grpcio's, on loopback; the door hands it what comes in HTTP/2. So calls are slow, throttled, recorded and ended as requests are.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .exchange import Headers, Request, Response

if TYPE_CHECKING:  # slow to import: when somebody calls
    import grpc

AT_ONCE = 64


@dataclass(frozen=True)
class Call:
    """`method` is service and name, such as google.iam.admin.v1.IAM/GetRole."""

    host: str
    method: str
    metadata: Headers
    message: bytes = field(repr=False)


@dataclass(frozen=True)
class Status:
    """Why a call was not carried out: the name of its code, a sentence, and a google.rpc.Status."""

    code: str
    sentence: str
    details: bytes = b""


class Interpreter(Protocol):
    def knows(self, method: str) -> bool: ...
    def request(self, call: Call) -> Request: ...
    def reply(self, call: Call, response: Response) -> bytes | Status: ...


Find = Callable[[str], Interpreter | None]
Answer = Callable[[Request], Response | None]


class Calls:
    """A server for each host, from its first call on."""

    def __init__(self, find: Find, answer: Answer) -> None:
        self._find = find
        self._answer = answer
        self._lock = threading.Lock()
        self._servers: dict[str, tuple[grpc.Server, int]] = {}

    def offered(self, host: str) -> bool:
        return self._find(host) is not None

    def port(self, host: str) -> int:
        """Where on loopback its calls are answered."""
        with self._lock:
            if host not in self._servers:
                self._servers[host] = self._started(host)
            return self._servers[host][1]

    def close(self) -> None:
        with self._lock:
            for server, _ in self._servers.values():
                server.stop(0).wait(5)
            self._servers.clear()

    def _started(self, host: str) -> tuple[grpc.Server, int]:
        import grpc  # noqa: PLC0415 - slow to load: only where it is needed

        calls, interpreter = self, self._find(host)
        if interpreter is None:
            raise KeyError(host)

        class Handler(grpc.GenericRpcHandler):
            def service(
                self, handler_call_details: grpc.HandlerCallDetails
            ) -> grpc.RpcMethodHandler[bytes, bytes] | None:
                method = handler_call_details.method.lstrip("/")
                if not interpreter.knows(method):
                    return None

                def carry_out(message: bytes, context: grpc.ServicerContext) -> bytes:
                    headers = tuple(
                        (key, value)
                        for key, value in context.invocation_metadata()
                        if isinstance(value, str)
                    )
                    return calls._carried_out(
                        interpreter, Call(host, method, headers, message), context
                    )

                return grpc.unary_unary_rpc_method_handler(carry_out)

        server = grpc.server(ThreadPoolExecutor(AT_ONCE, "sandbox-call"), [Handler()])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        return server, port

    def _carried_out(self, interpreter: Interpreter, call: Call, context: Any) -> bytes:
        response = self._answer(interpreter.request(call))
        if (
            response is None
        ):  # the client was ended; were it still there, it would see its connection break
            return _refused(context, Status("UNAVAILABLE", "Socket closed"))
        reply = interpreter.reply(call, response)
        return _refused(context, reply) if isinstance(reply, Status) else reply


def _refused(context: Any, status: Status) -> bytes:
    import grpc  # noqa: PLC0415 - slow to load: only where it is needed

    if status.details:
        context.set_trailing_metadata((("grpc-status-details-bin", status.details),))
    code = grpc.StatusCode.UNKNOWN
    with contextlib.suppress(KeyError):
        code = grpc.StatusCode[status.code]
    context.abort(code, status.sentence)
    return b""
