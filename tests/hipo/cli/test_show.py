"""Looking at runs and dialogues: for people, and for programs."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hipo.cli.show.dialogue_view import Heading, render
from pipeline.store.run_store import RunStore
from scenarios.dialogue import (
    Attempt,
    Candidate,
    Critique,
    Dialogue,
    Draft,
    TacticLabel,
    Trace,
)
from scenarios.verdicts import Assessment, Decision, Flag
from tests.conftest import MadeOnce
from tests.factories import make_dialogue
from tests.hipo.cli.conftest import Hipo

FORMATS = Path(__file__).parents[3] / "examples" / "formats"
STATE_KEYS = [
    "name", "folder", "state", "planned", "generated", "failed", "pending", "calls",
    "cached_calls", "tokens", "cost_usd", "unpriced_calls", "charged", "arms", "verification",
    "answering_models", "batches", "quota", "disk_bytes", "created", "updated", "next",
]  # fmt: skip


@pytest.fixture
def run(offline: Hipo, tmp_path: Path, made_once: MadeOnce) -> str:
    arguments = ("-n", "4", "--strategy", "direct,reflective", "--tactics", "balanced")
    folder = tmp_path / "runs" / "trial"
    return made_once("show", folder, lambda: offline(*arguments, "-o", str(folder), "-q")).name


def test_the_state_of_a_run_has_one_shape(hipo: Hipo, run: str) -> None:
    state = hipo("runs", "show", run, "--format", "json").data
    assert list(state) == STATE_KEYS
    assert list(state["tokens"]) == ["prompt", "completion", "cached", "reasoning"]
    assert list(state["arms"][0]) == [
        "id", "strategy", "models", "settings", "generated", "failed",
    ]  # fmt: skip
    assert (state["state"], state["planned"], state["generated"]) == ("finished", 8, 8)
    assert (state["failed"], state["pending"]) == ({}, 0)
    assert state["calls"] > 0
    assert state["cached_calls"] > 0, "the arms share their first question"
    text = hipo("runs", "show", run).out
    assert "8 of 8 dialogues generated" in text
    calls, reused = state["calls"], state["cached_calls"]
    assert f"\n{calls} calls, {reused} more answered from the run itself\n" in text


def test_runs_are_listed_with_state_and_cost(hipo: Hipo, run: str) -> None:
    assert hipo("runs", "--format", "json").data == [
        hipo("runs", "show", run, "--format", "json").data
    ]
    text = hipo("runs").out
    assert "trial" in text
    assert "$0.00" in text
    Path("elsewhere").mkdir()
    assert "no runs in elsewhere" in hipo("runs", "--dir", "elsewhere").out


def test_a_run_that_cannot_be_read_does_not_hide_the_others(
    hipo: Hipo, run: str, tmp_path: Path
) -> None:
    broken = tmp_path / "runs" / "broken"
    broken.mkdir()
    (broken / "run.sqlite").write_bytes(b"not a database, but long enough to look like one" * 40)
    result = hipo("runs", "--format", "json")
    assert [(run["name"], run["state"]) for run in result.data] == [
        ("broken", "unreadable"), ("trial", "finished"),
    ]  # fmt: skip
    assert "broken" in result.err


def test_a_run_that_stopped_early_says_what_is_still_planned(offline: Hipo, hipo: Hipo) -> None:
    stopped = offline("-n", "600", "-o", "run", "--budget-tokens", "30000")
    assert stopped.code == 4
    assert "raise --budget-tokens above " in stopped.err
    assert "same command" not in stopped.err
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["planned"] == 600
    assert state["pending"] == 600 - state["generated"]
    assert state["state"] == "stopped:budget"


def test_dialogues_are_listed_page_by_page(hipo: Hipo, run: str) -> None:
    every = hipo("show", run, "--format", "json").data
    assert len(every) == 8
    assert list(every[0]) == [
        "id", "scenario", "fact", "goal", "turns", "language", "repetition", "strategy", "model",
        "status", "code", "reason", "verdict", "flags", "words",
    ]  # fmt: skip
    page = hipo("show", run, "-n", "3", "--skip", "5", "--format", "json").data
    assert page == every[5:]
    assert hipo("show", run, "--failed").out == "nothing to list\n"


def test_the_list_is_filtered_by_whatever_it_shows(hipo: Hipo, run: str) -> None:
    def listed(*arguments: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = hipo("show", run, *arguments, "--format", "json").data
        return rows

    every = listed()
    assert hipo("verify", run, "--no-self", "-q").code == 0
    assert {row["verdict"] for row in every} == {None}
    for option, key in (
        ("--goal", "goal"), ("--strategy", "strategy"), ("--fact", "fact"), ("--scenario", "scenario"),
    ):  # fmt: skip
        value = str(every[0][key])
        found = [row["id"] for row in listed(option, value)]
        assert found == [row["id"] for row in every if row[key] == value]
        assert found == [row["id"] for row in listed(option, value.upper())]
    assert hipo("show", run, "--goal", "no such goal").code == 2
    arm = str(every[0]["id"]).partition("/")[2]
    assert {str(row["id"]).partition("/")[2] for row in listed("--arm", arm[:5])} == {arm}
    verdicts = {row["verdict"] for row in listed()}
    assert None not in verdicts
    for verdict in map(str, verdicts):
        assert {row["verdict"] for row in listed("--verdict", verdict)} == {verdict}
    assert sum(len(listed("--verdict", str(verdict))) for verdict in verdicts) == len(every)
    assert not listed("--verdict", "undecided")
    unknown = hipo("show", run, "--verdict", "good")
    assert unknown.code == 2
    assert "accepted, discarded, pending" in unknown.err


@pytest.mark.parametrize(
    ("option", "name", "hint"),
    [
        ("--label", "Qualty", "did you mean 'Quality'? labels of utterances: Inform"),
        ("--label", "veracity=Qualty", "did you mean 'Quality'? labels of veracity: Quantity"),
        ("--label", "verasity=Quality", "did you mean 'veracity'? dimensions of utterances: intention"),
        ("--goal", "decepton", "did you mean 'deception'? labels of goal: deception"),
        ("--scenario", "used_carr", "did you mean 'used_car'? scenarios of this run: "),
        ("--fact", "no_such_fact_at_all", "facts of this run: "),
        ("--strategy", "reflectiv", "did you mean 'reflective'? strategies of this run: "),
        ("--arm", "zzz", "arms of this run: "),
        ("--flag", "refusall", "did you mean 'refusal'? flags of this run: goal_stated, goal_mismatch"),
        ("--flag", "external_coherense", "did you mean 'external_coherence'? flags of this run: "),
    ],
)  # fmt: skip
def test_a_name_that_the_run_does_not_know_is_no_empty_list(
    hipo: Hipo, run: str, option: str, name: str, hint: str
) -> None:
    for more in ((), ("--format", "json")):
        refused = hipo("show", run, option, name, *more)
        assert (refused.code, refused.out) == (2, "")
        assert (
            f"found {name.rpartition('=')[2] if 'verasity' not in name else 'verasity'!r}"
            in refused.err
        )
        assert hint in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("option", "known", "name"),
    [
        ("--scenario", "scenario", "used_carr"), ("--fact", "fact", "no_such_fact"),
        ("--goal", "goal", "decepton"), ("--strategy", "strategy", "reflectiv"),
        ("--label", None, "Qualty"), ("--arm", None, "zzz"), ("--flag", None, "refusall"),
    ],
)  # fmt: skip
def test_a_name_that_the_run_does_not_know_is_refused_beside_one_that_it_knows(
    hipo: Hipo, run: str, option: str, known: str | None, name: str
) -> None:
    first = hipo("show", run, "--format", "json").data[0]
    others = {"--label": "Inform", "--arm": first["id"].partition("/")[2], "--flag": "refusal"}
    right = str(first[known]) if known else others[option]
    for arguments in ((option, f"{right},{name}"), (option, name, option, right)):
        refused = hipo("show", run, *arguments)
        assert (refused.code, refused.out) == (2, "")
        assert f"{option}: found {name!r}" in refused.err
    both = hipo("show", run, option, right, option, right, "--format", "json").data
    assert both == hipo("show", run, option, right, "--format", "json").data


def test_a_run_that_has_nothing_of_what_is_asked_for_says_so(hipo: Hipo) -> None:
    hipo("import", str(FORMATS / "trial.csv"), "--map", "cobra", "-o", "hearing")
    refused = hipo("show", "hearing", "--fact", "alibi")
    assert refused.code == 2
    assert "facts of this run: none" in refused.err


def test_a_label_of_the_scheme_that_nobody_declared_is_an_empty_list(hipo: Hipo, run: str) -> None:
    for label in ("Declarations", "illocutionary=declarations"):
        assert (
            hipo("show", run, "--label", label, "--verdict", "discarded").out == "nothing to list\n"
        )


def test_the_list_is_filtered_by_labels_and_flags(hipo: Hipo, run: str) -> None:
    every = hipo("show", run, "--format", "json").data
    labels = {
        row["id"]: {
            (label["dimension"], label["value"])
            for turn in hipo("show", run, row["id"], "--format", "json").data["turns"]
            for label in turn["tactic"]
        }
        for row in every
    }
    dimension, value = next(pair for pair in labels[every[0]["id"]] if pair[0] == "veracity")
    expected = [name for name, pairs in labels.items() if (dimension, value) in pairs]
    for wanted in (value, f"{dimension}={value}"):
        found = hipo("show", run, "--label", wanted, "--format", "json").data
        assert [row["id"] for row in found] == expected
    assert hipo("show", run, "--label", f"intention={value}").code == 2
    folder = Path("runs") / run
    case, arm = expected[0].split("/")
    with RunStore.open(folder) as store:
        flag = Flag(case, arm, None, "strange", "it is", None)
        asyncio.run(
            store.judgements.assess(
                Assessment(case, arm, "c", (flag,)),
                Decision(case, arm, "pending", "policy", "flag"),
            )
        )
    (flagged,) = hipo("show", run, "--flag", "strange", "--format", "json").data
    assert (flagged["id"], flagged["flags"], flagged["verdict"]) == (
        expected[0],
        ["strange"],
        "pending",
    )


def test_a_name_that_no_dialogue_has_is_told_where_nothing_is_listed(hipo: Hipo, run: str) -> None:
    for flag in ("refusal", "Self_Veracity", "goal_external"):
        told = hipo("show", run, "--flag", flag)
        assert (told.code, told.out) == (0, "nothing to list\n")
        assert f"--flag {flag}: no dialogue of the run has it; there are none" in told.err
        assert hipo("show", run, "--flag", flag, "--format", "json").data == []


def test_names_that_the_run_has_are_not_told_where_nothing_has_all_of_them(
    hipo: Hipo, run: str
) -> None:
    first, *others = hipo("show", run, "--format", "json").data
    other = next(row for row in others if row["fact"] != first["fact"])
    told = hipo("show", run, "--fact", first["fact"].upper(), "--scenario", other["scenario"],
                "--goal", other["goal"], "--strategy", "direct", "--failed")  # fmt: skip
    assert (told.out, told.err) == ("nothing to list\n", "")


@pytest.mark.parametrize("width", [120, 200])
def test_the_list_is_as_wide_as_the_window_and_cuts_first_words_alone(
    hipo: Hipo, run: str, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    every = hipo("show", run, "--format", "json").data
    lines = hipo("show", run).out.splitlines()
    assert max(map(len, lines)) <= width
    for row, line in zip(every, lines[1:], strict=False):
        assert str(row["scenario"]) in line
        assert str(row["fact"]) in line
        assert row["words"][:20] in line
    if width == 200:
        assert any(row["words"] in lines[1 + i] for i, row in enumerate(every))


def test_a_longer_list_says_how_to_go_on(hipo: Hipo, run: str) -> None:
    assert "more: --skip 3" in hipo("show", run, "-n", "3").out
    assert "more:" not in hipo("show", run, "-n", "8").out


def test_a_dialogue_is_found_by_the_beginning_of_its_id(hipo: Hipo, run: str) -> None:
    listed = hipo("show", run, "--format", "json").data[0]["id"]
    case, arm = listed.split("/")
    shown = hipo("show", run, f"{case[:10]}/{arm[:4]}", "--trace", "--format", "json").data
    assert list(shown) == ["id", "case", "arm", "turns"]
    assert shown["id"] == listed
    assert list(shown["turns"][3]) == [
        "index", "role", "kind", "text", "wanted", "declared_goal", "tactic", "trace",
    ]  # fmt: skip
    assert list(shown["turns"][3]["tactic"][0]) == ["dimension", "value", "rationale", "raw"]
    assert "trace" not in hipo("show", run, listed, "--format", "json").data["turns"][3]
    ambiguous = hipo("show", run, case)
    assert ambiguous.code == 2
    assert "fits several dialogues" in ambiguous.err


def test_a_dialogue_is_read_with_labels_and_prompts(hipo: Hipo, run: str) -> None:
    listed = hipo("show", run, "--format", "json").data[1]["id"]
    text = hipo("show", run, listed, "--trace", "--prompts").out
    assert "A used car with a past" in text
    assert "private fact" in text
    assert "[as wanted]" in text
    assert "--- system" in text
    assert "What only you know" in text


def test_an_unknown_run_is_answered_with_the_nearest(hipo: Hipo, run: str) -> None:
    result = hipo("show", "trail")
    assert result.code == 2
    assert "did you mean 'trial'?" in result.err


def test_models_have_one_shape(hipo: Hipo) -> None:
    data = hipo("models", "--format", "json").data
    assert list(data) == ["providers", "embeddings"]
    assert {tuple(provider) for provider in data["providers"]} == {
        ("provider", "example", "package", "installed", "key_env", "key_set", "needs_base_url",
         "default_url", "languages")
    }  # fmt: skip
    assert list(data["embeddings"]) == ["installed", "missing", "install"]
    openai = next(p for p in data["providers"] if p["provider"] == "openai")
    assert (openai["key_env"], openai["key_set"]) == ("OPENAI_API_KEY", False)
    assert "OPENAI_API_KEY MISSING" in hipo("models").out


def dialogue(text: str, trace: Trace | None = None) -> Dialogue:
    label = TacticLabel("veracity", "Quality", "because", "falsification")
    wanted = (("veracity", "Manner"),)
    return make_dialogue("Sure?", text, tactics=[(label,)], wanted=wanted, trace=trace)


def test_what_was_wanted_and_what_was_written_stand_beside_the_label() -> None:
    text = render(dialogue("No."), Heading("id", "direct m"))
    assert "Quality  [WANTED Manner, written 'falsification']  because" in text


def test_text_cannot_drive_the_terminal_nor_the_markup() -> None:
    text = render(dialogue("[bold]red[/bold] \x1b[31m\u202eabc :smile:"), Heading("id", "m"))
    assert "[bold]red[/bold] \\x1b[31m\\x202eabc :smile:" in text
    assert "\x1b" not in text


def test_candidates_and_attempts_are_shown_with_what_was_said_of_them() -> None:
    draft = Draft("Said.", "deception", (TacticLabel("veracity", "Quality"),))
    voted = Trace(
        "consistency",
        candidates=(
            Candidate(0, draft, 0.25), Candidate(1, None, None, "no JSON"), Candidate(2, draft, 0.5),
        ),
        chosen=2,
    )  # fmt: skip
    text = render(dialogue("Said.", voted), Heading("id", "m"), trace=True)
    assert "  0  0.2500  Said.  (Quality)" in text
    assert "  1       -  (left out: no JSON)" in text
    assert "* 2  0.5000  Said.  (Quality)" in text
    critiques = (Critique("veracity", False, "It is vague."), Critique("fit", False, "It is dull."))
    revised = Trace("reflective", attempts=(Attempt(draft, critiques), Attempt(draft)), chosen=1)
    text = render(dialogue("Said.", revised), Heading("id", "m"), trace=True)
    assert "- veracity not carried: It is vague." in text
    assert "- fit fails: It is dull." in text
    assert "* 1  Said.  (Quality)" in text


def test_the_database_is_not_touched_by_looking(hipo: Hipo, run: str, tmp_path: Path) -> None:
    path = tmp_path / "runs" / run / "run.sqlite"
    before = path.read_bytes()
    hipo("runs")
    hipo("runs", "show", run)
    hipo("show", run)
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
