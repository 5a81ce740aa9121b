"""``hipo runs check`` and ``hipo runs repair``: what is wrong, and what can be saved."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.cli.main import run as run_command
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.damage import UNREADABLE, Damage, flipped, page_of, rewritten, sql

GENERATE = (
    "generate", "--model", "offline/rules", "--scenarios", "used_car", "--strategy",
    "direct,reflective", "-n", "3", "-q",
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of six dialogues, of which each request cost a dollar."""
    folder = tmp_path_factory.mktemp("sound") / "run"
    assert run_command([*GENERATE, "-o", str(folder)]) == 0
    sql("update requests set cost_usd = 1, charged_usd = 1",
        "update totals set cost_usd = requests, charged_usd = requests")(
        folder / "run.sqlite")  # fmt: skip
    return folder


def one(database: Path, statement: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute(statement).fetchone()[0])


def spoilt(sound: Path, damage: Damage) -> Path:
    shutil.copytree(sound, "runs/bad")
    damage(Path("runs/bad/run.sqlite"))
    return Path("runs/bad/run.sqlite")


def test_a_sound_run_is_sound_and_its_copy_is_equal(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, lambda path: None)
    assert hipo("runs", "check", "bad").out == "runs/bad is sound\n"
    assert hipo("runs", "check", "bad", "--format", "json").data == {
        "run": "runs/bad", "sound": True, "findings": [],
    }  # fmt: skip
    done = hipo("runs", "repair", "bad", "--format", "json")
    assert (done.code, done.data["sound"], done.data["lost_dialogues"]) == (0, True, 0)
    assert all(table["lost"] == 0 and not table["more"] for table in done.data["tables"])
    shown = [hipo("show", run, "--format", "json").data for run in ("bad", "bad-repaired")]
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("damage", "about", "message"),
    [
        (sql("update totals set charged_usd = 5"), "totals", "charged_usd is 5.0"),
        (sql("update totals set cases = 9"), "totals", "number of cases"),
        (sql("delete from tally"), "tally", "tally of dialogues"),
        (sql("insert into tally values (1, 'failed', 'timeout', 3)"), "tally", "tally of dialogues"),
        (sql("insert into verification_tally values ('verdict', 'accepted', 3)"),
         "verification_tally", "tally of verdicts"),
        (sql("insert into queue_tally values (1, 'work', '[]', 3)"), "queue_tally", "items that wait"),
        (sql("delete from turns where dialogue = 2"), "dialogues", "1 generated dialogues without"),
        (sql("delete from turns where dialogue = 2 and turn = 0"), "dialogues", "with a gap"),
        (sql("delete from prompts where seq = 2"), "choices", "1 row of choices refers to"),
        (sql("delete from texts where seq = 1"), "prompts", "prompts refer to texts"),
        (sql("update texts set text = text || '!' where seq = 1"), "texts", "1 text is not"),
        (sql("update cases set fact = 'nosuch' where seq = 1"), "cases", "1 case is not what the id"),
        (sql("update totals set updated_at = 1e300"), "database", "a time of the run cannot be read"),
        (sql("update annotations set value = -1.0 where value = 'Quality'"), "dialogues", "has -1.0 as its veracity"),
        (sql("update annotations set second = x'ff' where source = 1"), "database", "a label cannot be read"),
        (sql("update turns set role = 'x' where turn = 2"), "dialogues", "turn 2 of"),
        (sql("delete from materials where kind = 'scheme'"), "materials", "the scheme hipo is not"),
        (sql("update materials set content = replace(content, 'car', 'cat') where kind = 'scenario'"),
         "materials", "the stored scenario used_car is not what its hash says"),
        (sql("update materials set content = replace(content, '{{ ', '{{ } ') where kind = 'templates'",
             "delete from materials where kind = 'scheme'"),
         "materials", "the stored templates is not what its hash says"),
        (sql("update config_epochs set config = '{garbage'"), "database", "the configuration 1"),
        (UNREADABLE["zero-length"], "database", "is empty"),
        (UNREADABLE["header"], "database", "not a database"),
        (page_of("turns"), "database", "malformed"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found_and_nothing_is_changed(
    hipo: Hipo, sound: Path, damage: Damage, about: str, message: str
) -> None:
    database = spoilt(sound, damage)
    before = database.read_bytes()
    found = hipo("runs", "check", "bad", "--format", "json")
    assert (found.code, found.data["sound"]) == (1, False)
    assert any(f["about"] == about and message in f["message"] for f in found.data["findings"]), (
        found.data
    )
    assert database.read_bytes() == before
    assert message in hipo("runs", "check", "bad").out


TABLES = ("arms", "cases", "choices", "dialogues", "materials", "meta", "prompts", "requests",
          "texts", "totals", "turns", "annotations")  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        *(
            UNREADABLE[kind]
            for kind in UNREADABLE
            if kind not in ("zero-length", "a folder") and "truncated" not in kind
        ),
        rewritten(lambda data: data[: len(data) * 4 // 5]),
        *(page_of(table) for table in TABLES),
        sql("update arms set description = '{garbage'"),
        sql("update cases set variation = '{garbage' where seq = 2"),
        sql("update cases set fact = 'nosuch' where seq = 2"),
        sql("delete from turns where dialogue = 2 and turn = 0"),
        sql("insert into decisions values (1, 1, 'accepted', 'expert', '', '', 1e300)"),
        sql("update requests set sent_at = -1e300", "update meta set value = 'x' where key = 'created'"),
    ],
)  # fmt: skip
def test_a_damaged_run_is_repaired_into_one_that_is_sound_and_goes_on(
    hipo: Hipo, sound: Path, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred keys that cannot be read are given up: the run has fewer rows in any table."""
    monkeypatch.setattr("pipeline.store.damaged_rows.GIVE_UP", 100)
    database = spoilt(sound, damage)
    before = database.read_bytes()
    done = hipo("runs", "repair", "bad", "--format", "json")
    assert (done.code, done.data["findings"]) == (0, []), done
    assert database.read_bytes() == before
    assert sorted(path.name for path in Path("runs").iterdir()) == ["bad", "bad-repaired"]
    gone_on = hipo(*GENERATE, "-o", "runs/bad-repaired", "--resume", "if-possible")
    assert gone_on.code == 0, gone_on
    assert hipo("runs", "check", "bad-repaired").code == 0
    assert hipo("runs", "show", "bad-repaired", "--format", "json").data["pending"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_flipped_bits_anywhere_are_repaired_or_named(hipo: Hipo, sound: Path, seed: int) -> None:
    spoilt(sound, flipped(seed))
    done = hipo("runs", "repair", "bad")
    assert done.code in (0, 1, 2), done
    if done.code == 0:
        assert hipo("runs", "check", "bad-repaired").code == 0
        assert hipo(*GENERATE, "-o", "runs/bad-repaired").code in (0, 2)
    else:
        assert "still wrong" in done.out or "error: " in done.err


def test_what_was_paid_counts_on_and_lost_dialogues_cost_nothing_again(
    hipo: Hipo, sound: Path
) -> None:
    paid = one(sound / "run.sqlite", "select count(*) from requests")
    spoilt(sound, page_of("requests"))
    done = hipo("runs", "repair", "bad", "-o", "runs/new", "--format", "json").data
    assert (done["spent_usd"], done["lost_usd"]) == (paid, paid)
    assert one(Path("runs/new/run.sqlite"), "select charged_usd from totals") == paid
    shutil.rmtree("runs")
    spoilt(sound, page_of("turns"))
    done = hipo("runs", "repair", "bad", "-o", "runs/new", "--format", "json").data
    assert (done["lost_dialogues"], done["spent_usd"], done["lost_usd"]) == (6, paid, 0)
    assert hipo(*GENERATE, "-o", "runs/new").code == 0
    assert one(Path("runs/new/run.sqlite"), "select count(*) from requests") == paid
    assert one(Path("runs/new/run.sqlite"), "select count(*) from dialogues") == 6


def test_what_is_lost_is_told_by_table_in_dialogues_and_in_dollars(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, sql("delete from turns where dialogue = 2 and turn = 0"))
    told = hipo("runs", "repair", "bad")
    assert told.code == 0
    assert "1 dialogue lost: hipo generate plays them again" in told.out
    assert [line.split() for line in told.out.splitlines() if line.startswith("dialogues")] == [
        ["dialogues", "5", "1"]
    ]
    assert "count as spent" in told.out
    assert "the new run is runs/bad-repaired" in told.out


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (UNREADABLE["zero-length"], "is empty: nothing can be saved from it"),
        (UNREADABLE["truncated in the header"], "nothing can be saved: "),
    ],
)
def test_where_nothing_can_be_saved_nothing_is_made(
    hipo: Hipo, sound: Path, damage: Damage, message: str
) -> None:
    spoilt(sound, damage)
    found = hipo("runs", "check", "bad")
    assert (found.code, "hipo runs repair" in found.out) == (1, "is empty" not in found.out)
    refused = hipo("runs", "repair", "bad")
    assert refused.code == 2
    assert message in refused.err
    assert "put a copy" in refused.err
    assert [path.name for path in Path("runs").iterdir()] == ["bad"]


def test_nothing_is_repaired_over_something_else(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, lambda path: None)
    refused = hipo("runs", "repair", "bad", "-o", "runs/bad")
    assert (refused.code, "runs/bad exists already" in refused.err) == (2, True)


def test_a_damaged_file_of_people_is_named_and_left_out(hipo: Hipo, sound: Path) -> None:
    spoilt(sound, lambda path: None)
    Path("runs/bad/people.sqlite").write_bytes(b"garbage " * 1024)
    found = hipo("runs", "check", "bad", "--format", "json")
    assert [finding["about"] for finding in found.data["findings"]] == ["people"]
    done = hipo("runs", "repair", "bad", "--format", "json")
    assert done.code == 0
    assert ["was not taken over" in note for note in done.data["notes"]] == [True]
    assert not Path("runs/bad-repaired/people.sqlite").exists()


@pytest.mark.parametrize(
    ("damage", "command", "message"),
    [
        (sql("update cases set fact = 'nosuch'"), "export", "fact 'nosuch' of the case"),
        (sql("update annotations set value = 'Odd' where value = 'Quality'"), "export", "has 'Odd' as its veracity"),
        (sql("update totals set updated_at = 1e300"), "runs show", "a time of the run cannot be read"),
    ],
)  # fmt: skip
def test_what_was_changed_by_hand_ends_a_command_with_what_is_wrong(
    hipo: Hipo, sound: Path, damage: Damage, command: str, message: str
) -> None:
    spoilt(sound, damage)
    more = ("--any", "-o", "set") if command == "export" else ()
    ended = hipo(*command.split(), "bad", *more)
    assert ended.code == 2
    assert message in ended.err
    assert "hipo runs check" in ended.err
