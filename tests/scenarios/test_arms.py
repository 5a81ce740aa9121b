from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.arms import Arm, ModelSpec, Parameters

MODEL = ModelSpec("openai", "gpt-4o", parameters=Parameters(temperature=0.2, top_p=0.6))
TWO = {"initiator": MODEL, "responder": MODEL}
PINNED = dataclasses.replace(
    MODEL, parameters=Parameters(temperature=0.2, top_p=0.6, extra={"top_k": 20})
)
plain = st.none() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5)
names = st.text(min_size=1, max_size=8)
parameters = st.builds(
    Parameters,
    st.none() | st.floats(0, 2),
    st.none() | st.floats(0, 1),
    st.integers(16, 4096),
    st.dictionaries(names, plain, max_size=2),
)
models = st.one_of(
    st.builds(ModelSpec, names, names, parameters=st.none()),
    st.builds(
        ModelSpec, names, names, st.none() | names, parameters,
        st.sampled_from(["auto", "native", "instruct"]),
    ),
)  # fmt: skip
arms = st.builds(
    Arm,
    names,
    st.dictionaries(names, models, max_size=3),
    st.dictionaries(names, plain, max_size=3),
)


@pytest.mark.parametrize(
    ("strategy", "roles", "settings", "arm_id"),
    [
        ("direct", ("initiator", "responder"), {}, "74c9d688810957484569"),
        (
            "reflective", ("initiator", "responder", "reflector"), {"max_revisions": 2},
            "b4effe0064368fce2b1b",
        ),
        (
            "consistency", ("initiator", "responder"), {"k": 3, "encoder": "x"},
            "38c0c418bbeefe5a6e4e",
        ),
    ],
)  # fmt: skip
def test_the_ids_of_runs_made_before_stay(strategy, roles, settings, arm_id):
    assert Arm(strategy, dict.fromkeys(roles, PINNED), settings).id == arm_id


@given(arms)
def test_an_arm_is_read_back_from_its_stored_fields(arm):
    stored = json.loads(json.dumps(arm.fields()))
    assert Arm.from_fields(stored) == arm
    assert Arm.from_fields(stored).id == arm.id


def test_the_arm_of_imported_dialogues_keeps_what_little_is_known():
    stored = {
        "strategy": "imported",
        "models": {"responder": {"provider": "openai", "model": "gpt-4o"}},
        "settings": {"file": "talks.jsonl"},
    }
    arm = Arm.from_fields(stored)
    assert arm.fields() == stored
    assert (arm.writer, arm.models["responder"].parameters) == ("openai/gpt-4o", None)
    nobody = Arm.from_fields({"strategy": "imported", "models": {}, "settings": {}})
    assert (nobody.writer, nobody.model, nobody.label) == (None, "unknown", "imported unknown")


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
    other = {**TWO, "responder": dataclasses.replace(MODEL, **change)}
    assert Arm("direct", other).id != Arm("direct", TWO).id


def test_the_label_names_strategy_and_model():
    assert Arm("reflective", TWO).label == "reflective openai/gpt-4o"
