"""The viewer for tests: runs served on 127.0.0.1 by a thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import free_port
from hipo.app.viewing import open_viewing
from quality.viewer.app import Viewing, build_app
from quality.web.server import Address, listening, server
from tests.quality.review.visitor import Answer, Visitor
from tests.quality.served import serving


@dataclass
class ViewedPage:
    """A viewer that is being served."""

    url: str
    viewing: Viewing

    def link(self) -> str:
        """Return a fresh link."""
        return f"{self.url}/enter?token={self.viewing.owner.mint()}"

    def owner(self) -> Visitor:
        """Return a visitor who has come in."""
        visitor = Visitor(self.url)
        path, answer = visitor.get(self.link().removeprefix(self.url))
        assert answer.status == 200, path
        return visitor

    def text(self, path: str) -> str:
        """Return a page as whoever came in sees it."""
        answer: Answer = self.owner().get(path)[1]
        assert answer.status == 200, answer.text
        return answer.text


@contextmanager
def viewed(*folders: Path) -> Iterator[ViewedPage]:
    """Serve the viewer of some runs until the block ends; all their words are indexed."""
    address = Address(port=free_port())
    with (
        listening(address) as listener,
        open_viewing(folders, address, lambda token: None) as viewing,
        serving(server(build_app(viewing), address), listener),
    ):
        for run in viewing.runs:
            while run.words.until < run.columns.marks.dialogues:
                time.sleep(0.01)
        yield ViewedPage(address.url, viewing)
