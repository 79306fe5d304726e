"""Addresses that may be reached from within: of a private network, where a cluster of the user's own is, and no cloud."""

from __future__ import annotations

import ipaddress

from cwiictl.errors import BadInput

# Of private networks, and of those that are for examples and labs: nobody in public has one of them.
_PRIVATE = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
    "192.0.2.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
)
_CREDENTIALS = (
    "fd00:ec2::254",
    "fd00:ec2::23",
    "fd20:ce::254",
)  # where AWS and Google hand them out; by IPv4 that is link-local


def judge(address: str) -> None:
    """No name: whom it leads to another may decide, and to many clients it stands for all that end so."""
    try:
        network = ipaddress.ip_network(address)
    except ValueError as e:
        remedy = "give an IP address, or a network such as 10.0.0.0/16; of a name, the address that it has"
        raise BadInput(f"--let {address} is no address", remedy=remedy) from e
    if not any(_within(network, ipaddress.ip_network(private)) for private in _PRIVATE):
        raise BadInput(
            f"--let {address} is no private address",
            remedy="give those of your cluster's own network: nothing else may be reached from here",
        )
    if any(ipaddress.ip_address(credentials) in network for credentials in _CREDENTIALS):
        raise BadInput(
            f"--let {address} has a metadata service in it",
            remedy="give the addresses of your API servers one by one",
        )


def _within(
    network: ipaddress.IPv4Network | ipaddress.IPv6Network,
    other: ipaddress.IPv4Network | ipaddress.IPv6Network,
) -> bool:
    return (
        network.version == other.version
        and network.network_address in other
        and network.prefixlen >= other.prefixlen
    )
