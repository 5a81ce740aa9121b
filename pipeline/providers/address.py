"""Checks of the addresses that keys and private facts are sent to."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from scenarios.errors import UsageError

KEY_OPTION = "--api-key-env (of judges --judge-api-key-env)"
"""What names the variable that holds a key, for whoever is told of it: actors and judges have their own."""


CHAT_PATH = "/chat/completions"
API_VERSION = re.compile(r"api-version=[\w.-]{1,40}")
"""The one query that an address may have, which Azure asks for where deployments have paths."""


def check_base_url(text: str) -> str:
    """Return a base URL without its trailing slash, and without the path that is asked behind it.

    Raises:
        UsageError: it is not http(s), has no host, or carries what must not be stored with a run.
    """
    url = text.strip().rstrip("/")
    if not url.isprintable():  # urlsplit would leave them out without a word
        raise UsageError("--base-url contains a control character", "write it again")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    # the address itself is not repeated: it may hold a password
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "--base-url contains a user name or password",
            "leave it out: the address is stored with the run; keys go in --api-key-env",
        )
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError(
            "--base-url is not an http(s) address", "e.g. --base-url http://127.0.0.1:8000/v1"
        )
    if parts.fragment or (parts.query and not API_VERSION.fullmatch(parts.query)):
        raise UsageError(
            "--base-url contains a query or fragment",
            "leave out everything from '?' or '#' on, but for ?api-version=...: the address is stored"
            " with the run",
        )
    path, mark, query = url.partition("?")
    return path.rstrip("/").removesuffix(CHAT_PATH).rstrip("/") + mark + query


def chat_url(base_url: str) -> str:
    """Return where chat completions are asked for; a query stays behind the path."""
    path, mark, query = base_url.partition("?")
    return f"{path.rstrip('/')}{CHAT_PATH}{mark}{query}"


def is_loopback(url: str | None) -> bool:
    """Return whether an address lies on this machine."""
    host = urlsplit(url).hostname if url else None
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
