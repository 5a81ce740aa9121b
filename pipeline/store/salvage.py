"""Save what can be read of a damaged run database into a new one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from pipeline.store.annotation_schema import DECLARED_SOURCE, WANTED_SOURCE
from pipeline.store.checking import lost_text_hash
from pipeline.store.damaged_file import columns_of, likely_version, opened
from pipeline.store.damaged_rows import UNREADABLE, Row, TableReader
from pipeline.store.migrations import MIGRATIONS
from pipeline.store.queue_schema import RECOUNT
from pipeline.store.sound_rows import is_sound, is_time, with_sound_times
from pipeline.store.sqlite import connect, damaged
from scenarios.errors import UsageError
from scenarios.fingerprint import canonical_json
from scenarios.run_configuration import RunConfiguration

COUNTED = ("totals", "tally", "verification_tally", "queue_tally")
"""Tables that triggers fill while the rows they count are saved."""
SESSIONS = "review_sessions"
"""Who was logged in when a run of hipo 0.1 was reviewed; the keys are no numbers. They log in anew."""
LOST_TEXT = "[this part of the prompt could not be read from the damaged run]\n"
_OF_BATCH = ("batch", "place", "digest", "result")
"""What a reservation says of the batch it is part of."""


@dataclass(frozen=True, slots=True)
class TableResult:
    """What became of one table."""

    table: str
    saved: int
    lost: int
    is_cut: bool = False
    """Whether more may be lost than is counted."""


@dataclass(slots=True)
class Salvage:
    """What was saved of a run, and what was not."""

    version: int
    """Of the schema that was found."""
    tables: list[TableResult] = field(default_factory=list)
    has_other_recipe: bool = False
    """Whether no configuration could be read."""
    usd: float = 0.0
    """Dollars that count as spent in the new run."""
    lost_usd: float = 0.0
    """Dollars of them whose requests could not be read."""


def salvage(
    source: Path,
    scratch: Path,
    target: Path,
    recipe: RunConfiguration,
    is_recipe: Callable[[Mapping[str, object]], bool],
) -> Salvage:
    """Copy every row that can be read and makes sense into a new database.

    Args:
        source: the damaged database; it is not changed.
        scratch: where a working copy of it may be made.
        target: the new database; it does not exist yet.
        recipe: stands in for configurations that cannot be read where none can.
        is_recipe: whether what a configuration holds is a recipe.

    Raises:
        StoreUnusable: not even its tables can be found.
    """
    wal = source.with_name(f"{source.name}-wal")
    shutil.copyfile(source, scratch)
    if wal.is_file():
        shutil.copyfile(wal, scratch.with_name(f"{scratch.name}-wal"))
    broken: set[int] = set()
    with closing(opened(scratch, source)) as old:
        version = likely_version(old)
        if not version:
            raise damaged(source, "none of the tables of a run can be found in it")
        while True:
            target.unlink(missing_ok=True)
            with closing(connect(target)) as new:
                _create(new, version)
                new.execute("begin immediate")
                copy = _Copy(old, new, Salvage(version), recipe, is_recipe, broken)
                copy.run()
                for step in MIGRATIONS[version:]:
                    step(new)
                new.execute(RECOUNT)  # an item of which answers are lost is given out again
                new.execute(f"pragma user_version = {len(MIGRATIONS)}")
                new.execute("commit")
            if not copy.broken_late:
                return copy.result
            broken |= copy.broken_late  # without them, from the beginning


def _create(new: sqlite3.Connection, version: int) -> None:
    new.execute("begin immediate")
    for step in MIGRATIONS[:version]:
        step(new)
    new.execute(f"pragma user_version = {version}")
    new.execute("commit")


@dataclass(slots=True)
class _Copy:
    """One copying of all tables, those that others refer to first."""

    old: sqlite3.Connection
    new: sqlite3.Connection
    result: Salvage
    recipe: RunConfiguration
    is_recipe: Callable[[Mapping[str, object]], bool]
    broken: set[int] = field(default_factory=set)
    """Dialogues of which a turn or a label of the speaker is lost."""
    broken_late: set[int] = field(default_factory=set)
    """Those that turned out to be so when they were stored already."""
    arms: dict[str, str] = field(default_factory=dict)
    """What the configurations say of the arms, as JSON by id."""

    def run(self) -> None:
        """Copy the tables, then make whole what they count and refer to."""
        guards = self.new.execute(
            "select name, sql from sqlite_schema where type = 'trigger' and name like 'never_%'"
        ).fetchall()
        for name, _ in guards:  # what was stored once may be stored again
            self.new.execute(f"drop trigger {name}")
        self._find_broken()
        for table in self._in_order():
            self._copy(table)
            if table == "prompts":
                self._replace_lost_texts()
            elif table == "config_epochs":
                self._replace_lost_configs()
        for _, statement in guards:
            self.new.execute(statement)
        self._carry_totals()

    def _in_order(self) -> list[str]:
        """Return the tables to be copied, each after those it refers to."""
        names = [
            name
            for (name,) in self.new.execute("select name from sqlite_schema where type = 'table'")
            if name not in (*COUNTED, SESSIONS) and not name.startswith("sqlite_")
        ]
        parents = {
            name: {row[2] for row in self.new.execute(f"pragma foreign_key_list({name})")} - {name}
            for name in names
        }
        ordered: list[str] = []
        while parents:
            ready = [name for name, needs in parents.items() if not needs & parents.keys()]
            ordered += ready
            for name in ready:
                del parents[name]
        return ordered

    def _readers(self, table: str) -> Iterator[TableReader]:
        """Yield what reads a table; one for every source where that leads the key."""
        known = {column for name, column in columns_of(self.old) if name == table}
        columns = [row[1] for row in self.new.execute(f"pragma table_info({table})")]
        shared = [column for column in columns if column in known]
        if not shared:
            return
        if table == "annotations":
            sources = {DECLARED_SOURCE, WANTED_SOURCE}
            sources |= {n for (n,) in self.new.execute("select seq from label_sources")}
            for source in sorted(sources):
                yield TableReader(self.old, table, shared, "dialogue", f"source = {source}")
        else:
            yield TableReader(self.old, table, shared, self._key(table))

    def _key(self, table: str) -> str:
        (statement,) = self.new.execute(
            "select sql from sqlite_schema where name = ?", (table,)
        ).fetchone()
        if "without rowid" not in statement.lower():
            return "rowid"
        keys = [row[1] for row in self.new.execute(f"pragma table_info({table})") if row[5] == 1]
        return str(keys[0])

    def _find_broken(self) -> None:
        """Note the dialogues that cannot be read as a whole; they are better played again."""
        if "labels" in {name for name, _ in columns_of(self.new)}:
            labels = TableReader(self.old, "labels", ["dialogue"], "dialogue")
        else:
            labels = TableReader(
                self.old, "annotations", ["dialogue"], "dialogue", f"source = {DECLARED_SOURCE}"
            )
        turns = TableReader(
            self.old, "turns", ["dialogue", "turn", "text", "role", "kind"], "dialogue"
        )
        counts: dict[int, int] = {}
        with suppress(*UNREADABLE):
            for dialogue, turn, *_ in turns.rows():
                if turn != counts.get(dialogue, 0):
                    self.broken.add(dialogue)
                counts[dialogue] = counts.get(dialogue, 0) + 1
        with suppress(*UNREADABLE):
            for _ in labels.rows():
                pass
        self.broken |= {*turns.lost, *labels.lost}
        with suppress(*UNREADABLE):
            seqs = TableReader(self.old, "dialogues", ["seq", "status"], "rowid")
            for seq, status in seqs.rows():
                if status == "generated" and seq not in counts:
                    self.broken.add(seq)

    def _copy(self, table: str) -> None:
        saved, lost, is_cut = 0, 0, False
        if table == "meta":
            saved, lost = self._copy_meta()
        else:
            readers = list(self._readers(table))
            for reader in readers:
                place = f"insert into {table} ({', '.join(reader.columns)}) values"
                statement = (
                    f"{place} ({', '.join('?' * len(reader.columns))}) on conflict do nothing"
                )
                for row in reader.rows():
                    if self._insert(table, statement, reader.columns, row):
                        saved += 1
                    else:
                        lost += 1
                if table == "turns" or reader.fixed == f"source = {DECLARED_SOURCE}":
                    for dialogue in reader.lost:
                        self._note_broken(dialogue)
                lost, is_cut = lost + len(reader.lost), is_cut or reader.is_cut
            is_cut = is_cut or not readers
        self.result.tables.append(TableResult(table, saved, lost, is_cut))

    def _copy_meta(self) -> tuple[int, int]:
        saved = lost = 0
        for key in ("name", "created", "state", "state_at", "material_sought"):
            row = None
            with suppress(*UNREADABLE):
                row = self.old.execute(
                    "select key, value from meta where key = ?", (key,)
                ).fetchone()
            if row is not None and (key not in ("created", "state_at") or is_time(row[1])):
                self.new.execute("insert into meta values (?, ?)", row)
                saved += 1
            elif key != "material_sought":
                lost += 1
        return saved, lost

    def _insert(self, table: str, statement: str, columns: Sequence[str], row: Row) -> bool:
        """Store a row; False where it makes no sense, or what it refers to is lost."""
        named = with_sound_times(dict(zip(columns, row, strict=True)))
        if table == "arms" and named["id"] in self.arms:
            named["description"] = self.arms[str(named["id"])]
        if not self._makes_sense(table, named):
            return False
        stored = self._stored(statement, named)
        if not stored and table == "requests":  # what was paid counts, whatever it was for
            stored = self._stored(statement, named | {"prompt": None})
        if (
            not stored and named.get("digest") is not None
        ):  # asked in a batch that is lost: paid for
            stored = self._stored(statement, named | dict.fromkeys(_OF_BATCH))
        is_of_speaker = table == "turns" or named.get("source") == DECLARED_SOURCE
        if not stored and is_of_speaker and isinstance(named.get("dialogue"), int):
            self._note_broken(int(str(named["dialogue"])))
        return stored or table == "label_sources"

    def _stored(self, statement: str, row: dict[str, object]) -> bool:
        try:
            return self.new.execute(statement, tuple(row.values())).rowcount > 0
        except (sqlite3.IntegrityError, sqlite3.DataError, OverflowError):
            return False

    def _note_broken(self, dialogue: int) -> None:
        """Note that a dialogue lacks a row, if it has been stored."""
        found = self.new.execute("select 1 from dialogues where seq = ?", (dialogue,)).fetchone()
        if found is not None:
            self.broken_late.add(dialogue)

    def _makes_sense(self, table: str, row: dict[str, object]) -> bool:
        if table == "config_epochs" and not self._is_config(row.get("config")):
            return False
        if table == "dialogues" and row["status"] == "generated" and row["seq"] in self.broken:
            return False
        return is_sound(table, row)

    def _is_config(self, value: object) -> bool:
        try:
            config = RunConfiguration.from_fields(orjson.loads(str(value)))
        except (UsageError, ValueError, TypeError, LookupError, AttributeError):
            return False
        return self.is_recipe(config.recipe)

    def _replace_lost_configs(self) -> None:
        """Put the newest configuration that can be read in place of lost ones."""
        used = {1}
        with suppress(*UNREADABLE):
            rows = TableReader(self.old, "dialogues", ["config_epoch"], "rowid").rows()
            used |= {epoch for (epoch,) in rows if isinstance(epoch, int)}
        for (config,) in self.new.execute("select config from config_epochs"):
            identity = RunConfiguration.from_fields(orjson.loads(config)).identity
            for arm in () if identity is None else identity.arms.values():
                self.arms[arm.id] = canonical_json(arm.fields()).decode()
        newest = self.new.execute(
            "select epoch, fingerprint, config from config_epochs order by epoch desc limit 1"
        ).fetchone()
        if newest is None:
            self.result.has_other_recipe = True
            fields = canonical_json(self.recipe.fields()).decode()
            newest = (0, self.recipe.fingerprint, fields)
        for epoch in sorted(used):
            self.new.execute(
                "insert into config_epochs values (?, ?, ?, 0) on conflict do nothing",
                (epoch, *newest[1:]),
            )

    def _replace_lost_texts(self) -> None:
        """Put a mark in place of lost parts of prompts: their answers are worth keeping."""
        stored = {seq for (seq,) in self.new.execute("select seq from texts")}
        for (layout,) in self.new.execute("select layout from prompts").fetchall():
            for number in {n for _, numbers in orjson.loads(layout) for n in numbers} - stored:
                text = LOST_TEXT
                digest = lost_text_hash(number)
                self.new.execute("insert into texts values (?, ?, ?)", (number, digest, text))
                stored.add(number)

    def _carry_totals(self) -> None:
        """Let what was paid count on, as far as the old sums can be read."""
        old = None
        with suppress(*UNREADABLE):
            old = self.old.execute(
                "select charged_usd, charged_tokens, cached_choices from totals"
            ).fetchone()
        usd, tokens = self.new.execute("select charged_usd, charged_tokens from totals").fetchone()
        if old is not None:
            self.new.execute("update totals set cached_choices = ?", (max(0, old[2]),))
            missing_usd, missing_tokens = max(0.0, old[0] - usd), max(0, old[1] - tokens)
            if missing_usd > 1e-9 or missing_tokens:
                # Charged as lost requests when the run is opened for writing.
                self.new.execute(
                    "insert into reservations (usd, tokens, reserved_at) values (?, ?, 0)",
                    (missing_usd, missing_tokens),
                )
                self.result.lost_usd = missing_usd
        self.result.usd = usd + self.result.lost_usd
