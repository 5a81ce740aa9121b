"""``library-plus``: ten scenarios that examples are written for; read by name, never played."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.preparation.prepared import prepare
from pipeline.recipes.source import load_recipe, recipe_names
from scenarios.catalogue import PATH_VARIABLE, Catalogue
from scenarios.errors import UsageError
from scenarios.inspection import inspect_files
from scenarios.pack import LIBRARY_PLUS, PLUS_NAME

PLUS = sorted(path.stem for path in LIBRARY_PLUS.glob("*/*.yaml"))
OFFLINE = ("--model", "offline/rules", "-o", "run")


def scenarios_of(options):
    recipe = load_recipe("demo").with_changes(options)
    return set(prepare(recipe).scenarios)


def test_library_plus_holds_ten_scenarios_without_a_problem_or_a_warning():
    inspection = inspect_files([LIBRARY_PLUS])
    assert (inspection.files, inspection.problems) == (10, ())
    assert len(PLUS) == 10


def test_it_is_read_by_its_name(hipo):
    listed = hipo("scenarios", "list", "--scenario-dir", PLUS_NAME, "--format", "json").data
    assert {row["id"] for row in listed["scenarios"]} >= set(PLUS)
    assert listed["counts"]["scenarios"] == 31 + 10
    assert hipo("scenarios", "validate", PLUS_NAME).out == "10 files: no problem, no warning\n"
    shown = hipo("scenarios", "show", PLUS[0], "--scenario-dir", PLUS_NAME)
    assert (shown.code, PLUS[0] in shown.out) == (0, True)


def test_a_folder_of_that_name_comes_before_the_pack(hipo):
    Path(PLUS_NAME).mkdir()
    listed = hipo("scenarios", "list", "--scenario-dir", PLUS_NAME, "--format", "json").data
    assert listed["counts"]["scenarios"] == 31


def test_no_recipe_and_no_pattern_plays_it():
    assert not set(PLUS) & set(Catalogue.load(environment={}).scenarios)
    for name in recipe_names():
        recipe = load_recipe(name).with_changes({"models": {"default": "offline/rules"}})
        assert not set(PLUS) & set(prepare(recipe).scenarios)
    for patterns in (["*"], ["integrity", "finance", "relationships"], ["tag:*"]):
        assert not set(PLUS) & scenarios_of({"scenarios": patterns, "n": None})


@pytest.mark.parametrize("name", PLUS)
def test_who_asks_for_one_of_them_is_told_where_it_is(hipo, name):
    played = hipo("generate", *OFFLINE, "--scenarios", name)
    assert (played.code, Path("run").exists()) == (2, False)
    where = f"it is in {PLUS_NAME}, which is read with --scenario-dir {PLUS_NAME} and never played"
    assert where in played.err
    assert where in hipo("scenarios", "show", name).err


def test_who_takes_the_pack_for_a_category_is_told_that_it_is_a_folder(hipo):
    played = hipo("generate", *OFFLINE, "--scenarios", PLUS_NAME)
    assert (played.code, Path("run").exists()) == (2, False)
    assert f"it is a folder, which is read with --scenario-dir {PLUS_NAME} and never" in played.err


@pytest.mark.parametrize("command", ["generate", "study"])
def test_no_run_is_made_of_the_pack_whichever_way_it_is_named(hipo, monkeypatch, command):
    options = ("-o", "run")
    ways: tuple[tuple[str, ...], ...] = (
        ("--scenario-dir", PLUS_NAME),
        ("--scenario-dir", str(LIBRARY_PLUS)),
        ("--scenario-dir", str(LIBRARY_PLUS / "finance" / "dog_appeal.yaml")),
        ("--scenario-dir", PLUS_NAME, "--scenarios", "dog_appeal,used_car"),
    )
    for way in ways:
        refused = hipo(command, "--model", "offline/rules", *options, *way)
        assert (refused.code, Path("run").exists()) == (2, False), way
        assert "never played, since examples are written for them" in refused.err
        assert "dog_appeal" in refused.err
        assert "a copy in a folder of your own is played" in refused.err
    monkeypatch.setenv(PATH_VARIABLE, PLUS_NAME)
    assert hipo(command, "--model", "offline/rules", *options).code == 2
    assert not Path("run").exists()


def test_a_preview_does_not_play_it_either(hipo):
    options = ("--scenario-dir", PLUS_NAME, "--model", "offline/rules")
    refused = hipo("scenarios", "preview", "night_ward", *options)
    assert (refused.code, refused.out) == (2, "")
    assert "never played" in refused.err


def test_the_library_is_played_beside_it():
    few = {"scenario_dirs": [PLUS_NAME], "scenarios": ["used_car"]}
    assert scenarios_of(few) == {"used_car"}
    with pytest.raises(UsageError, match="never played"):
        scenarios_of(few | {"scenarios": None})
