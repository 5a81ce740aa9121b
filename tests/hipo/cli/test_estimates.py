"""How many samples a run asks for, by strategy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hipo.app.estimates.playing import Estimate, ModelEstimate, estimate_generation
from hipo.app.preparation.prepared import prepare
from hipo.cli.reports.estimate import estimate_as_text
from pipeline.providers.registry import PROVIDERS
from pipeline.recipes.recipe import Recipe
from scenarios.arms import ModelSpec
from scenarios.extensions import imported


def prepared(**changes: object):  # type: ignore[no-untyped-def]
    data = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], **changes}
    return prepare(Recipe.model_validate(data))


def test_candidates_of_one_question_are_one_call_with_one_prompt_where_they_come_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")

    def told(model: str, strategy: str) -> ModelEstimate:
        plan = prepared(
            n=2, turns=[1], strategies=[strategy], models={"default": model}, consistency={"k": 3}
        )
        [one] = estimate_generation(plan).models
        return one

    for model, read in (("openai/gpt-4o-mini", 1), ("anthropic/claude-haiku-4-5", 3)):
        alone, voted = told(model, "direct"), told(model, "consistency")
        assert voted.calls == read * alone.calls
        assert voted.completion_tokens == 3 * alone.completion_tokens
        assert voted.prompt_tokens == pytest.approx(read * alone.prompt_tokens, abs=2)


def test_the_registry_says_of_each_provider_whether_samples_come_one_by_one() -> None:
    for name in ("openai", "anthropic", "compatible"):
        extension = PROVIDERS.get(name)
        assert imported(str(extension.build)).samples_per_request is not extension.one_by_one


def test_answers_that_will_be_cut_off_are_announced() -> None:
    def told(most: int | None) -> Estimate:
        model = {"model": "compatible/x", "base_url": "http://h/v1", "max_tokens": most}
        changes = {"scheme": "face_acts", "scenarios": ["seed_library"], "n": 1}
        return estimate_generation(
            prepared(strategies=["screenplay"], models={"default": model}, **changes)
        )

    assert told(None).cut == ()
    assert "cut off" not in estimate_as_text(told(None))
    [cut] = told(350).cut
    assert (cut.strategy, cut.kind, cut.max_tokens) == ("screenplay", "screenplay", 350)
    assert cut.answer_tokens > 4_000
    assert "and may have 350: it is cut off" in estimate_as_text(told(350))


def test_the_cost_is_unknown_as_soon_as_one_price_is() -> None:
    priced = prepared(n=2, strategies=["reflective"])
    assert estimate_generation(priced).cost_usd == 0
    uses = dict(priced.uses)
    key = (priced.arms[0].id, "reflector")
    spec = ModelSpec("compatible", "x", base_url="http://h/v1")
    uses[key] = replace(uses[key], spec=spec, price=None)
    assert estimate_generation(replace(priced, uses=uses)).cost_usd is None


def test_prompts_of_long_dialogues_are_sampled_from_all_over_them() -> None:
    def prompt_tokens(turns: int) -> float:
        [arm] = estimate_generation(prepared(n=2, turns=[turns])).arms
        return next(c.prompt_tokens for c in arm.calls if c.role == "responder")

    # each exchange adds as much to the later prompts, so that the mean grows as the length does
    five, ten, forty = prompt_tokens(5), prompt_tokens(10), prompt_tokens(40)
    assert (forty - ten) / (ten - five) == pytest.approx(30 / 5, rel=0.1)


def test_of_dialogues_of_several_lengths_each_counts_with_its_turns() -> None:
    def tokens(*turns: int) -> float:
        [model] = estimate_generation(prepared(n=2 * len(turns), turns=turns)).models
        return model.prompt_tokens

    assert tokens(1, 40) == pytest.approx(tokens(1) + tokens(40), rel=0.05)


def test_where_an_endpoint_may_answer_one_sample_a_request_that_is_told_too() -> None:
    def told(strategy: str) -> Estimate:
        model = {
            "model": "compatible/x",
            "base_url": "http://h/v1",
            "price": {"input": 1, "output": 1},
        }
        changes = {"n": 2, "turns": [1], "strategies": [strategy], "consistency": {"k": 3}}
        return estimate_generation(prepared(models={"default": model}, **changes))

    assert told("direct").singly == ()
    [direct], [voted] = told("direct").models, told("consistency").models
    [singly] = told("consistency").singly
    assert singly.calls == 3 * direct.calls
    assert singly.completion_tokens == voted.completion_tokens
    assert singly.prompt_tokens > voted.prompt_tokens
    assert f"{singly.calls} calls, {singly.prompt_tokens:,} prompt" in estimate_as_text(
        told("consistency")
    )
