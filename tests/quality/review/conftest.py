"""Runs to review, generated once for all tests of the page and copied for each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from hipo.app.review.gold_run import make_gold_run
from tests.quality.review.chromium import chromium
from tests.quality.review.serving import Served, generated_run, served


@pytest.fixture(scope="session")
def _ten_dialogues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated_run(tmp_path_factory.mktemp("quiz") / "run", n=10, turns=[1, 2])


@pytest.fixture(scope="session")
def _verified_dialogues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generated_run(
        tmp_path_factory.mktemp("verified") / "run",
        n=12,
        turns=[1],
        tactics="balanced",
        verified=True,
    )


@pytest.fixture
def run(_ten_dialogues: Path, tmp_path: Path) -> Path:
    """Ten dialogues that nobody has judged."""
    return Path(shutil.copytree(_ten_dialogues, tmp_path / "run"))


@pytest.fixture
def site(run: Path) -> Iterator[Served]:
    """The page of a quiz about them, with two readers for each item."""
    with served(run, mode="quiz", per_item=2) as site:
        yield site


@pytest.fixture
def verified_run(_verified_dialogues: Path, tmp_path: Path) -> Path:
    """Twelve dialogues, most of them flagged."""
    return Path(shutil.copytree(_verified_dialogues, tmp_path / "run"))


@pytest.fixture(scope="session")
def _gold_lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gold") / "gold"
    make_gold_run(folder)
    return folder


@pytest.fixture
def gold_folder(_gold_lines: Path, tmp_path: Path) -> Path:
    """The gold lines, which nobody has read."""
    return Path(shutil.copytree(_gold_lines, tmp_path / "gold"))


@pytest.fixture(scope="module")
def _browser(_ten_dialogues: Path, _verified_dialogues: Path) -> Iterator[Browser]:
    with chromium() as found:  # no run can be made in this thread as long as it is open
        yield found


@pytest.fixture
def browser(_browser: Browser) -> Iterator[Browser]:
    """A browser that knows nothing of the tests before."""
    yield _browser
    for context in _browser.contexts:
        context.close()
