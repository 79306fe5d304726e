"""Where journeys happen: a sandbox, a folder, the real `cwiictl` as a process, and boto3 to look behind the door or to change things by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sysconfig
import time
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import boto3
import jwt
from botocore.config import Config
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from cwiictl import oidc
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.aws.keyring import KEY, SECRET
from tests.examples import ACCOUNT
from tests.journeys import account
from tests.journeys.warm import ran

PROGRAMS = Path(sysconfig.get_path("scripts"))
REGION = "us-east-1"
NAME = "demo"
BUCKET = f"{NAME}-oidc"
HOST = f"{BUCKET}.s3.{REGION}.amazonaws.com"
ISSUER = f"https://{HOST}"
PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{HOST}"
INGRESS = f"{NAME}-openshift-ingress-operator-cloud-credentials"
REGISTRY = f"{NAME}-openshift-image-registry-installer-cloud-credentials"
NOTHING: dict[str, Any] = {
    "roles": {},
    "policies": {},
    "providers": {},
    "buckets": {},
    "distributions": {},
    "accesses": {},
    "identities": [],
}
CALLER = f"arn:aws:iam::{ACCOUNT}:user/sandbox"
PERMISSIONS = f"aws/permissions/{CALLER}"
PRIVATE = "--create-private-s3-bucket"
SUBJECT = "system:serviceaccount:openshift-ingress-operator:ingress-operator"


@cache
def a_key(number: int) -> rsa.RSAPrivateKey:
    """A small one, made once for all tests of a process."""
    del number  # each its own key
    return rsa.generate_private_key(65537, 2048)


def private_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@dataclass(frozen=True)
class Done:
    """How a process ended, and what it told."""

    code: int
    out: str
    err: str

    @cached_property
    def data(self) -> Any:
        """Of `--output json`: exactly one document, and nothing else."""
        return json.loads(self.out)

    @property
    def things(self) -> dict[str, str]:
        return {thing["thing"]: thing["condition"] for thing in self.data["things"]}

    def but(self, *conditions: str) -> dict[str, str]:
        """The things that are in none of these conditions."""
        return {
            thing: condition
            for thing, condition in self.things.items()
            if condition not in conditions
        }

    @property
    def fields(self) -> dict[str, list[str]]:
        """What is not as wanted, field by field."""
        return {
            thing["thing"]: [d["field"] for d in thing["differences"]]
            for thing in self.data["things"]
            if thing["differences"]
        }

    @property
    def remarks(self) -> dict[str, list[str]]:
        """What is told of a thing beside that."""
        return {
            thing["thing"]: thing["remarks"] for thing in self.data["things"] if "remarks" in thing
        }


@dataclass
class Ground:
    sandbox: Sandbox
    folder: Path  # where commands are run
    before: int = 0  # requests that were made before the last `fresh`

    # --- what is there to start with ---

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def requests(self, files: Mapping[str, str]) -> None:
        """The folder `requests`, with these files and no others."""
        for old in (self.folder / "requests").glob("*"):
            old.unlink()
        for name, content in files.items():
            self.write(f"requests/{name}", content)

    def keys(self, out: str = "out", number: int = 0) -> None:
        """A private key that is known to the test, as if an earlier run had made it."""
        (self.folder / out).mkdir(mode=0o700)
        self.write(f"{out}/serviceaccount-signer.private", private_pem(a_key(number))).chmod(0o600)

    # --- the real program ---

    def started(self, *arguments: str | Path, **variables: str) -> subprocess.Popen[str]:
        environment = {**self.sandbox.environment(), **variables}
        return subprocess.Popen(
            [str(PROGRAMS / "cwiictl"), *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def cwiictl(self, *arguments: str | Path, **variables: str) -> Done:
        done = Done(
            *ran([*map(str, arguments)], self.folder, {**self.sandbox.environment(), **variables})
        )
        assert "Traceback" not in done.err or "--debug" in arguments, done.err
        return done

    def _cluster(
        self, command: str, arguments: tuple[str | Path, ...], variables: dict[str, str]
    ) -> Done:
        form = () if {"-o", "--output"} & set(arguments) else ("-o", "json")
        return self.cwiictl(command, *self.where, *arguments, *form, **variables)

    where = ("--cloud", "aws", "--name", NAME, "--region", REGION)
    asking = ("--credentials-requests-dir", "requests", "--output-dir", "out")

    def create_all(self, *arguments: str | Path, **variables: str) -> Done:
        return self._cluster("create-all", (*self.asking, "--bits", "2048", *arguments), variables)

    def status(self, *arguments: str | Path, **variables: str) -> Done:
        return self._cluster("status", (*self.asking, *arguments), variables)

    def verify(self, *arguments: str | Path, **variables: str) -> Done:
        return self._cluster("verify", (*self.asking, *arguments), variables)

    def delete(self, *arguments: str | Path, **variables: str) -> Done:
        return self._cluster("delete", arguments, variables)

    def killed(self, writes: int, *command: str | Path, **variables: str) -> int:
        """Exactly so many writes are carried out; the last one's answer never arrives."""
        self.fresh()
        with self.started(*command, **variables) as process:
            self.sandbox.faults.on_end = lambda: os.kill(process.pid, signal.SIGKILL)
            self.sandbox.faults.end_after = writes
            process.communicate(timeout=60)
        self.sandbox.faults.end_after = None
        assert len(self.mutating()) == writes
        return process.returncode

    # --- what went through the door ---

    def fresh(self) -> None:
        """From now on only what comes is looked at."""
        self.before = len(self.sandbox.record)

    def asked(self) -> list[str]:
        return [seen.action for seen in self.sandbox.record[self.before :]]

    def mutating(self) -> list[str]:
        """The writes that were carried out, in order of their names: who is first among equals is nobody's promise."""
        return sorted(
            seen.action
            for seen in self.sandbox.record[self.before :]
            if seen.mutating and seen.status < 400
        )

    # --- behind the door ---

    @contextmanager
    def aws(self, service: str, config: Config | None = None, **credentials: str) -> Generator[Any]:
        known = credentials or {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET}
        config = Config(
            proxies={"https": self.sandbox.proxy},
            retries={"total_max_attempts": 1},
            s3={"addressing_style": "virtual"},
        ).merge(config or Config())
        session: Any = _session()
        with closing(
            session.client(
                service,
                region_name=REGION,
                verify=str(self.sandbox.ca_file),
                config=config,
                **known,
            )
        ) as client:
            yield client

    def tree(self, out: str = "out") -> dict[str, tuple[int, bytes]]:
        """Every file with its mode."""
        root = self.folder / out
        return {
            path.relative_to(root).as_posix(): (path.stat().st_mode & 0o777, path.read_bytes())
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def times(self, out: str = "out") -> dict[str, int]:
        return {path.as_posix(): path.stat().st_mtime_ns for path in (self.folder / out).rglob("*")}

    def masked(self, content: bytes) -> bytes:
        """With words for what is of the key that this run has made."""
        tree = self.tree()
        private, public = (
            tree[f"serviceaccount-signer.{half}"][1] for half in ("private", "public")
        )
        key = oidc.public_key(public, "the public key")
        pair = {private: b"the private key\n", public: b"the public key\n"}
        return (
            pair.get(content, content)
            .replace(key.kid.encode(), b"KID")
            .replace(key.n.encode(), b"N")
        )

    def everything(self) -> tuple[Any, dict[str, tuple[int, bytes]]]:
        """The account and the folder `out`, without what is of the key or given by CloudFront: of two runs that end alike, the same."""
        clouds, given = self.clouds(), self.given()

        def masked(content: bytes) -> bytes:
            text = self.masked(content)
            for name, word in given.items():
                text = text.replace(name.encode(), word.encode())
            return text

        return json.loads(masked(json.dumps(clouds).encode())), {
            path: (mode, masked(content)) for path, (mode, content) in self.tree().items()
        }

    def files(self) -> set[str]:
        """All that lies in the folder, by name."""
        return {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*")}

    def token(self, number: int = 0, **claims: Any) -> str:
        """As the cluster would sign it with its key."""
        now = int(time.time())
        body = {
            "iss": ISSUER,
            "sub": SUBJECT,
            "aud": ["sts.amazonaws.com"],
            "iat": now - 5,
            "exp": now + 600,
            **claims,
        }
        kid = claims.pop("kid", None) or kid_of(a_key(number))
        return jwt.encode(
            {name: value for name, value in body.items() if name != "kid"},
            a_key(number),
            algorithm="RS256",
            headers={"kid": kid},
        )

    def given(self) -> dict[str, str]:
        """The names that CloudFront has given, with words for them."""
        with self.aws("cloudfront") as front:
            fronts = {
                item[key]: f"{key} of a distribution"
                for item in account.fronts(front)
                for key in ("DomainName", "Id")
            }
            return {**fronts, **{item["Id"]: "Id of an access" for item in account.accesses(front)}}

    def clouds(self) -> dict[str, Any]:
        """All that is in the account, without what is different each time: ids, dates, thumbprints."""
        with self.aws("iam") as iam, self.aws("s3") as s3, self.aws("cloudfront") as front:
            policies = [
                item["Arn"]
                for page in iam.get_paginator("list_policies").paginate(Scope="Local")
                for item in page["Policies"]
            ]
            roles = [
                role["RoleName"]
                for page in iam.get_paginator("list_roles").paginate()
                for role in page["Roles"]
            ]
            providers = [
                provider["Arn"]
                for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]
            ]
            buckets = [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]
            return {
                "roles": {name: account.role(iam, name) for name in sorted(roles)},
                "policies": {arn: account.policy(iam, arn) for arn in sorted(policies)},
                "providers": {arn: account.provider(iam, arn) for arn in sorted(providers)},
                "buckets": {name: account.bucket(s3, name) for name in sorted(buckets)},
                "distributions": {
                    item["Comment"]: account.distribution(front, item)
                    for item in account.fronts(front)
                },
                "accesses": {
                    item["Name"]: account.access(item) for item in account.accesses(front)
                },
                "identities": [item["Comment"] for item in account.identities(front)],
            }


@cache
def _session() -> boto3.Session:
    return boto3.Session()


def kid_of(key: rsa.RSAPrivateKey) -> str:
    return oidc.public_key(public_pem(key), "a key").kid


def program(name: str) -> str:
    """One of this environment's programs, such as the AWS CLI."""
    return str(PROGRAMS / name)
