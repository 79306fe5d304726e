"""Distributions: made, changed, shown, and deleted when they have been disabled everywhere."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from urllib.parse import unquote

from cwiictl.sandbox.aws.answers import Refusal
from cwiictl.sandbox.aws.memory import ACCOUNT
from cwiictl.sandbox.aws.partitions import Partition
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Faults

from .configs import check, whole
from .elements import answer, malformed, new, page, parsed, value
from .routes import identifier
from .store import Distribution, Store, matched, unique

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_SUMMARY = (
    "Aliases", "Origins", "OriginGroups", "DefaultCacheBehavior", "CacheBehaviors", "CustomErrorResponses", "Comment", "PriceClass", "Enabled",
    "ViewerCertificate", "Restrictions", "WebACLId", "HttpVersion", "IsIPV6Enabled", "Staging",
)  # fmt: skip


class Distributions:
    def __init__(self, store: Store, partition: Partition, faults: Faults) -> None:
        self._store = store
        self._partition = partition
        self._faults = faults

    def create(self, request: Request) -> Response:
        return self._made(parsed(request.body, "DistributionConfig"), {})

    def create_with_tags(self, request: Request) -> Response:
        body = parsed(request.body, "DistributionConfigWithTags")
        config, tags = body.find("DistributionConfig"), body.find("Tags")
        if config is None or tags is None:
            raise malformed("DistributionConfig and Tags must not be null")
        return self._made(config, _tags(tags))

    def get(self, request: Request) -> Response:
        return self._shown(self._found(request))

    def get_config(self, request: Request) -> Response:
        found = self._found(request)
        return answer(found.config, headers=(("ETag", found.etag),))

    def update(self, request: Request) -> Response:
        found = self._found(request)
        config = parsed(request.body, "DistributionConfig")
        matched(request.header("If-Match"), found.etag)
        self._check(config)
        if value(config, "CallerReference") != value(found.config, "CallerReference"):
            raise Refusal(
                400, "IllegalUpdate", "The update contains modifications that are not allowed."
            )
        found.update(whole(config), self._now(), self._faults.deploy)
        return self._shown(found)

    def list(self, request: Request) -> Response:
        summaries = (
            (
                one.id,
                self._element(
                    "DistributionSummary",
                    one,
                    [config for config in one.config if config.tag in _SUMMARY],
                ),
            )
            for one in self._all()
        )
        return page("DistributionList", summaries, request.asked)

    def delete(self, request: Request) -> Response:
        """Disabled is not enough: every edge must have heard of it."""
        found = self._found(request)
        matched(request.header("If-Match"), found.etag)
        if value(found.config, "Enabled") == "true" or found.status(self._now()) != "Deployed":
            raise Refusal(
                409,
                "DistributionNotDisabled",
                "The distribution you are trying to delete has not been disabled.",
            )
        del self._store.distributions[found.id]
        return Response(204)

    def list_tags(self, request: Request) -> Response:
        return answer(
            new(
                "Tags",
                new(
                    "Items",
                    *(
                        new("Tag", ("Key", key), ("Value", text))
                        for key, text in self._tagged(request).tags.items()
                    ),
                ),
            )
        )

    def tag(self, request: Request) -> Response:
        found = self._tagged(request)
        found.tags = _checked(found.tags | _tags(parsed(request.body, "Tags")))
        return Response(204)

    def untag(self, request: Request) -> Response:
        names = {key.text for key in parsed(request.body, "TagKeys").iter("Key")}
        found = self._tagged(request)
        found.tags = {key: text for key, text in found.tags.items() if key not in names}
        return Response(204)

    def _made(self, config: ET.Element, tags: dict[str, str]) -> Response:
        self._check(config)
        for other in self._all():
            if value(other.config, "CallerReference") == value(config, "CallerReference"):
                told = "The caller reference that you are using to create a distribution is associated with another distribution."
                raise Refusal(
                    409, "DistributionAlreadyExists", f"{told} Already exists: {other.id}"
                )
        name, now = unique("E"), self._now()
        arn, domain = (
            f"arn:{self._partition.name}:cloudfront::{ACCOUNT}:distribution/{name}",
            unique("d", _LETTERS) + self._partition.edge,
        )
        made = Distribution(
            arn, name, domain, whole(config), _checked(tags), now + self._faults.deploy, now
        )
        self._store.distributions[name] = made
        return self._shown(made, 201)

    def _check(self, config: ET.Element) -> None:
        check(config, self._store.controls, self._store.identities)

    def _found(self, request: Request) -> Distribution:
        found = self._store.distributions.get(identifier(request))
        if found is None:
            raise Refusal(404, "NoSuchDistribution", "The specified distribution does not exist.")
        return found

    def _tagged(self, request: Request) -> Distribution:
        arn = unquote(request.asked.get("Resource", ""))
        found = next((one for one in self._all() if one.arn == arn), None)
        if found is None:
            raise Refusal(404, "NoSuchResource", "The resource that was specified does not exist.")
        return found

    def _all(self) -> list[Distribution]:
        return list(self._store.distributions.values())

    def _now(self) -> float:
        return self._faults.clock()

    def _shown(self, one: Distribution, status: int = 200) -> Response:
        nobody = [
            new("ActiveTrustedSigners", ("Enabled", "false"), ("Quantity", "0")),
            new("ActiveTrustedKeyGroups", ("Enabled", "false"), ("Quantity", "0")),
        ]
        root = self._element(
            "Distribution", one, [*nobody, one.config], [("InProgressInvalidationBatches", "0")]
        )
        location = (
            [("Location", f"https://cloudfront.amazonaws.com/2020-05-31/distribution/{one.id}")]
            if status == 201
            else []
        )
        return answer(root, status, (("ETag", one.etag), *location))

    def _element(
        self,
        tag: str,
        one: Distribution,
        parts: list[ET.Element],
        head: list[tuple[str, str]] | None = None,
    ) -> ET.Element:
        changed = (
            datetime.fromtimestamp(one.changed, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        )
        own = [
            ("Id", one.id),
            ("ARN", one.arn),
            *([] if head else [("ETag", one.etag)]),
            ("Status", one.status(self._now())),
            ("LastModifiedTime", changed),
        ]
        return new(tag, *own, *(head or []), ("DomainName", one.domain), *parts)


def _tags(holder: ET.Element) -> dict[str, str]:
    return {value(tag, "Key"): value(tag, "Value") for tag in holder.iterfind("Items/Tag")}


def _checked(tags: dict[str, str]) -> dict[str, str]:
    if len(tags) > 50 or any(
        not 1 <= len(key) <= 128 or len(text) > 256 or key.startswith("aws:")
        for key, text in tags.items()
    ):
        raise Refusal(
            400, "InvalidTagging", "The specified tagging for a CloudFront resource is invalid."
        )
    return tags
