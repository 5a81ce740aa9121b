"""``hipo runs merge``: what is put together, what is refused, and what is told."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from hipo.app.runs.merging import merge_runs
from hipo.cli.main import run
from pipeline.store.merging import merge
from pipeline.store.people_database import PEOPLE
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE
from quality.review.verdicts import settled
from scenarios.reviews import GivenLabel, Opinion
from tests.forked import ROOT, forked
from tests.quality.review.test_assigning import study_in

PLAN = ["generate", "-m", "offline/rules", "--scenarios", "products", "-n", "9", "-q"]


def killed_merge(arguments: Sequence[str]) -> None:
    """Put runs together, and die in the middle of it."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    target, *runs = map(Path, arguments)
    setattr(merge.JudgementMerging, "finish", die)  # noqa: B010 - of this process alone
    merge_runs(runs, target)


def shard(folder: Path, index: int, *more: str) -> str:
    assert run([*PLAN, "--shard", f"{index}/3", "-o", str(folder), *more]) == 0
    return str(folder)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("shards")
    return [shard(folder / str(index), index, "--verify") for index in (1, 2, 3)]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def merge_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert run(["runs", "merge", *arguments, "--format", "json"]) == 0
    told: dict[str, object] = json.loads(capsys.readouterr().out)
    return told


@pytest.mark.slow  # ten commands, four of which generate and verify
def test_exports_of_a_merged_run_are_those_of_one_that_was_never_divided(tmp_path, shards):
    whole, merged = tmp_path / "a" / "run", tmp_path / "b" / "run"
    assert run([*PLAN, "-o", str(whole), "--verify"]) == 0
    assert run(["runs", "merge", *shards[::-1], "-o", str(merged)]) == 0
    for folder in (whole, merged):  # near-duplicates are looked for in the run as a whole
        assert run(["verify", str(folder), "-q"]) == 0
        for kind in ("dialogues", "benchmark", "sft"):
            target = str(folder.parent / kind)
            assert run(["export", str(folder), "--to", kind, "-o", target, "-q"]) == 0
    for kind in ("dialogues", "benchmark", "sft"):
        assert files_of(whole.parent / kind) == files_of(merged.parent / kind)
    assert run(["runs", "check", str(merged)]) == 0
    with RunStore.open(whole, readonly=True) as one, RunStore.open(merged, readonly=True) as other:
        assert one.state().calls == other.state().calls
        assert one.config.config == other.config.config


def test_what_is_missing_is_told_and_played_by_the_same_command_without_a_shard(
    tmp_path, shards, capsys
):
    merged = str(tmp_path / "merged")
    told = merge_json(capsys, shards[0], shards[2], "-o", merged)
    assert (told["generated"], told["missing"], told["missing_shards"]) == (6, 3, ["2/3"])
    whole = str(tmp_path / "whole")
    told = merge_json(capsys, merged, shards[1], shards[0], "-o", whole)
    assert (told["generated"], told["missing"], told["alike"]) == (9, 0, 3)
    assert run([*PLAN, "-o", merged]) == 0
    with RunStore.open(Path(merged), readonly=True) as store:
        assert (store.state().generated, store.state().state) == (9, "finished")


def test_shards_of_different_divisions_are_told_before_what_is_missing(tmp_path, shards, capsys):
    half = str(tmp_path / "half")
    assert run([*PLAN, "--shard", "1/2", "-o", half]) == 0
    capsys.readouterr()
    assert run(["runs", "merge", shards[1], half, "-o", str(tmp_path / "merged")]) == 0
    lines = capsys.readouterr().out.splitlines()
    mixture = next(i for i, line in enumerate(lines) if "(shards 1/2, 2/3)" in line)
    assert "the shards of one division are enough" in lines[mixture]
    assert lines[mixture + 1] == "no run is of shard 2/2, 1/3, 3/3"


def test_dialogues_of_another_plan_are_told(tmp_path, shards, capsys):
    other = shard(tmp_path / "other", 2, "--turns", "2")
    told = merge_json(capsys, shards[0], other, "-o", str(tmp_path / "merged"))
    assert told["missing"] == 6
    (note,) = told["notes"]
    assert note.startswith(
        f"3 dialogues are of cases outside the plan of {shards[0]}, which the new"
    )


def test_what_is_missing_does_not_depend_on_the_order_of_the_runs(tmp_path, shards, capsys):
    larger = str(tmp_path / "larger")
    assert run([*PLAN, "--shard", "2/3", "-n", "18", "-o", larger]) == 0
    for number, order in enumerate(([shards[0], larger], [larger, shards[0]])):
        told = merge_json(capsys, *order, "-o", str(tmp_path / str(number)))
        assert (told["generated"], told["missing"], told["missing_shards"]) == (9, 9, ["3/3"])


def test_conflicts_are_told_with_both_runs_and_the_first_or_last_is_kept(tmp_path, shards, capsys):
    other = tmp_path / "other"
    assert run(["runs", "merge", shards[0], "-o", str(other)]) == 0
    with closing(sqlite3.connect(other / DATABASE)) as connection, connection:
        connection.execute("update turns set text = 'No comment.' where turn = 3 and dialogue = 1")
    for keep, kept in (("first", shards[0]), ("last", str(other))):
        told = merge_json(capsys, shards[0], str(other), "-o", str(tmp_path / keep), "--keep", keep)
        (conflict,) = told["shown_conflicts"]
        assert (told["conflicts"], told["alike"], conflict["kept"]) == (1, 2, kept)
        assert {conflict["kept"], conflict["left_out"]} == {shards[0], str(other)}
        with RunStore.open(tmp_path / keep, readonly=True) as store:
            texts = {turn.text for dialogue in store.dialogues() for turn in dialogue.turns}
        assert ("No comment." in texts) == (keep == "last")


def test_a_kill_in_the_middle_leaves_nothing_and_the_next_merge_tidies_up(tmp_path, shards):
    target = tmp_path / "m"
    killed = forked(killed_merge, [str(target), *shards], ROOT, os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    assert run(["runs", "merge", *shards, "-o", str(target)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_runs_of_different_configuration_are_refused_with_what_differs(tmp_path, shards, capsys):
    other = str(tmp_path / "other")
    assert run([*PLAN, "-o", other, "--seed", "5", "--shard", "1/9"]) == 0
    capsys.readouterr()
    assert run(["runs", "merge", shards[0], other, "-o", str(tmp_path / "m")]) == 2
    said = capsys.readouterr().err
    assert "seed: 0 → 5" in said
    assert shards[0] in said
    assert other in said
    assert not (tmp_path / "m").exists()


def test_an_older_run_is_not_brought_up_to_date_by_the_way(tmp_path, shards, capsys):
    old = tmp_path / "old"
    assert run(["runs", "merge", shards[0], "-o", str(old)]) == 0
    with closing(sqlite3.connect(old / DATABASE)) as connection:
        connection.execute("pragma user_version = 3")
    assert run(["runs", "merge", str(old), "-o", str(tmp_path / "m")]) == 2
    assert "was written by an older hipo" in capsys.readouterr().err
    with closing(sqlite3.connect(old / DATABASE)) as connection:
        assert connection.execute("pragma user_version").fetchone() == (3,)


def test_a_run_that_is_being_written_is_refused(tmp_path, shards, capsys):
    with RunStore.open(Path(shards[0])):
        assert run(["runs", "merge", *shards, "-o", str(tmp_path / "m")]) == 2
    assert "is being written" in capsys.readouterr().err


async def reviewed(folder: Path, name: str, issue: bool | None = None) -> None:
    with ReviewStore.open(folder) as store:
        study = study_in(store, per_item=1) if issue is None else store.studies.get("s")
        who = store.people.known_as(name).seq
        while (number := await store.take(study, who, lease_s=600)) is not None:
            labels = [GivenLabel(3, "veracity", "Quality")]
            note = Opinion(issue=issue, note=f"{name} says so")
            await store.submit(study, number, who, labels, note, lease_s=600)
            item = None if issue is None else store.assignment(study, number, who)
            decision = None if item is None else settled(store, study, item.item)
            if decision is not None:
                store.judgements.decide_now(decision)


def test_people_of_one_code_in_two_runs_stay_two_people_with_their_answers_and_notes(
    tmp_path, capsys
):
    folders = [tmp_path / name for name in ("one", "two")]
    for index, folder in enumerate(folders, 1):
        assert run([*PLAN[:-3], "-n", "4", "-q", "--shard", f"{index}/2", "-o", str(folder)]) == 0
    for folder, name in zip(folders, ("Ada", "Bo"), strict=True):
        asyncio.run(reviewed(folder, name))
    merged = tmp_path / "merged"
    told = merge_json(capsys, *map(str, folders), "-o", str(merged))
    assert told["notes"] == [
        f"{folders[1]}: A01 is A02 there: another run knows somebody else as A01"
    ]
    with ReviewStore.open(merged) as store:
        sheets = list(store.sheets.sheets(store.studies.get("s")))
        people = {person.code: person.name for person in store.people.everybody()}
    assert people == {"A01": "Ada", "A02": "Bo"}
    assert sorted((s.annotator, s.opinion.note) for s in sheets if s.opinion) == [
        ("A01", "Ada says so"), ("A01", "Ada says so"), ("A02", "Bo says so"), ("A02", "Bo says so"),
    ]  # fmt: skip
    assert all(sheet.labels for sheet in sheets)
    assert (merged / PEOPLE).stat().st_mode & 0o077 == 0
    assert run(["runs", "check", str(merged)]) == 0


def copies(tmp_path: Path, per_item: int) -> list[Path]:
    """Return two copies of a run with a review that nobody has answered."""
    one, two = tmp_path / "one", tmp_path / "two"
    assert run([*PLAN[:-3], "-n", "2", "-q", "--verify", "--no-self", "-o", str(one)]) == 0
    with ReviewStore.open(one) as store:
        study_in(store, per_item=per_item, mode="review")
    shutil.copytree(one, two)
    return [one, two]


def verdicts(folder: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return set(connection.execute('select verdict, "by" from newest_decisions'))


def test_answers_of_two_copies_decide_together_as_in_one_run(tmp_path, capsys):
    folders = copies(tmp_path, per_item=3)
    for folder, name in zip(folders, ("Ann", "Bob"), strict=True):
        asyncio.run(reviewed(folder, name, issue=True))
        assert {by for _, by in verdicts(folder)} != {"review"}
    merge_json(capsys, *map(str, folders), "-o", str(tmp_path / "merged"))
    assert verdicts(tmp_path / "merged") == {("discarded", "review")}


def test_verdicts_of_people_that_contradict_one_another_are_named_and_go_to_an_expert(
    tmp_path, capsys
):
    folders = copies(tmp_path, per_item=1)
    asyncio.run(reviewed(folders[0], "Ann", issue=True))
    asyncio.run(reviewed(folders[1], "Bob", issue=False))
    told = merge_json(capsys, *map(str, folders), "-o", str(tmp_path / "merged"))
    said = [note for note in told["notes"] if "accepted by reviewers in one run" in note]
    assert len(said) == 1
    assert said[0].startswith(
        "2 dialogues accepted by reviewers in one run and discarded in another"
    )
    assert verdicts(tmp_path / "merged") == {("pending", "review")}


def test_imported_runs_lack_nothing_of_a_plan(tmp_path, capsys):
    trial = Path(__file__).parents[3] / "examples/formats/trial.csv"
    assert run(["import", str(trial), "--map", "cobra", "-o", str(tmp_path / "one")]) == 0
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    capsys.readouterr()
    folders = [str(tmp_path / name) for name in ("one", "two")]
    assert run(["runs", "merge", *folders, "-o", str(tmp_path / "all"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == 0
    with RunStore.open(tmp_path / "all", readonly=True) as store:
        assert (store.state().state, store.state().planned) == ("finished", 1)
