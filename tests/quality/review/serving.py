"""A review page for tests: a run with dialogues, served on 127.0.0.1 by a thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.machine import free_port
from hipo.app.generation.generate import generate
from hipo.app.review.reviewing import ReviewOptions, open_review
from hipo.app.verification.verify import verify
from pipeline.recipes.source import load_recipe
from quality.review import passwords
from quality.review.app import build_app
from quality.review.service import ReviewService
from quality.web.bounded_listener import MOST_OF_AN_ADDRESS
from quality.web.header_deadline import HEADER_S
from quality.web.server import Address, access_at, listening, server
from tests.quality.served import serving


def generated_run(folder: Path, *, n: int, verified: bool = False, **changes: object) -> Path:
    """Generate ``n`` dialogues by rules, judged if wished."""
    recipe = load_recipe("hipo-paper").with_changes(
        {"n": n, "strategies": ["direct"], "models": {"default": "offline/rules"}, **changes}
    )
    generate(recipe, output=folder)
    if verified:
        # A judge that labels by lot finds other labels than were declared: most wait for people.
        policy = folder.with_name("everything.yaml")
        policy.write_text("name: everything\n", encoding="utf-8")
        verify(folder, judges=["offline/random"], policy=str(policy))
    return folder


@dataclass
class Served:
    """A page that is being served."""

    url: str
    service: ReviewService
    links: list[tuple[str, str]] = field(default_factory=list)

    def link(self, role: str = "annotator") -> str:
        """Return a fresh link."""
        return f"{self.url}/enter?token={self.service.links.mint(role)}"


def proxied() -> Address:
    """Return an address on this machine behind a proxy on this machine."""
    return Address(
        port=free_port(), trusted_proxies=("127.0.0.1",), public_urls=("https://review.test",)
    )


@contextmanager
def served(
    folder: Path,
    address: Address | None = None,
    *,
    header_s: float = HEADER_S,
    most_of_an_address: int = MOST_OF_AN_ADDRESS,
    **wishes: object,
) -> Iterator[Served]:
    """Serve the review page of a run until the block ends; its hashes take a moment each."""
    address = address or Address(port=free_port())
    links: list[tuple[str, str]] = []
    service = open_review(
        folder,
        ReviewOptions(**wishes),
        lambda accounts: access_at(address, accounts),
        lambda role, token: links.append((role, token)),
    )
    with closing(service.store), pytest.MonkeyPatch.context() as patch:
        running = server(build_app(service), address, header_s=header_s)
        listener = listening(address, most_of_an_address=most_of_an_address)
        with serving(running, listener):
            patch.setattr(passwords, "_N", 2)
            yield Served(f"http://127.0.0.1:{address.port}", service, links)
