"""``hipo verify --juror``: models label answers by a scheme apart from the run's, and decide nothing."""

from __future__ import annotations

import csv
import io
import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from pipeline.run_material import juror_scheme_item, load_material
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.run_store import RunStore
from scenarios.schemes.registry import load_scheme
from tests.conftest import MadeOnce
from tests.hipo.cli.conftest import Hipo, interrupted_twice
from tests.wire.server import WireServer

ASKED = ("commitment", "relevance", "manner", "quality", "inconsistent", "outcome", "reasons")


@pytest.fixture
def run(offline: Hipo, tmp_path: Path, made_once: MadeOnce) -> Path:
    return made_once("jurors", tmp_path / "made", lambda: offline("-n", "2", "-o", "made", "-q"))


def labels(run: Path) -> list[tuple[str, str, str, object]]:
    with open_annotations(run) as reader:
        return [
            (a.who, f"{a.subject.case}#{a.subject.turn}", a.dimension, a.value)
            for a in reader.annotations(["juror"])
        ]


def test_a_juror_labels_every_answer_of_a_run_of_another_scheme(hipo: Hipo, run: Path) -> None:
    done = hipo("verify", "made", "--juror", "offline/judge", "-q")
    assert done.code == 0, done.err
    with RunStore.open(run, readonly=True) as store:
        answers = sum(len(dialogue.answers()) for dialogue in store.dialogues())
    said = labels(run)
    assert {dimension for _, _, dimension, _ in said} == {f"cobra.{name}" for name in ASKED}
    assert len(said) == answers * len(ASKED)
    assert all(value is not None for *_, value in said)


def test_what_a_juror_says_flags_nothing_decides_nothing_and_starts_no_verification(
    hipo: Hipo, run: Path
) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    with RunStore.open(run, readonly=True) as store:
        counts = store.judgements.counts()
        keys = [(d.case.id, d.arm) for d in store.dialogues()]
        assert (dict(counts.verdicts), counts.flagged) == ({}, 0)
        assert counts.covers(len(keys))
        assert not any(store.judgements.judgements(keys).values())


def test_who_interrupts_twice_leaves_at_once_and_is_told_how_to_go_on(
    hipo: Hipo, run: Path
) -> None:
    with WireServer(answer=interrupted_twice) as server:
        url = ("--judge-base-url", server.openai_url)
        left = hipo("verify", "made", "--juror", "compatible/m", *url, "--max-concurrency", "1")
    assert (left.code, "stopped: interrupted" in left.err) == (3, True), left.err


def test_nothing_is_paid_twice_and_modes_stand_side_by_side(hipo: Hipo, run: Path) -> None:
    words = ("verify", "made", "--juror", "offline/judge", "--format", "json", "-q")
    first = hipo(*words[:-1]).data
    assert hipo(*words[:-1]).data["calls"] == 0
    hipo(*words, "--juror-mode", "icl")
    hipo(*words, "--juror-task", "cobra-juror-principles")
    assert set(first["labels"]) == {"offline/judge"}
    names = {who for who, *_ in labels(run)}
    assert names == {
        "offline/judge", "icl=offline/judge", "cobra-juror-principles=offline/judge",
    }  # fmt: skip


def test_jurors_see_neither_the_private_fact_nor_the_goal(hipo: Hipo, run: Path) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "--juror-mode", "icl", "-q")
    with RunStore.open(run, readonly=True) as store:
        material = load_material(store)
        cases = [dialogue.case for dialogue in store.dialogues()]
        asked = [call for case in cases for call in store.calls.of_case(case.id)]
        facts = {fact.text for case in cases for fact in material.scenario_of(case).facts}
    texts = [str(call.messages) for call in asked if call.requests[0].role.startswith("juror ")]
    assert texts
    hidden = [*facts, *material.scheme.goal.values]
    assert [words for words in hidden if any(words in text for text in texts)] == []


def test_a_judge_and_a_juror_can_be_asked_by_one_command(hipo: Hipo, run: Path) -> None:
    done = hipo(
        "verify", "made", "--judge", "offline/judge", "--juror", "offline/judge", "--format", "json"
    )
    assert done.code == 0, done.err
    assert done.data["verified"] == 2
    assert labels(run)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--judge", "offline/judge", "--policy", "nope"), "nope"),
        (("--judge", "openai/x"), "OPENAI_API_KEY"),
        (("--policy", "auto"), "--policy: jurors alone are asked"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_told_before_any_juror_is(
    hipo: Hipo, run: Path, wrong: tuple[str, ...], message: str
) -> None:
    done = hipo("verify", "made", "--juror", "offline/judge", *wrong)
    assert (done.code, message in done.err) == (2, True)
    assert not labels(run)


def test_how_jurors_are_asked_is_refused_without_a_juror(hipo: Hipo, run: Path) -> None:
    refused = hipo("verify", "made", "--juror-mode", "cot", "--dry-run")
    assert (refused.code, "--juror MODEL" in refused.err) == (2, True)


def test_the_bill_of_jurors_is_told_before(hipo: Hipo, run: Path) -> None:
    planned = hipo("verify", "made", "--juror", "offline/judge", "--dry-run", "--format", "json")
    assert planned.code == 0, planned.err
    (juror,) = planned.data["judges"]
    done = hipo("verify", "made", "--juror", "offline/judge", "--format", "json").data
    assert juror["calls"] == done["calls"]


def test_metrics_of_a_run_are_those_of_its_jurors(hipo: Hipo, run: Path) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    found = hipo("metrics", "strategic", "made", "--json", "-").data
    assert {row["annotator"] for row in found["answers"]} == {"juror:offline/judge"}
    assert all(row["bat"] is not None and row["pat"] is not None for row in found["answers"])


def test_metrics_of_a_run_without_such_labels_say_who_could_give_them(
    hipo: Hipo, run: Path
) -> None:
    done = hipo("metrics", "strategic", "made")
    assert done.code == 2
    assert "--juror MODEL" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--juror-mode", "hearsay"), "there is no mode 'hearsay'"),
        (("--juror-task", "judge-turn"), "jurors cannot be asked the task judge-turn"),
        (("--juror-task", "cobra-jury"), "there is no task 'cobra-jury'"),
        (("--juror-scheme", "hipo"), "the task cobra-juror is not for the scheme hipo"),
        (("--juror-scheme", "cobar"), "cobar"),
        (("--juror", "offline/judge"), "a juror is named twice"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_2(
    hipo: Hipo, run: Path, options: tuple[str, ...], message: str
) -> None:
    done = hipo("verify", "made", "--juror", "offline/judge", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not labels(run)


def test_the_report_shows_jurors_where_there_are_some(hipo: Hipo, run: Path) -> None:
    hipo("report", "made", "--no-embeddings")
    assert "Strategic answers" not in (run / "report.html").read_text()
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    assert hipo("report", "made", "--no-embeddings").code == 0
    page = (run / "report.html").read_text()
    assert "Strategic answers" in page
    assert "juror:offline/judge" in page
    assert "NRBaT along" in page
    with RunStore.open(run, readonly=True) as store:
        (*_, last) = store.dialogues(traces=False)
        title = load_material(store).scenario_of(last.case).title
    assert f"NRBaT along “{title}” ({last.case.id[:8]})" in page


def test_jurors_of_another_scheme_are_compared_with_each_other(hipo: Hipo, run: Path) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    hipo("verify", "made", "--juror", "offline/judge", "--juror-mode", "icl", "-q")
    one, other = "juror:offline/judge", "juror:icl=offline/judge"
    found = hipo("agreement", "made", "--of", one, "--with", other, "--json", "-")
    assert found.code == 0, found.err
    compared = found.data["pairs"][0]["comparisons"]
    assert {row["dimension"] for row in compared} == {f"cobra.{name}" for name in ASKED}
    assert all(row["items"] and row["same"] is not None for row in compared)
    together = hipo("agreement", "made", "--of", "juror", "--json", "-").data["groups"][0]
    assert {row["dimension"] for row in together["statistics"]} >= {"cobra.manner", "cobra.reasons"}
    assert hipo("runs", "check", "made").code == 0


def test_people_are_not_asked_what_jurors_of_another_scheme_are(hipo: Hipo, run: Path) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    assert hipo("review", "export", "made", "--to", "csv", "--all", "--blank").code == 0
    (sheet,) = run.rglob("blank.csv")
    text = sheet.read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for row in rows:
        for line in row["possible answers"].splitlines():
            name, _, offered = line.partition(": ")
            row[name] = offered.split(", ")[0]
        row["annotator"] = "A01"
    filled = io.StringIO(newline="")
    writer = csv.DictWriter(filled, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    sheet.write_text(filled.getvalue(), encoding="utf-8", newline="")
    assert hipo("review", "import", "made", str(sheet)).code == 0
    found = hipo("qc", "made", "--json", "-")
    assert not [one for one in found.data["findings"] if one["code"] == "missing"]


def test_a_run_that_lacks_the_scheme_of_its_jurors_says_so(hipo: Hipo, run: Path) -> None:
    hipo("verify", "made", "--juror", "offline/judge", "-q")
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("delete from materials where kind = 'juror_scheme'")
    refused = hipo("agreement", "made", "--of", "juror")
    assert refused.code == 2
    assert "juror labelled nothing that the scheme hipo@2 has: cobra.commitment" in refused.err


def test_what_jurors_can_be_compared_by_is_told(hipo: Hipo, run: Path) -> None:
    task = ("--juror-scheme", "cei", "--juror-task", "cei-emotion")
    felt = hipo("verify", "made", "--juror", "offline/judge", *task)
    assert "compare them with: the labels of another --juror" in felt.out
    heard = hipo("verify", "made", "--juror", "offline/judge")
    assert "compare them with: hipo metrics strategic made, or" in heard.out


def test_commitments_by_another_scheme_are_not_said_to_have_strategic_metrics(
    hipo: Hipo, run: Path
) -> None:
    own = resources.files("scenarios.schemes") / "data" / "cobra.yaml"
    Path("mine.yaml").write_text(own.read_text().replace("id: cobra\n", "id: mine\n", 1))
    task = ("--juror-scheme", "mine.yaml", "--juror-task", "cobra-juror")
    heard = hipo("verify", "made", "--juror", "offline/judge", *task)
    assert "mine.commitment" in heard.out
    assert "compare them with: the labels of another --juror" in heard.out
    assert hipo("metrics", "strategic", "made").code == 2


@pytest.fixture
def mine() -> Path:
    """Write a scheme of one's own, which is that of ``cobra`` under another id."""
    own = resources.files("scenarios.schemes") / "data" / "cobra.yaml"
    file = Path("mine.yaml")
    file.write_text(own.read_text().replace("id: cobra\n", "id: mine\n", 1))
    return file


MINE = ("--juror-scheme", "mine.yaml", "--juror-task", "cobra-juror")


def test_labels_of_two_states_of_one_scheme_are_not_mixed(
    hipo: Hipo, run: Path, mine: Path
) -> None:
    before = mine.read_text()
    changed = before.replace("version: 1\n", "version: 2\n", 1)
    assert changed != before
    assert hipo("verify", "made", "--juror", "offline/judge", *MINE, "-q").code == 0
    said = labels(run)
    mine.write_text(changed)
    for more in ((), ("--dry-run",)):
        refused = hipo("verify", "made", "--juror", "offline/random", *MINE, *more)
        assert (refused.code, refused.out) == (2, "")
        assert "labelled by the scheme 'mine@2' as it was before something in it" in refused.err
        assert "another id (id: mine_2 in its file)" in refused.err
    assert labels(run) == said
    mine.write_text(before)
    assert hipo("verify", "made", "--juror", "offline/random", *MINE, "-q").code == 0
    mine.write_text(changed.replace("id: mine", "id: mine_too"))
    other = ("--juror-mode", "cot", "-q")
    assert hipo("verify", "made", "--juror", "offline/random", *MINE, *other).code == 0
    schemes = {(who, dimension.partition(".")[0]) for who, _, dimension, _ in labels(run)}
    assert schemes == {
        ("offline/judge", "mine"), ("offline/random", "mine"), ("cot=offline/random", "mine_too"),
    }  # fmt: skip
    assert "several states" not in hipo("agreement", "made", "--of", "juror").err


def test_states_of_a_scheme_that_a_run_has_mixed_are_told(
    hipo: Hipo, run: Path, mine: Path
) -> None:
    assert hipo("verify", "made", "--juror", "offline/judge", *MINE, "-q").code == 0
    mine.write_text(mine.read_text().replace("version: 1\n", "version: 2\n", 1))
    with RunStore.open(run) as store:  # as in a run that was merged of two
        store.add_materials([juror_scheme_item(load_scheme("mine.yaml"))])
    told = hipo("agreement", "made", "--of", "juror", "--with", "juror:offline/judge")
    assert "jurors were asked by several states of the scheme mine" in told.err


def test_a_scheme_by_which_no_juror_has_labelled_yet_may_be_changed(
    hipo: Hipo, run: Path, mine: Path
) -> None:
    with RunStore.open(run) as store:
        store.add_materials([juror_scheme_item(load_scheme("mine.yaml"))])
    mine.write_text(mine.read_text().replace("version: 1\n", "version: 2\n", 1))
    for _ in range(2):
        assert hipo("verify", "made", "--juror", "offline/judge", *MINE, "-q").code == 0


def test_a_scheme_that_is_called_as_the_run_s_own_is_not_another_one(
    hipo: Hipo, tmp_path: Path
) -> None:
    played = ("--scheme", "cobra", "--model", "offline/rules", "-n", "1", "-o", "hearing", "-q")
    assert hipo("generate", *played).code == 0
    asked = ("verify", "hearing", "--juror", "offline/judge")
    own = resources.files("scenarios.schemes") / "data" / "cobra.yaml"
    other = own.read_text().replace("definition: ", "definition: Perhaps, ", 1)
    Path("other.yaml").write_text(other)
    refused = hipo(*asked, "--juror-scheme", "other.yaml")
    assert (refused.code, "by the scheme 'cobra@1' as it was before" in refused.err) == (2, True)
    assert hipo(*asked, "-q").code == 0


def test_jurors_who_are_asked_otherwise_label_again_and_that_is_told(hipo: Hipo, run: Path) -> None:
    heard = ("verify", "made", "--juror", "offline/judge")
    assert "another way" not in hipo(*heard).err
    prompts = Path("prompts")
    prompts.mkdir()
    shipped = resources.files("prompts") / "templates" / "juror_user.j2"
    (prompts / shipped.name).write_text(shipped.read_text() + "\nTake your time.\n")
    again = (*heard, "--prompt-dir", "prompts")
    told = "2 dialogues were labelled in another way before"
    plan = hipo(*again, "--dry-run", "--format", "json").data
    assert (plan["anew"], plan["labelled_anew"]) == (0, 2)
    assert told in hipo(*again, "--dry-run").out
    done = hipo(*again)
    assert (done.code, told in done.err) == (0, True), done.err
    assert "another way" not in hipo(*again).err
