"""Start the review server, and check what a public address needs."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from quality.review.app import build_app
from quality.review.service import Access, ReviewService
from scenarios.errors import UsageError


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is served, and how it is protected there."""

    host: str = "127.0.0.1"
    port: int = 8642
    certfile: Path | None = None
    keyfile: Path | None = None
    trusted_proxy: str | None = None

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
    def url(self) -> str:
        """How a browser on this machine reaches it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certfile else 'http'}://{host}:{self.port}"


def access_at(address: Address, accounts: int) -> Access:
    """Return how people get in at an address.

    Args:
        address: where the page shall be served.
        accounts: how many people have an account.

    Raises:
        UsageError: it can be reached from elsewhere without accounts, or unencrypted.
    """
    if (address.certfile is None) != (address.keyfile is None):
        raise UsageError("--certfile and --keyfile go together", "give both")
    if address.trusted_proxy is not None:
        _check_address(address.trusted_proxy)
    protected = address.certfile is not None or address.trusted_proxy is not None
    if address.is_local and not protected:
        names = {f"{name}:{address.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        names.add(address.url.partition("://")[2])
        return Access(hosts=tuple(sorted(names)))
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
    return Access(accounts=True, tls=True, proxy=address.trusted_proxy)


def listening(address: Address) -> socket.socket:
    """Return a socket that listens at an address, so that nothing is announced in vain.

    Raises:
        UsageError: the address or port cannot be had.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # asyncio turns Nagle's delay off only where it sees the protocol named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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


def server(service: ReviewService, address: Address) -> uvicorn.Server:
    """Return a server of the page; ``run(sockets=[listening(address)])`` starts it.

    Raises:
        UsageError: certificate or key cannot be used.
    """
    if address.certfile is not None:
        _check_certificate(address.certfile, address.keyfile)
    config = uvicorn.Config(
        build_app(service),
        host=address.host,
        port=address.port,
        ssl_certfile=address.certfile,
        ssl_keyfile=address.keyfile,
        proxy_headers=False,
        server_header=False,
        access_log=False,  # addresses hold one-time tokens
        log_level="warning",
        timeout_keep_alive=30,
        limit_concurrency=500,
    )
    return uvicorn.Server(config)


def _check_address(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise UsageError(
            f"--trusted-proxy {text!r} is no IP address",
            "give the address its requests come from, e.g. 127.0.0.1",
        ) from None


def _check_certificate(certfile: Path, keyfile: Path | None) -> None:
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certfile, keyfile)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"certificate {certfile} or its key cannot be used: {error}",
            "give PEM files that belong together",
        ) from error
