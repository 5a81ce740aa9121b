"""The families of the other schemes are found, shown and played end to end, without a model."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from itertools import product
from pathlib import Path

import pytest

from hipo.app.estimates.playing import estimate_generation
from hipo.app.generation.generate import generate_prepared
from hipo.app.preparation.prepared import prepare
from hipo.cli.main import run
from pipeline.recipes.recipe import Recipe
from pipeline.store.run_store import RunStore
from pipeline.strategies.registry import STRATEGIES
from scenarios.catalogue import Catalogue
from scenarios.flow import planned_turns
from scenarios.pack import FAMILIES, LIBRARY

SHIPPED = Catalogue.load([FAMILIES], environment={})
BY_SCHEME: dict[str, list[str]] = defaultdict(list)
for _entry in SHIPPED.entries.values():
    if _entry.of_family:
        BY_SCHEME[_entry.scenario.scheme].append(_entry.scenario.id)
SCHEMES = sorted(BY_SCHEME)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0, capsys.readouterr().err
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("scheme", "strategy"),
    # of payoffs no speaker declares a label, so that a reflection is about the words alone
    [*product(SCHEMES, ["direct", "screenplay"]), ("payoff_reasoning", "reflective")],
)
def test_a_family_is_played_and_nobody_is_told_what_another_keeps(
    scheme: str, strategy: str, tmp_path: Path
) -> None:
    knows_all = STRATEGIES.get(strategy).knows_all
    folder, names = tmp_path / "run", BY_SCHEME[scheme][:5]
    wish = ["generate", "--scheme", scheme, "--model", "offline/rules", "-n", str(len(names))]
    assert run([*wish, "--strategy", strategy, "-o", str(folder), "-q"]) == 0
    with RunStore.open(folder, readonly=True) as store:
        dialogues = list(store.dialogues())
        assert len(dialogues) == len(names)
        for dialogue in dialogues:
            scenario = SHIPPED.scenarios[dialogue.case.scenario]
            planned = planned_turns(scenario, dialogue.case)
            assert [turn.role for turn in dialogue.turns] == [turn.role for turn in planned]
            assert len(dialogue.answers()) == dialogue.case.turns
            assert all(turn.trace is not None for turn in dialogue.answers())
            texts = [turn.text for turn in dialogue.turns if turn.kind == "improvised"]
            assert len(set(texts)) == len(texts)
            for call in store.calls.of_case(dialogue.case.id):
                role = dialogue.turns[call.requests[0].turn].role
                asked = "\n".join(text for _, text in call.messages)
                for fact in scenario.facts:
                    told = knows_all or role in fact.knowers
                    assert (" ".join(fact.text.split()) in asked) == told


@pytest.mark.parametrize("strategy", ["direct", "reflective", "screenplay"])
def test_labels_that_are_wanted_concern_whoever_speaks(strategy: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    wish = ["--scheme", "face_acts", "--scenarios", "blood_drive", "--tactics", "balanced"]
    model = ["--model", "offline/rules", "--strategy", strategy]
    assert run(["generate", "-n", "1", *wish, *model, "-o", str(folder), "-q"]) == 0
    with RunStore.open(folder, readonly=True) as store:
        (dialogue,) = store.dialogues()
    assert {turn.role for turn in dialogue.answers()} == {"persuader", "persuadee"}
    assert all(turn.wanted and turn.tactic for turn in dialogue.answers())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_commands_about_scenarios_know_them(
    scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = BY_SCHEME[scheme][0]
    listed = json.loads(
        printed(capsys, "scenarios", "list", "--scheme", scheme, "--format", "json")
    )
    assert {one["id"] for one in listed["scenarios"]} == set(BY_SCHEME[scheme])
    shown = printed(capsys, "scenarios", "show", name)
    assert "\nFlow\n" in shown
    assert all(phase.id in shown for phase in SHIPPED.scenarios[name].flow)
    printed(capsys, "scenarios", "graph", name, "-o", str(tmp_path / "graph.svg"))
    assert (tmp_path / "graph.svg").read_text("utf-8").count("<rect") > 1
    printed(capsys, "scenarios", "stats", "--scheme", scheme, "--no-embeddings")
    played = printed(capsys, "scenarios", "preview", name, "--model", "offline/rules")
    assert SHIPPED.scenarios[name].title in played


def test_hipos_list_names_the_others_and_no_run_of_hipo_plays_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = printed(capsys, "scenarios", "list")
    assert listed.rstrip().splitlines()[-1].startswith("of other schemes, with --scheme: ")
    for scheme in SCHEMES:
        assert f"{scheme} ({len(BY_SCHEME[scheme])})" in listed
        assert BY_SCHEME[scheme][0] not in listed
    assert len(Catalogue.load(environment={}).entries) == len(list(LIBRARY.rglob("*.yaml")))
    estimate = printed(
        capsys, "generate", "--model", "offline/rules", "--dry-run", "--format", "json",
        "-o", str(tmp_path / "none"),
    )  # fmt: skip
    assert not any(name in estimate for names in BY_SCHEME.values() for name in names)


@pytest.mark.parametrize("strategy", ["direct", "screenplay"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_announced_is_what_is_asked(scheme: str, strategy: str, tmp_path: Path) -> None:
    models = {"default": "offline/rules"}
    wish = {"models": models, "scheme": scheme, "strategies": strategy, "n": 4, "name": "announced"}
    recipe = Recipe.model_validate(wish)
    [arm] = estimate_generation(prepare(recipe)).arms
    made = asyncio.run(generate_prepared(prepare(recipe), tmp_path / "run"))
    assert sum(calls.expected for calls in arm.calls) == made.calls


def test_a_dialogue_of_a_flow_that_is_shown_as_json_is_imported_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    wish = ["--scheme", "face_acts", "--scenarios", "blood_drive", "--model", "offline/rules"]
    assert run(["generate", "-n", "1", *wish, "-o", str(first), "-q"]) == 0
    with RunStore.open(first, readonly=True) as store:
        (dialogue,) = store.dialogues()
    shown = json.loads(printed(capsys, "show", str(first), dialogue.case.id, "--format", "json"))
    line = tmp_path / "one.jsonl"
    line.write_text(json.dumps(shown) + "\n", encoding="utf-8")
    assert run(["import", str(line), "--scheme", "face_acts", "-o", str(second)]) == 0
    with RunStore.open(second, readonly=True) as store:
        (again,) = store.dialogues()
    said = [(t.role, t.text, t.kind, t.labelled, t.tactic) for t in dialogue.turns]
    assert [(t.role, t.text, t.kind, t.labelled, t.tactic) for t in again.turns] == said


@pytest.mark.parametrize("strategy", ["direct", "screenplay"])
def test_a_card_says_where_one_model_knew_what_everybody_keeps_back(
    strategy: str, tmp_path: Path
) -> None:
    made, exported = str(tmp_path / "run"), tmp_path / "set"
    wish = ["--scheme", "face_acts", "--scenarios", "blood_drive", "--model", "offline/rules"]
    assert run(["generate", "-n", "1", *wish, "--strategy", strategy, "-o", made, "-q"]) == 0
    target = ["--to", "sft", "--splits", "100,0,0", "--any", "--no-parquet", "-o", str(exported)]
    assert run(["export", made, *target]) == 0
    card = " ".join((exported / "README.md").read_text("utf-8").split())
    told = "Not so dialogues of the strategy screenplay: one model wrote all turns"
    assert (told in card) == STRATEGIES.get(strategy).knows_all
