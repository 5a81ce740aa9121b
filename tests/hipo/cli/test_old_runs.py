"""Runs of hipo 0.1.0 are brought up to date, and give what they gave then."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.app.runs.old_runs import bring_up_to_date
from pipeline.run_material import load_material
from pipeline.store.locks import RunLock
from pipeline.store.run_store import RunStore
from scenarios.case import make_case
from scenarios.errors import UsageError
from scenarios.schemes.registry import versions_of
from tests.hipo.cli.conftest import Hipo, beside

FIXTURES = Path(__file__).parents[2] / "fixtures" / "runs_0_1_0"
OPTIONS = json.loads((FIXTURES / "exports" / "options.json").read_text(encoding="utf-8"))
RUNS = ("judged", "own_material", "imported")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with the runs, and the files they were made from beside them."""
    shutil.copytree(FIXTURES, tmp_path, dirs_exist_ok=True)
    return tmp_path


def as_then(options: list[str]) -> list[str]:
    """Return the options of a set with those that were no options then."""
    learnt = [*options, "--format", "messages", "--prompt", "full"]
    if "dpo" in options:
        return [*learnt, "--target", "json", "--pairs", "vote,revision,verdict"]
    if "--task" in options:
        return [*learnt, "--target", "json"]
    return [*learnt, "--goal-of-lines"] if "sft" in options else options


def exported(hipo: Hipo, name: str) -> str:
    """Export as 0.1.0 did; return the lines."""
    run = name.partition(".")[0]
    shutil.rmtree("set", ignore_errors=True)
    made = hipo(
        "export", run, *as_then(OPTIONS[name]), "--any", "--splits", "100,0,0", "--no-parquet",
        "-o", "set", "-q",
    )  # fmt: skip
    assert made.code == 0, made.err
    files = sorted(Path("set").rglob("*.jsonl"))
    return "".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_export_has_the_rows_it_had(hipo: Hipo, old: Path, name: str) -> None:
    then = gzip.decompress((FIXTURES / "exports" / f"{name}.jsonl.gz").read_bytes()).decode()
    rows, before = (
        [json.loads(line) for line in lines.splitlines()] for lines in (exported(hipo, name), then)
    )
    if "--rationale" in OPTIONS[name]:  # conversations have none: they are left out now
        before = [row for row in before if row["aspect"] != "conversation"]
    if name.startswith("imported."):  # which was called fiction then, and nobody knows
        before = [row | {"fictional": None} for row in before]
    rows, before = beside(rows, before)
    # rows have got columns since (pair; of benchmark items question, messages, ...), and lost none
    assert all(row["pair"] for row in rows)
    for row, old_row in zip(
        rows, before, strict=True
    ):  # of whole dialogues experts decide now, too
        if row.get("expert_goal") and row.get("aspect") == "conversation":
            old_row["labelled_by"] = "expert"
    kept = [{name: row[name] for name in old} for row, old in zip(rows, before, strict=True)]
    if name == "judged.sft-label":  # what an evaluator is asked is today's task; the answer stands
        for row in (*kept, *before):
            del row["messages"][:-1]
    assert kept == before


@pytest.mark.parametrize("run", RUNS)
def test_a_read_command_migrates_after_a_backup(hipo: Hipo, old: Path, run: str) -> None:
    before = (old / run / "run.sqlite").read_bytes()
    assert hipo("runs", "show", run).code == 0
    backup = old / run / "run.schema-3.backup.sqlite"
    original = FIXTURES / run / "run.sqlite"
    with closing(sqlite3.connect(backup)) as copy, closing(sqlite3.connect(original)) as first:
        assert list(copy.iterdump()) == list(first.iterdump())
    assert before != (old / run / "run.sqlite").read_bytes()
    assert hipo("show", run).code == 0
    assert list((old / run).glob("*backup*")) == [backup]


def test_a_list_of_runs_says_which_are_older_and_what_brings_them_up_to_date(
    hipo: Hipo, old: Path
) -> None:
    listed = hipo("runs", "--dir", ".")
    assert [row.split() for row in listed.out.splitlines()[1:]] == [
        [run, "older"] for run in sorted(RUNS)
    ]
    assert "bring it up to date with: hipo runs show judged" in listed.err
    assert hipo("runs", "show", "judged").code == 0
    rows = hipo("runs", "--dir", ".", "--format", "json").data
    states = {row["name"]: row["state"] for row in rows}
    assert states == {
        "imported": "older",
        "judged": "finished_with_failures",
        "own_material": "older",
    }


@pytest.mark.parametrize("run", RUNS)
def test_an_old_run_that_was_brought_up_to_date_is_sound(hipo: Hipo, old: Path, run: str) -> None:
    assert hipo("runs", "show", run).code == 0
    checked = hipo("runs", "check", run)
    assert (checked.code, "wrong" in checked.out) == (0, False), checked.out


def test_nothing_but_the_folder_is_needed_once_a_run_is_up_to_date(hipo: Hipo, old: Path) -> None:
    before = {name: exported(hipo, name) for name in OPTIONS}
    for gone in ("pack", "templates", "imported/scenarios", "judged/scenarios"):
        shutil.rmtree(gone)
    for gone in ("axes.yaml", "tactics.yaml"):
        Path(gone).unlink()
    assert {name: exported(hipo, name) for name in OPTIONS} == before
    for run in RUNS:
        judges = ("--judge", "offline/judge", *(("--no-self",) if run == "imported" else ()))
        assert hipo("verify", run, *judges).code == 0
        assert hipo("report", run, "--no-embeddings").code == 0


def test_what_is_gone_is_named_and_only_what_needs_it_is_refused(
    hipo: Hipo, old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree("templates")
    pack = Path("pack/corner_shop.yaml")
    text = pack.read_text(encoding="utf-8")
    pack.write_text(text.replace("yesterday", "long ago"), encoding="utf-8")
    assert hipo("runs", "show", "own_material").code == 0
    assert "scenario corner_shop, templates" in caplog.text
    refused = hipo(
        "export", "own_material", "--to", "benchmark", "--any", "--splits", "100,0,0", "-o", "set"
    )
    assert refused.code == 2
    assert "own_material does not hold the scenario 'corner_shop'" in refused.err
    pack.write_text(text, encoding="utf-8")
    caplog.clear()
    done = exported(hipo, "own_material.sft-actor")
    assert "stands behind a counter" in done, "prompts are those that were sent"
    assert caplog.text.endswith("templates; only what needs them is refused\n"), (
        "what was put back is taken in"
    )


def test_going_on_with_an_old_run_is_refused_in_one_message_unless_it_is_meant(
    hipo: Hipo, old: Path
) -> None:
    command = (
        "generate", "--model", "offline/rules", "--scenarios", "used_car",
        "--turns", "1,2", "--strategy", "direct,reflective,consistency", "--vary",
        "persona,opening", "--tactics", "balanced", "--seed", "3", "-o", "judged", "-n", "4",
        "--openings", "by-goal",
    )  # fmt: skip
    refused = hipo(*command)
    assert refused.code == 2
    assert "other dialogues of the same configuration (version 1 of them" in refused.err
    assert "12 generated" not in refused.out
    assert "12 generated, 0 failed" in hipo(*command, "--resume", "always").out


def test_a_run_that_is_not_to_be_continued_is_refused_before_it_is_migrated(
    hipo: Hipo, old: Path
) -> None:
    refused = hipo("generate", "--model", "offline/rules", "-o", "judged", "--resume", "never")
    assert refused.code == 2
    assert "holds a run already" in refused.err
    assert [path.name for path in (old / "judged").glob("*backup*")] == []
    now, then = (folder / "judged" / "run.sqlite" for folder in (old, FIXTURES))
    assert now.read_bytes() == then.read_bytes()


def test_cases_of_an_old_run_keep_their_ids(hipo: Hipo, old: Path) -> None:
    with closing(sqlite3.connect(FIXTURES / "judged" / "run.sqlite")) as database, database:
        rows = database.execute(
            "select id, scheme, scenario, scenario_fingerprint, fact, goal, turns, language,"
            " variation, repetition, seed from cases"
        ).fetchall()
    assert rows
    for known, *fields in rows:
        scheme, scenario, mark, fact, goal, turns, language, variation, repetition, seed = fields
        case = make_case(
            scheme=scheme, scenario=scenario, scenario_fingerprint=mark, fact=fact, goal=goal,
            turns=turns, language=language, variation=dict(json.loads(variation)),
            repetition=repetition, seed=seed,
        )  # fmt: skip
        assert case.id == known


def test_an_old_run_that_cannot_be_written_says_what_to_do(old: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    (old / "judged").chmod(0o555)
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            bring_up_to_date(old / "judged")
    finally:
        (old / "judged").chmod(0o755)


@pytest.mark.parametrize("run", RUNS)
def test_an_old_run_is_repaired_into_one_that_is_up_to_date(
    hipo: Hipo, old: Path, run: str
) -> None:
    repaired = hipo("runs", "repair", run, "-o", f"{run}-2")
    assert repaired.code == 0, repaired.err
    bring_up_to_date(old / run)
    before, after = (
        json.loads(hipo("show", of, "--format", "json").out) for of in (run, f"{run}-2")
    )
    assert before == after


def test_an_old_run_that_is_being_written_is_left_alone_and_says_what_to_do(
    hipo: Hipo, old: Path
) -> None:
    before = (old / "judged" / "run.sqlite").read_bytes()
    lock = RunLock(old / "judged")
    refused = hipo("runs", "show", "judged")
    lock.release()
    assert refused.code == 2
    assert "has to be brought up to date, and another process is writing it" in refused.err
    assert "-o" not in refused.err
    assert (old / "judged" / "run.sqlite").read_bytes() == before
    assert hipo("runs", "show", "judged").code == 0


def test_a_run_of_the_scheme_before_it_told_common_labels_finds_its_scheme(old: Path) -> None:
    scheme = next(s for s in versions_of("hipo") if s.version == 1)
    first = scheme.model_copy(update={"common_labels": {}}).fingerprint
    with closing(sqlite3.connect(old / "judged" / "run.sqlite")) as database, database:
        changed = database.execute(
            "update config_epochs set config = replace(config, ?, ?)", (scheme.fingerprint, first)
        )
        assert changed.rowcount
    bring_up_to_date(old / "judged")
    with RunStore.open(old / "judged", readonly=True) as store:
        assert ("scheme", first) in {(item.kind, item.hash) for item in store.materials()}


def test_the_tactics_and_templates_of_ones_own_are_in_the_run(old: Path, hipo: Hipo) -> None:
    bring_up_to_date(old / "own_material")
    with RunStore.open(old / "own_material", readonly=True) as store:
        material = load_material(store)
    assert material.tactics == {"margins": {"veracity": {"Quantity": 2, "Quality": 1, "None": 1}}}
    own = (FIXTURES / "templates" / "responder_system.j2").read_text(encoding="utf-8")
    assert material.own_templates == {"responder_system.j2": own}
    assert list(material.axes) == ["style"]
