"""Serve a page: where, who gets in there, and the server itself."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from quality.web.access import Access
from quality.web.bounded_listener import MOST_OF_AN_ADDRESS, BoundedListener
from quality.web.client_address import trusted_networks
from quality.web.header_deadline import HEADER_S, protocol_with
from scenarios.errors import UsageError

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is served, and how it is protected there."""

    host: str = "127.0.0.1"
    port: int = 8642
    certfile: Path | None = None
    keyfile: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of proxies that speak TLS for the server."""
    public_urls: tuple[str, ...] = ()
    """What people type to reach the page."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_every(self) -> bool:
        """Whether every address of this machine is listened at, so that none names the page."""
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """How a browser reaches it: as people were told, or else from this machine."""
        if self.public_urls:
            return self.public_urls[0].rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certfile else 'http'}://{host}:{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The names browsers may ask for: those of this machine, the address, and the public ones.

        Raises:
            UsageError: a public URL is none.
        """
        own = () if self.is_every else (f"[{self.host}]" if ":" in self.host else self.host,)
        usual = 443 if self.certfile else 80
        names = {f"{name}:{self.port}" for name in (*_LOOPBACK, *own)}
        if self.port == usual:
            names |= {*_LOOPBACK, *own}
        return frozenset(name.lower() for name in names) | {_host_of(u) for u in self.public_urls}


def access_at(address: Address, accounts: int) -> Access:
    """Return how people get in at an address.

    Args:
        address: where the page shall be served.
        accounts: how many people have an account.

    Raises:
        UsageError: it can be reached from elsewhere without accounts, or unencrypted, or by names
            that were not told.
    """
    if (address.certfile is None) != (address.keyfile is None):
        raise UsageError("--certfile and --keyfile go together", "give both")
    proxies = trusted_networks(address.trusted_proxies)
    protected = address.certfile is not None or bool(proxies)
    if address.is_local and not protected:
        if address.public_urls:
            raise UsageError(
                "--public-url is for a page that others reach",
                "give --certfile and --keyfile, or name the proxy that speaks TLS:"
                " --trusted-proxy IP",
            )
        return Access(hosts=address.hosts)
    if not protected:
        raise UsageError(
            f"{address.host} can be reached from other machines, and nothing would be encrypted",
            "give --certfile and --keyfile, or name the proxy that speaks TLS: --trusted-proxy IP",
        )
    if not accounts:
        raise UsageError(
            f"{address.host} can be reached from other machines, and nobody has an account",
            "add people first: hipo review user add RUN NAME",
        )
    if not address.public_urls and (proxies or address.is_every):
        raise UsageError(
            "the page answers only to its own name, and that was not told",
            "give what people type to reach it: --public-url https://review.example.org",
        )
    return Access(accounts=True, tls=True, proxies=proxies, hosts=address.hosts)


def listening(address: Address, *, most_of_an_address: int = MOST_OF_AN_ADDRESS) -> socket.socket:
    """Return a socket that listens at an address, so that nothing is announced in vain.

    Args:
        address: where to listen.
        most_of_an_address: connections that one address may hold; proxies may hold any number.

    Raises:
        UsageError: the address or port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    proxies = trusted_networks(address.trusted_proxies)
    listener = BoundedListener(family, most=most_of_an_address, proxies=proxies)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.host, address.port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"{address.host}:{address.port} cannot be served: {error.strerror or error}",
            "choose another --port, or an address of this machine",
        ) from error
    listener.setblocking(False)
    return listener


def server(app: ASGIApp, address: Address, *, header_s: float = HEADER_S) -> uvicorn.Server:
    """Return a server of a page; ``run(sockets=[listening(address)])`` starts it.

    Args:
        app: what is served.
        address: where.
        header_s: seconds a connection has for the head of a request.

    Raises:
        UsageError: certificate or key cannot be used.
    """
    if address.certfile is not None:
        _check_certificate(address.certfile, address.keyfile)
    config = uvicorn.Config(
        app,
        host=address.host,
        port=address.port,
        ssl_certfile=address.certfile,
        ssl_keyfile=address.keyfile,
        proxy_headers=False,
        server_header=False,
        access_log=False,  # addresses hold one-time tokens
        log_config=None,  # uvicorn's own would close every handler that the process has
        log_level="warning",
        loop="asyncio",  # others do not accept by the listener's own rule
        http=protocol_with(header_s),
        ws="none",
        timeout_keep_alive=5,
        limit_concurrency=500,
    )
    return uvicorn.Server(config)


def _host_of(url: str) -> str:
    """Return what browsers name as the host when they go to a URL."""
    wanted = UsageError(
        f"--public-url {url!r} is no address of a page",
        "give https://, the name and, if it is not 443, the port: https://review.example.org",
    )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wanted from None
    if not host or not url.isascii() or url.rstrip("/") != f"https://{parts.netloc}":
        raise wanted
    if "@" in parts.netloc or not url.isprintable() or " " in url:
        raise wanted
    name = f"[{host}]" if ":" in host else host
    return name if port in (None, 443) else f"{name}:{port}"


def _check_certificate(certfile: Path, keyfile: Path | None) -> None:
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certfile, keyfile)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"certificate {certfile} or its key cannot be used: {error}",
            "give PEM files that belong together",
        ) from error
