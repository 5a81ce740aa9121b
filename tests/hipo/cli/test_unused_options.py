"""Options that are of no use with the others are refused; those that are of some use are not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hipo.app.options.recipe import overridden
from pipeline.recipes.recipe import Recipe
from scenarios.errors import UsageError
from tests.hipo.cli.conftest import Hipo

BASE_URL = "models.default.base_url"
KEY = "models.default.api_key_env"


@pytest.mark.parametrize(
    ("options", "named", "advice"),
    [
        (("--k", "3"), "--k is of no use without the strategy consistency, found direct", "--k"),
        (("--reflector-model", "offline/rules"), "no reflector has a part in", "--strategy"),
        (("--repetitions", "2"), "--repetitions changes nothing beside -n (2)", "or -n"),
        (("--unreviewed",), "which wordings are taken, and none are named", "--wordings"),
        (("--reviewed",), "which wordings are taken, and none are named", "--wordings"),
        (("--api-key-env", "HOME"), "offline/rules runs on this machine", "--api-key-env"),
        (
            ("--initiator-model", "offline/judge", "--responder-model", "offline/judge"),
            "--model is of no use: every role (initiator, responder) has a model of its own",
            "leave --model out",
        ),
        (("--verify", "--judge-base-url", "http://127.0.0.1:9/v1"), "and none is", "--judge"),
        (("--verify", "--judge-api-key-env", "HOME"), "and none is", "--self-judge"),
        (("--verify", "--self-judge", "offline/judge", "--no-self"), "nobody does", "one of the"),
        (("--verify", "--foils", "3"), "who are shown labels, and none is", "--judge-style verify"),
        (
            ("--accepted", "3", "--judge-style", "verify", "--foils", "3"),
            "--accepted stops before",
            "hipo verify --foils",
        ),
        (("--batch",), "--batch changes nothing: models in this process", "leave --batch out"),
        (("--batch", "--verify"), "(asked: offline/judge, offline/rules)", "leave --batch out"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_an_option_without_effect_is_refused_before_anything_is_made(
    offline: Hipo, tmp_path: Path, options: tuple[str, ...], named: str, advice: str,
    more: tuple[str, ...],
) -> None:  # fmt: skip
    result = offline("-n", "2", "-o", "run", "-q", *options, *more)
    assert (result.code, result.out) == (2, "")
    assert named in result.err
    assert advice in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "options", "named"),
    [
        ("--preview", ("--workers", "2"), "--workers or --executor"),
        ("--preview", ("--shard", "1/2", "--retry-failed"), "--retry-failed, --shard"),
        ("--preview", ("--verify",), "--verify"),
        ("--preview", ("--accepted", "3"), "--accepted"),
        ("--preview", ("--dry-run",), "--dry-run"),
        ("--preview", ("--dry-run", "--pilot", "2"), "--dry-run, --pilot"),
        ("--pilot", ("--dry-run", "--workers", "2"), "--workers or --executor"),
    ],
)
def test_a_look_at_a_few_cases_takes_no_options_of_a_run(
    offline: Hipo, kind: str, options: tuple[str, ...], named: str
) -> None:
    result = offline("-n", "2", kind, "1", *options)
    assert (result.code, result.out) == (2, "")
    assert f"it takes no {named}\n" in result.err


def test_real_names_that_nobody_has_are_said_to_change_nothing(offline: Hipo, hipo: Hipo) -> None:
    said = "real names change nothing: no scenario that is played has any"
    assert said in offline("-n", "1", "-o", "run", "--real-names").err
    documented = ("--scenarios", "diesel_emissions", "-o", "run2", "--real-names")
    assert said not in hipo("generate", "--model", "offline/rules", "-n", "1", *documented).err


FLOWS = ("generate", "-m", "offline/random", "--scheme", "face_acts", "-n", "2")


@pytest.mark.parametrize(
    "more", [(), ("--dry-run",), ("--preview", "1"), ("--dry-run", "--pilot", "1")]
)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--turns", "2"), "--turns changes nothing: every scenario that is played has a flow"),
        (("--openings", "by-goal"), "--openings changes nothing"),
        (("--turns", "2", "--openings", "shared"), "--turns and --openings change nothing"),
    ],
)
def test_lengths_and_openings_of_flows_alone_are_refused(
    hipo: Hipo, tmp_path: Path, options: tuple[str, ...], named: str, more: tuple[str, ...]
) -> None:
    result = hipo(*FLOWS, *options, *more)
    assert (result.code, result.out) == (2, "")
    assert named in result.err
    assert "play a scenario without a flow" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [("--turns", "2"), ("--openings", "shared")])
def test_a_preview_of_a_flow_refuses_what_says_nothing_of_it(
    hipo: Hipo, option: tuple[str, ...]
) -> None:
    preview = ("scenarios", "preview", "rescue_boat", "-m", "offline/random", "--format", "json")
    result = hipo(*preview, *option)
    assert (result.code, f"{option[0]} changes nothing" in result.err) == (2, True)


def test_a_study_refuses_what_changes_nothing_in_any_of_its_runs(
    hipo: Hipo, tmp_path: Path
) -> None:
    studied = ("study", "-n", "1", "--scenarios", "used_car", "--strategy", "direct", "-o", "all",
               "--models", "offline/rules")  # fmt: skip
    result = hipo(*studied, "--batch")
    assert (result.code, "(asked: offline/judge, offline/rules)" in result.err) == (2, True)
    flows = hipo("study", *FLOWS[1:], "--strategy", "direct", "--turns", "2", "-o", "all")
    assert (flows.code, "--turns changes nothing" in flows.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_how_judges_are_asked_is_refused_where_none_of_them_is_on_the_panel(
    hipo: Hipo, offline: Hipo, tmp_path: Path
) -> None:
    assert hipo("generate", "-m", "offline/random", "--scenarios", "used_car", "-n", "1", "-o",
                "made", "-q").code == 0  # fmt: skip
    before = sorted(tmp_path.rglob("*"))
    style = hipo("verify", "made", "--judge-style", "verify")
    assert (style.code, "--judge-style says how judges are asked" in style.err) == (2, True)
    assert "name a model with --judge provider/model" in style.err
    for option, value in (("--judge-calls", "dialogue"), ("--judge-max-tokens", "300")):
        nobody = hipo("verify", "made", "--no-self", option, value)
        assert (nobody.code, f"{option} says how" in nobody.err) == (2, True)
        assert hipo("verify", "made", option, value, "--dry-run").code == 0  # it judges itself
    assert sorted(tmp_path.rglob("*")) == before
    assert offline("-n", "1", "--verify", "--judge-style", "verify", "-o", "own", "-q").code == 0
    random = ("generate", "-m", "offline/random", "--scenarios", "used_car", "-n", "1", "-o", "at")
    at_once = hipo(*random, "--verify", "--judge-style", "commit")
    assert (at_once.code, "--judge-style says how" in at_once.err) == (2, True)


def test_what_a_recipe_says_of_batches_and_turns_is_no_mistake(hipo: Hipo, tmp_path: Path) -> None:
    recipe = {"n": 1, "scheme": "face_acts", "turns": [2], "limits": {"batch": True}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(recipe))
    assert hipo("generate", "mine.yaml", "-m", "offline/random", "--dry-run").code == 0


def test_what_a_recipe_says_of_other_strategies_is_no_mistake(hipo: Hipo, tmp_path: Path) -> None:
    recipe = {
        "scenarios": "used_car",
        "n": 1,
        "unreviewed": True,
        "consistency": {"k": 3},
        "models": {"default": "offline/rules", "reflector": "offline/rules"},
    }
    (tmp_path / "many.yaml").write_text(yaml.safe_dump(recipe))
    dry = ("generate", "many.yaml", "--dry-run", "--format", "json")
    assert hipo(*dry).code == 0
    assert hipo(*dry, "--strategy", "direct,consistency", "--k", "5").code == 0
    reflecting = ("--strategy", "direct,reflective", "--reflector-model", "offline/judge")
    assert hipo(*dry, *reflecting).code == 0


def test_wordings_in_another_language_than_the_dialogues_are_refused(
    offline: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "car.yaml").write_text(
        "scenario: used_car\nlanguage: de\ntexts: {opening: {original: A, text: B}}\n"
    )
    result = offline("-n", "1", "--wordings", "car.yaml", "-o", "run")
    assert result.code == 2
    assert "the wordings are in de, and the dialogues are to be in en" in result.err
    assert "give --language de" in result.err


def test_address_key_and_form_of_answers_reach_roles_that_alone_have_models() -> None:
    given = {
        "models.initiator.model": "openai/a",
        "models.responder.model": "openai/b",
        BASE_URL: "http://127.0.0.1:9/v1",
        KEY: "MY_KEY",
        "models.default.structured": "instruct",
    }
    models = overridden(Recipe(), given).models
    for role in ("initiator", "responder"):
        settings = models.role(role)
        assert (settings.base_url, settings.api_key_env) == ("http://127.0.0.1:9/v1", "MY_KEY")
        assert settings.structured == "instruct"


def test_a_key_is_for_the_roles_that_are_asked_elsewhere() -> None:
    given = {"models.default.model": "offline/rules", "models.responder.model": "openai/b"}
    models = overridden(Recipe(), {**given, KEY: "MY_KEY"}).models
    assert models.role("initiator").api_key_env is None
    assert models.role("responder").api_key_env == "MY_KEY"


def test_sampling_that_reaches_no_role_is_refused() -> None:
    recipe = Recipe.model_validate({"models": {"default": "offline/rules"}})
    assert overridden(recipe, {"models.default.temperature": 0.9}).models.role("responder")
    lone = Recipe.model_validate({"strategies": ["screenplay"], "models": {"default": "openai/a"}})
    with pytest.raises(UsageError, match="--initiator-model names a model that is not asked"):
        overridden(lone, {"models.initiator.model": "openai/b"})


def test_a_study_gives_every_role_the_model_that_is_named_for_it(
    hipo: Hipo, tmp_path: Path
) -> None:
    studied = ("study", "-n", "1", "--scenarios", "used_car", "--strategy", "direct", "-o", "all",
               "--models", "offline/rules", "--dry-run", "--format", "json")  # fmt: skip
    (plan,) = hipo(*studied, "--initiator-model", "offline/random").data
    assert [model["model"] for model in plan["models"]] == ["offline/random", "offline/rules"]
    both = hipo(*studied, "--model", "offline/judge")
    assert (both.code, "--model and --models both say" in both.err) == (2, True)
    assert hipo(*studied, "--k", "3").code == 2


def test_an_evaluation_in_this_process_takes_neither_address_nor_key(
    offline: Hipo, hipo: Hipo
) -> None:
    assert offline("-n", "1", "-o", "made", "-q").code == 0
    asked = ("evaluate", "made", "--any", "--task", "hipo-utterance", "--model", "offline/random",
             "-o", "scores")  # fmt: skip
    key = hipo(*asked, "--api-key-env", "HOME")
    assert (key.code, "takes no key" in key.err) == (2, True)
    address = hipo(*asked, "--base-url", "http://127.0.0.1:9/v1")
    assert (address.code, "takes no --base-url" in address.err) == (2, True)


def test_a_task_of_another_scheme_is_refused_with_those_of_this_one(
    offline: Hipo, hipo: Hipo
) -> None:
    assert offline("-n", "1", "-o", "made", "-q").code == 0
    result = hipo("evaluate", "made", "--any", "--task", "face-acts-intention", "--model",
                  "offline/random", "-o", "scores")  # fmt: skip
    assert result.code == 2
    assert "face-acts-intention is not for the scheme hipo" in result.err
    assert "tasks that are: hipo-conversation" in result.err


@pytest.mark.parametrize(
    ("command", "named", "advice"),
    [
        (("verdict", "made", "0", "--note", "why"), "and none is given", "accepted, discarded or"),
        (("show", "made", "--trace"), "about one dialogue", "give the id of one"),
        (("show", "made", "--prompts"), "about one dialogue", "give the id of one"),
        (("show", "made", "0", "--goal", "deception"), "'0' names one dialogue", "the id out"),
        (("show", "made", "0", "--skip", "3"), "'0' names one dialogue", "the id out"),
        (("show", "made", "0", "-n", "20"), "'0' names one dialogue", "the id out"),
        (("verify", "made", "--batch"), "--batch changes nothing", "leave --batch out"),
        (("verify", "made", "--batch", "--dry-run"), "(asked: offline/judge)", "--batch out"),
        (
            ("verify", "made", "--juror", "offline/reader", "--batch"),
            "(asked: offline/reader)",
            "--batch out",
        ),
        (
            (
                "evaluate",
                "made",
                "--any",
                "--task",
                "hipo-utterance",
                "-m",
                "offline/judge",
                "-o",
                "scores",
                "--batch",
            ),
            "(asked: offline/judge)",
            "leave --batch out",
        ),
        (("export", "made", "-o", "set", "--public"), "nothing is", "--push-to-hub REPO"),
        (("export", "made", "-o", "set", "--compare-splits"), "one split", "--splits 80,10,10"),
        (
            ("export", "made", "-o", "set", "--no-embeddings"),
            "nothing is compared",
            "--against SET",
        ),
        (("runs", "--dir", "other", "show", "made"), "the list of runs alone", "by its folder"),
        (("runs", "--format", "json", "show", "made"), "the list of runs alone", "behind show"),
        (
            ("contamination", "a", "b", "--no-embeddings", "--cosine", "0.5"),
            "that they are not",
            "leave one",
        ),
        (("review", "export", "made", "--to", "pdf", "--blank"), "a sheet to fill in", "--to csv"),
        (
            ("review", "export", "made", "--to", "csv", "--blank", "--annotator", "R1"),
            "without answers",
            "without --annotator",
        ),
        (("qc", "made", "--released-map", "cei"), "none are named", "--released"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_another_command_would_make_nothing_of_is_refused(
    offline: Hipo, hipo: Hipo, tmp_path: Path, command: tuple[str, ...], named: str, advice: str
) -> None:
    assert offline("-n", "1", "-o", "made", "-q").code == 0
    before = sorted(tmp_path.rglob("*"))
    result = hipo(*command)
    assert (result.code, result.out) == (2, "")
    assert named in result.err
    assert advice in result.err
    assert sorted(tmp_path.rglob("*")) == before
