"""What every test shares: one event loop, a network that ends at 127.0.0.1, folders in memory."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from scenarios.plugins import PLUGINS

# Tests start hundreds of commands, and each process of the tests rewrites every file of them: each
# would compile all of it anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.disable()  # until the tests are imported: hardly anything of that is garbage
os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are there to read it
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")  # the same digits on every machine
# whoever starts the tests in the background may have interrupts ignored: commands would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile(
    "hipo", deadline=None, max_examples=50
)  # how busy a machine is decides no test
settings.load_profile("hipo")

MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""More than the temporary folders of all tests take, in bytes."""


def in_memory() -> bool:
    """Whether there is a file system in memory with room for what tests write and start."""
    return (
        MEMORY.is_dir()
        and os.access(MEMORY, os.W_OK)
        and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
        and shutil.disk_usage(MEMORY).free > ROOM
    )


if in_memory():  # every run waits for its disk at each commit
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests: what is left at the end are short ones."""
    long = {
        i.path for i in items if i.get_closest_marker("slow") or i.get_closest_marker("browser")
    }
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """Let no collection of garbage look through what importing the tests has made: it stays."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.get_freeze_count = lambda: 1  # counting takes 0.1 s, and every run and export asks


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Do the same for what the tests of a file have imported, torch above all."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Put it all back: some libraries say at the end of what is left that it leaks."""
    gc.unfreeze()


MadeOnce = Callable[[str, Path, Callable[[], object]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """Have a folder made by the first test that asks for a name, and copied for all others."""
    kept: dict[str, Path] = {}

    def folder_of(name: str, folder: Path, make: Callable[[], object]) -> Path:
        if name in kept:
            return Path(shutil.copytree(kept[name], folder))
        made = make()
        assert getattr(made, "code", 0) == 0, made
        kept[name] = Path(shutil.copytree(folder, tmp_path_factory.mktemp("once") / name))
        return folder

    return folder_of


@pytest.fixture(autouse=True)
def plugins_of_before() -> Iterator[None]:
    """Forget the plugins that a test had loaded: a command that ran in here is no new process."""
    files, packages, stored = dict(PLUGINS.files), PLUGINS.packages, list(PLUGINS.stored)
    yield
    PLUGINS.files, PLUGINS.packages, PLUGINS.stored = files, packages, stored


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the pipeline runs on."""
    return "asyncio"
