"""Strategies as extensions: what one declares is all that recipe, arm, estimate and player read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hipo.app.estimates.playing import estimate_generation
from hipo.app.generation.generate import generate
from hipo.app.preparation.prepared import Prepared, prepare
from hipo.cli.show.dialogue_view import Heading, render
from pipeline.critics.registry import CRITICS
from pipeline.expected_calls import ArmParts
from pipeline.recipes.recipe import Recipe
from pipeline.recipes.source import load_recipe
from pipeline.strategies.registry import STRATEGIES
from scenarios.errors import InputError, UsageError
from scenarios.plugins import PLUGINS

PLUGIN = '''
from dataclasses import dataclass

from pipeline.critics.registry import CriticExtension
from pipeline.expected_calls import ExpectedCalls, answer_calls
from pipeline.strategies.protocol import Spoken
from pipeline.strategies.registry import StrategyExtension
from scenarios.dialogue import Attempt, Critique, Trace
from scenarios.strict import Strict


class ShortestSettings(Strict):
    tries: int = 3


@dataclass(frozen=True)
class Shortest:
    """Says the shortest of several answers, after a planner has been asked, too."""

    prompts: object
    asker: object
    tries: int

    async def utter(self, task):
        question = self.prompts.responder(task.view, task.history, task.wanted)
        drafts = [await self.asker.ask(question, task.context("plan", role="planner"))]
        for number in range(self.tries):
            drafts.append(await self.asker.ask(question, task.context(f"try-{number}")))
        shortest = min(drafts, key=lambda draft: len(draft.text))
        notes = (f"{len(shortest.text)} letters",)
        return Spoken(shortest, Trace("shortest", attempts=(Attempt(shortest),), notes=notes))


class Brief:
    """Finds fault with a first draft, whatever it says."""

    async def critique(self, task, draft, revision):
        return (Critique("veracity", False, "say it in fewer words"),)


def _plan(turn):
    return turn.prompts.responder(turn.view, turn.history, turn.wanted)


EXTENSIONS = [
    StrategyExtension(
        "shortest",
        "says the shortest of several answers",
        ShortestSettings,
        build=lambda parts, its: Shortest(parts.prompts, parts.asker, its.tries),
        calls=lambda its: [ExpectedCalls("plan", "planner", _plan, 170), answer_calls(its.tries)],
    ),
    CriticExtension("brief", lambda parts: Brief()),
]
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(PLUGINS, "files", {})
    path = tmp_path / "shortest.py"
    path.write_text(PLUGIN)
    return path


def prepared(**changes: object) -> Prepared:
    data = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "n": 2, **changes}
    return prepare(Recipe.model_validate(data))


def kinds(of: Prepared) -> dict[str, tuple[float, float]]:
    [arm] = estimate_generation(of).arms
    return {calls.kind: (calls.expected, calls.most) for calls in arm.calls}


@pytest.mark.parametrize("name", STRATEGIES.shipped)
def test_what_ships_is_listed_under_the_name_it_declares(name: str) -> None:
    strategy = STRATEGIES.get(name)
    assert strategy.name == name
    settings = strategy.settings()
    speaking = ("responder",) if strategy.knows_all else ("initiator", "responder")
    assert strategy.roles(settings)[: len(speaking)] == speaking
    assert all(calls.expected <= calls.most for calls in strategy.calls(settings))
    assert all(CRITICS.get(critic).name == critic for critic in strategy.critics(settings))


def test_an_unknown_strategy_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="no strategy 'direkt'") as error:
        prepared(strategies=["direkt"])
    assert "did you mean 'direct'?" in error.value.hint
    with pytest.raises(UsageError, match="no critic 'reflexion'"):
        prepared(strategies=["reflective"], reflective={"critic": "reflexion"})


def test_an_unknown_strategy_in_a_recipe_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("seed: 1\nstrategies: [direct, reflektive]\n")
    with pytest.raises(InputError) as error:
        load_recipe(tmp_path / "mine.yaml")
    [problem] = error.value.problems
    assert (problem.line, problem.field) == (2, "strategies[1]")
    assert "did you mean 'reflective'?" in problem.hint


def test_voting_without_an_encoder_is_an_error_and_never_another_strategy() -> None:
    strategy = STRATEGIES.get("consistency")
    parts = ArmParts(prompts=None, asker=None, encoder=None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs an encoder"):
        strategy.build(parts, strategy.settings())


@pytest.mark.parametrize(
    ("recipe", "place"),
    [
        ({"consistency": {"k": 1}}, ("consistency", "k")),
        ({"reflective": {"rounds": 2}}, ("reflective", "rounds")),
        ({"direct": {"k": 2}}, ("direct", "k")),
        ({"stratgies": ["direct"]}, ("stratgies",)),
        ({"shortest": {"tries": 2}}, ("shortest",)),
    ],
)
def test_settings_that_no_strategy_has_are_refused_at_their_place(
    recipe: dict[str, object], place: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as error:
        Recipe.model_validate(recipe)
    assert [detail["loc"] for detail in error.value.errors()] == [place]


def test_a_model_for_a_role_that_nobody_asks_is_refused() -> None:
    with pytest.raises(UsageError, match=r"models\.respnder") as error:
        prepared(models={"default": "offline/rules", "respnder": "offline/rules"})
    assert "did you mean 'responder'?" in error.value.hint


@given(k=st.integers(2, 8), rounds=st.integers(1, 10))
def test_strategies_declare_what_they_ask_for_one_utterance(k: int, rounds: int) -> None:
    def declared(name: str, **values: int) -> dict[str, tuple[float, float]]:
        strategy = STRATEGIES.get(name)
        calls = strategy.calls(strategy.settings.model_validate(values))
        return {call.kind: (call.expected, call.most) for call in calls}

    assert declared("direct") == {"responder": (1, 1)}
    assert declared("consistency", k=k) == {"responder": (k, k)}
    reflective = declared("reflective", max_revisions=rounds)
    assert list(reflective) == ["responder", "reflect", "revise"]
    assert [most for _, most in reflective.values()] == [1, rounds, rounds]
    assert 1 <= reflective["reflect"][0] == pytest.approx(2 * reflective["revise"][0])


def test_an_estimate_multiplies_what_strategies_declare_by_the_exchanges() -> None:
    ready = prepared(turns=[3], strategies="reflective", reflective={"max_revisions": 2})
    # The first question of a dialogue is fixed, and the initiator is asked for the other two.
    assert kinds(ready) == {
        "initiator": (4, 4), "responder": (6, 6), "reflect": (9, 12), "revise": (4.5, 12),
    }  # fmt: skip
    [arm] = estimate_generation(ready).arms
    assert all(calls.prompt_tokens > 100 for calls in arm.calls)


def test_a_strategy_of_a_plugin_has_settings_roles_and_estimates_of_its_own(plugin: Path) -> None:
    ready = prepared(
        strategies=["shortest"], shortest={"tries": 4}, plugins=[str(plugin)], turns=[1],
        models={"default": "offline/rules", "planner": {"model": "offline/rules", "top_p": 0.9}},
    )  # fmt: skip
    [arm] = ready.arms
    assert (arm.strategy, arm.settings) == ("shortest", {"tries": 4})
    assert arm.models["planner"].parameters.top_p == 0.9  # type: ignore[union-attr]
    assert kinds(ready) == {"initiator": (0, 0), "plan": (2, 2), "responder": (8, 8)}
    assert list(ready.config.plugins) == ["strategy shortest"]
    with pytest.raises(UsageError, match=r"shortest\.tries: found 'few'"):
        prepared(strategies=["shortest"], shortest={"tries": "few"}, plugins=[str(plugin)])


def test_a_strategy_and_a_critic_of_a_plugin_play(plugin: Path, tmp_path: Path) -> None:
    recipe = Recipe.model_validate(
        {
            "models": {"default": "offline/rules"}, "scenarios": ["used_car"], "n": 2, "turns": 1,
            "strategies": ["shortest", "reflective"], "reflective": {"critic": "brief"},
            "plugins": [str(plugin)],
        }
    )  # fmt: skip
    run = generate(recipe, output=tmp_path / "run")
    strategies = {arm.id: arm.arm.strategy for arm in run.state().arms}
    traces = [
        (strategies[dialogue.arm], dialogue.answers()[0].trace) for dialogue in run.dialogues()
    ]
    assert sorted(name for name, _ in traces) == ["reflective"] * 2 + ["shortest"] * 2
    for name, trace in traces:
        assert trace is not None
        assert trace.strategy == name
        if name == "reflective":
            assert [c.reason for c in trace.attempts[0].critiques] == ["say it in fewer words"]
        else:
            assert trace.notes == (f"{len(trace.attempts[0].draft.text)} letters",)
    shown = next(d for d in run.dialogues() if strategies[d.arm] == "shortest")
    heading = Heading(shown.case.id, "shortest", None)
    assert " letters" in render(shown, heading, trace=True).split("shortest: ")[1]
    assert not {"reflector"} & {role for arm in run.state().arms for role in arm.arm.models}


def test_the_critic_is_part_of_the_arm_only_where_it_is_not_the_models_reflection(
    plugin: Path,
) -> None:
    [usual] = prepared(strategies=["reflective"]).arms
    [other] = prepared(
        strategies=["reflective"], reflective={"critic": "brief"}, plugins=[str(plugin)]
    ).arms
    assert usual.settings == {"max_revisions": 1}
    assert other.settings == {"max_revisions": 1, "critic": "brief"}


def test_what_a_run_keeps_of_its_recipe_has_every_setting_written_out() -> None:
    recipe = prepared(strategies=["direct", "consistency"], consistency={"k": 3}).recipe
    assert recipe.model_dump(mode="json")["consistency"] == {
        "k": 3, "temperature": 0.6, "top_p": 1.0, "vote": "text",
    }  # fmt: skip
    assert "direct" not in recipe.model_dump(mode="json")
