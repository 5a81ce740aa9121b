from __future__ import annotations

import dataclasses

import pytest

from pipeline.arms import Arm, ModelSpec
from pipeline.providers.protocol import Parameters
from scenarios.errors import UsageError

MODEL = ModelSpec("openai", "gpt-4o", parameters=Parameters(temperature=0.2, top_p=0.6))
MODELS = {"initiator": MODEL, "responder": MODEL, "reflector": MODEL}


def test_the_same_arm_has_the_same_id_whenever_it_is_built():
    assert Arm("consistency", MODELS).id == Arm("consistency", dict(MODELS)).id
    assert len(Arm("direct", MODELS).id) == 20


@pytest.mark.parametrize(
    "change",
    [
        {"provider": "compatible"},
        {"model": "gpt-4o-mini"},
        {"base_url": "http://127.0.0.1:1/v1"},
        {"structured": "instruct"},
        {"parameters": Parameters(temperature=0.3, top_p=0.6)},
        {"parameters": Parameters(temperature=0.2, top_p=0.5)},
        {"parameters": Parameters(temperature=0.2, top_p=0.6, max_tokens=64)},
        {"parameters": Parameters(temperature=0.2, top_p=0.6, extra={"top_k": 20})},
    ],
)
def test_whatever_can_change_an_answer_changes_the_id(change):
    other = {**MODELS, "responder": dataclasses.replace(MODEL, **change)}
    assert Arm("direct", other).id != Arm("direct", MODELS).id


def test_settings_count_only_where_the_strategy_reads_them():
    assert Arm("direct", MODELS, k=2).id == Arm("direct", MODELS, k=8).id
    assert Arm("consistency", MODELS, k=2).id != Arm("consistency", MODELS, k=8).id
    assert Arm("consistency", MODELS).id != Arm("consistency", MODELS, encoder="other").id
    assert Arm("consistency", MODELS, max_revisions=2).id == Arm("consistency", MODELS).id
    assert Arm("reflective", MODELS, max_revisions=2).id != Arm("reflective", MODELS).id


def test_a_model_nobody_asks_is_no_part_of_the_arm():
    without = {"initiator": MODEL, "responder": MODEL}
    assert Arm("direct", without).id == Arm("direct", MODELS).id


def test_the_label_names_strategy_and_model():
    assert Arm("reflective", MODELS).label == "reflective openai/gpt-4o"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "majority", "models": MODELS}, "choose one of: direct, reflective"),
        ({"strategy": "direct", "models": {"initiator": MODEL}}, "a model for the responder"),
        (
            {"strategy": "reflective", "models": {"initiator": MODEL, "responder": MODEL}},
            "a model for the reflector",
        ),
        ({"strategy": "consistency", "models": MODELS, "k": 1}, "at least 2 candidates, got 1"),
        ({"strategy": "reflective", "models": MODELS, "max_revisions": -1}, "negative, got -1"),
    ],
)
def test_an_arm_that_cannot_play_is_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        Arm(**arguments)
