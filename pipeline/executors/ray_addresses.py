"""Whether a Ray cluster is at an address: asked before Ray is, which goes on trying for minutes."""

from __future__ import annotations

import asyncio
import os
import ssl
from contextlib import suppress

from pipeline.executors.ray_tokens import no_cluster
from scenarios.errors import UsageError

ANSWER_S = 10.0
"""Seconds in which the address of a cluster has to take a connection, and to say something: Ray itself tries
for many minutes."""
_GOODBYE_S = 1.0
_HTTP2 = "h2"
"""What HTTP/2 is called where TLS begins (ALPN)."""
_NO_PROTOCOL = "no application protocol"
"""What OpenSSL says of a server that ends TLS because it speaks nothing of what is offered (ALPN)."""
_SETTINGS = b"\0\0\0\4"
"""How a frame of settings begins: its length, here 0, and its kind."""
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS + b"\0" * 5
"""What a client of HTTP/2 says first."""


async def listening(address: str) -> str:
    """Return HOST:PORT, where something speaks as a Ray does: one that was killed leaves its own behind for ``auto``.

    Raises:
        UsageError: it is none, nothing takes a connection there, or what does is no Ray.
    """
    found = await asyncio.to_thread(_found_by_ray) if address == "auto" else address
    host, _, port = found.rpartition(":")
    if not (host.strip("[]") and "/" not in host and port.isdecimal() and int(port) < 1 << 16):
        raise UsageError(f"--ray-address: found {address!r}, expected auto or HOST:PORT")
    try:
        connecting = asyncio.open_connection(host.strip("[]"), int(port))
        reader, writer = await asyncio.wait_for(connecting, ANSWER_S)
    except (OSError, ValueError) as error:  # no name of a host: UnicodeError
        why = f"no answer within {ANSWER_S:.0f} s" if isinstance(error, TimeoutError) else error
        raise UsageError(
            f"no Ray cluster can be reached at {found}{' (auto)' * (found != address)}: {why}",
            "give the address that ray start printed on the head of the cluster, or auto on a"
            " machine of it",
        ) from error
    try:
        await _check_protocol(reader, writer, found)
    finally:
        writer.close()
        with suppress(OSError):  # whatever the other side does: nothing more is wanted of it
            await asyncio.wait_for(writer.wait_closed(), _GOODBYE_S)
    return found


async def _check_protocol(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str
) -> None:
    """Do nothing where a server speaks HTTP/2, as all of gRPC do: Ray tries another for most of a minute.

    The first thing that such a server says is a frame of settings (RFC 9113, section 3.4). With
    ``RAY_USE_TLS`` it agrees on HTTP/2 while TLS begins; whose certificates count is for Ray to find out.

    Raises:
        UsageError: it says something else, or nothing in time.
    """
    said = "it speaks no HTTP/2"
    try:
        if os.environ.get("RAY_USE_TLS", "0").lower() not in {"", "0", "false"}:
            await asyncio.wait_for(writer.start_tls(_any_certificate()), ANSWER_S)
            if writer.get_extra_info("ssl_object").selected_alpn_protocol() == _HTTP2:
                return
            raise no_cluster(address, said)
        writer.write(_PREFACE)
        head = await asyncio.wait_for(reader.readexactly(len(_SETTINGS)), ANSWER_S)
        if head[3:] == _SETTINGS[3:]:
            return
    except TimeoutError:
        said = f"it says nothing within {ANSWER_S:.0f} s"
    except ssl.SSLError as error:
        if _NO_PROTOCOL not in str(error).replace("_", " ").casefold():
            why = error.reason or error
            said = f"TLS, which RAY_USE_TLS asks for, cannot begin there ({why})"
    except (OSError, asyncio.IncompleteReadError):
        said = "it hangs up"
    raise no_cluster(address, said)


def _any_certificate() -> ssl.SSLContext:
    """Return how TLS begins with whoever it is, with the certificate that Ray itself would show.

    Raises:
        UsageError: that cannot be read.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols([_HTTP2])
    certificate, key = (os.environ.get(f"RAY_TLS_SERVER_{name}", "") for name in ("CERT", "KEY"))
    try:
        if certificate and key:
            context.load_cert_chain(certificate, key)
    except OSError as error:
        raise UsageError(
            f"RAY_USE_TLS is set, and the certificate {certificate} with the key {key} cannot be used: "
            f"{error.strerror or error}",
            "name both in RAY_TLS_SERVER_CERT and RAY_TLS_SERVER_KEY, or unset RAY_USE_TLS",
        ) from error
    return context


def _found_by_ray() -> str:
    """Return the address of the cluster that Ray finds on this machine.

    Raises:
        UsageError: it finds none.
    """
    from ray._private.services import (  # noqa: PLC0415 - optional, and heavy
        canonicalize_bootstrap_address,
    )

    try:
        return str(canonicalize_bootstrap_address("auto"))
    except Exception as error:
        raise unusable("at auto", error) from error


def unusable(where: str, error: Exception) -> UsageError:
    """Say what Ray said when it could not be used."""
    said = str(error).partition("\n")[0]
    return UsageError(f"Ray cannot be used {where}: {said}", "see: ray status")
