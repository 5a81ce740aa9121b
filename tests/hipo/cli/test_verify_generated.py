"""Verifying what is being generated: ``--verify``, studies, ``--accepted`` and pilots."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hipo.app.generation import verified
from hipo.app.generation.pilot import Piloted
from hipo.cli.reports.estimate import pilot_as_text
from quality.forecast import Pilot, forecast
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.test_verify import BROKEN_GATE, QUICK
from tests.wire.server import WireServer


def test_dialogues_are_verified_as_they_are_generated(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    command = ("generate", "quick.yaml", "--model", "offline/rules", "--scenarios", "used_car",
               "-n", "5", "-o", "run", "--verify")  # fmt: skip
    result = hipo(*command)
    assert result.code == 0
    assert "blind reading" in result.out
    state = hipo("runs", "show", "run", "--format", "json").data["verification"]
    assert sum(state["verdicts"].values()) == 5
    calls = hipo("runs", "show", "run", "--format", "json").data["calls"]
    assert hipo(*command, "--quiet").code == 0
    assert hipo("verify", "run", "--quiet").code == 0
    assert hipo("runs", "show", "run", "--format", "json").data["calls"] == calls


def test_dialogues_that_cannot_be_judged_as_they_are_generated_are_told_and_end_with_one(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    (tmp_path / "broken.py").write_text(BROKEN_GATE)
    playing = ("generate", "quick.yaml", "--model", "offline/rules", "--scenarios", "used_car",
               "-n", "3", "--turns", "1", "-o", "run", "--verify")  # fmt: skip
    broken = (*playing, "--plugin", "broken.py", "--gate", "broken")
    first = hipo(*broken)
    assert first.code == 1
    assert first.out.startswith("3 generated, 0 failed, ")
    assert "not judged: 3 internal_error; hipo verify run, or the same" in first.out
    again = hipo(*broken, "--format", "json")
    assert (again.code, again.data["unjudged"]) == (1, {"internal_error": 3})
    assert hipo(*playing, "--quiet").code == 0


def test_a_study_with_dialogues_that_cannot_be_judged_ends_with_one(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    (tmp_path / "broken.py").write_text(BROKEN_GATE)
    studied = ("study", "quick.yaml", "--models", "offline/rules", "--scenarios", "used_car",
               "-n", "2", "--turns", "1", "--judge", "offline/judge", "-o", "study")  # fmt: skip
    broken = hipo(*studied, "--plugin", "broken.py", "--gate", "broken")
    assert broken.code == 1
    assert "not judged: " in broken.out
    assert hipo(*studied, "--quiet").code == 0


def test_a_judge_that_cannot_be_is_refused_before_anything_is_made(
    hipo: Hipo, tmp_path: Path
) -> None:
    command = ("generate", "--model", "offline/rules", "-n", "2", "-o", "run", "--verify")
    for wrong in (("--policy", "nope"), ("--judge", "offline/rules")):
        assert hipo(*command, *wrong).code == 2
        assert list(tmp_path.iterdir()) == []


def test_generation_goes_on_until_enough_are_accepted(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    (tmp_path / "mild.yaml").write_text(
        "name: mild\nflagged: ignore\nrules: [{flags: misled_external, then: discard}]"
    )
    command = ("generate", "quick.yaml", "--model", "offline/rules", "--max-concurrency", "1",
               "--accepted", "7", "--policy", "mild.yaml", "-o", "run")  # fmt: skip
    assert hipo(*command, "--quiet").code == 0
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["verification"]["verdicts"]["accepted"] == 7
    assert state["generated"] >= 7
    assert state["state"] == "finished"
    assert hipo(*command, "--quiet").code == 0
    assert hipo("runs", "show", "run", "--format", "json").data["calls"] == state["calls"]
    ahead = hipo(*command, "--dry-run", "--format", "json").data
    assert (ahead["dialogues"], ahead["present"]) == (0, state["generated"])
    assert [model["calls"] for model in ahead["models"]] == [0]


@pytest.mark.parametrize(
    ("options", "named", "advice"),
    [
        (("--judge", "offline/judge", "--no-self"), "--judge, --no-self:", "give --verify, too"),
        (("--until-saturated", "0.5", "--policy", "auto"), "--policy:", "give --verify, too"),
        (("--saturation-window", "20"), "--saturation-window is of no use", "give both"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",), ("--preview", "1")])
def test_options_of_what_is_not_done_are_refused_before_anything_is_made(
    hipo: Hipo,
    tmp_path: Path,
    options: tuple[str, ...],
    named: str,
    advice: str,
    more: tuple[str, ...],
) -> None:
    result = hipo("generate", "-m", "offline/rules", "-n", "2", "-o", "run", *options, *more)
    assert (result.code, named in result.err, advice in result.err) == (2, True, True)
    assert list(tmp_path.iterdir()) == []


def test_generation_that_runs_out_of_cases_says_so(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("name: none\nunflagged: pending\nflagged: discard")
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    result = hipo("generate", "quick.yaml", "--model", "offline/rules", "-n", "3", "--accepted",
                  "2", "--policy", "none.yaml", "-o", "run")  # fmt: skip
    assert result.code == 1
    assert "same command" not in result.err
    assert "all of 3 cases played, 0 dialogues accepted" in result.err
    assert "see why with: hipo verdict run ID;" in result.err
    shard = hipo("generate", "quick.yaml", "--model", "offline/rules", "-n", "3", "--accepted",
                 "2", "--policy", "none.yaml", "--shard", "1/3", "-o", "part")  # fmt: skip
    assert "all of 1 case played, 0 dialogues accepted" in shard.err


def test_a_run_of_which_nothing_is_accepted_is_not_told_to_play_more(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "none.yaml").write_text("name: none\nunflagged: pending\nflagged: discard")
    monkeypatch.setattr(verified, "HOPELESS", 4)
    told = hipo(
        "generate", "--model", "offline/rules", "--scenarios", "used_car", "--turns", "1", "--accepted", "2",
        "--policy", "none.yaml", "-o", "run", "-q",
    )  # fmt: skip
    assert told.code == 1
    assert "dialogues was accepted" in told.err
    assert "see why with: hipo verdict run ID;" in told.err
    assert "another --policy or a review by people may accept some" in " ".join(told.err.split())
    assert "larger -n" not in told.err


def test_a_pilot_forecasts_and_keeps_nothing(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    command = ("generate", "quick.yaml", "--model", "offline/rules", "--dry-run", "--pilot", "6")
    result = hipo(*command, "--accepted", "50", "--format", "json")
    assert result.code == 0
    pilot = result.data["pilot"]
    assert pilot["generated"] == 6
    assert pilot["accepted"] + pilot["pending"] + pilot["discarded"] == 6
    assert result.data["yield"]["low"] <= result.data["yield"]["share"]
    assert result.data["whole"]["accepted"] == 50
    assert hipo(*command).out.count("\n") >= 4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["quick.yaml"]
    assert hipo("generate", "--model", "offline/rules", "--pilot", "6").code == 2


def test_a_pilot_that_ends_before_all_is_judged_says_how_many_were_not() -> None:
    said = "budget reached: $0.08 of $0.10 spent"
    pilot = Pilot(generated=23, failed=0, accepted=4, pending=1, discarded=0, cost_usd=0.08)
    told = pilot_as_text(Piloted(forecast(pilot), None, 50, said, None))
    assert f"the pilot ended early: {said}; 18 not judged count as not accepted" in told


def test_a_pilot_plays_no_more_than_the_plan_has(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    result = hipo("generate", "quick.yaml", "--model", "offline/rules", "-n", "2", "--dry-run",
                  "--pilot", "6", "--format", "json")  # fmt: skip
    assert (result.code, result.data["pilot"]["generated"]) == (0, 2)
    assert "plays the whole plan, which has no more than 2 cases" in result.err


def test_a_pilot_sends_no_batch_that_would_be_lost_with_it(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    with WireServer() as server:
        command = ("generate", "quick.yaml", "--model", "openai/gpt-4o-mini", "--base-url",
                   server.openai_url, "--dry-run", "--pilot", "2")  # fmt: skip
        refused = hipo(*command, "--batch")
        assert (refused.code, "would be lost" in refused.err) == (2, True)
        assert (server.count, server.batches.made) == (0, [])
        poor = hipo(*command, "--budget-usd", "0.000001")
    assert (poor.code, "the pilot played nothing: budget reached" in poor.err) == (4, True)
