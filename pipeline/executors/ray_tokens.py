"""The token of a Ray cluster, which lets in those alone who know it.

It is that of ``RAY_AUTH_TOKEN``, of the file that ``RAY_AUTH_TOKEN_PATH`` names, or of
``~/.ray/auth_token``: Ray looks in this order, and shows it where ``RAY_AUTH_MODE`` is ``token``. Without
that variable it shows none to a cluster whose address it is given; and where one asks for no token, actors
of a program that shows one do not start.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from pipeline.search_path import module_path
from scenarios.errors import UsageError

_LOCKED = 3
_KNOCK = f"""
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1])
except AuthenticationError:
    sys.exit({_LOCKED})
except Exception as error:
    sys.exit(str(error))
"""
"""In a process of its own: Ray reads the environment once, and says on standard error what it is refused."""
_TO_DO = (
    "on the head of the cluster, ray get-auth-token prints its token; on this machine, put it into"
    " ~/.ray/auth_token or RAY_AUTH_TOKEN, or name a file that holds it in RAY_AUTH_TOKEN_PATH"
)


async def mode_of(address: str) -> str:
    """Return the mode with which a cluster lets us in; where it does not ask, it is shown no token.

    Raises:
        UsageError: it lets us in with none, asks for no token where ``RAY_AUTH_MODE`` says that it is
            shown one, or is no cluster.
    """
    wanted = os.environ.get("RAY_AUTH_MODE", "").lower()
    source, is_there = _source()
    if wanted == "token" and await lets_in(address, "disabled"):
        raise UsageError(
            f"the Ray cluster at {address} asks for no token, and RAY_AUTH_MODE=token shows it one:"
            " no actor of such a program starts there",
            "unset that variable, or start the cluster where it finds a token (ray get-auth-token"
            " --generate makes one)",
        )
    for mode in (wanted,) if wanted else ("disabled", "token"):
        if (mode != "token" or is_there) and await lets_in(address, mode):
            return mode
    found = f"the Ray cluster at {address} asks for a token, and "
    if wanted == "token" and not is_there:
        found = f"RAY_AUTH_MODE is token, and {source} has none for the Ray cluster at {address}"
    elif wanted and wanted != "token":
        found += f"RAY_AUTH_MODE={wanted} shows it none: unset that variable"
    else:
        found += f"that of {source} is wrong" if is_there else f"there is none in {source}"
    raise UsageError(found, _TO_DO)


@contextmanager
def token_shown(mode: str | None) -> Iterator[None]:
    """Have Ray in this process use a mode, and tell it otherwise afterwards.

    Args:
        mode: that of a cluster; None: a Ray is going to be started, and to ask for the token of
            ``RAY_AUTH_TOKEN``, or for a new one.
    """
    names = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
    before = {name: os.environ[name] for name in names if name in os.environ}
    os.environ["RAY_AUTH_MODE"] = mode or "token"
    if mode is None:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    raylet: Any = import_module("ray._raylet")
    raylet.Config.initialize("")  # it has read the environment when it was imported
    raylet.AuthenticationTokenLoader.instance().reset_cache()
    try:
        yield
    finally:
        for name in names:
            os.environ.pop(name, None)
        os.environ.update(before)


async def lets_in(address: str, mode: str) -> bool:
    """Return whether a cluster lets somebody in who shows a token, or none.

    Raises:
        UsageError: it is no cluster.
    """
    told = {**os.environ, "RAY_AUTH_MODE": mode, "PYTHONPATH": module_path()}
    knocking = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _KNOCK, address),
        env=told,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, err = await knocking.communicate()
    except asyncio.CancelledError:  # Ray itself goes on trying, whatever signal it gets
        knocking.kill()
        await knocking.wait()
        raise
    code = knocking.returncode
    if code not in {0, _LOCKED}:
        said = (err.decode(errors="replace").strip() or f"exit code {code}").rpartition("\n")[-1]
        raise no_cluster(address, said)
    return code == 0


def no_cluster(address: str, said: str) -> UsageError:
    """Return the error for a server that is no Ray cluster."""
    return UsageError(
        f"what listens at {address} does not answer as a Ray cluster: {said}",
        "give the address that ray start printed on the head, which is not that of its dashboard",
    )


def _source() -> tuple[str, bool]:
    """Return where Ray looks for its token on this machine, and whether there is one."""
    if os.environ.get("RAY_AUTH_TOKEN"):
        return "RAY_AUTH_TOKEN", True
    named = os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named) if named else Path.home() / ".ray" / "auth_token"
    try:
        is_there = bool(file.read_bytes().strip())
    except OSError:
        is_there = False
    return f"{named} (RAY_AUTH_TOKEN_PATH)" if named else "~/.ray/auth_token", is_there
