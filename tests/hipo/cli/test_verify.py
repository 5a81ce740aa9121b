"""Verifying from the command line: judges, policy, budget, resume, and what is said about it."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from pipeline.offline_judge.engine import answer as judge_answer
from tests.conftest import MadeOnce
from tests.hipo.cli.conftest import Hipo
from tests.pipeline.integration.command import Hipo as Process
from tests.quality.scripted import Oracle
from tests.wire.faults import Faults
from tests.wire.server import WireServer

# The embedding model would be loaded for near-duplicates, which is tested elsewhere.
QUICK = {"verification": {"gates": {"off": ["near_duplicate"]}}}


@pytest.fixture
def run(hipo: Hipo, tmp_path: Path, made_once: MadeOnce) -> Hipo:
    """Verify ``run``, six dialogues of the offline rules about one scenario."""
    recipe = {"scenarios": "used_car", "models": {"default": "offline/rules"}, "n": 6, **QUICK}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(recipe))
    made_once("verify", tmp_path / "run", lambda: hipo("generate", "small.yaml", "-o", "run", "-q"))

    def call(*arguments: str):
        return hipo("verify", "run", *arguments)

    return call


def at(server: WireServer, *names: str) -> tuple[str, ...]:
    judges = [part for name in names for part in ("--judge", f"compatible/{name}")]
    return ("--judge-base-url", server.openai_url, "--no-self", *judges)


def verdicts(result) -> dict[str, int]:
    return {name: n for name, n in result.data["verdicts"].items() if n}


def test_the_offline_rules_are_judged_by_the_offline_judge(run: Hipo, hipo: Hipo) -> None:
    result = run("--format", "json")
    assert result.code == 0
    assert list(result.data) == [
        "folder", "dialogues", "verified", "present", "failed", "stopped", "stop_code", "calls",
        "cost_usd", "unpriced_calls", "charged",
        "judged", "self_consistency", "external", "found", "beyond_chance", "foils", "flags", "flagged", "verdicts", "notes",
    ]  # fmt: skip
    assert result.data["judged"] == {"self offline/judge": 6, "external offline/judge": 6}
    turns = sum(row["judged"] for row in result.data["self_consistency"]
                if row["dimension"] == "veracity" and row["turns"] is not None)  # fmt: skip
    assert result.data["calls"] == 2 * (turns + 6)
    by_length = {r["turns"] for r in result.data["self_consistency"]}
    assert by_length == {1, 2, 3, None}
    for source in ("self_consistency", "external"):
        judged = {r["dimension"]: r["judged"] for r in result.data[source] if r["turns"] is None}
        assert judged["intention"] == judged["veracity"] == judged["illocutionary"] == turns
    beside = {(b["source"], b["dimension"]): b for b in result.data["beyond_chance"]}
    assert beside["external", "veracity"]["items"] == turns
    assert beside["self", "goal"]["items"] == 6
    assert any("one program in two chairs" in note for note in result.data["notes"])
    assert sum(result.data["verdicts"].values()) == 6
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["verification"]["verdicts"] == verdicts(result)
    assert "verdicts:" in hipo("runs", "show", "run").out


def test_the_second_time_nothing_is_asked(run: Hipo) -> None:
    run("--quiet")
    again = run()
    assert again.code == 0
    assert again.out.startswith("0 calls, nothing to do: 6 dialogues verified already")
    assert "verdicts:" in again.out


def test_one_program_in_both_chairs_is_printed_once_and_two_are_both(run: Hipo) -> None:
    once = run().out
    assert "blind reading, by one program in both chairs: share of labels found again" in once
    assert "self-consistency" not in once
    assert "external judgement" not in once
    assert once.count("blind reading offline/judge  veracity") == 1
    with WireServer(answer=judge_answer) as server:
        both = run("--judge", "compatible/other", "--judge-base-url", server.openai_url).out
    for title in ("self-consistency: share", "external judgement: share", "external compatible/"):
        assert title in both
    assert "blind reading" not in both


def test_a_program_that_is_shown_labels_as_external_judge_has_read_twice(run: Hipo) -> None:
    out = run("--judge-style", "verify", "--foils", "0").out
    for title in ("self-consistency: share", "external judgement: share"):
        assert title in out
    assert "blind reading" not in out


def test_a_panel_and_its_policy(run: Hipo) -> None:
    oracle = Oracle()
    with WireServer(answer=oracle) as server:
        shown = ("--judge-style", "verify", "--format", "json")
        result = run(*at(server, "one", "two", "three"), *shown)
        assert set(result.data["judged"]) == {
            "external compatible/one", "external compatible/two", "external compatible/three",
        }  # fmt: skip
        whole = [one for one in result.data["found"] if one["dimension"] == "misled"]
        assert {(one["goal"], one["label"], one["n"]) for one in whole} == {
            ("deception", "misled", 3), ("truthful non-disclosure", "misled", 3),
        }  # fmt: skip
        flags = [
            f for f in result.data["flags"] if f["code"] in ("misled_external", "goal_external")
        ]
        assert [(f["flags"], f["dialogues"]) for f in flags] == [(3, 3), (3, 3)]
        assert verdicts(result) == {"accepted": 3, "pending": 3}
        asked = server.count
        harsh = run(*at(server, "one", "two", "three"), "--policy", "auto", *shown)
        assert verdicts(harsh) == {"accepted": 3, "discarded": 3}
        assert server.count == asked


def test_the_generator_does_not_mark_its_own_work(run: Hipo) -> None:
    result = run("--judge", "offline/rules")
    assert result.code == 2
    assert "offline/rules wrote the dialogues" in result.err
    assert "--allow-same-judge" in result.err
    assert run("--judge", "offline/judge", "--judge", "offline/judge").code == 2


def test_a_generator_that_is_a_model_judges_itself_and_no_other_judge_is_made_up(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    with WireServer() as server:
        hipo("generate", "quick.yaml", "--model", "compatible/m", "--base-url", server.openai_url,
             "--scenarios", "used_car", "-n", "2", "-o", "run", "--quiet")  # fmt: skip
        server.answer = Oracle()
        result = hipo("verify", "run", "--format", "json")
    assert result.data["judged"] == {"self compatible/m": 2}
    assert result.data["notes"] == ["no external judge: name one with --judge provider/model"]
    refused = hipo("verify", "run", "--judge", "compatible/m")
    assert (refused.code, "compatible/m wrote the dialogues" in refused.err) == (2, True)


def test_judges_see_the_fact_and_not_what_they_are_to_find(run: Hipo) -> None:
    oracle = Oracle()
    with WireServer(answer=oracle) as server:
        run("--self-judge", "compatible/own", "--judge", "compatible/other",
            "--judge-base-url", server.openai_url, "--quiet")  # fmt: skip
    users = [messages[1][1] for messages in oracle.asked]
    assert all("# What only the responder knows" in user for user in users)
    assert not any("Goal:" in user or "Rationale" in user for user in users)
    assert not any("Declared" in user for user in users)


def test_a_dry_run_counts_what_is_left_and_sends_nothing(run: Hipo) -> None:
    oracle = Oracle()
    with WireServer(answer=oracle) as server:
        planned = run(*at(server, "one"), "--dry-run", "--format", "json").data
        assert server.count == 0
        run(*at(server, "one"), "--quiet")
        assert server.count == planned["calls"] > 6
        assert run(*at(server, "one"), "--dry-run", "--format", "json").data["calls"] == 0
    assert planned["cost_usd"] is None


def test_whose_labels_there_are_is_said_once_where_the_wanted_ones_are_not(
    run: Hipo, hipo: Hipo
) -> None:
    assert run("--judge", "offline/judge", "--judge-style", "verify").code == 0
    for of, lacking in ((), "human"), (("--of", "extern", "--with", "declared"), "extern"):
        told = hipo("agreement", "run", *of)
        assert told.code == 2
        assert f"run holds no annotation of kind {lacking}\n" in told.err
        assert told.err.count("foil:offline/judge (") == 1
        assert told.err.count("external:offline/judge (") == 1


def test_judges_that_are_shown_labels_are_tried_with_wrong_ones(run: Hipo) -> None:
    oracle = Oracle()
    with WireServer(answer=oracle) as server:
        shown = (*at(server, "one"), "--judge-style", "verify")
        planned = run(*shown, "--dry-run", "--format", "json").data
        result = run(*shown, "--format", "json")
        assert server.count == result.data["calls"] == planned["calls"]
        without = run(*shown, "--foils", "0", "--dry-run", "--format", "json").data
        assert without["calls"] == 0
        again = run(*shown, "--format", "json")
        assert server.count == planned["calls"]
    assert again.data["foils"] == result.data["foils"]
    # Everything is carried, says this judge: its yes is worth nothing.
    assert {
        (f["judge"], f["declared"], f["foil"], f["difference"]) for f in result.data["foils"]
    } == {("compatible/one", 1.0, 1.0, 0.0)}
    extra = sum(f["shown"] for f in result.data["foils"])
    assert extra > 0
    verified = {r["dimension"]: r["judged"] for r in result.data["external"] if r["turns"] is None}
    assert planned["calls"] == verified["veracity"] + 6 + extra
    assert result.data["judged"] == {"external compatible/one": 6}


def test_of_more_wrong_labels_the_estimate_counts_those_that_were_not_shown(run: Hipo) -> None:
    with WireServer(answer=Oracle()) as server:
        shown = (*at(server, "one"), "--judge-style", "verify")
        assert run(*shown, "--foils", "4", "--quiet").code == 0
        planned = run(*shown, "--dry-run", "--format", "json").data
        assert 0 < run(*shown, "--format", "json").data["calls"] == planned["calls"]


def test_a_run_that_is_verified_as_it_is_played_shows_wrong_labels_when_all_is_there(
    hipo: Hipo, offline: Hipo
) -> None:
    with WireServer(answer=Oracle()) as server:
        shown = (
            "--verify",
            *at(server, "one"),
            "--judge-style",
            "verify",
            "-n",
            "6",
            "-o",
            "played",
        )

        def told(*more: str) -> int:
            planned = offline(*shown, "--dry-run", "--format", "json", *more).data
            return int(planned["verification"]["calls"])

        planned, without = told(), told("--foils", "0")
        assert offline(*shown, "--quiet").code == 0
        asked = server.count
        assert without < asked <= planned
        assert (
            hipo("verify", "played", *at(server, "one"), "--judge-style", "verify", "-q").code == 0
        )
        assert server.count == asked, "no wrong label is left to be shown"


def test_a_budget_stops_and_more_of_it_goes_on(run: Hipo, hipo: Hipo) -> None:
    used = sum(hipo("runs", "show", "run", "--format", "json").data["tokens"].values())
    stopped = run("--budget-tokens", str(used + 80_000), "--format", "json")
    assert stopped.code == 4
    assert "budget reached" in stopped.err
    assert 0 < stopped.data["verified"] < 6
    assert run("--quiet").code == 0
    assert sum(run("--format", "json").data["verdicts"].values()) == 6


def test_dollars_need_prices(run: Hipo) -> None:
    result = run("--judge", "compatible/x", "--judge-base-url", "http://127.0.0.1:9/v1",
                 "--budget-usd", "1")  # fmt: skip
    assert result.code == 2
    assert "a price for compatible/x" in result.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--judge", "compatible/x"), "--judge-base-url"),
        (("--judge", "opnai/x"), "did you mean openai/x"),
        (("--judge", "openai/gpt-4o"), "OPENAI_API_KEY is not set"),
        (("--policy", "aut"), "did you mean 'auto'"),
        (("--policy", "nope.yaml"), "nope.yaml"),
    ],
)
def test_mistakes_are_told_before_anything_is_sent(run: Hipo, arguments, says) -> None:
    result = run(*arguments)
    assert (result.code, says in result.err) == (2, True), result.err


def test_a_policy_that_speaks_of_no_flag_is_refused(run: Hipo, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\nrules: [{flags: self_veracty, then: ignore}]")
    result = run("--policy", "mine.yaml")
    assert (result.code, "did you mean 'self_veracity'" in result.err) == (2, True)


def test_an_endpoint_that_fails_leaves_dialogues_for_the_next_time(run: Hipo) -> None:
    with WireServer(answer=Oracle(), faults=Faults(canned=(400, {"error": {}}))) as server:
        result = run(*at(server, "one"), "--format", "json")
        assert result.code == 1
        assert result.data["failed"] == {"bad_request": 6}
        assert verdicts(result) == {"undecided": 6}
        server.faults = Faults()
        assert run(*at(server, "one"), "--quiet").code == 0


def test_a_scenario_that_changed_since_is_judged_as_it_was(hipo: Hipo, pack: Path) -> None:
    hipo("generate", "--model", "offline/rules", "--scenario-dir", str(pack), "--scenarios",
         "my_car", "-n", "1", "-o", "run", "--quiet")  # fmt: skip
    path = pack / "my_car.yaml"
    path.write_text(
        path.read_text().replace("Somebody wants to get rid", "Nobody wants to get rid", 1)
    )
    assert hipo("verify", "run").code == 0
    with closing(sqlite3.connect("run/run.sqlite")) as database, database:
        texts = "\n".join(text for (text,) in database.execute("select text from texts"))
    assert "Somebody wants to get rid" in texts
    assert "Nobody wants to get rid" not in texts


def test_imported_dialogues_are_judged(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(
        '{"messages": [{"role": "user", "content": "Was it hit?"},'
        ' {"role": "assistant", "content": "No."}], "scenario": "used_car", "fact": "guardrail"}'
    )
    assert hipo("import", "mine.jsonl", "-o", "run").code == 0
    with WireServer(answer=Oracle(labels={"coherence": "incoherent"})) as server:
        result = hipo("verify", "run", "--judge", "compatible/x", "--judge-base-url",
                      server.openai_url, "--format", "json")  # fmt: skip
    assert result.code == 0
    judged = [f["code"] for f in result.data["flags"] if f["code"].startswith("external_")]
    assert judged == ["external_coherence"]
    assert "what wrote it is not known" in result.data["notes"][0]
    refused = hipo("import", "mine.jsonl", "-o", "run")
    assert (refused.code, "there already" in refused.err) == (2, True)


def test_an_expert_overrules_with_a_note(run: Hipo, hipo: Hipo) -> None:
    run("--quiet")
    listed = hipo("show", "run").out.splitlines()
    dialogue = listed[1].split()[0]
    shown = hipo("verdict", "run", dialogue)
    assert shown.code == 0
    assert "offline/judge" in shown.out
    assert hipo("verdict", "run", dialogue, "discarded").code == 2
    assert hipo("verdict", "run", dialogue, "discarded", "--note", "too stiff").code == 0
    run("--policy", "auto", "--quiet")
    history = hipo("verdict", "run", dialogue, "--format", "json").data["decisions"]
    assert history[-1] == {
        "verdict": "discarded", "by": "expert", "reason": "overruled by an expert",
        "note": "too stiff",
    }  # fmt: skip
    assert len(history) == 2


def test_an_interrupt_keeps_what_is_judged_and_the_next_run_does_the_rest(
    run: Hipo, tmp_path: Path
) -> None:
    with WireServer(answer=Oracle(), latency_s=0.15) as server:
        process = Process(tmp_path).start("verify", "run", *at(server, "one"),
                                          "--max-concurrency", "1")  # fmt: skip
        deadline = time.monotonic() + 60
        while server.count < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 3, err
        before = server.count
        planned = run(*at(server, "one"), "--dry-run", "--format", "json").data
        server.latency_s = 0.0
        result = run(*at(server, "one"), "--format", "json")
    assert result.code == 0
    assert sum(result.data["verdicts"].values()) == 6
    assert before + result.data["calls"] == 6 + result.data["external"][-1]["judged"]
    assert result.data["calls"] <= planned["calls"]


BROKEN_GATE = """
from quality.gates.protocol import GateExtension, NoSettings


class Broken:
    code = "broken"

    def check(self, subject):
        if subject.dialogue.case.turns == 1:
            raise KeyError("tone")
        return []


EXTENSIONS = [GateExtension("broken", NoSettings, lambda its: Broken())]
"""


def test_a_gate_that_raises_fails_its_dialogues_and_show_says_where(
    run: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text(BROKEN_GATE)
    result = run("--plugin", "broken.py", "--gate", "broken")
    assert result.code == 1
    assert "internal_error" in result.out
    (hint,) = (line for line in result.out.splitlines() if line.endswith(" says where"))
    shown = hipo(*hint.split("hipo ")[1].removesuffix(" says where").split())
    assert "it could not be judged (internal_error):" in shown.out
    assert 'raise KeyError("tone")' in shown.out
    assert run().code == 0


def test_a_judge_without_a_key_is_told_of_the_option_for_keys_of_judges(
    run: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    refused = run("--judge", "openai/o4-mini")
    assert (refused.code, "OPENAI_API_KEY is not set" in refused.err) == (2, True)
    assert "--judge-api-key-env" in refused.err
