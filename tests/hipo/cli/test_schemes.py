"""Label schemes on the command line: list, show, new, validate, schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from scenarios.schemes.registry import load_scheme, scheme_names, shipped_files
from scenarios.schemes.scaffold import new_scheme
from scenarios.yaml_source import read_yaml


def test_every_scheme_that_ships_is_listed_with_its_source(hipo):
    text = " ".join(hipo("scheme", "list").out.split())
    for name in scheme_names():
        assert f"{name}: " in text
        assert load_scheme(name).source in text
    listed = hipo("scheme", "list", "--print", "json").data
    assert [one["name"] for one in listed] == scheme_names()
    assert listed[3]["dimensions"][0] == {
        "id": "goal", "level": "dialogue", "measurement": "nominal", "by": "declared", "labels": 2,
    }  # fmt: skip


@pytest.mark.parametrize("name", scheme_names())
def test_what_is_shown_holds_every_question_and_label(hipo, name):
    text = " ".join(hipo("scheme", "show", name).out.split())
    for dimension in load_scheme(name).dimensions:
        assert " ".join(dimension.question.split()) in text
        assert all(f"{label.id}: " in text for label in dimension.labels)
    data = hipo("scheme", "show", name, "--print", "json").data
    assert type(load_scheme(name)).model_validate(data) == load_scheme(name)


def test_an_unknown_scheme_is_answered_with_the_nearest(hipo):
    answer = hipo("scheme", "show", "hippo")
    assert (answer.code, "did you mean 'hipo'?" in answer.err) == (2, True)


@pytest.mark.parametrize("options", [[], ["--flow"]])
def test_a_new_scheme_is_valid_as_it_stands_and_dialogues_can_be_made_with_it(hipo, options):
    assert hipo("scheme", "new", "my_labels", "-o", "mine", *options).code == 0
    absent = hipo("scheme", "validate", "absent.yaml")
    assert absent.code == 2
    assert "no directory or file of schemes at absent.yaml" in absent.err
    assert "HIPO_SCENARIO_PATH" not in absent.err
    checked = hipo("scheme", "validate", "mine")
    assert (checked.code, "0 errors, 1 warning in 1 of 1 file" in checked.out) == (0, True)
    scheme = ["--scheme", "mine/my_labels.yaml"]
    assert hipo("scenarios", "new", "my_first", *scheme, "-o", "pack").code == 0
    assert hipo("scenarios", "validate", "pack", *scheme, "--no-embeddings").code == 0
    played = hipo(
        "generate", *scheme, "--scenario-dir", "pack", "--model", "offline/rules", "-n", "2",
        "-o", "runs/first", "-q",
    )  # fmt: skip
    assert played.code == 0, played.err
    dialogue = hipo("show", "runs/first", "--format", "json").data[0]["id"]
    turns = hipo("show", "runs/first", dialogue, "--format", "json").data["turns"]
    assert any(label["dimension"] == "move" for turn in turns for label in turn["tactic"])


def test_nothing_is_written_over_and_no_id_of_a_shipped_scheme_is_taken(hipo):
    assert hipo("scheme", "new", "mine").code == 0
    before = Path("mine.yaml").read_bytes()
    again = hipo("scheme", "new", "mine", "--flow")
    assert (again.code, "exists already" in again.err) == (2, True)
    assert Path("mine.yaml").read_bytes() == before
    for name, message in (("hipo", "there is a scheme"), ("../x", "cannot be the id")):
        refused = hipo("scheme", "new", name)
        assert (refused.code, message in refused.err) == (2, True)
    assert [*Path().glob("**/*.yaml")] == [Path("mine.yaml")]


def test_all_broken_rules_are_told_at_once_each_with_its_line_and_field(hipo):
    text = new_scheme("mine")
    for old, new in [
        ("        label: steers away\n", "        label: steers off\n"),
        ("move: [denies]}", "move: [denis]}"),
        ("when: {goal: [hiding]}", "when: {gaol: [hiding]}"),
        ("aliases: [denial, deny]", "aliases: [denial, admits]"),
        ("assigned: goal\n", "assigned: move\n"),
    ]:
        assert old in text
        text = text.replace(old, new, 1)
    Path("mine.yaml").write_text(text, encoding="utf-8")
    answer = hipo("scheme", "validate", "mine.yaml", "--print", "json")
    assert answer.code == 1
    found = {(p["line"], p["field"]) for p in answer.data["problems"]}
    lines = text.splitlines()
    assert found >= {
        (lines.index("        label: steers off") + 1, "dimensions[1].steps[3].label"),
        (lines.index("        aliases: [denial, admits]") + 1, "dimensions[1].labels[2].aliases"),
    }
    # rules between dimensions are looked at once the dimensions hold
    mended = text.replace("steers off", "steers away").replace("[denial, admits]", "[denial]")
    Path("mine.yaml").write_text(mended, encoding="utf-8")
    problems = hipo("scheme", "validate", "mine.yaml", "--print", "json").data["problems"]
    assert {(p["line"], p["field"]) for p in problems} == {
        (lines.index("assigned: move") + 1, "assigned"),
        (lines.index("  - labels: {goal: [facing up], move: [denis]}") + 1,
         "contradictions[0].labels.move"),
        (lines.index("  - when: {gaol: [hiding]}") + 1, "requirements[0].when.gaol"),
    }  # fmt: skip
    assert {p["hint"] for p in problems} == {
        "assigned: 'move' is not a dialogue dimension with labels",
        "a rule names 'denis', no label of 'move'",
        "a rule names the unknown dimension 'gaol'",
    }


def test_what_hardly_goes_together_is_of_one_utterance(hipo):
    rule = "rarely_together:\n  - labels: {goal: [hiding], move: [denies]}\n    reason: So it is.\n"
    text = new_scheme("mine") + rule
    Path("mine.yaml").write_text(text, encoding="utf-8")
    (problem,) = hipo("scheme", "validate", "mine.yaml", "--print", "json").data["problems"]
    line = next(n for n, told in enumerate(text.splitlines(), 1) if "labels: {goal: [hid" in told)
    assert (problem["line"], problem["field"]) == (line, "rarely_together[0].labels.goal")
    assert problem["hint"] == "'goal' is no dimension that every utterance declares"


def test_a_function_that_nothing_computes_is_told_unless_a_plugin_has_it(hipo):
    text = shipped_files()[[path.stem for path in shipped_files()].index("cobra")].read_text()
    assert "function: cobra.pat" in text
    text = text.replace("id: cobra\n", "id: mine\n").replace("cobra.pat", "penlty")
    Path("mine.yaml").write_text(text, encoding="utf-8")
    answer = hipo("scheme", "validate", "mine.yaml", "--print", "json")
    (problem,) = answer.data["problems"]
    assert (answer.code, problem["code"], problem["found"]) == (1, "unknown-function", "'penlty'")
    line = next(n for n, told in enumerate(text.splitlines(), 1) if "penlty" in told)
    assert (problem["line"], problem["field"].endswith(".derived.function")) == (line, True)
    assert "--plugin" in problem["hint"]
    Path("own.py").write_text(
        "from quality.derived import DerivedFunction\n"
        "EXTENSIONS = [DerivedFunction('penlty', lambda rows, given: [None] * len(rows))]\n"
    )
    assert hipo("scheme", "validate", "mine.yaml", "--plugin", "own.py").code == 0


def test_two_labels_with_one_definition_and_an_id_that_ships_are_warned_of(hipo):
    text = new_scheme("hipo").replace(
        "definition: It says the mistake, or a part of it that matters.",
        "definition: It says or implies that the mistake did not happen.",
    )
    Path("hipo.yaml").write_text(text, encoding="utf-8")
    problems = hipo("scheme", "validate", "hipo.yaml", "--print", "json").data["problems"]
    assert [p["code"] for p in problems] == ["id-clash", "template-text", "same-definition"]
    assert hipo("scheme", "validate", "hipo.yaml").code == 0
    assert hipo("scheme", "validate", "hipo.yaml", "--strict").code == 1


def test_all_schemes_that_ship_are_checked_without_a_path_and_have_no_problem(hipo):
    answer = hipo("scheme", "validate", "--strict")
    files = len(scheme_names())
    assert (answer.code, answer.out) == (0, f"{files} files: no problem, no warning\n")


def test_a_path_that_is_not_there_is_a_usage_error(hipo):
    answer = hipo("scheme", "validate", "nowhere.yaml")
    assert (answer.code, answer.out, "there is no" in answer.err) == (2, "", True)


def test_the_json_schema_takes_what_ships_and_what_is_new_and_describes_fields(hipo, tmp_path):
    schema = json.loads(hipo("scheme", "schema").out)
    validator = Draft202012Validator(schema)
    for flow in (False, True):
        (tmp_path / f"mine_{flow}.yaml".lower()).write_text(new_scheme("mine", flow=flow))
    for path in [*shipped_files(), *tmp_path.glob("mine_*.yaml")]:
        assert [e.message for e in validator.iter_errors(read_yaml(path).data)] == [], path.name
    assert not validator.is_valid({**read_yaml(shipped_files()[0]).data, "titel": "x"})
    for name in ("Dimension", "Label", "Step"):
        fields = schema["$defs"][name]["properties"].values()
        assert all("description" in field for field in fields), name
