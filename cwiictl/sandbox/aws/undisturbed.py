"""The caller's environment must not reach moto: it reads variables of its own, and boto3's, when it is imported and later."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

_MOTO = (
    "MOTO_",
    "TEST_SERVER_MODE",
    "TEST_PROXY_MODE",
    "INITIAL_NO_AUTH_ACTION_COUNT",
    "S3_IGNORE_SUBDOMAIN_BUCKETNAME",
    "S3_UPLOAD_PART_MIN_SIZE",
)
_BOTO = ("AWS_", "BOTO_", "BOTOCORE_")


@contextlib.contextmanager
def undisturbed() -> Generator[None]:
    """Without any of it, for the moments in which moto is made ready."""
    with without((*_MOTO, *_BOTO)):
        os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
        try:
            yield
        finally:
            for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
                os.environ.pop(name, None)


@contextlib.contextmanager
def calm() -> Generator[None]:
    """Without moto's own variables, for as long as a sandbox runs; what boto3 reads is left to the rest of the process."""
    with without(_MOTO):
        yield


@contextlib.contextmanager
def without(prefixes: tuple[str, ...]) -> Generator[None]:
    kept = {name: value for name, value in os.environ.items() if name.startswith(prefixes)}
    for name in kept:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(kept)
