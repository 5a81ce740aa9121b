"""Prompts on the stream: each section crosses it once, and comes out whole at the other end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.executors import prompt_texts
from pipeline.executors.prompt_texts import ReceivedTexts, SentTexts
from pipeline.store.texts import Parts, parted

SCENE = "You sell a car.\n\n# Rules\nBe brief.\n"
PROMPTS = st.lists(
    st.tuples(
        st.sampled_from(["system", "user"]),
        st.lists(st.sampled_from(["", "a\n", "# b\n", "# c c c\n", "ä\n# "])).map("".join),
    ),
    max_size=3,
)


def joined(prompt: Parts) -> list[tuple[str, str]]:
    return [(role, "".join(some)) for role, some in prompt]


@given(st.lists(PROMPTS, max_size=20), st.integers(0, 30))
def test_every_prompt_comes_out_as_it_went_in_however_little_both_ends_hold(
    prompts: list[list[tuple[str, str]]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prompt_texts, "MOST_CHARS", most)
        sent, received = SentTexts(), ReceivedTexts()
        for prompt in prompts:
            assert joined(received.parts(*sent.numbered(parted(prompt)))) == prompt


def test_a_section_crosses_once_and_again_only_after_both_ends_have_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent, received = SentTexts(), ReceivedTexts()
    crossed = []
    for line in ("One?", "Two?"):
        prompt = parted((("system", SCENE), ("user", line)))
        texts, layout = sent.numbered(prompt)
        assert joined(received.parts(texts, layout)) == joined(prompt)
        crossed.append(texts)
    assert crossed == [("You sell a car.\n\n", "# Rules\nBe brief.\n", "One?"), ("Two?",)]
    monkeypatch.setattr(prompt_texts, "MOST_CHARS", len(SCENE) + 10)
    prompt = parted((("system", SCENE), ("user", "Three?")))
    texts, layout = sent.numbered(prompt)
    assert texts == ("You sell a car.\n\n", "# Rules\nBe brief.\n", "Three?")
    assert joined(received.parts(texts, layout)) == joined(prompt)


def test_a_section_that_was_not_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="not sent"):
        ReceivedTexts().parts(("known",), (("user", (0, 1)),))
