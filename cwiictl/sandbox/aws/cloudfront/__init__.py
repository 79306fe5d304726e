"""CloudFront: private buckets shown to the world. moto's keeps neither versions nor states, so this one is the sandbox's own."""

from __future__ import annotations

from collections.abc import Callable

from cwiictl.sandbox.aws.address import Address
from cwiictl.sandbox.aws.answers import Refusal
from cwiictl.sandbox.aws.partitions import BY_NAME
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Faults

from . import routes
from .access import Controls, Identities
from .distributions import Distributions
from .store import Distribution, Store, identity_arn


class CloudFront:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._stores = {
            name: Store() for name, partition in BY_NAME.items() if partition.cloudfront
        }

    def reset(self) -> None:
        for name in self._stores:
            self._stores[name] = Store()

    def store(self, partition: str) -> Store:
        return self._stores.get(partition, Store())

    def distribution(self, host: str) -> Distribution | None:
        everywhere = (
            one for store in self._stores.values() for one in list(store.distributions.values())
        )
        return next((one for one in everywhere if one.domain == host), None)

    def identities(self, partition: str) -> set[str]:
        """The names of all origin access identities that S3 has heard of."""
        heard = [
            one
            for one in self.store(partition).identities.values()
            if one.arrives <= self._faults.clock()
        ]
        return {name for one in heard for name in (identity_arn(partition, one.id), one.canonical)}

    def handle(self, request: Request, address: Address) -> Response:
        name = routes.name(request)
        call = self._calls(address.partition).get(name)
        if call is None:
            raise Refusal(
                501, "NotImplemented", "The sandbox does not have this call of CloudFront."
            )
        return call(request)

    def _calls(self, partition: str) -> dict[str, Callable[[Request], Response]]:
        store = self._stores[partition]
        own = Distributions(store, BY_NAME[partition], self._faults)
        controls, identities = Controls(store), Identities(store, self._faults)
        return {
            "CreateDistribution": own.create,
            "CreateDistributionWithTags": own.create_with_tags,
            "GetDistribution": own.get,
            "GetDistributionConfig": own.get_config,
            "UpdateDistribution": own.update,
            "ListDistributions": own.list,
            "DeleteDistribution": own.delete,
            "ListTagsForResource": own.list_tags,
            "TagResource": own.tag,
            "UntagResource": own.untag,
            "CreateOriginAccessControl": controls.create,
            "UpdateOriginAccessControl": controls.update,
            "GetOriginAccessControl": controls.get,
            "GetOriginAccessControlConfig": controls.get_config,
            "ListOriginAccessControls": controls.list,
            "DeleteOriginAccessControl": controls.delete,
            "CreateCloudFrontOriginAccessIdentity": identities.create,
            "UpdateCloudFrontOriginAccessIdentity": identities.update,
            "GetCloudFrontOriginAccessIdentity": identities.get,
            "GetCloudFrontOriginAccessIdentityConfig": identities.get_config,
            "ListCloudFrontOriginAccessIdentities": identities.list,
            "DeleteCloudFrontOriginAccessIdentity": identities.delete,
        }
