"""One run that is looked at: its columns and words, kept up to date by a thread of their own."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import ExitStack, closing
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipeline.run_material import load_material
from pipeline.store.queries.browsing import BrowsingReader
from pipeline.store.queries.status import RunState
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, connect_readonly, parsing
from prompts.scheme_text import label_text
from quality.viewer.column_reading import ColumnReading
from quality.viewer.columns import Mask
from quality.viewer.word_index import WordIndex
from scenarios.arms import Arm
from scenarios.case import PlayedCase
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.spec import Scenario
from scenarios.variation import as_told

REFRESH_S = 2.0
"""Seconds between two looks at a run that somebody may be writing."""
_REST = 9
"""A reading is followed by a rest of so many times as long, so that pages are not kept waiting."""
_KEPT_SEARCHES = 16
_AN_ID = 6
"""Characters from which on words that look like an id are taken for one."""
_log = logger("view")


def looks_like_an_id(wish: str) -> bool:
    """Return whether words may be the beginning of ``case/arm``."""
    letters = wish.lower().replace("/", "")
    return len(letters) >= _AN_ID and all(char in "0123456789abcdef" for char in letters)


class ViewedRun:
    """A run, opened for reading alone; pages read from it in one thread."""

    def __init__(self, folder: Path) -> None:
        """Open a run and read its columns; within ``with`` it is read on, and its words are.

        Raises:
            UsageError: there is none, or it cannot be read.
        """
        self.folder = folder
        self.problem = ""
        """Why the run could not be read the last time; pages show what was read before."""
        with ExitStack() as undo:
            self.store = undo.enter_context(RunStore.open(folder, readonly=True))
            self._material = load_material(self.store)
            path = folder / DATABASE
            self.reader = BrowsingReader(undo.enter_context(closing(connect_readonly(path))))
            background = BrowsingReader(undo.enter_context(closing(connect_readonly(path))))
            self._reading = ColumnReading(background)
            self.columns = self._reading.columns()
            self._read_columns()
            self.words = undo.enter_context(closing(WordIndex(folder, background)))
            self._opened = undo.pop_all()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._found = lru_cache(maxsize=_KEPT_SEARCHES)(self._search)

    def __enter__(self) -> Self:
        """Go on reading in a thread until the block ends."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        self._opened.close()

    @property
    def name(self) -> str:
        """What people call the run."""
        return self.folder.resolve().name

    @property
    def arms(self) -> dict[str, Arm]:
        """The arms of the run by id."""
        return {arm.id: arm.arm for arm in self.state().arms}

    @property
    def label_order(self) -> dict[str, tuple[str, ...]]:
        """The labels of each dimension as the scheme has them; none where it is lost."""
        try:
            dimensions = self._material.scheme.dimensions
        except UsageError:
            return {}
        return {one.id: tuple(map(label_text, one.values)) for one in dimensions}

    def state(self) -> RunState:
        """Return where the run stands now."""
        return self.store.state()

    def scenario_of(self, played: PlayedCase) -> Scenario | None:
        """Return the scenario of a dialogue as its people were told it; None where it is lost."""
        case = played.case
        found = self._material.stored_scenario(case)
        is_new = found is None or played.config_epoch not in self._material.by_epoch
        if is_new and self._has_more():
            self._material = load_material(self.store)
            found = self._material.stored_scenario(case)
        if found is None:
            return None
        return as_told(found, self._material.axes_of(played), case.variation)

    def _has_more(self) -> bool:
        """Return whether the run has gone on with other material, or another configuration."""
        known = self._material
        return len(self.store.configs()) != len(known.by_epoch) or (
            len(self.store.materials()) != len(known.items)
        )

    def found(self, wish: str) -> Mask | None:
        """Return the rows in which words are said, or whose id begins so; None: nothing is asked for."""
        if not wish.strip():
            return None
        return self._found(wish, self.words.until, len(self.columns))

    def refresh(self) -> bool:
        """Read what was added to the run; False where all of it is read."""
        self._read_columns()
        return self.words.step(self.columns.marks.dialogues)

    def _read_columns(self) -> None:
        with parsing(self.folder / DATABASE, "the list of dialogues"):
            if self._reading.read():
                self.columns = self._reading.columns()

    def _search(self, wish: str, until: int, rows: int) -> Mask:
        mask: Mask = np.zeros(rows, dtype=bool)
        numbers = self._beginning(wish)
        if numbers is None:
            numbers = self.words.search(wish)
        if numbers is not None:
            columns = self.columns
            places = columns.rows_at(numbers)
            mask[places[places < rows]] = True
        return mask

    def _beginning(self, wish: str) -> NDArray[np.int64] | None:
        """Return the numbers of the dialogues whose id begins so; None: none does, it is a word."""
        numbers = self.store.reader.beginning(wish.lower()) if looks_like_an_id(wish) else []
        return np.array(numbers, np.int64) if numbers else None

    def _watch(self) -> None:
        while not self._over.is_set():
            started, more = time.monotonic(), False
            try:
                more = self.refresh()
                self.problem = ""
            except (UsageError, sqlite3.Error) as error:
                self.problem = str(error)
                _log.warning("%s cannot be read: %s", self.folder, error)
            took = time.monotonic() - started
            self._over.wait(0 if more else max(REFRESH_S, _REST * took))
