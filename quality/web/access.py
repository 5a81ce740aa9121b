"""How people get in at a page, and by which names it answers."""

from __future__ import annotations

from dataclasses import dataclass

from quality.web.client_address import Network


@dataclass(frozen=True, slots=True)
class Access:
    """How people get in, and over what."""

    accounts: bool = False
    """Whether people log in with a password; otherwise a one-time link lets them in."""
    tls: bool = False
    """Whether browsers speak TLS to the server or to the proxy before it."""
    proxies: tuple[Network, ...] = ()
    """The only addresses requests may come from, if there is a proxy."""
    hosts: frozenset[str] = frozenset()
    """Names the server answers to, in lower case, with the port unless it is the usual one."""
