"""Writing scenarios: begin one, check it, and hear how it sounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.catalogue import PATH_VARIABLE, Catalogue
from scenarios.pack import FAMILIES, LIBRARY, LIBRARY_PLUS
from tests.hipo.cli.conftest import Bench, as_json, damage

GOALS = ["deception", "truthful non-disclosure"]


# new


def test_a_new_file_validates_and_can_be_played_at_once(bench):
    code, out, _ = bench("new", "lost_luggage", "--category", "finance", "-o", "mine/deep")
    assert (code, out.splitlines()[0]) == (0, "wrote mine/deep/lost_luggage.yaml")
    code, out, _ = bench("validate", "mine", "--no-embeddings")
    assert (code, "0 errors, 1 warning in 1 of 1 file" in out) == (0, True)
    shown = as_json(
        bench(
            "preview", "mine/deep/lost_luggage.yaml", "--model", "offline/rules", "--format", "json"
        )
    )
    assert [one["goal"] for one in shown] == GOALS


def test_a_preview_is_in_the_language_of_the_scenario(bench):
    assert bench("new", "lost_luggage", "-o", "mine")[0] == 0
    path = Path("mine/lost_luggage.yaml")
    path.write_text(path.read_text().replace("languages: [en]", "languages: [es]"))
    code, _, err = bench("preview", str(path), "--model", "offline/rules")
    assert (code, "offline/rules has no language 'es'" in err) == (2, True), err


def test_nothing_is_written_over(bench):
    assert bench("new", "lost_luggage")[0] == 0
    before = Path("lost_luggage.yaml").read_bytes()
    code, _, err = bench("new", "lost_luggage", "--category", "finance")
    assert (code, "exists already" in err) == (2, True)
    assert Path("lost_luggage.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["used_car"], "there is a scenario 'used_car' already"),
        (["my_car", "--scenario-dir", "pack"], "there is a scenario 'my_car' already"),
        (["Lost Luggage"], "cannot be the id"),
        (["../lost"], "cannot be the id"),
        (["lost", "--category", "finanse"], "did you mean 'finance'?"),
        (["lost", "--scheme", "hippo"], "did you mean 'hipo'?"),
        (["lost", "-o", "pack/my_car.yaml"], "cannot be written"),
    ],
)
def test_what_cannot_be_begun_is_refused_and_leaves_nothing(bench, pack, arguments, message):
    code, _, err = bench("new", *arguments)
    assert (code, message in err) == (2, True), err
    assert list(Path().glob("**/*.yaml")) == [Path("pack/my_car.yaml")]


# validate


def test_without_a_path_everything_that_ships_is_checked_and_has_no_problem_and_no_warning(bench):
    code, out, _ = bench("validate", "--no-embeddings", "--strict")
    shipped = [p for root in (LIBRARY, LIBRARY_PLUS, FAMILIES) for p in root.rglob("*.yaml")]
    assert (code, out.partition(";")[0]) == (0, f"{len(shipped)} files: no problem, no warning")


def test_two_files_begun_from_the_template_are_found_by_validate_as_they_are_by_stats(bench):
    for name in ("one", "two"):
        assert bench("new", name, "-o", "mine")[0] == 0
    two = Path("mine/two.yaml")
    two.write_text(two.read_text().replace("after three weeks abroad", "after a month at sea"))
    found = as_json(bench("validate", "mine", "--no-embeddings", "--format", "json"))
    assert [(p["file"], p["code"]) for p in found["problems"]] == [
        ("mine/one.yaml", "template-text"),
        ("mine/two.yaml", "template-text"),
        ("mine/two.yaml", "near-duplicate-scenario"),
    ]
    assert (
        "of the template of hipo scenarios new (title, summary, background"
        in (found["problems"][0]["found"])
    )
    duplicate = found["problems"][2]
    assert (duplicate["field"], "'one' in mine/one.yaml (wording" in duplicate["found"]) == (
        "background", True,
    )  # fmt: skip


def test_a_scenario_that_retells_one_of_the_library_is_found(bench):
    Path("pack").mkdir()
    text = (LIBRARY / "products" / "used_car.yaml").read_text(encoding="utf-8")
    Path("pack/our_car.yaml").write_text(text.replace("id: used_car", "id: our_car", 1))
    found = as_json(bench("validate", "pack", "--no-embeddings", "--format", "json"))
    (problem,) = found["problems"]
    assert (problem["code"], problem["severity"]) == ("near-duplicate-scenario", "warning")
    assert "'used_car'" in problem["found"]


def test_a_problem_is_told_with_file_line_field_found_expected_and_hint(bench, pack):
    tags, date = (
        damage(pack, "tags: [everyday", "tags: [everday"),
        damage(pack, "2026-06", "2026-16"),
    )
    assert date > tags
    code, out, _ = bench("validate", "pack", "--no-embeddings")
    lines = out.splitlines()
    assert code == 1
    assert lines[0].startswith(
        f"pack/my_car.yaml:{tags}: tags[0]: found the unknown tag 'everday', "
        "expected a tag of scheme 'hipo'; did you mean 'everyday'?"
    )
    assert lines[1].startswith(f"pack/my_car.yaml:{date}: outcome.as_of: found '2026-16', expected")
    assert lines[2].startswith("2 errors, 0 warnings in 1 of 1 file")


def test_the_same_as_json(bench, pack):
    line = damage(pack, "tags: [everyday", "tags: [everday")
    code, out, _ = bench("validate", str(pack), "--no-embeddings", "--format", "json")
    answer = json.loads(out)
    (problem,) = answer.pop("problems")
    assert code == 1
    assert answer == {
        "files": 1,
        "errors": 1,
        "warnings": 0,
        "meanings_compared": False,
        "passed_over": [],
    }
    assert set(problem) == {
        "file", "line", "field", "found", "expected", "hint", "code", "severity",
    }  # fmt: skip
    assert (problem["file"], problem["line"]) == ("pack/my_car.yaml", line)
    assert (problem["code"], problem["severity"]) == ("unknown-tag", "error")


def test_a_warning_is_shown_and_counts_only_if_asked(bench, pack):
    damage(
        pack, "sources: fictional", "sources: fictional\nplaceholders: {rival: {alias: Northwind}}"
    )
    code, out, _ = bench("validate", "pack", "--no-embeddings")
    assert (code, out.splitlines()[0].endswith("(warning)")) == (0, True)
    assert "0 errors, 1 warning in 1 of 1 file" in out
    assert bench("validate", "pack", "--no-embeddings", "--strict")[0] == 1


@pytest.mark.parametrize(
    "arguments", [["nowhere"], ["pack/nowhere.yaml"], ["empty"], ["pack", "--scheme", "no"]]
)
def test_a_path_or_scheme_that_is_not_there_is_a_usage_error(bench, pack, arguments):
    Path("empty").mkdir()
    code, out, err = bench("validate", *arguments, "--no-embeddings")
    assert (code, out) == (2, "")
    assert "there is no" in err or "unknown scheme" in err


def test_without_a_path_ones_own_folders_are_checked_too(bench, pack, monkeypatch):
    damage(pack, "tags: [everyday", "tags: [everday")
    code, out, _ = bench("validate", "--no-embeddings", "--scenario-dir", "pack")
    assert (code, "1 error, 0 warnings in 1 of 82 files" in out) == (1, True)
    monkeypatch.setenv(PATH_VARIABLE, str(pack))
    assert bench("validate", "--no-embeddings")[:2] == (code, out)


def test_an_id_of_the_library_or_of_a_folder_beside_it_is_taken(bench, pack):
    damage(pack, "id: my_car", "id: used_car")
    (pack / "my_car.yaml").rename(pack / "used_car.yaml")
    code, out, _ = bench("validate", "pack/used_car.yaml", "--no-embeddings")
    assert (code, "pack/used_car.yaml:1: id: found 'used_car', which" in out) == (1, True)


def test_a_scenario_is_checked_against_the_scheme_that_is_asked_for(bench, pack):
    code, out, _ = bench("validate", "pack", "--no-embeddings", "--scheme", "cei")
    assert (code, "scheme: found 'hipo', expected 'cei', the scheme in use" in out) == (1, True)


# preview


def preview(bench: Bench, *options: str) -> Any:
    return as_json(
        bench("preview", "used_car", "--model", "offline/rules", "--format", "json", *options)
    )


def said(shown: Any) -> list[list[str]]:
    return [[turn["text"] for turn in one["dialogue"]["turns"]] for one in shown]


def test_a_preview_is_one_dialogue_for_each_goal_and_nothing_is_kept(bench, tmp_path):
    shown = preview(bench, "--turns", "3", "--fact", "airbag")
    assert [one["goal"] for one in shown] == GOALS
    for one in shown:
        case = one["dialogue"]["case"]
        assert (case["scenario"], case["fact"], case["turns"]) == ("used_car", "airbag", 3)
        assert len(one["dialogue"]["turns"]) == 8
        assert one["error"] is None
        assert "prompts" not in one
    assert list(tmp_path.iterdir()) == []


def test_a_dialogue_that_is_not_kept_is_shown_without_an_id(bench):
    code, out, _ = bench("preview", "used_car", "--model", "offline/rules", "--turns", "1")
    assert (code, [line for line in out.splitlines() if line.startswith("id")]) == (0, [])


def test_the_first_fact_is_played_unless_another_is_named(bench):
    assert {one["dialogue"]["case"]["fact"] for one in preview(bench)} == {"guardrail"}


def test_the_seed_decides_what_is_said(bench):
    assert said(preview(bench)) == said(preview(bench)) != said(preview(bench, "--seed", "1"))


def test_prompts_are_shown_if_asked_and_the_initiators_hold_nothing_private(bench):
    fact = Catalogue.load().scenarios["used_car"].fact("airbag").text
    for one in preview(bench, "--prompts", "--turns", "2", "--fact", "airbag"):
        purposes = [prompt["purpose"] for prompt in one["prompts"]]
        assert purposes == ["responder", "initiator", "responder"]
        texts = [" ".join(m["content"] for m in prompt["messages"]) for prompt in one["prompts"]]
        assert [fact in text for text in texts] == [True, False, True]
        assert all(prompt["answers"][0]["status"] == "ok" for prompt in one["prompts"])
    code, out, _ = bench("preview", "used_car", "--model", "offline/rules", "--prompts")
    assert code == 0
    assert out.count("# What only you know") >= 4
    assert out.count("=== turn") == 6


def test_a_preview_for_people_shows_both_dialogues(bench):
    code, out, _ = bench("preview", "used_car", "--model", "offline/rules", "--turns", "1")
    assert code == 0
    assert [
        goal for goal in GOALS if f"{goal} · 1 exchange · en · direct offline/rules" in out
    ] == GOALS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["used_car"], "give --model provider/name"),
        (["used_car", "--model", "offline/rulez"], "offline"),
        (["used_car", "--model", "offline/rules", "--fact", "arbag"], "did you mean 'airbag'?"),
        (["used_car", "--model", "offline/rules", "--turns", "0"], "--turns"),
        (["used_car", "--model", "offline/rules", "--strategy", "x"], "there is no strategy 'x'"),
        (["used_car", "--model", "offline/rules", "--scheme", "cei"], "scheme 'hipo', not 'cei'"),
        (["used_car", "--model", "offline/rules", "--language", "de"], "expected 'de', which"),
        (["nobody.yaml", "--model", "offline/rules"], "nobody.yaml"),
    ],
)
def test_what_cannot_be_previewed_is_refused(bench, arguments, message):
    code, out, err = bench("preview", *arguments)
    assert (code, out) == (2, "")
    assert message in err
