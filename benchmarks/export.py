"""Exporting a million turns: speed beside a bare loop that reads and dumps, and peak memory."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks.report import Goal, Row
from pipeline.store.connection import DATABASE
from pipeline.store.run_store import RunStore
from scenarios.case import Case, make_case
from scenarios.catalogue import Catalogue
from scenarios.fingerprint import seed_from
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

TURNS = 3
"""Improvised exchanges: with the opening, eight turns a dialogue."""
_ARM = "synthetic"
_DESCRIPTION: dict[str, object] = {
    "strategy": "direct",
    "models": {
        role: {"provider": "synthetic", "model": "m"} for role in ("initiator", "responder")
    },
    "settings": {},
}
_ANSWER = (
    "nothing happened that would have to worry you; it was a day like others, and I would not"
    " read more into it than there is."
)

# What nobody can do without who wants these rows from that database: read the dialogues with their
# labels, put each row together, dump it. The prompt is pasted together from parts, no library
# between; splits, Parquet, hashes and types are left out. It writes the same lines as the export.
_BARE = """
import resource, sys, time
from itertools import groupby
from operator import itemgetter
import orjson, sqlite3
database, target, parts = sys.argv[1], sys.argv[2], orjson.loads(open(sys.argv[3], "rb").read())
system, scenes, tail = parts["system"], parts["scenes"], parts["tail"]
started = time.perf_counter()
read, labels = sqlite3.connect(database), sqlite3.connect(database)
turns = read.execute(
    "select t.dialogue, t.turn, t.role, t.kind, t.text, c.id, c.scenario, c.fact, c.goal, c.language"
    " from dialogues d join cases c on c.seq = d.case_seq join turns t on t.dialogue = d.seq"
    " order by d.case_seq, d.arm_seq, t.turn")
tags = groupby(labels.execute(
    "select dialogue, turn, dimension, value from labels where source = 'declared'"
    " order by dialogue, turn, position"), key=itemgetter(0, 1))
rows = 0
with open(target, "wb") as out:
    for dialogue, said in groupby(turns, key=itemgetter(0)):
        for _, turn, role, kind, text, case, scenario, fact, goal, language in said:
            if role != "responder" or kind != "improvised":
                continue
            _, found = next(tags)
            named = {dimension: value for _, _, dimension, value in found}
            answer = orjson.dumps(named | {"goal": goal}, option=orjson.OPT_INDENT_2).decode()
            scene, category = scenes[scenario]
            row = {
                "id": f"{case}/synthetic/{turn}/utterance", "fictional": True, "run": "run",
                "case": case, "arm": "synthetic", "scenario": scenario, "category": category,
                "fact": fact, "goal": goal, "language": language, "strategy": "direct",
                "model": "synthetic/m", "verdict": "accepted", "turn": turn, "aspect": "utterance",
                "label_intention": named["intention"], "label_veracity": named["veracity"],
                "label_illocutionary": named["illocutionary"],
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": f"{scene}{text}{tail}"},
                    {"role": "assistant", "content": answer},
                ],
            }
            out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            rows += 1
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(orjson.dumps({"seconds": seconds, "rows": rows, "peak_mib": peak}).decode())
"""
_EXPORT = """
import resource, sys, time
from pathlib import Path
import orjson
from outputs.export import ExportOptions, export
from outputs.selection import Selection

started = time.perf_counter()
options = ExportOptions("sft", task="label", aspects=("utterance",), fractions=tuple(orjson.loads(sys.argv[3])))
done = export(Selection((Path(sys.argv[1]),)), options, Path(sys.argv[2]))
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = sum(done.rows.values())
print(orjson.dumps({"seconds": seconds, "rows": rows, "peak_mib": peak}).decode())
"""


def synthetic_run(folder: Path, dialogues: int) -> None:
    """Make a run of accepted dialogues on the shipped scenarios, straight into its tables."""
    scheme = load_scheme("hipo")
    with RunStore.create(folder, {"recipe": {}}, "synthetic") as store:
        store.add_arm(_ARM, _DESCRIPTION)
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    connection.execute("begin")
    answers = [
        [d.values[i % len(d.values)] for d in scheme.utterance_dimensions] for i in range(60)
    ]
    names = [d.id for d in scheme.utterance_dimensions]
    for number, (scenario, case) in enumerate(itertools.islice(_cases(), dialogues), start=1):
        _insert(connection, number, scenario, case, names, answers)
    connection.execute("commit")
    connection.close()


def _cases() -> Iterator[tuple[Scenario, Case]]:
    scenarios = list(Catalogue.load().scenarios.values())
    marks = {scenario.id: scenario.fingerprint for scenario in scenarios}
    goals = load_scheme("hipo").goal.values
    for repetition in itertools.count():
        for scenario in scenarios:
            for fact, goal in itertools.product(scenario.facts, goals):
                if fact.owner != "responder":
                    continue
                yield (
                    scenario,
                    make_case(
                        scheme="hipo", scenario=scenario.id, fact=fact.id, goal=goal,
                        scenario_fingerprint=marks[scenario.id], turns=TURNS, language="en",
                        variation={}, repetition=repetition, seed=0,
                    ),
                )  # fmt: skip


def _insert(
    connection: sqlite3.Connection,
    number: int,
    scenario: Scenario,
    case: Case,
    names: list[str],
    answers: list[list[str]],
) -> None:
    connection.execute(
        "insert into cases values (?, ?, ?, ?, ?, ?, ?, ?, ?, '[]', ?, 0)",
        (
            number, case.id, case.scheme, case.scenario, case.scenario_fingerprint, case.fact,
            case.goal, case.turns, case.language, case.repetition,
        ),
    )  # fmt: skip
    connection.execute(
        "insert into dialogues values (?, ?, 1, 'generated', null, null, 0, 1, 0.0)",
        (number, number),
    )
    said = [
        ("initiator", "opening", scenario.opening.question[0]),
        ("responder", "opening", scenario.opening.statement_for(case.goal).text[0]),
    ]
    for exchange in range(TURNS):
        mark = f"{case.repetition}-{exchange}"
        said.append(("initiator", "improvised", f"And what happened on the day we call {mark}?"))
        said.append(("responder", "improvised", f"On {mark} {_ANSWER}"))
    connection.executemany(
        "insert into turns values (?, ?, ?, ?, ?, ?)",
        [(number, turn, *line, None) for turn, line in enumerate(said)],
    )
    connection.executemany(
        "insert into labels values (?, ?, 'declared', ?, ?, ?, 'Because it is so.', null)",
        [
            (number, 3 + 2 * exchange, position, name, value)
            for exchange in range(TURNS)
            for position, (name, value) in enumerate(
                zip(names, answers[seed_from(case.id, exchange) % len(answers)], strict=True)
            )
        ],
    )
    connection.execute(
        "insert into decisions (dialogue, verdict, by, reason, note, decided_at)"
        " values (?, 'accepted', 'policy:review', '', '', 0.0)",
        (number,),
    )


def run(*, quick: bool = False) -> list[Row]:
    """Export rows of label training twice over; compare with the bare loop, each in a process."""
    turns = 160_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synthetic_run(folder / "run", turns // (2 + 2 * TURNS))
        _write_parts(folder / "parts.json")
        bare, ours = [], []
        for attempt in range(2):
            database = str(folder / "run" / DATABASE)
            out = folder / "bare.jsonl"
            bare.append(_measure(_BARE, database, str(out), str(folder / "parts.json")))
            target = folder / f"export-{attempt}"
            ours.append(_measure(_EXPORT, str(folder / "run"), str(target), "[0.8, 0.1, 0.1]"))
        same = _same_lines(out, folder / "export-0" / "jsonl")
    best_bare = min(one["seconds"] for one in bare)
    best = min(one["seconds"] for one in ours)
    peak = max(one["peak_mib"] for one in ours)
    return [
        Row(f"export: speed / bare loop, {turns:,} turns", best_bare / best, "x", Goal.above(0.5)),
        Row("export: peak memory", peak, " MiB", Goal.below(400)),
        Row("export: lines that differ from the bare loop's", same, "", Goal.below(0)),
        Row("export: rows a second, JSON lines and Parquet", ours[0]["rows"] / best),
        Row("export: rows a second, bare loop", bare[0]["rows"] / best_bare),
    ]


def _write_parts(path: Path) -> None:
    """Write down the parts that the bare loop pastes prompts together from."""
    program = """
import sys
import orjson
from prompts.environment import Templates
from prompts.evaluator import EvaluatorPrompts, evaluator_view
from scenarios.catalogue import Catalogue
from scenarios.schemes.registry import load_scheme

prompts = EvaluatorPrompts(Templates(), load_scheme("hipo"))
scenes, tail = {}, ""
for scenario in Catalogue.load().scenarios.values():
    text = prompts.utterance(evaluator_view(scenario, "en"), "@@@").messages[1].content
    scene, _, tail = text.partition("@@@")
    scenes[scenario.id] = (scene, scenario.category)
parts = {"system": prompts.system("utterance"), "scenes": scenes, "tail": tail}
open(sys.argv[1], "wb").write(orjson.dumps(parts))
"""
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def _measure(program: str, *arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True
    )
    measured: dict[str, float] = orjson.loads(done.stdout.splitlines()[-1])
    return measured


def _same_lines(bare: Path, folder: Path) -> int:
    """Return in how many lines the two differ, splits taken together, without holding either."""
    marks: dict[str, int] = {}
    for name, paths in (("bare", [bare]), ("ours", sorted(folder.glob("*.jsonl")))):
        total = 0
        for path in paths:
            with path.open("rb") as lines:
                total = (total + sum(hash(line) for line in lines)) & (2**64 - 1)
        marks[name] = total
    return 0 if marks["bare"] == marks["ours"] else 1
