"""The commands about scenarios, called as people call them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from hipo.cli.scenarios.scenarios import ScenarioGroup
from hipo.cli.terminal.wrapping import harmless
from scenarios.catalogue import PATH_VARIABLE, Catalogue
from scenarios.graph import KnowledgeGraph
from scenarios.spec import Scenario
from scenarios.yaml_source import read_yaml_text
from tests.hipo.cli.conftest import as_json, damage

GOALS = ["deception", "truthful non-disclosure"]
REPOSITORY = Path(__file__).parents[3]


# list


def test_the_list_counts_the_library(bench):
    listing = as_json(bench("list", "--format", "json"))
    assert listing["counts"] == {
        "scenarios": 31,
        "facts": 189,
        "categories": {
            "finance": {"scenarios": 6, "facts": 34},
            "integrity": {"scenarios": 7, "facts": 44},
            "privacy": {"scenarios": 6, "facts": 35},
            "products": {"scenarios": 9, "facts": 56},
            "relationships": {"scenarios": 3, "facts": 20},
        },
    }
    car = next(row for row in listing["scenarios"] if row["id"] == "used_car")
    assert car["facts"][0] == "guardrail"
    assert (car["shipped"], car["fictional"], car["scheme"]) == (True, True, "hipo")


def test_the_list_for_people_has_a_row_for_each_and_the_counts(bench):
    code, out, _ = bench("list", "--category", "relationships")
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[0] for line in lines[1:4]] == [
        "quit_smoking",
        "texting_ex",
        "wedding_ring",
    ]
    assert lines[-1] == "in all: 3 scenarios, 20 facts"


def test_categories_add_up_and_tags_narrow_down(bench):
    def ids(*options: str) -> set[str]:
        return {
            row["id"] for row in as_json(bench("list", *options, "--format", "json"))["scenarios"]
        }

    both = ids("--category", "finance", "--category", "privacy")
    assert both == ids("--category", "finance") | ids("--category", "privacy")
    assert len(both) == 12
    assert ids("--tag", "everyday,money") == ids("--tag", "everyday") & ids("--tag", "money")
    assert ids("--tag", "everyday", "--tag", "money") < ids("--tag", "everyday")


def test_an_unknown_tag_or_category_is_answered_with_the_nearest(bench):
    code, _, err = bench("list", "--tag", "helth")
    assert (code, "did you mean 'health'?" in err) == (2, True)
    code, _, err = bench("list", "--category", "product")
    assert (code, "did you mean 'products'?" in err) == (2, True)


@pytest.mark.parametrize("way", ["option", "variable"])
def test_scenarios_of_ones_own_are_listed_beside_those_that_ship(bench, pack, monkeypatch, way):
    options = ["--scenario-dir", str(pack)] if way == "option" else []
    if way == "variable":
        monkeypatch.setenv(PATH_VARIABLE, str(pack))
    listing = as_json(bench("list", *options, "--format", "json"))
    assert listing["counts"]["scenarios"] == 32
    (mine,) = (row for row in listing["scenarios"] if not row["shipped"])
    assert (mine["id"], mine["file"]) == ("my_car", "pack/my_car.yaml")


def test_only_scenarios_of_ones_own_are_listed_where_that_is_asked_for(bench, pack):
    listing = as_json(bench("list", "--only", "--scenario-dir", str(pack), "--format", "json"))
    assert [row["id"] for row in listing["scenarios"]] == ["my_car"]
    code, _, err = bench("list", "--only")
    assert (code, "give --scenario-dir FOLDER" in err) == (2, True)


def test_a_list_of_another_scheme_is_its_family(bench):
    code, out, _ = bench("list", "--scheme", "cobra")
    assert code == 0
    assert "cross_examination" in out
    assert "used_car" not in out


def test_a_broken_file_of_ones_own_is_refused_with_every_problem(bench, pack):
    line = damage(pack, "title:", "titel:")
    code, out, err = bench("list", "--scenario-dir", str(pack))
    assert (code, out) == (2, "")
    assert f"pack/my_car.yaml:{line}: titel: found the unknown field 'titel'" in err
    assert "title: found nothing" in err


# show


def test_a_scenario_is_shown_with_everything_in_it(bench):
    code, out, _ = bench("show", "tour_doping")
    scenario = Catalogue.load().scenarios["tour_doping"]
    flat = " ".join(out.split())
    assert code == 0
    shown = [
        scenario.title,
        scenario.background,
        scenario.outcome.text,
        scenario.sources[0].document,
    ]
    shown += [fact.text for fact in scenario.facts] + [claim.text for claim in scenario.claims]
    shown += [statement.text for _, statement in scenario.opening.statements]
    assert [text for text in shown if text not in flat] == []
    assert max(len(line) for line in out.splitlines()) <= 100


@pytest.mark.parametrize("option", [[], ["--real-names"]])
def test_json_and_yaml_hold_the_scenario_with_its_names_filled_in(bench, option):
    scenario = Catalogue.load(real_names=bool(option)).scenarios["tour_doping"]
    plain = as_json(bench("show", "tour_doping", *option, "--format", "json"))
    assert Scenario.model_validate(plain) == scenario
    assert ("Lance Armstrong" in plain["background"]) is bool(option)
    _, text, _ = bench("show", "tour_doping", *option, "--format", "yaml")
    assert Scenario.model_validate(read_yaml_text(text, "f.yaml").data) == scenario
    assert yaml.safe_load(text) == plain


def test_a_file_can_be_shown_by_its_path(bench, pack):
    code, out, _ = bench("show", "pack/my_car.yaml")
    assert code == 0
    assert out.startswith("My car  (my_car)\n")


def test_yaml_keeps_what_no_terminal_shows(bench, pack):
    damage(pack, "title: My car", 'title: "My \\u200ecar\\u200f"')
    code, out, err = bench("show", "my_car", "--scenario-dir", str(pack), "--format", "yaml")
    assert (code, err) == (0, "")
    assert yaml.safe_load(out)["title"] == "My \u200ecar\u200f"
    assert harmless(out) == out


def test_an_unknown_id_is_answered_with_the_nearest(bench):
    code, _, err = bench("show", "used_cat")
    assert (code, "did you mean 'used_car'?" in err) == (2, True)


def test_a_scenario_of_another_scheme_is_not_shown(bench):
    code, _, err = bench("show", "used_car", "--scheme", "cei")
    assert (code, "of the scheme 'hipo', not 'cei'" in err) == (2, True)


def test_a_graph_is_drawn_of_a_scenario_of_the_scheme_that_is_named(bench):
    assert bench("graph", "used_car", "--scheme", "hipo", "-o", "car.svg")[0] == 0
    code, _, err = bench("graph", "used_car", "--scheme", "cei", "-o", "other.svg")
    assert (code, "of the scheme 'hipo', not 'cei'" in err) == (2, True)


# schema


def test_the_schema_is_that_of_the_scheme(bench):
    schema = as_json(bench("schema"))
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    statements = schema["$defs"]["GoalOpening"]["properties"]["statements"]
    assert statements["propertyNames"]["enum"] == [*GOALS, "any"]
    other = as_json(bench("schema", "--scheme", "cei"))
    assert other["properties"]["scheme"]["const"] == "cei"


# stats


def test_the_statistics_have_the_counts_of_the_study_and_stay_below_the_limits(bench):
    pytest.importorskip("sentence_transformers", reason="the extra embeddings is not installed")
    found = as_json(bench("stats", "--format", "json"))
    assert (found["scenarios"], found["facts"]) == (31, 189)
    assert {name: (c["scenarios"], c["facts"]) for name, c in found["categories"].items()} == {
        "relationships": (3, 20),
        "products": (9, 56),
        "finance": (6, 34),
        "privacy": (6, 35),
        "integrity": (7, 44),
    }
    meaning = found["highest_similarity"]["meaning"]
    assert 0.3 < meaning["facts"]["score"] < 0.85
    assert 0.3 < meaning["backgrounds"]["score"] < 0.85
    left, right = (name.split("/")[0] for name in meaning["facts"]["between"])
    assert left == right
    assert len(set(meaning["backgrounds"]["between"])) == 2


def test_statistics_without_a_model_say_so_and_have_the_same_shape(bench):
    found = as_json(bench("stats", "--no-embeddings", "--format", "json"))
    assert found["highest_similarity"]["meaning"] is None
    assert found["highest_similarity"]["wording"]["facts"]["score"] < 0.4
    assert {"background", "question", "statement", "fact"} <= set(found["words"])
    assert set(found["words"]["fact"]) == {"min", "mean", "max"}
    assert set(found["pairs"]) == {"false", "misleads", "true", "open"}
    _, out, _ = bench("stats", "--no-embeddings")
    assert "meanings were not compared" in out
    assert out.splitlines()[6].split() == ["in", "all", "31", "189"]


def test_statistics_of_another_scheme_count_its_family(bench):
    found = as_json(bench("stats", "--no-embeddings", "--scheme", "cobra", "--format", "json"))
    assert set(found["categories"]) == {"cross_examination"}


def test_statistics_of_a_pack_alone_leave_the_library_out(bench, tmp_path):
    bench("new", "my_case", "-o", str(tmp_path))
    only = ("stats", "--no-embeddings", "--scenario-dir", str(tmp_path), "--only")
    found = as_json(bench(*only, "--format", "json"))
    assert (found["scenarios"], found["facts"]) == (1, 3)
    assert found["highest_similarity"]["wording"]["backgrounds"] is None
    assert bench(*only)[0] == 0


# graph


def test_a_graph_is_drawn_as_svg(bench):
    code, out, _ = bench("graph", "used_car", "-o", "car.svg")
    graph = KnowledgeGraph.of(Catalogue.load().scenarios["used_car"]).graph
    assert (code, out) == (
        0,
        f"wrote car.svg: {len(graph.nodes)} nodes, {len(graph.edges)} edges\n",
    )
    text = Path("car.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "salvage auction listing" in text


def test_a_graph_is_drawn_as_png(bench):
    pytest.importorskip("resvg_py", reason="the extra draw is not installed")
    assert bench("graph", "used_car", "-o", "car.png")[0] == 0
    assert Path("car.png").read_bytes().startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize(
    ("output", "message"), [("car.jpg", ".svg or .png"), ("file/car.svg", "cannot be written")]
)
def test_a_graph_that_cannot_be_written_is_refused(bench, output, message):
    Path("file").touch()
    code, _, err = bench("graph", "used_car", "-o", output)
    assert (code, message in err) == (2, True)


# the group


def test_help_names_every_command_and_imports_none(tmp_path):
    program = (
        "import sys; from hipo.cli.main import run; code = run(['scenarios', '--help']);"
        "heavy = {'yaml', 'rich', 'aiohttp', 'networkx', 'jinja2', 'orjson', 'torch'} & set(sys.modules);"
        "sys.exit(f'{code} {heavy}' if code or heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [name for name in ScenarioGroup.table if f"\n  {name} " not in done.stdout] == []


@pytest.mark.parametrize("name", ScenarioGroup.table)
def test_every_command_has_a_help_of_its_own(bench, name):
    code, out, _ = bench(name, "--help")
    assert code == 0
    assert f"hipo scenarios {name}" in " ".join(out.split())


def test_a_misspelt_command_is_answered_with_the_nearest(bench):
    code, _, err = bench("validat")
    assert (code, "did you mean 'validate'?" in err) == (2, True)
