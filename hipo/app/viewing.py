"""Open runs for the viewer, read-only, for whoever started it on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from quality.viewer.app import Viewing
from quality.viewer.viewed_run import ViewedRun
from quality.web.access import Access
from quality.web.server import Address
from quality.web.single_owner import SingleOwner


@contextmanager
def open_viewing(
    folders: Sequence[Path], address: Address, announce: Callable[[str], None]
) -> Iterator[Viewing]:
    """Open runs for reading until the block ends; they are read on while somebody writes them.

    Args:
        folders: the runs, in the order of their numbers.
        address: on this machine, where the page will be served.
        announce: called with the token of a fresh link whenever one has been used.

    Raises:
        UsageError: one is no run, or cannot be read.
    """
    with ExitStack() as opened:
        runs = [opened.enter_context(ViewedRun(folder)) for folder in folders]
        yield Viewing(runs, SingleOwner("view", announce), Access(hosts=address.hosts))
