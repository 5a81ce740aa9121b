"""How dialogues open, in which language and with whose names: what a run is allowed to ask for."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from hipo.app.estimates.playing import estimate_generation
from hipo.app.generation.generate import generate_prepared
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.app.runs.resumption import prepare_for
from hipo.app.runs.run import Run
from pipeline.planning.plan import Plan
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from scenarios.errors import InputError, UsageError
from tests.factories import make_new_scenario, make_scheme, write_new_scenario
from tests.wire.server import WireServer

LOCAL = {"default": {"model": "compatible/m", "base_url": "http://127.0.0.1:9/v1"}}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A folder with two scenarios that open alike under both goals, or by goal."""
    for name in ("watering", "landing"):
        write_new_scenario(tmp_path / "pack", name)
    return tmp_path / "pack"


def recipe(pack: Path, **changes: object) -> Recipe:
    data = {
        "models": {"default": "offline/rules"}, "scenario_dirs": [pack],
        "scenarios": ["watering", "landing"], "openings": "shared", **changes,
    }  # fmt: skip
    return Recipe.model_validate(data)


def play(prepared: Prepared, folder: Path) -> Run:
    return asyncio.run(generate_prepared(prepared, folder))


@pytest.mark.parametrize("openings", ["shared", "by-goal"])
def test_the_calls_announced_are_the_calls_made(tmp_path: Path, pack: Path, openings: str) -> None:
    with WireServer() as server:
        model = {"default": {"model": "compatible/m", "base_url": server.openai_url}}
        wanted = recipe(pack, models=model, openings=openings, turns=[1, 3], n=8)
        prepared = prepare(wanted)
        [arm] = estimate_generation(prepared).arms
        run = play(prepared, tmp_path / "run")
    by_kind = {calls.kind: calls.expected for calls in arm.calls}
    answers = prepared.plan.exchanges
    assert by_kind["initiator"] == (answers - 8 if openings == "shared" else answers)
    assert sum(by_kind.values()) == run.calls
    assert all(calls.expected == calls.most for calls in arm.calls)


def test_a_dialogue_of_one_exchange_asks_the_initiator_nothing(pack: Path) -> None:
    [arm] = estimate_generation(prepare(recipe(pack, turns=[1]))).arms
    asked = next(calls for calls in arm.calls if calls.kind == "initiator")
    assert (asked.expected, asked.most, asked.prompt_tokens) == (0, 0, 0)


def test_scenarios_without_such_an_opening_are_named_in_one_message() -> None:
    whole = make_new_scenario()
    for kind, other, field, nothing in (
        ("shared", "by-goal", "shared", None),
        ("by-goal", "shared", "by_goal", ()),
    ):
        opening = whole.opening.model_copy(update={field: nothing})
        lacking = [
            whole.model_copy(update={"id": f"old_{n}", "opening": opening}) for n in range(7)
        ]
        with pytest.raises(UsageError) as refused:
            Plan(make_scheme(), [whole, *lacking], openings=kind)  # type: ignore[arg-type]
        named = "in scenarios old_0, old_1, old_2, old_3, old_4 and 2 more"
        assert f"{named}\n  use --openings {other}" in str(refused.value)


def test_a_run_goes_on_with_the_openings_it_was_begun_with(tmp_path: Path, pack: Path) -> None:
    play(prepare(recipe(pack, n=2)), tmp_path / "run")
    again = prepare_for(tmp_path / "run", recipe(pack, n=4))
    assert len(again.plan) == 4
    with pytest.raises(UsageError, match=r"openings: shared → by-goal"):
        prepare_for(tmp_path / "run", recipe(pack, n=4, openings="by-goal"))


def test_a_case_says_how_it_opens(tmp_path: Path, pack: Path) -> None:
    shared = play(prepare(recipe(pack, n=2)), tmp_path / "shared")
    assert {d.case.variation for d in shared.dialogues()} == {(("openings", "shared"),)}
    by_goal = play(prepare(recipe(pack, n=2, openings="by-goal")), tmp_path / "by_goal")
    assert {d.case.variation for d in by_goal.dialogues()} == {()}


def test_a_language_that_the_scenarios_are_not_written_in_is_refused(pack: Path) -> None:
    """An opening in English would stand before turns in German."""
    model = {"default": {"model": "compatible/m", "base_url": "http://127.0.0.1:9/v1"}}
    with pytest.raises(InputError) as refused:
        prepare(recipe(pack, models=model, languages=["de"]))
    line = next(
        number
        for number, text in enumerate((pack / "landing.yaml").read_text().splitlines(), 1)
        if text.startswith("languages:")
    )
    assert str(refused.value).splitlines()[0] == (
        f"{pack}/landing.yaml:{line}: languages: found en (1 more is not written in de either), expected 'de', "
        "which the dialogues are to be in (--language); play them as they are written (--language "
        "en), have them put into it (hipo scenarios translate --language de) and name the wordings with --wordings, write a file of your own "
        "with languages: [de], or choose other scenarios with --scenarios"
    )


def test_scenarios_in_two_languages_are_for_two_runs_and_the_message_names_those_of_one(
    pack: Path,
) -> None:
    german = pack / "landing.yaml"
    text = german.read_text(encoding="utf-8")
    german.write_text(text.replace("languages: [en]", "languages: [de]"), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        prepare(recipe(pack))
    assert "found de, expected 'en'" in str(refused.value)
    others = sorted(file.stem for file in pack.iterdir() if file != german)
    named = (
        f"play those that are (--scenarios {','.join(others)}), the others in a run of their own"
    )
    assert named in str(refused.value)


def test_a_scenario_is_played_in_every_language_it_is_written_in(pack: Path) -> None:
    for file in pack.iterdir():
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("languages: [en]", "languages: [de]"), encoding="utf-8")
    model = {"default": {"model": "compatible/m", "base_url": "http://127.0.0.1:9/v1"}}
    planned = prepare(recipe(pack, models=model, languages=["de", "de-AT"])).plan
    assert {case.language for case in planned} == {"de", "de-AT"}


NAMED = """\
placeholders:
  owner: {alias: Halyard Lines, real: Example Ferries}
"""


def with_names(pack: Path, *, documented: bool) -> None:
    """Give the scenario landing a real name, and a source for one of its three facts."""
    file = pack / "landing.yaml"
    text = file.read_text(encoding="utf-8")
    text = text.replace("abroad. A neighbour", "abroad with {owner}. A neighbour", 1)
    if documented:
        text = text.replace("\n    angle: Was", "\n    documented: true\n    angle: Was", 1)
    file.write_text(text + NAMED, encoding="utf-8")


def test_real_names_stand_beside_documented_facts_only(tmp_path: Path, pack: Path) -> None:
    with_names(pack, documented=True)
    prepared = prepare(recipe(pack, real_names=True, turns=[1]))
    assert {(case.scenario, case.fact) for case in prepared.plan} == {
        ("landing", "cat"), ("watering", "away"), ("watering", "cat"), ("watering", "guests"),
    }  # fmt: skip
    assert "with Example Ferries" in prepared.scenarios["landing"].background
    assert prepared.remarks == (
        "real names stand beside documented facts only: 2 facts of scenario landing left out",
    )
    run = play(prepared, tmp_path / "run")
    assert run.state().generated == 8
    again = prepare_for(tmp_path / "run", recipe(pack, real_names=True, turns=[1]))
    assert len(again.plan) == 8


def test_aliases_go_with_every_fact(pack: Path) -> None:
    with_names(pack, documented=True)
    prepared = prepare(recipe(pack, turns=[1]))
    assert len(prepared.plan) == 12
    assert "with Halyard Lines" in prepared.scenarios["landing"].background
    assert prepared.remarks == ()


def test_a_scenario_without_a_documented_fact_is_not_played_with_real_names(pack: Path) -> None:
    with_names(pack, documented=False)
    prepared = prepare(recipe(pack, real_names=True))
    assert {case.scenario for case in prepared.plan} == {"watering"}
    assert prepared.remarks[0].endswith("3 facts of scenario landing left out")
    with pytest.raises(UsageError, match=r"nothing is left to play .* and landing has none"):
        prepare(recipe(pack, real_names=True, scenarios=["landing"]))


def test_the_recipe_of_the_paper_opens_by_goal_in_1134_cases() -> None:
    plan = prepare(load_recipe("hipo-paper").with_changes({"models": LOCAL})).plan
    assert (len(plan), plan.openings) == (1134, "by-goal")
    pairs = Counter(case.pair for case in plan)
    assert set(pairs.values()) == {2}
    assert Counter(case.turns for case in plan) == {1: 378, 2: 378, 3: 378}


def test_a_recipe_that_says_nothing_opens_alike() -> None:
    assert Recipe().openings == "shared"
