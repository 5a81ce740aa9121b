"""Whether an utterance goes with its conversation."""

from __future__ import annotations

import pytest

from pipeline.offline_judge.coherence import incoherence

SCENE = {
    "said": ["Has the hull ever been damaged?", "She is in good shape."],
    "situation": "A couple wants to buy a sailing boat.",
    "about": "a repair",
    "fact": "A cousin patched the hull.",
}


@pytest.mark.parametrize(
    "text",
    [
        "My cousin looked at the hull.",
        "I would rather not say.",
        "Trust me, you will not regret it.",
        "Do you want to see the boat again tomorrow?",
    ],
)
def test_what_takes_up_the_conversation_is_coherent(text):
    assert incoherence(text, **SCENE) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The recipe needs four eggs and nutmeg.", "nobody is talking about"),
        ("She is in good shape!", "word for word"),
        ("My cousin looked at the", "breaks off"),
        ("As an AI I cannot say.", "no person talks like that"),
        ("\u2026", "nothing is said"),
    ],
)
def test_what_does_not_is_said_to_be_so(text, why):
    assert why in incoherence(text, **SCENE)
