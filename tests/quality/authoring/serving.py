"""The author's form for tests: a folder served on 127.0.0.1 by a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hipo.app.authoring import open_desk
from hipo.cli.terminal.console import dollars
from quality.authoring.app import authoring_app
from quality.web.access import Access
from quality.web.server import Address, listening, server
from quality.web.single_owner import SingleOwner
from tests.quality.served import serving


@contextmanager
def served(place: Address, folder: Path) -> Iterator[tuple[str, str]]:
    """Serve the form of a folder until the block ends; yields its address and the token of a link."""
    owner = SingleOwner("author", lambda token: None)
    desk = open_desk(folder, "offline/rules", dollars)
    with listening(place) as listener:
        running = server(authoring_app(desk, owner, Access(hosts=place.hosts)), place)
        with serving(running, listener):
            yield place.url, owner.mint()
