"""Plugins that do not work: what is told names the plugin and the place, and no run ends in silence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hipo import open_run
from quality.derived import DERIVED
from quality.derived_answers import with_derived
from scenarios.annotations import Annotation, Subject
from scenarios.errors import UsageError
from scenarios.plugins import load_plugins
from scenarios.schemes.registry import load_scheme
from tests.extension.conftest import Hipo
from tests.extension.test_docs_page import FILES, OFFLINE

TEMPERATURE, ASKS = "temperature=lambda settings: 0.8", "        question = self.prompts"


def odd(file: str, old: str, new: str) -> None:
    """Write the example of the page with a part replaced."""
    source = FILES[file]
    assert old in source
    Path(file).write_text(source.replace(old, new))


def played(hipo: Hipo, name: str = "shortest") -> tuple[int, str]:
    result = hipo("generate", "--plugin", "shortest.py", "--strategy", name, "--model",
                  "offline/rules", *OFFLINE, "-o", "made")  # fmt: skip
    return result.code, " ".join(result.err.split())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (TEMPERATURE, "temperature=lambda its: 'hot'", "TypeError"),
        (TEMPERATURE, "temperature=lambda its: float('nan')", "its temperature is nan"),
        (TEMPERATURE, "top_p=lambda its: -1", "its top_p is -1, expected a number from 0"),
        (TEMPERATURE, "identity=lambda its: {'a': {1}}", "not JSON serializable: set"),
        (TEMPERATURE, "identity=lambda its: 1 / 0", "shortest.py:40: ZeroDivisionError"),
        (TEMPERATURE, "critics=lambda its: 'reflection'", "its critics are 'reflection'"),
        (TEMPERATURE, "check=lambda scenario: 1 / 0", "shortest.py:40: ZeroDivisionError"),
        ("[answer_calls(settings.samples)]", "None", "'NoneType' object is not iterable"),
        ("Shortest(parts.prompts, parts.asker, settings.samples)", "None", "it built None"),
        (TEMPERATURE, "knows_all=True", "expected an object with script"),
    ],
)
def test_a_strategy_that_says_odd_things_of_itself_is_told_before_anything_is_played(
    hipo: Hipo, old: str, new: str, told: str
) -> None:
    odd("shortest.py", old, new)
    code, message = played(hipo)
    assert code == 2
    assert "the strategy 'shortest' of the plugin shortest.py does not work: " in message
    assert told in message


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (" ShortestSettings,\n", " dict,\n", "derived from scenarios.strict.Strict"),
        (TEMPERATURE, "embeds='no'", "found 'no' as embeds, expected bool"),
        (TEMPERATURE, "longest_answer='9'", "found '9' as longest_answer, expected int | None"),
    ],
)
def test_a_field_that_a_declaration_does_not_have_is_told_with_what_it_takes(
    hipo: Hipo, old: str, new: str, told: str
) -> None:
    odd("shortest.py", old, new)
    code, message = played(hipo)
    assert code == 2
    assert "shortest.py: the strategy 'shortest': found" in message
    assert told in message


def test_a_strategy_with_the_name_of_a_field_of_recipes_is_to_be_renamed(hipo: Hipo) -> None:
    odd("shortest.py", '"shortest",\n', '"seed",\n')
    code, message = played(hipo, "seed")
    assert code == 2
    assert "'seed' is a field of recipes: rename the strategy" in message


def test_a_case_that_a_plugin_fails_has_the_place_as_its_reason(hipo: Hipo) -> None:
    odd("shortest.py", ASKS, f"        1 / 0\n{ASKS}")
    assert played(hipo)[0] == 1
    reasons = {ending.reason for ending in open_run("made").endings(status="failed")}
    (reason,) = reasons
    assert re.fullmatch(r".*/shortest\.py:25: ZeroDivisionError: division by zero", reason)


def test_a_mistake_that_a_plugin_tells_ends_the_run_and_says_where(hipo: Hipo) -> None:
    wrong = "from scenarios.errors import UsageError; raise UsageError('no shop', 'name one')"
    odd("shortest.py", ASKS, f"        {wrong}\n{ASKS}")
    code, message = played(hipo)
    assert code == 2
    assert re.search(r"error: no shop \(.*/shortest\.py:25\) name one", message)


def test_a_role_that_was_not_declared_is_told(hipo: Hipo) -> None:
    odd("shortest.py", 'context("responder")', 'context("more", role="editor")')
    assert played(hipo)[0] == 1
    failed = next(iter(open_run("made").endings(status="failed")))
    assert "no model is asked as 'editor'" in str(failed.reason)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("AnswersAtAll, needs_model=False", "AnswersAtAll", "write answers_at_all=provider/model"),
        ("False)", "False, source='juror')", "judges as juror, not as an external judge"),
        ("False)", "False, source='odd')", "found 'odd' as source, expected Source"),
        ('"answers_at_all", AnswersAtAll', '"answers_at_all", lambda *_: None', "it built None"),
    ],
)
def test_a_judge_that_cannot_sit_on_the_panel_is_told(
    hipo: Hipo, old: str, new: str, told: str
) -> None:
    made = hipo("generate", "--model", "offline/rules", *OFFLINE, "-o", "made")
    assert made.code == 0, made.err
    odd("answers_at_all.py", old, new)
    result = hipo("verify", "made", "--plugin", "answers_at_all.py", "--judge", "answers_at_all")
    assert result.code == 2
    assert told in " ".join(result.err.split())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('models=("rules", "judge")', 'models="rules"', "expected tuple[str, ...]"),
        ('models=("rules", "judge")', "languages=['en']", "expected frozenset[str] | None"),
        ('models=("rules", "judge")', "revision=lambda spec: 3", "its revision is 3"),
        ('models=("rules", "judge")', "revision='nowhere:x'", "No module named 'nowhere'"),
        ('models=("rules", "judge")', "package='yaml', min_version='1'", "needs yaml 1 or newer"),
        ("samples_per_request = True", "samples_per_request = 1", "expected bool"),
        ('name="in_process", build', 'name="in/process", build', "expected one without a slash"),
    ],
)
def test_a_provider_that_says_odd_things_of_itself_is_told(
    hipo: Hipo, old: str, new: str, told: str
) -> None:
    odd("in_process.py", old, new)
    asked = ("--plugin", "in_process.py", "--model", "in_process/rules", *OFFLINE, "-o", "made")
    result = hipo("generate", *asked)
    assert result.code == 2
    assert told in " ".join(result.err.split())


def test_a_critic_with_odd_calls_is_told(hipo: Hipo) -> None:
    odd("plain_words.py", "lambda parts: PlainWords()", "lambda parts: PlainWords(), calls=(3,)")
    Path("mine.yaml").write_text(
        "strategies: reflective\nreflective: {critic: plain_words}\nplugins: [plain_words.py]\n"
    )
    result = hipo("generate", "mine.yaml", "--model", "offline/rules", *OFFLINE, "-o", "made")
    assert result.code == 2
    assert "found (3,) as calls, expected tuple[ExpectedCalls, ...]" in result.err


def test_a_derived_function_that_raises_is_told_with_its_name_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FILES["closeness.py"].replace('"closeness",', '"cobra.mine",')
    assert "    return [weight" in source
    file = tmp_path / "closeness.py"
    file.write_text(
        source.replace("    return [weight", "    raise SystemExit(0)\n    return [weight")
    )
    load_plugins([file])
    mine = DERIVED.get("cobra.mine")
    monkeypatch.setattr(DERIVED, "get", lambda name: mine)
    given = [Annotation(Subject("c", "a", 1), "human", "A01", "commitment", "beneficial")]
    with pytest.raises(
        UsageError, match=r"'cobra\.mine' of the plugin .*closeness\.py:9: SystemExit"
    ):
        list(with_derived(load_scheme("cobra"), given))
