"""Whose address counts, with proxies that tell it and strangers who make it up."""

from __future__ import annotations

import pytest

from quality.web.client_address import client_address, is_trusted, trusted_networks
from scenarios.errors import UsageError

PROXIES = trusted_networks(["10.0.0.1", "172.18.0.0/16", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", [], "198.51.100.7"),
        ("198.51.100.7", ["203.0.113.5"], "198.51.100.7"),  # no proxy: what it says is made up
        ("10.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.5, 172.18.3.4"], "203.0.113.5"),
        ("10.0.0.1", ["203.0.113.5:4711"], "203.0.113.5"),
        ("10.0.0.1", ["172.18.3.4, 172.18.9.9"], "172.18.3.4"),
        ("10.0.0.1", ["nonsense, 203.0.113.5"], "203.0.113.5"),
        ("10.0.0.1", ["203.0.113.5, nonsense"], None),
        ("10.0.0.1", ["unknown"], None),
        ("10.0.0.1", [""], None),
        ("10.0.0.1", [], None),
        ("::ffff:10.0.0.1", ["203.0.113.5"], "203.0.113.5"),
        ("fd00::1", ["[2001:db8:1:2:3:4:5:6]:80"], "2001:db8:1:2::/64"),
        ("10.0.0.1", ["2001:db8:1:2:ffff::1"], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3::9", [], "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("testclient", [], "testclient"),
    ],
)
def test_the_client_is_the_first_from_the_right_that_is_no_proxy(
    peer: str, forwarded: list[str], client: str | None
) -> None:
    assert client_address(peer, forwarded, PROXIES) == client


def test_only_the_named_ones_are_trusted() -> None:
    assert is_trusted("172.18.255.255", PROXIES)
    assert not is_trusted("172.19.0.0", PROXIES)
    assert not is_trusted("nonsense", PROXIES)


@pytest.mark.parametrize("text", ["proxy", "", "10.0.0.1/8", "10.0.0"])
def test_what_is_neither_address_nor_network_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no IP address"):
        trusted_networks([text])
