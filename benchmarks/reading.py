"""What commands that read a run take a dialogue, in memory and time, as runs grow threefold.

The runs are those of the exports, and in addition a judge has labelled every utterance and an expert
those of every other dialogue. The evaluations have answers of one model about every utterance: those of the
tiny run, again and again with other cases. The dialogues of runs nearly repeat each other, which is hard on whatever
looks for twins. Each command runs in a process of its own, after the same on a tiny run, so that
nothing of its start is measured; two commands are measured at a time. Times are those of processors, which
a busy machine changes little. Memory holds what is remembered of up to 8,192 texts, too, so that it
grows less in larger runs.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.export import synthetic_run
from benchmarks.report import Goal, Row
from hipo.app.evaluation.evaluate import evaluate
from pipeline.store.sqlite import DATABASE
from quality.evaluation.evaluation_record import RECORD
from quality.evaluation.result_row import RESULTS
from quality.evaluation.shown_items import ITEMS

TINY = 50
_LABELLED = (
    "insert into label_sources (kind, who, config) values (?, ?, ?)",
    """insert into passes (dialogue, source, epoch, readable, newest, made_at)
        select d.seq, s.seq, 0, 1, 1, 0 from dialogues d, label_sources s
        where s.kind = ? and d.seq % ? = 0""",
    """insert into annotations select s.seq, a.dialogue, a.turn, p.seq, a.position, a.dimension,
        a.value, 1, a.rationale, null, null, null, null
        from label_sources s join passes p on p.source = s.seq
        join annotations a on a.dialogue = p.dialogue and a.source = 1 where s.kind = ?""",
)
_CHILD = """
import resource, sys
import orjson
from benchmarks.machine import peak_mib
from hipo.cli.main import run

def busy():
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime

seconds = []
for words in orjson.loads(sys.argv[1]):
    before = busy()
    code = run(words)
    if code:
        sys.exit(f"hipo {' '.join(words)} ended with {code}")
    seconds.append(busy() - before)
sys.stdout.flush()
print()
print(orjson.dumps({"seconds": min(seconds[1:]), "peak_mib": peak_mib()}).decode())
"""


@dataclass(frozen=True, slots=True)
class _Command:
    """A command, ``{run}`` and ``{out}`` standing for what it reads and writes."""

    words: str
    most_kib: float
    """How much more memory it may take for each dialogue more."""
    rounds: int = 1
    """How often it is measured; the least time counts."""

    @property
    def name(self) -> str:
        """What the row calls it."""
        return self.words.partition(" {run}")[0]

    def on(self, run: Path) -> list[str]:
        """Return its words for a run."""
        out = run.with_name(f"{run.name}-{self.name.replace(' ', '-')}.html")
        return self.words.format(run=run, out=out).split(" ")


COMMANDS = (
    _Command(
        "evaluate run {run} --task hipo-utterance --model offline/judge --dry-run -o {out}", 12
    ),
    _Command("evaluate report {run}-evaluation", 13),
    _Command("agreement {run} --of external --with declared --resamples 20", 8, rounds=4),
    _Command("report {run} --no-embeddings -o {out}", 20),
    _Command("export {run} --overwrite -o {out}", 15),
    _Command("runs check {run}", 1, rounds=4),
    _Command("review export {run} --to label-studio --all -o {out}", 2, rounds=2),
)


def run(*, quick: bool = False) -> list[Row]:
    """Read a small run and a large one with each command."""
    few, many = (1_000, 3_000) if quick else (2_000, 6_000)
    with tempfile.TemporaryDirectory() as name:
        tiny, small, large = runs = [Path(name) / str(size) for size in (TINY, few, many)]
        for folder in runs:
            _labelled_run(folder, int(folder.name))
        _evaluations(runs)

        def rows_of(command: _Command) -> list[Row]:
            """Read both runs with one command."""
            first = command.on(tiny)
            one, other = (
                _measured([first, *[command.on(of)] * command.rounds]) for of in (small, large)
            )
            return _rows(command, few, many, one, other)

        with ThreadPoolExecutor(2) as at_once:
            return [row for rows in at_once.map(rows_of, COMMANDS) for row in rows]


def _rows(
    command: _Command, few: int, many: int, one: dict[str, float], other: dict[str, float]
) -> list[Row]:
    name = f"reading: {command.name}"
    grown_kib = (other["peak_mib"] - one["peak_mib"]) * 1024 / (many - few)
    pace = other["seconds"] / many
    return [
        Row(
            f"{name}, time a dialogue, {many:,} / {few:,}",
            pace / (one["seconds"] / few),
            "x",
            Goal.below(1.3),
        ),
        Row(
            f"{name}, peak memory a dialogue more, {few:,} to {many:,}",
            max(0.0, grown_kib),
            " KiB",
            Goal.below(command.most_kib),
        ),
        Row(f"{name}, 1,000 dialogues of {many:,}", pace * 1e3, " s"),
    ]


def _labelled_run(folder: Path, dialogues: int) -> None:
    """Make a run with labels of a judge, and of an expert on every other dialogue."""
    synthetic_run(folder, dialogues)
    connection = sqlite3.connect(folder / DATABASE)
    source, passes, labels = _LABELLED
    for kind, config, apart in (("external", "", 1), ("adjudicated", "import:synthetic", 2)):
        connection.execute(source, (kind, "synthetic/reader", config))
        connection.execute(passes, (kind, apart))
        connection.execute(labels, (kind,))
    connection.commit()
    connection.close()


def _evaluations(runs: Sequence[Path]) -> None:
    """Evaluate a model on the first and smallest run; make evaluations of the sizes of all runs."""
    first = runs[0].with_name("evaluated")
    evaluate(runs[0], tasks=["hipo-utterance"], models=["offline/judge"], output=first, page=False)
    rows = {
        name: [orjson.loads(line) for line in (first / name).read_bytes().splitlines()]
        for name in (RESULTS, ITEMS)
    }
    for run in runs:
        folder = run.with_name(f"{run.name}-evaluation")
        folder.mkdir()
        shutil.copy(first / RECORD, folder)
        for name, known in rows.items():
            with (folder / name).open("wb") as file:
                for copy in range(int(run.name) // TINY):
                    file.writelines(_renamed(row, copy) for row in known)


def _renamed(row: dict[str, object], copy: int) -> bytes:
    """Return a row of results, or an item, as if of another case."""
    named = {key: f"{copy}-{row[key]}" for key in ("item", "case") if key in row}
    return orjson.dumps(row | named, option=orjson.OPT_APPEND_NEWLINE)


def _measured(commands: Sequence[Sequence[str]]) -> dict[str, float]:
    """Run commands in one new process; return the least time but of the first, and the peak of all."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, orjson.dumps(commands).decode()],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-1000:])
    measured: dict[str, float] = orjson.loads(done.stdout.splitlines()[-1])
    return measured
