"""Generating towards a quota of accepted utterances, from the command line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest
import yaml

from hipo.app.generation.generate import generate as generate_run
from hipo.app.generation.quota import plan_quota
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.options.verification import VerificationOverrides
from hipo.app.preparation.prepared import prepare
from hipo.app.running.watching import Silent, Spending
from pipeline.recipes.recipe import Recipe
from tests.hipo.cli.conftest import Hipo

# Repetitions of the offline rules are near-duplicates of one another, which is tested elsewhere.
QUICK = {
    "scenarios": "used_car",
    "turns": [1, 2],
    "models": {"default": "offline/rules"},
    "verification": {"gates": {"off": ["near_duplicate"]}},
}
QUOTA = {
    "accepted": 2,
    "each": {"goal": "all", "veracity": ["Quality", "Manner"]},
    "cells": [{"illocutionary": "Commissives", "accepted": 1}],
}


@pytest.fixture
def generate(hipo: Hipo, tmp_path: Path) -> Hipo:
    """Generate towards ``quota.yaml`` into ``run``."""
    (tmp_path / "quick.yaml").write_text(yaml.safe_dump(QUICK))
    write_quota(tmp_path, QUOTA)

    def call(*arguments: str, output: str = "run"):
        return hipo(
            "generate", "quick.yaml", "--quota", "quota.yaml", "--no-self", "-o", output, *arguments
        )

    return call


def write_quota(folder: Path, content: object) -> None:
    (folder / "quota.yaml").write_text(yaml.safe_dump(content))


def cells(hipo: Hipo, run: str = "run") -> dict[str, dict]:
    shown = hipo("runs", "show", run, "--format", "json").data["quota"]
    return {", ".join(cell["cell"].values()): cell for cell in shown}


def drawn(folder: Path) -> list[tuple]:
    """Return cases, wanted labels and verdicts in the order of the cases."""
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        return connection.execute(
            """select c.id, c.variation, d.status, (select verdict from newest_decisions e
                    where e.dialogue = d.seq), (select group_concat(dimension || value) from labels l
                    where l.dialogue = d.seq and l.kind = 'wanted')
                from cases c join dialogues d on d.case_seq = c.seq order by c.seq"""
        ).fetchall()


def test_a_run_goes_on_until_every_cell_has_its_accepted_utterances(
    generate: Hipo, hipo: Hipo
) -> None:
    result = generate()
    assert result.code == 0
    assert "Quality, goal truthful non-disclosure: the rules of the scheme forbid it" in result.err
    found = cells(hipo)
    states = {name: cell["state"] for name, cell in found.items()}
    assert states == {
        "Quality, deception": "filled",
        "Manner, deception": "filled",
        "Quality, truthful non-disclosure": "out of reach",
        "Manner, truthful non-disclosure": "filled",
        "Commissives": "filled",
    }
    for cell in found.values():
        if cell["state"] == "filled":
            assert cell["accepted"] >= cell["wanted"]
            assert cell["tried"] >= cell["hits"] >= 1
            assert cell["yield_low"] <= cell["yield"] <= cell["yield_high"]
            assert cell["calls"] > cell["cases"] > 0
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["state"] == "finished"
    again = generate("--format", "json")
    assert again.code == 0
    assert again.data["calls"] == state["calls"]
    assert again.data["quota"] == state["quota"]
    shown = hipo("runs", "show", "run").out
    assert "quota: 4 of 5 cells filled, 1 out of reach" in shown
    assert "veracity Manner, goal deception" in shown


def test_what_is_accepted_is_what_an_export_holds(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    generate()
    assert hipo("export", "run", "--to", "turns", "-o", "set").code == 0
    files = list((tmp_path / "set").rglob("*.jsonl"))
    rows = [orjson.loads(line) for path in files for line in path.read_text().splitlines()]
    kept = [r for r in rows if r["verdict"] == "accepted" and r["goal"] == "deception"]
    manner = [row for row in kept if row["label_veracity"] == "Manner"]
    assert len(manner) == cells(hipo)["Manner, deception"]["accepted"] > 0


def test_the_same_seed_draws_the_same_cases_however_many_are_played_at_once(
    generate: Hipo, tmp_path: Path
) -> None:
    generate("--max-concurrency", "1", output="one")
    generate("--max-concurrency", "9", output="nine")
    assert drawn(tmp_path / "one") == drawn(tmp_path / "nine")


def test_an_interrupted_round_is_finished_before_the_next_is_planned(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    generate(output="whole")
    budget = hipo("runs", "show", "whole", "--format", "json").data["charged"]["tokens"] // 3
    assert generate("--budget-tokens", str(budget)).code == 4
    assert 0 < len(drawn(tmp_path / "run")) < len(drawn(tmp_path / "whole"))
    assert generate().code == 0
    assert drawn(tmp_path / "run") == drawn(tmp_path / "whole")
    calls = [
        hipo("runs", "show", run, "--format", "json").data["calls"] for run in ("run", "whole")
    ]
    assert calls[0] == calls[1]


def test_a_cell_that_is_never_accepted_is_given_up_and_named(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "none.yaml").write_text("name: none\nunflagged: pending\nflagged: discard")
    write_quota(tmp_path, {"cells": [{"veracity": "Manner", "accepted": 2}], "give_up_after": 5})
    result = generate("--policy", "none.yaml")
    assert result.code == 1
    assert "given up, asked for again and again in vain: veracity Manner" in result.err
    assert "see why with: hipo verdict run ID;" in result.err
    shown = " ".join(hipo("runs", "show", "run").out.split())
    assert (
        "hipo verdict run ID; a larger -n allows more cases where all were played, a larger"
        in shown
    )
    (cell,) = cells(hipo).values()
    assert (cell["state"], cell["accepted"], cell["hits"]) == ("given up", 0, 0)
    assert 5 <= cell["tried"] <= 6
    assert generate("--policy", "none.yaml").code == 1
    assert cells(hipo)["Manner"]["tried"] == cell["tried"]


def test_a_limit_of_cases_ends_a_quota_that_is_not_filled_whatever_quota_they_were_for(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    result = generate("-n", "3")
    assert result.code == 1
    assert "all cases are played that -n allows, and still missing" in result.err
    assert "a larger -n allows more cases" in result.err
    assert "give_up_after" not in result.err
    assert sum(cell["cases"] for cell in cells(hipo).values()) == 3
    write_quota(tmp_path, {"cells": [{"veracity": "Manner", "goal": "deception", "accepted": 90}]})
    assert generate("-n", "3", "--dry-run", "--format", "json").data["quota"]["dialogues"] == 0
    assert generate("-n", "3").code == 1
    assert len(drawn(tmp_path / "run")) == 3
    assert generate("-n", "5").code == 1
    assert len(drawn(tmp_path / "run")) == 5


def test_the_estimate_takes_the_yield_that_a_run_has_measured(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "pilot.yaml").write_text(yaml.safe_dump({**QUICK, "tactics": "balanced", "n": 8}))
    before = generate("--dry-run", "--format", "json").data["quota"]
    by_name = {", ".join(cell["cell"].values()): cell for cell in before["cells"]}
    assert by_name["Manner, deception"]["assumed_yield"] == 0.5
    assert by_name["Manner, deception"]["tries"] == 4
    assert by_name["Quality, truthful non-disclosure"]["tries"] is None
    assert not (tmp_path / "run").exists()
    assert hipo("generate", "pilot.yaml", "--verify", "-o", "run", "--quiet").code == 0
    write_quota(tmp_path, {**QUOTA, "accepted": 30})
    after = generate("--tactics", "balanced", "--dry-run", "--format", "json").data["quota"]
    measured = next(cell for cell in after["cells"] if cell["tried"])
    assert measured["assumed_yield"] == (measured["hits"] + 1) / (measured["tried"] + 2)
    assert measured["missing"] == 30 - measured["accepted"]
    told = generate("--tactics", "balanced", "--dry-run").out
    assert "about" in told
    assert "8 dialogues of the run are there already" in told
    assert "not in this plan" not in told


@pytest.mark.parametrize(
    ("content", "field", "found", "expected"),
    [
        ("each: {veracity: [Qualty]}\naccepted: 2", "each.veracity[0]", "'Qualty'", "Quantity"),
        ("each: {voice: all}\naccepted: 2", "each.voice", "voice", "one of: intention"),
        ("each: {coherence: all}\naccepted: 2", "each.coherence", "coherence", "; asked for are labels"),
        ("each: {veracity: all}", "accepted", "nothing", "how many"),
        ("cells:\n- {veracity: Manner, accepted: 0}", "cells[0].accepted", "0", "number from 1"),
        ("cells:\n- {veracity: Manner, accepted: 999999999999}", "cells[0].accepted", "99", "to 10,000,000"),
        ("cells:\n- {veracity: [Manner], accepted: 1}", "cells[0].veracity", "list", "one label"),
        ("cells:\n- {category: cooking, accepted: 1}", "cells[0].category", "cooking", "products"),
        ("cells:\n- {accepted: 1}", "cells[0]", "mapping", "labels of"),
        ("accepted: many\neach: {veracity: all}", "accepted", "'many'", "whole number"),
        ("acepted: 3", "acepted", "unknown field", "accepted"),
        ("accepted: 3", "", "no cell", "each or cells"),
        ("cells:\n- &a {veracity: Manner, accepted: 1}\n- *a", "cells[1]", "Manner", "once"),
    ],
)  # fmt: skip
def test_a_quota_file_that_is_wrong_is_refused_with_its_line(
    generate: Hipo, tmp_path: Path, content: str, field: str, found: str, expected: str
) -> None:
    (tmp_path / "quota.yaml").write_text(content)
    result = generate()
    assert result.code == 2
    for part in ("quota.yaml", field, found, expected):
        assert part in result.err
    assert not (tmp_path / "run").exists()


def test_a_cell_whose_label_is_not_known_is_not_called_a_repetition_as_well(
    generate: Hipo, tmp_path: Path
) -> None:
    wrong = "cells:\n- {veracity: Qualty, accepted: 1}\n- {veracity: [Manner], accepted: 1}"
    (tmp_path / "quota.yaml").write_text(wrong)
    result = generate()
    assert (result.code, len(result.err.splitlines())) == (2, 2)
    assert "every cell once" not in result.err


def test_what_no_judge_has_seen_yet_is_neither_tried_in_vain_nor_done(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    write_quota(tmp_path, {"cells": [{"veracity": "Manner", "accepted": 40}], "give_up_after": 3})
    assert generate("--policy", "auto", output="whole").code == 0
    tokens = hipo("runs", "show", "whole", "--format", "json").data["charged"]["tokens"]
    budget = ("--budget-tokens", str(int(tokens * 0.4)))
    assert generate("--policy", "auto", *budget).code == 4
    state = hipo("runs", "show", "run", "--format", "json").data
    (cell,) = state["quota"]
    assert cell["state"] == "open"
    assert cell["unjudged"] > 0
    assert "not judged yet" in cell["why"]
    played = sum(wanted.count("veracityManner") for *_, wanted in drawn(tmp_path / "run") if wanted)
    assert cell["tried"] + cell["unjudged"] == played
    ahead = generate("--policy", "auto", "--dry-run", "--format", "json").data
    assert ahead["quota"]["begun"] == state["pending"] > 0
    assert ahead["dialogues"] == ahead["quota"]["dialogues"] + state["pending"]
    assert any(judge["dialogues"] > state["pending"] for judge in ahead["verification"]["judges"])
    assert generate("--policy", "auto").code == 0
    assert drawn(tmp_path / "run") == drawn(tmp_path / "whole")


def test_a_repeated_command_leaves_the_run_and_its_recipe_as_they_were(
    generate: Hipo, hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "none.yaml").write_text("name: none\nunflagged: pending\nflagged: discard")
    write_quota(tmp_path, {"cells": [{"veracity": "Manner", "accepted": 2}], "give_up_after": 5})
    for _ in range(2):
        assert generate("--policy", "none.yaml").code == 1
        assert hipo("runs", "show", "run", "--format", "json").data["pending"] == 0
        assert yaml.safe_load((tmp_path / "run" / "run.yaml").read_text()).get("n") is None
    again = generate("--policy", "none.yaml", "--dry-run", "--format", "json").data
    assert (again["cases"], again["dialogues"]) == (0, 0)


def test_a_cell_that_short_dialogues_have_no_room_for_names_the_option(
    generate: Hipo, tmp_path: Path
) -> None:
    cell = {"veracity": "None", "goal": "deception", "accepted": 1}
    write_quota(tmp_path, {"cells": [cell, {"veracity": "Quality", "accepted": 1}]})
    told = generate("--turns", "1", "--dry-run").out
    assert "out of reach: the scheme requires other labels in dialogues of 1 turn" in told
    assert "--turns" in told


def test_a_quota_out_of_reach_is_refused_before_anything_is_made(
    generate: Hipo, tmp_path: Path
) -> None:
    write_quota(
        tmp_path,
        {"cells": [{"goal": "truthful non-disclosure", "veracity": "Quality", "accepted": 1}]},
    )
    result = generate()
    assert result.code == 2
    assert "the rules of the scheme forbid it" in result.err
    assert generate("--accepted", "3").code == 2
    assert not (tmp_path / "run").exists()


def test_a_round_that_is_judged_counts_as_played_until_the_next_one_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_quota(tmp_path, QUOTA)
    recipe = Recipe.model_validate(QUICK)
    judged = VerificationOverrides(judges=["offline/judge"], self_judgement=False, embeddings=False)
    quota = plan_quota(tmp_path / "quota.yaml", prepare(recipe))

    class Looking(Silent):
        """Looks at what is done whenever something is told."""

        def begin(self, total: int, spending: Callable[[], Spending]) -> None:
            self.spending = spending
            self.told: list[str] = []

        def note(self, message: str) -> None:
            if message.startswith("round"):
                self.told.append(self.spending().doing)

    watcher = Looking()
    play = VerifiedPlay(judged, quota=quota)
    generate_run(recipe, output=tmp_path / "run", play=play, watcher=watcher)
    assert watcher.told
    assert all("judging" in doing for doing in watcher.told)
