"""A run on disk: one folder with ``run.sqlite``, the record of everything, and ``run.yaml``."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

from pipeline.store.annotations import add_annotations
from pipeline.store.cases import CaseLog
from pipeline.store.config_epochs import (
    ConfigEpoch,
    add_config,
    begin,
    read_configs,
    set_state,
)
from pipeline.store.dialogues import DialogueLog
from pipeline.store.judgements import JudgementLog
from pipeline.store.locks import MOUNTS, is_locked, refuse_network_disk
from pipeline.store.materials import MaterialItem, complete_items, read_items, store_items
from pipeline.store.opening import OpenDatabase
from pipeline.store.plan_marks import PlanMark, read_mark, write_mark
from pipeline.store.queries.dialogues import DialogueReader
from pipeline.store.queries.status import (
    STATES,
    RunState,
    read_state,
)
from pipeline.store.reading import connect_run, refuse_missing, run_exists
from pipeline.store.recipe_file import write_recipe
from pipeline.store.sqlite import (
    DATABASE,
)
from pipeline.store.writer import Writer, required
from scenarios.annotations import Annotation
from scenarios.case import Case
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.fingerprint import canonical_json
from scenarios.run_configuration import RunConfiguration


class RunStore(OpenDatabase):
    """One open run. Make it with :meth:`create` or :meth:`open`, and close it.

    What has more to it than fits here is an attribute: ``calls`` (what was asked and answered: the
    cache, the reservations), ``reader`` (how cases ended) and ``judgements`` (what is thought of the
    dialogues). Reading never waits for writing.
    """

    def _join(self, reader: sqlite3.Connection, writer: Writer | None) -> None:
        self._configs = read_configs(reader)
        self._log = DialogueLog(writer, lambda: self.config.epoch)
        self._cases = CaseLog(reader, writer)
        self.reader = DialogueReader(reader)
        self.judgements = JudgementLog(reader, writer)

    exists = staticmethod(run_exists)

    @classmethod
    def create(
        cls,
        folder: Path,
        config: RunConfiguration,
        *,
        material: Sequence[MaterialItem] = (),
        name: str | None = None,
        mounts: Path = MOUNTS,
    ) -> Self:
        """Begin a run in ``folder``, which is made if need be, and open it for writing.

        Args:
            folder: where the run will live; other files in it are left alone.
            config: what it is begun with; its recipe is also put in ``run.yaml``.
            material: what its dialogues will be made of.
            name: defaults to the name of the folder.
            mounts: the table of mounted file systems, in the format of ``/proc/mounts``.

        Raises:
            UsageError: a run is there already, the folder cannot be written, is in use by another
                process, or lies on a network file system.
        """
        refuse_network_disk(folder, mounts)
        _refuse_existing(folder)

        def begin_run(connection: sqlite3.Connection) -> None:
            _refuse_existing(folder)  # another process may have begun it before this one held it
            begin(connection, name or folder.resolve().name, config, material)
            write_recipe(folder, config.recipe)

        return cls._started(folder, folder / DATABASE, begin_run)

    @classmethod
    def open(cls, folder: Path, *, readonly: bool = False) -> Self:
        """Open a run: to go on with it (one process at a time), or only to look at it.

        Opened for writing, requests that were in flight when an earlier process died are charged
        at their worst, and an older schema is brought up to date after a backup.

        Raises:
            UsageError: there is no run, it was written by a newer hipo, another process is writing
                it, it is damaged, or it lies on a network file system.
        """
        if readonly:
            with ExitStack() as undo:
                store = cls(folder, undo.enter_context(closing(connect_run(folder))))
                undo.pop_all()
            return store
        refuse_missing(folder)
        refuse_network_disk(folder)
        return cls._started(folder, folder / DATABASE)

    # What a run consists of

    def add_arm(self, arm: str, description: Mapping[str, object]) -> None:
        """Make an arm known under its id; nothing is written if it is known already."""
        self._cases.add_arm(arm, description)

    async def add_cases(self, cases: Sequence[Case]) -> None:
        """Make cases known; nothing is written if they all are known already."""
        await self._cases.add_cases(cases)

    def pending(
        self, cases: Sequence[Case], arm: str, *, retry_failed: bool = False
    ) -> list[tuple[Case, int]]:
        """Return the cases an arm still has to play, in the order given, with the retry epoch.

        Failed cases are among them only with ``retry_failed``; their epoch is one more than that
        of the failure. One chunk of cases (some hundreds) at a time.
        """
        return self._cases.pending(cases, arm, retry_failed=retry_failed)

    def unknown(self, cases: Sequence[Case]) -> int:
        """Return how many of some hundreds of cases no plan has come to yet."""
        return len(self._cases.unknown(cases))

    def known_cases(self) -> int:
        """Return how many cases have been made known, of whatever plan."""
        return self._cases.known()

    def plan_mark(self) -> PlanMark | None:
        """Return how far the newest plan is settled; None where nothing is known of it."""
        return read_mark(self._connection)

    def set_plan_mark(self, mark: PlanMark) -> None:
        """Store how far a plan is settled, after all that was stored before; nothing waits for it."""
        required(self._writer).send(lambda connection: write_mark(connection, mark))

    def drawn(self, cases: Sequence[Case], arm: str) -> Mapping[str, int]:
        """Return how many readable samples an arm has drawn for cases, by kind of call."""
        return self._cases.drawn(cases, arm)

    def scenarios_used(self) -> list[tuple[str, str]]:
        """Return id and fingerprint of every scenario that cases were made from."""
        return self._cases.scenarios_used()

    def languages_used(self) -> list[str]:
        """Return the codes of the languages that cases are in; what was imported may be in any."""
        return self._cases.languages_used()

    async def finish(self, dialogue: Dialogue, epoch: int) -> None:
        """Store a dialogue, durable on return; see :meth:`DialogueLog.finish`."""
        await self._log.finish(dialogue, epoch)

    async def fail(
        self, case: Case, arm: str, code: str, reason: str, epoch: int, *, traceback: str = ""
    ) -> None:
        """Store that a case failed, durable on return; see :meth:`DialogueLog.fail`."""
        await self._log.fail(case, arm, code, reason, epoch, traceback=traceback)

    async def annotate(self, annotations: Sequence[Annotation]) -> None:
        """Store what was said about dialogues of the run, durable on return."""
        now = time.time()
        if annotations:
            await required(self._writer).post(
                lambda connection: add_annotations(connection, annotations, at=now)
            )

    def dialogues(self, *, traces: bool = True, labels: bool = True) -> Iterator[Dialogue]:
        """Yield finished dialogues in the order of cases, in constant memory."""
        return self.reader.dialogues(traces=traces, labels=labels)

    def dialogue(self, dialogue: str) -> Dialogue:
        """Return one dialogue by ``case/arm`` or unambiguous beginnings of them.

        Raises:
            UsageError: none or several dialogues have this id, or the case failed.
        """
        return self.reader.dialogue(dialogue)

    # How it is configured and where it stands

    @property
    def config(self) -> ConfigEpoch:
        """The configuration in force."""
        return self._configs[-1]

    def configs(self) -> list[ConfigEpoch]:
        """Return every configuration of the run, oldest first, those of who else goes on with it included."""
        return read_configs(self._connection)

    def materials(self) -> list[MaterialItem]:
        """Return what the dialogues are made of, oldest first, as it is stored."""
        return read_items(self._connection)

    def add_materials(self, items: Sequence[MaterialItem]) -> None:
        """Store material, durable on return; nothing is written if all of it is there."""
        if not set(items) <= set(self.materials()):
            required(self._writer).run(lambda connection: store_items(connection, items))

    def complete_materials(self, items: Sequence[MaterialItem], *, complete: bool) -> None:
        """Store what was found of the material of an older run, and whether that is all of it."""
        required(self._writer).run(lambda c: complete_items(c, items, complete=complete))

    def record_config(self, config: RunConfiguration, material: Sequence[MaterialItem] = ()) -> int:
        """Go on under this configuration, with this material, and return its epoch.

        Nothing is written if they are what is in force, and the recipe is in ``run.yaml``: a process
        may have ended between the two.
        """
        now = self.config
        if canonical_json(config.fields()) == canonical_json(now.config.fields()):
            self.add_materials(material)
            write_recipe(self.folder, config.recipe)
            return now.epoch
        epoch = required(self._writer).run(lambda c: add_config(c, config, material))
        self._configs = read_configs(self._connection)
        write_recipe(self.folder, config.recipe)
        return epoch

    def set_state(self, state: str, *, planned: int | None = None) -> None:
        """Store what the run is doing, durable on return.

        Args:
            state: one of ``STATES`` or ``stopped:<reason>``.
            planned: dialogues that are there and those that are still to be played; None: as it
                was.

        Raises:
            ValueError: neither one of ``STATES`` nor ``stopped:<reason>``.
        """
        if state not in STATES and not state.startswith("stopped:"):
            raise ValueError(f"a run cannot be {state!r}")
        required(self._writer).run(lambda connection: set_state(connection, state, planned))

    def state(self) -> RunState:
        """Return where the run stands, in a time that does not grow with it."""
        return read_state(self._connection, alive=is_locked(self.folder))

    def spent(self) -> tuple[float, int]:
        """Return (US dollars, tokens) charged so far; requests in flight at their worst."""
        state = self.state()
        return state.charged_usd, state.charged_tokens


def _refuse_existing(folder: Path) -> None:
    if RunStore.exists(folder):
        raise UsageError(
            f"{folder} holds a run already",
            "continue it (--resume if-possible) or choose another folder (-o)",
        )
