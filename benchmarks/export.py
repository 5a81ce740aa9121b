"""Exporting a million turns: speed beside a bare loop that reads and dumps, and peak memory.

The loop makes the lines and nothing else. So what has a goal is an export of lines alone: all in one
split, without Parquet. The whole one also compares all dialogues to divide them, and writes Parquet;
its speed stands beside that.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from benchmarks.report import Goal, Row
from pipeline.run_material import material_items
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE
from scenarios.case import Case, make_case
from scenarios.catalogue import Catalogue
from scenarios.fingerprint import seed_from
from scenarios.openings import opening_lines
from scenarios.run_configuration import RunConfiguration
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

TURNS = 3
"""Improvised exchanges: with the opening, eight turns a dialogue."""
ATTEMPTS = 3
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

# What nobody can do without who wants these rows from that database: read dialogues and labels, put
# each row together, dump it. Prompts are pasted together from parts. Types, verdicts, splits,
# Parquet, hashes, lengths and the files of trainers are left out. It writes the very lines that the
# export writes.
_BARE = """
import hashlib, math, sys, time
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from benchmarks.machine import peak_mib
import orjson, sqlite3
kind, database, target = sys.argv[1:4]
parts = orjson.loads(open(sys.argv[4], "rb").read())
system, scenes, between, tail = (parts[k] for k in ("system", "scenes", "between", "tail"))
@lru_cache(maxsize=None)
def line(dimension, number):
    drawn = list(parts["labels"][dimension])
    for last in range(len(drawn) - 1, 0, -1):
        number, place = divmod(number, last + 1)
        drawn[last], drawn[place] = drawn[place], drawn[last]
    return f'  "{dimension}": "<one of: {" | ".join(drawn)}>"'
orders = {dimension: math.factorial(len(labels)) for dimension, labels in parts["labels"].items()}
def skeleton(item):
    lines = []
    for dimension, count in orders.items():
        digest = hashlib.sha256(f"option order\\x1f{dimension}\\x1f{item}".encode()).digest()
        lines.append(line(dimension, int.from_bytes(digest, "big") % count))
    return "{\\n" + ",\\n".join(lines) + "\\n}"
started = time.perf_counter()
read, labels = sqlite3.connect(database), sqlite3.connect(database)
turns = read.execute(
    "select t.dialogue, t.turn, t.role, t.kind, t.text, c.id, c.scenario, c.fact, c.goal, c.language,"
    " c.scheme, c.scenario_fingerprint, c.turns, c.repetition"
    " from dialogues d join cases c on c.seq = d.case_seq join turns t on t.dialogue = d.seq"
    " order by d.case_seq, d.arm_seq, t.turn")
tags = groupby(labels.execute(
    "select dialogue, turn, dimension, value from annotations where source = 1"
    " order by dialogue, turn, position"), key=itemgetter(0, 1))
names = dict(labels.execute("select seq, id from dimensions"))
rows = 0
with open(target, "wb") as out:
    def write(row):
        global rows
        out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        rows += 1
    for dialogue, said in groupby(turns, key=itemgetter(0)):
        context = []
        for _, turn, role, how, text, case, scenario, fact, goal, language, *known in said:
            if role == "responder" and how == "improvised":
                _, found = next(tags)
                named = {names[dimension]: value for _, _, dimension, value in found}
                scene = scenes[scenario]
                scheme, mark, length, repetition = known
                same = [scheme, scenario, mark, fact, length, language, [], repetition, 0]
                pair = hashlib.sha256(orjson.dumps(same)).hexdigest()[:20]
                base = {
                    "fictional": True, "run": "run", "case": case, "pair": pair, "arm": "synthetic",
                    "scenario": scenario, "category": scene["category"], "fact": fact,
                    "goal": goal, "expert_goal": None, "language": language, "strategy": "direct",
                    "model": "synthetic/m", "verdict": "accepted"}
                tagged = {
                    "label_intention": named["intention"], "label_veracity": named["veracity"],
                    "label_illocutionary": named["illocutionary"],
                    "labelled_by": "speaker"}
                if kind == "sft":
                    answer = orjson.dumps(named, option=orjson.OPT_INDENT_2)
                    item = f"{case}/synthetic/{turn}/utterance"
                    question = context[-1]["content"]
                    asked = skeleton(f"{case}/{turn}/utterance")
                    user = f"{scene['before']}{question}{between}{text}{tail}{asked}"
                    write({"id": item, **base, "turn": turn,
                        "aspect": "utterance", **tagged, "prompt": [
                        {"role": "system", "content": system},
                        {"role": "user", "content": user}], "completion": [
                        {"role": "assistant", "content": answer.decode()}]})
                else:
                    about, told = scene["facts"][fact]
                    known_fact = {"fact_about": about, "fact_text": told, "tags": scene["tags"]}
                    base |= scene["people"] | known_fact
                    question = context[-1]["content"]
                    for aspect, seen in (("utterance", []), ("cumulative", context)):
                        write({"id": f"{case}/synthetic/{turn}/{aspect}", **base, "turn": turn,
                            "aspect": aspect, "context": seen, "question": question, "utterance": text,
                            **tagged, "sources": dict.fromkeys(named, "speaker"), "agreed": None})
            context.append({"role": role, "content": text})
        if kind == "benchmark":
            write({"id": f"{case}/synthetic/conversation", **base, "turn": None,
                "aspect": "conversation", "context": context, "question": None, "utterance": "",
                **dict.fromkeys(tagged), "sources": dict.fromkeys(named), "agreed": None})
seconds = time.perf_counter() - started
peak = peak_mib()
print(orjson.dumps({"seconds": seconds, "rows": rows, "peak_mib": peak}).decode())
"""
_EXPORT = """
import sys, time
from pathlib import Path
import orjson
from benchmarks.machine import peak_mib
from hipo.app.export.options import export_options
from outputs.export.export import export
from outputs.selecting.wish import Selection

kind, how, run, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
# Prompts stand in the rows of training sets; in those of a benchmark they are asked for.
asked = {"modes": sys.argv[5:] or ["none"]} if kind == "benchmark" else {"aspects": ["utterance"]}
alone = {"fractions": [100, 0, 0], "parquet": False} if how == "lines" else {}
options = export_options(kind, **asked, **alone)
started = time.perf_counter()
done = export(Selection((run,)), options, folder)
seconds = time.perf_counter() - started
peak = peak_mib()
rows = sum(done.rows.values())
print(orjson.dumps({"seconds": seconds, "rows": rows, "peak_mib": peak}).decode())
"""
_PARTS = """
import sys
import orjson
from outputs.rows.label_rows import label_tasks
from outputs.kinds.system_prompt import SHORT
from prompts.environment import Templates
from prompts.tasks.items import TaskItem, scene_view
from prompts.tasks.prompts import TaskPrompts
from scenarios.catalogue import Catalogue
from scenarios.schemes.registry import load_scheme

(task,) = label_tasks(("utterance",), SHORT).values()
prompts = TaskPrompts(Templates(), load_scheme("hipo"), task)
scenes, between, tail, system = {}, "", "", ""
for scenario in Catalogue.load().scenarios.values():
    view = scene_view(scenario, "en")
    turns = (("initiator", "@@@"), ("responder", "@@@"))
    (asked,) = prompts.questions(TaskItem("", view, turns, 1, 0))
    system, user = (message.content for message in asked.question.messages)
    before, between, rest = user.split("@@@")
    tail = rest.partition("{")[0]
    people = {
        name: getattr(view, name) for name in (
            "situation", "initiator", "initiator_description", "responder",
            "responder_description")}
    facts = {fact.id: [fact.about, fact.text] for fact in scenario.facts}
    scenes[scenario.id] = {
        "before": before, "category": scenario.category, "tags": list(scenario.tags),
        "people": people, "facts": facts}
labels = {dimension.id: dimension.values for dimension in prompts.dimensions}
parts = {"system": system, "scenes": scenes, "between": between, "tail": tail, "labels": labels}
open(sys.argv[1], "wb").write(orjson.dumps(parts))
"""


def synthetic_run(folder: Path, dialogues: int) -> None:
    """Make a run of accepted dialogues on the shipped scenarios, straight into its tables."""
    scheme = load_scheme("hipo")
    material = material_items(scheme=scheme, scenarios=Catalogue.load().scenarios.values())
    with RunStore.create(folder, RunConfiguration(), material=material) as store:
        store.add_arm(_ARM, _DESCRIPTION)
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    connection.execute("begin")
    answers = [
        [d.values[i % len(d.values)] for d in scheme.utterance_dimensions] for i in range(60)
    ]
    connection.executemany(
        "insert into dimensions (id) values (?)", [(d.id,) for d in scheme.utterance_dimensions]
    )
    for number, (scenario, case) in enumerate(itertools.islice(_cases(), dialogues), start=1):
        _insert(connection, number, scenario, case, answers)
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
        (line.role, "opening", line.text)
        for line in opening_lines(scenario, case.fact, case.goal, {})
    ]
    for exchange in range(TURNS):
        mark = f"{number}-{exchange}"  # rows that say the same are left out
        said.append(("initiator", "improvised", f"And what happened on the day we call {mark}?"))
        said.append(("responder", "improvised", f"On {mark} {_ANSWER}"))
    connection.executemany(
        "insert into turns values (?, ?, ?, ?, ?, ?, null)",
        [(number, turn, *line, None) for turn, line in enumerate(said)],
    )
    connection.executemany(
        "insert into annotations values"
        " (1, ?, ?, 0, ?, ?, ?, null, 'Because it is so.', null, null, null, null)",
        [
            (number, 3 + 2 * exchange, position, position + 1, value)
            for exchange in range(TURNS)
            for position, value in enumerate(answers[seed_from(case.id, exchange) % len(answers)])
        ],
    )
    connection.execute(
        "insert into decisions (dialogue, verdict, by, reason, note, decided_at)"
        " values (?, 'accepted', 'policy:review', '', '', 0.0)",
        (number,),
    )


def run(*, quick: bool = False) -> list[Row]:
    """Export a benchmark set and a training set; compare each with its bare loop."""
    turns = 40_000 if quick else 1_000_000
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        synthetic_run(folder / "run", turns // (2 + 2 * TURNS))
        subprocess.run([sys.executable, "-c", _PARTS, str(folder / "parts.json")], check=True)
        for kind in ("benchmark", "sft"):
            rows += _compared(kind, folder, turns)
        return rows + _with_prompts(folder, turns // 20)


def _with_prompts(folder: Path, turns: int) -> list[Row]:
    """Export a smaller benchmark set without prompts, then with those of both modes."""
    small, target = folder / "small", folder / "export"
    small.mkdir()
    synthetic_run(small / "run", turns // (2 + 2 * TURNS))
    speeds, sizes = [], []
    for modes in ((), ("zero-shot", "cot")):
        found = _measured(_EXPORT, "benchmark", "whole", small / "run", target, *modes)
        speeds.append(found["rows"] / found["seconds"])
        sizes.append(
            {
                end: sum(file.stat().st_size for file in target.rglob(f"*.{end}")) / found["rows"]
                for end in ("jsonl", "parquet")
            }
        )
        shutil.rmtree(target)
    name = f"benchmark with prompts, {turns:,} turns"
    return [
        Row(f"{name}: rows a second", speeds[1]),
        Row(f"{name}: speed / without prompts", speeds[1] / speeds[0], "x"),
        *(
            Row(f"{name}: bytes a row of {end} ({sizes[0][end]:,.0f} without)", sizes[1][end])
            for end in sizes[1]
        ),
    ]


def _compared(kind: str, folder: Path, turns: int) -> list[Row]:
    """Run all in turn, each in a process of its own, so that a busy moment falls on any of them."""
    lines, target = folder / "bare.jsonl", folder / "export"
    bare: list[dict[str, float]] = []
    ours: dict[str, list[dict[str, float]]] = {"lines": [], "whole": []}
    same = True
    for _ in range(ATTEMPTS):
        database = folder / "run" / DATABASE
        bare.append(_measured(_BARE, kind, database, lines, folder / "parts.json"))
        for how, measured in ours.items():
            measured.append(_measured(_EXPORT, kind, how, folder / "run", target))
            written = sorted((target / "jsonl").rglob("*.jsonl"))
            same = same and _digest([lines]) == _digest(written)
            shutil.rmtree(target)
    ratio = {
        how: statistics.median(
            plain["seconds"] / own["seconds"] for plain, own in zip(bare, measured, strict=True)
        )
        for how, measured in ours.items()
    }
    usual = statistics.median(own["seconds"] for own in ours["whole"])
    peak = max(one["peak_mib"] for measured in ours.values() for one in measured)
    name = f"export {kind}"
    speed = f"speed / bare loop, {turns:,} turns"
    return [
        Row(f"{name}: lines alone, {speed}", ratio["lines"], "x", Goal.above(0.5)),
        Row(f"{name}: whole, {speed}", ratio["whole"], "x"),
        Row(f"{name}: peak memory", peak, " MiB", Goal.below(400)),
        Row(f"{name}: same lines as the bare loop", float(same), "", Goal.above(1)),
        Row(f"{name}: whole, rows a second", ours["whole"][0]["rows"] / usual),
    ]


def _measured(program: str, *arguments: object) -> dict[str, float]:
    """Run a program in a process of its own; what others left to be written is on disk before."""
    os.sync()
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    measured: dict[str, float] = orjson.loads(done.stdout.splitlines()[-1])
    return measured


def _digest(paths: Sequence[Path]) -> int:
    """Return a sum over the lines of files that does not depend on their order."""
    total = 0
    for path in paths:
        with path.open("rb") as lines:
            total += sum(zlib.crc32(line) for line in lines)
    return total
