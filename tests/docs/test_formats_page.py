"""The page of formats: its examples are files, and each is read by what reads such files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hipo.app.options.recipe import RECIPE_OPTIONS
from hipo.cli.main import run
from outputs.speech.markers import load_markers
from pipeline.importing.rows import ImportRow
from pipeline.providers.prices import PriceTable
from pipeline.quotas.file import read_quota
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.tactics.tactics import TacticsFile
from prompts.tasks.registry import load_task
from quality.review.translations import Translations
from quality.tables.checking import read_files
from quality.verification.policy import load_policy
from scenarios.schemes.registry import load_scheme
from scenarios.variation import load_axes
from scenarios.wordings import read_wording
from scenarios.yaml_source import read_yaml, validate_model

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ROOT / "examples" / "formats"
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)\n```", re.DOTALL)


def test_every_example_of_the_page_is_the_file_it_names() -> None:
    examples = EXAMPLE.findall(PAGE)
    assert len(examples) == 16
    for name, text in examples:
        assert (ROOT / name).read_text(encoding="utf-8").rstrip() == text, name
    shown = {name for name, _ in examples}
    assert {str(path.relative_to(ROOT)) for path in FORMATS.iterdir()} <= shown


def test_tactics_policy_and_prices_are_read() -> None:
    tactics = validate_model(TacticsFile, read_yaml(FORMATS / "tactics.yaml"))
    assert set(tactics.margins) == {"veracity", "intention"}
    assert load_policy(str(FORMATS / "policy.yaml")).rules[1].times == 2
    price = PriceTable.load(FORMATS / "prices.yaml").price("openai", "my-tuned-7b")
    assert price is not None
    assert price.output == 1.2


def test_the_markers_are_read() -> None:
    markers = load_markers(FORMATS / "markers.yaml")
    assert markers.fit("de")
    assert markers.lists["particles"].count("Das ist halt so, ja wohl.") == 2
    assert markers.lists["listening"].whole_lines


def test_the_fields_of_a_recipe_that_are_not_called_as_their_options_are_named() -> None:
    part = PAGE.partition("## Recipe\n")[2].partition("<!-- file")[0]
    called = {
        (option.field, option.name)
        for option in RECIPE_OPTIONS
        if "." not in option.field and option.field not in {"n", "unreviewed", "real_names"}
        if option.name != f"--{option.field.replace('_', '-')}"
    }
    assert set(re.findall(r"`(\w+)`\s\(`(--[\w-]+)`\)", part)) == called
    known = {option.field.partition(".")[0] for option in RECIPE_OPTIONS}
    for field in Recipe.model_fields.keys() - known:
        assert f"`{field}`" in part, field


def test_the_axes_are_read() -> None:
    axes = load_axes(FORMATS / "axes.yaml")
    assert axes["power"].keys("power") == {"power": ("initiator", "responder")}
    assert axes["mood"].roles == ("initiator",)
    assert [value.id for value in axes["register"].values][-1] == "dialect"
    assert len(axes["register"].values) == len(load_axes()["register"].values) + 1


def test_the_quota_is_read() -> None:
    scheme = load_scheme("hipo")
    quota = read_quota(read_yaml(FORMATS / "quota.yaml"), scheme, ["finance"])
    assert [cell.accepted for cell in quota.cells] == [50] * 8 + [20, 10]
    assert quota.cells[0].name == "veracity Quantity, goal deception"


def test_scheme_recipe_task_and_translations_are_read() -> None:
    assert load_scheme(str(ROOT / "examples/own_scheme/politeness.yaml")).id == "politeness"
    assert load_recipe(str(ROOT / "examples/own_run/recipe.yaml")).name == "own"
    assert load_task(str(FORMATS / "task.yaml"), load_scheme("hipo")).id == "kiosk-veracity"
    german = Translations.load([FORMATS / "translations.jsonl"])
    assert german.of("Has it ever been in an accident?", "de").startswith("Hatte")


def test_the_trial_of_the_readme_becomes_a_run_that_has_agreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = re.findall(
        r"^(hipo .*runs/hearing)\b", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(commands) == 2
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert [run(command.split()[1:]) for command in commands] == [0, 0]


def test_the_plain_table_is_read_without_a_map() -> None:
    table = read_files([FORMATS / "plain.csv"], None)
    kinds = {d.id: d.measurement for d in table.scheme.dimensions}
    assert kinds == {"politeness": "ordinal", "emotion": "nominal"}
    assert (len(table.answers), len(table.table.timings)) == (12, 6)


def test_an_import_line_and_a_wording_are_read() -> None:
    line = (FORMATS / "dialogues.jsonl").read_text(encoding="utf-8")
    row = ImportRow.model_validate_json(line)
    assert row.turns[1].labels["intention"] == "使信服"
    assert read_wording(FORMATS / "wording.yaml").wording.reviewed == ""
