"""Where a request comes from: the address of its client, behind trusted proxies, too."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from scenarios.errors import UsageError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_SUBSCRIBER_BITS = 64
"""Of an IPv6 address, what one subscriber has; the rest they choose anew as often as they like."""


def trusted_networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read addresses (``10.0.0.7``) and networks (``172.18.0.0/16``) of proxies.

    Raises:
        UsageError: one is neither.
    """
    found = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text))
        except ValueError as error:
            raise UsageError(
                f"--trusted-proxy {text!r} is no IP address: {error}",
                "give the address its requests come from, e.g. 127.0.0.1, or a network, e.g."
                " 172.18.0.0/16",
            ) from None
    return tuple(found)


def is_trusted(peer: str, proxies: Sequence[Network]) -> bool:
    """Whether an address is one of the proxies."""
    address = _parsed(peer)
    return address is not None and any(address in network for network in proxies)


def client_address(peer: str, forwarded: Sequence[str], proxies: Sequence[Network]) -> str | None:
    """Return the address of whoever asks; an IPv6 address stands for its network of 64 bits.

    Every proxy adds the address it was asked from at the right of ``X-Forwarded-For``; what stands
    further left was sent by the client, who can write there what they like. So the client is the
    first address from the right that is no trusted proxy, and a peer that is none is the client.

    Args:
        peer: the other end of the connection.
        forwarded: the values of all ``X-Forwarded-For`` headers in the order they were sent.
        proxies: the trusted ones.

    Returns:
        The address, or None where a trusted proxy does not tell, or tells no address.
    """
    if not is_trusted(peer, proxies):
        address = _parsed(peer)
        return peer if address is None else _subscriber(address)
    hops = [hop.strip() for value in forwarded for hop in value.split(",")]
    for hop in reversed(hops):
        address = _parsed(_without_port(hop))
        if address is None:
            return None
        if not any(address in network for network in proxies):
            return _subscriber(address)
    # Nobody but proxies: one of them asks for itself, the one furthest away.
    address = _parsed(_without_port(hops[0])) if hops else None
    return None if address is None else _subscriber(address)


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _without_port(hop: str) -> str:
    """Return the address of ``1.2.3.4:5678`` or ``[2001:db8::1]:5678``, as some proxies write it."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _subscriber(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, _SUBSCRIBER_BITS), strict=False))
