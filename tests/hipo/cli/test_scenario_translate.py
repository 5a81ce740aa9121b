"""``hipo scenarios translate``, and runs in the language of what it writes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from hipo.app.preparation.prepared import prepare
from hipo.app.running.watching import Silent, Spending
from pipeline.recipes.recipe import Recipe
from scenarios.wordings import read_wording
from tests.hipo.cli.conftest import Hipo, Result, interrupted_twice
from tests.wire.faults import Faults
from tests.wire.server import WireServer

WORD = re.compile(r"\{\w+\}|[A-Za-z'\u2019]+")
LINE = re.compile(r"^(t\d+) \(([^)]+)\): (.*)$", re.MULTILINE)
Translate = Callable[..., Result]


def chinese(text: str) -> str:
    """Put two Chinese signs, always the same, in the place of every English word."""

    def signs(found: re.Match[str]) -> str:
        word = found[0]
        number = int(hashlib.sha256(word.lower().encode()).hexdigest(), 16)
        one, two = divmod(number % 4_000_000, 2_000)
        return word if word.startswith("{") else chr(0x4E00 + one) + chr(0x4E00 + two)

    text = WORD.sub(signs, text).replace(" ", "")
    return text.replace(".", "\u3002").replace("?", "\uff1f")


def translation(messages: Sequence[tuple[str, str]], seed: int) -> str:
    """Answer with every text in signs."""
    asked = "\n".join(text for role, text in messages if role == "user")
    return json.dumps({key: chinese(text) for key, _, text in LINE.findall(asked)})


@pytest.fixture
def server() -> Iterator[WireServer]:
    """Serve a model that translates."""
    with WireServer(answer=translation) as running:
        yield running


@pytest.fixture
def translate(hipo: Hipo, server: WireServer, monkeypatch: pytest.MonkeyPatch) -> Translate:
    """Translate scenarios into Chinese with that model."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def call(*arguments: str) -> Result:
        return hipo(
            "scenarios", "translate", *arguments, "--language", "zh", "--model", "openai/gpt-4o-mini",
            "--base-url", server.openai_url, "-o", "words",
        )  # fmt: skip

    return call


def prepared(**changes: object) -> object:
    wish = {"languages": ["zh"], "wordings": ["words"], "scenarios": ["used_car"]}
    model = {"models": {"default": {"model": "openai/gpt-4o-mini"}}}
    return prepare(Recipe.model_validate({**wish, **model, **changes})).scenarios["used_car"]


def test_a_dry_run_tells_the_bill_and_sends_nothing(
    translate: Translate, server: WireServer
) -> None:
    result = translate("used_car", "--dry-run", "--format", "json")
    assert (result.code, server.count, Path("words").exists()) == (0, 0, False)
    assert (result.data["scenarios"], result.data["texts"]) == (1, 65)
    assert 0 < result.data["cost_usd"] < 0.1


def test_a_code_in_capitals_is_the_language_that_it_names(
    hipo: Hipo, translate: Translate, server: WireServer
) -> None:
    done = hipo(
        "scenarios", "translate", "used_car", "--language", "ZH", "--model", "openai/gpt-4o-mini",
        "--base-url", server.openai_url, "-o", "words",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert read_wording(Path("words/zh/used_car.yaml")).wording.language == "zh"
    asked = server.count
    assert (translate("used_car").code, server.count) == (0, asked)
    assert prepared(languages=["ZH"], unreviewed=True).languages == ("zh",)


def test_the_bill_of_answers_that_have_to_be_repaired_is_told_too(
    translate: Translate, server: WireServer
) -> None:
    told = translate("used_car", "--dry-run", "--format", "json").data
    server.answer = lambda messages, seed: translation(messages, seed).replace('"t7"', '"seven"')
    assert translate("used_car").code == 1
    assert server.count == 3
    spent = translate("used_car", "--format", "json").data
    assert spent["calls"] == 0
    assert told["cost_usd"] < spent["cost_usd"] < 1.5 * told["repaired_usd"]


def test_a_bill_without_usage_is_called_a_bound(translate: Translate, server: WireServer) -> None:
    server.faults = Faults(no_usage=True)
    result = translate("used_car", "--format", "json")
    assert (result.data["cost_usd"], result.data["unpriced_calls"]) == (None, 1)
    bound = result.data["charged"]["bound_usd"]
    assert bound == result.data["charged"]["usd"] > 0
    again = translate("used_car", "-o", "words").out
    assert f"at most ${bound:.4f} for 1 call of unknown usage in all" in again


def test_a_file_names_its_origin_and_nobody_as_reviewer(translate: Translate) -> None:
    assert translate("used_car").code == 0
    wording = read_wording(Path("words/zh/used_car.yaml")).wording
    assert wording.origin is not None
    assert wording.origin.model == "openai/gpt-4o-mini"
    assert (wording.reviewed, len(wording.texts)) == ("", 65)
    title = wording.texts["title"]
    assert title.original == "A used car with a past"
    assert title.text == chinese("A used car with a past")


def test_the_progress_says_what_is_in_flight(
    translate: Translate, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Spending] = []

    class Watching(Silent):
        def begin(self, total: int, spending: Callable[[], Spending]) -> None:
            self.spending = spending

    watching = Watching()

    def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
        seen.append(watching.spending())
        return translation(messages, seed)

    monkeypatch.setattr("hipo.cli.scenarios.translate.watcher", lambda **_: watching)
    server.answer = answer
    assert translate("used_car").code == 0
    assert [(now.calls_in_flight, now.doing) for now in seen] == [(1, "translating")]


def test_who_interrupts_twice_leaves_at_once_and_is_told_how_to_go_on(
    translate: Translate, server: WireServer
) -> None:
    server.answer = interrupted_twice
    left = translate("used_car")
    assert (left.code, "stopped: interrupted" in left.err) == (3, True), left.err


def test_what_is_there_is_neither_paid_again_nor_overwritten(
    translate: Translate, server: WireServer
) -> None:
    translate("used_car")
    path = Path("words/zh/used_car.yaml")
    path.write_text(path.read_text().replace('reviewed: ""', "reviewed: Lin"))
    mended = path.read_text()
    again = translate("used_car", "--format", "json")
    assert (again.code, again.data["calls"], again.data["present"], server.count) == (0, 0, 1, 1)
    assert path.read_text() == mended
    path.unlink()
    assert translate("used_car").code == 0
    assert (path.exists(), server.count) == (True, 1)


def test_it_stops_before_it_costs_more_than_the_budget(
    translate: Translate, server: WireServer
) -> None:
    result = translate("used_car", "diesel_emissions", "--budget-usd", "0.000001")
    assert (result.code, server.count) == (4, 0)
    assert not list(Path("words").rglob("*.yaml"))


def test_a_text_that_loses_a_name_in_braces_is_asked_for_again(
    translate: Translate, server: WireServer
) -> None:
    def forgetful(messages: Sequence[tuple[str, str]], seed: int) -> str:
        said = translation(messages, seed)
        return said if len(messages) > 2 else said.replace("{carmaker}", "the maker")

    server.answer = forgetful
    assert translate("diesel_emissions").code == 0
    assert server.count == 2
    assert "{carmaker}" in Path("words/zh/diesel_emissions.yaml").read_text()


def test_a_scenario_that_fails_is_told_and_asked_for_again_only_on_request(
    translate: Translate, server: WireServer
) -> None:
    server.answer = lambda messages, seed: "I would rather not."
    failed = translate("used_car")
    assert failed.code == 1
    assert "0 translated, 1 failed" in failed.out
    asked = server.count
    server.answer = translation
    assert "--retry-failed asks again" in translate("used_car").out
    assert server.count == asked
    assert translate("used_car", "--retry-failed").code == 0
    assert Path("words/zh/used_car.yaml").exists()


def test_runs_use_wordings_that_somebody_has_read_and_others_on_request(
    translate: Translate, hipo: Hipo
) -> None:
    translate("used_car")
    common = (
        "generate", "--scenarios", "used_car", "--language", "zh", "--wordings", "words", "--dry-run",
        "--model", "openai/gpt-4o-mini",
    )  # fmt: skip
    refused = hipo(*common)
    assert refused.code == 2
    assert "used_car.yaml:9: reviewed: found nobody" in refused.err
    assert "--unreviewed" in refused.err
    assert hipo(*common, "--unreviewed").code == 0
    path = Path("words/zh/used_car.yaml")
    path.write_text(path.read_text().replace('reviewed: ""', "reviewed: Lin"))
    assert hipo(*common).code == 0
    scenario = prepared()
    assert scenario.languages == ("zh",)
    assert scenario.facts[0].text.startswith(chinese("Two winters ago"))
    assert scenario.opening.shared.hard_question[0].startswith(chinese("That left wing's"))
    assert scenario.wording.reviewed == "Lin"


def test_names_in_braces_are_filled_in_the_other_language(translate: Translate) -> None:
    translate("diesel_emissions")
    scenario = prepare(
        Recipe.model_validate(
            {
                "languages": ["zh"], "wordings": ["words"], "unreviewed": True,
                "scenarios": ["diesel_emissions"],
                "models": {"default": {"model": "openai/gpt-4o-mini"}},
            }
        )
    ).scenarios["diesel_emissions"]  # fmt: skip
    assert chinese("Hartwald Automobile") in scenario.background


def test_a_wording_of_an_earlier_state_is_refused_with_the_line(
    translate: Translate, hipo: Hipo
) -> None:
    translate("used_car")
    path = Path("words/zh/used_car.yaml")
    path.write_text(path.read_text().replace("A used car with a past", "Another car", 1))
    refused = hipo(
        "generate", "--scenarios", "used_car", "--language", "zh", "--wordings", "words",
        "--unreviewed", "--dry-run", "--model", "openai/gpt-4o-mini",
    )  # fmt: skip
    assert refused.code == 2
    assert "found 'Another car', expected 'A used car with a past'" in refused.err


def test_a_language_nobody_has_written_says_how_to_get_wordings(hipo: Hipo) -> None:
    refused = hipo(
        "generate", "--scenarios", "used_car", "--language", "zh", "--dry-run",
        "--model", "openai/gpt-4o-mini",
    )  # fmt: skip
    assert refused.code == 2
    assert "hipo scenarios translate --language zh" in refused.err


def test_rules_are_told_apart_from_a_model_that_fails(hipo: Hipo) -> None:
    words = ("scenarios", "translate", "used_car", "--language", "zh", "-o", "words")
    for dry in ((), ("--dry-run",)):
        result = hipo(*words, "--model", "offline/rules", *dry)
        assert result.code == 2
        assert "offline/rules cannot translate" in result.err
    assert not Path("words").exists()


def test_without_a_scenario_nothing_is_translated_by_accident(
    translate: Translate, server: WireServer
) -> None:
    refused = translate()
    assert (refused.code, server.count) == (2, 0)
    assert "nothing says which scenarios are meant" in refused.err


def test_scenarios_of_a_scheme_are_translated_alone(
    translate: Translate, server: WireServer, tmp_path: Path
) -> None:
    refused = translate("used_car", "--scheme", "cei", "--dry-run")
    assert (refused.code, server.count) == (2, 0)
    assert (
        "scenario 'used_car' is of the scheme 'hipo', not 'cei'\n  give --scheme hipo"
        in refused.err
    )
    asked = translate("used_car", "--scheme", "hipo", "--dry-run")
    assert (asked.code, "1 scenario into zh" in asked.out) == (0, True)
    (tmp_path / "empty").mkdir()
    nothing = translate("--scenario-dir", str(tmp_path / "empty"), "--scheme", "cei", "--dry-run")
    assert "no scenario of --scenario-dir is of the scheme 'cei'" in nothing.err


def test_what_is_written_in_the_language_already_is_told(
    hipo: Hipo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    words = ("scenarios", "translate", "used_car", "-m", "openai/gpt-4o-mini", "-o", "words")
    refused = hipo(*words, "--language", "German", "--dry-run")
    assert refused.code == 2
    assert "'German' is no code of a language\n  write de for German" in refused.err
    asked = hipo(*words, "--language", "en", "--dry-run")
    assert asked.code == 0
    assert asked.out.startswith("used_car is written in en already\n0 scenarios into en")


def test_a_scenario_that_is_nowhere_is_looked_for_in_a_folder_of_ones_own(
    translate: Translate, server: WireServer
) -> None:
    refused = translate("leaking_pipe", "--dry-run")
    assert (refused.code, server.count) == (2, 0)
    assert "read with --scenario-dir FOLDER" in refused.err


def test_a_dialogue_is_played_with_the_wordings_and_goes_on_without_their_file(
    translate: Translate, server: WireServer, hipo: Hipo
) -> None:
    translate("used_car")
    labels = {"intention": "告知", "veracity": "无操控", "illocutionary": "承诺类"}
    said = {"plan": "p", "utterance": "我不想多说。", "goal": "隐瞒", **labels}
    why = {f"{dimension}_rationale": "r" for dimension in labels}
    server.answer = lambda messages, seed: json.dumps({**said, **why})
    common = (
        "generate", "--scenarios", "used_car", "--language", "zh", "--wordings", "words", "--unreviewed",
        "--model", "openai/gpt-4o-mini", "--base-url", server.openai_url, "--turns", "1", "-o", "run",
        "--goals", "truthful non-disclosure",
    )  # fmt: skip
    first = hipo(*common, "-n", "1")
    assert first.code == 0, first.err
    shown = hipo("show", "run", "--format", "json").data
    told = hipo("show", "run", shown[0]["id"], "--format", "json").out
    assert '"Commissives"' in told
    Path("words/zh/used_car.yaml").rename("gone.yaml")
    Path("words").rename("elsewhere")
    more = hipo(*common, "-n", "2")
    assert more.code == 0, more.err
