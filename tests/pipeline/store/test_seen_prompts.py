from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from pipeline.store.seen_prompts import SeenPrompts


def fingerprint(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


@given(st.lists(st.text()))
def test_no_prompt_that_was_added_is_forgotten(texts):
    seen = SeenPrompts()
    for text in texts:
        seen.add(fingerprint(text))
    assert all(seen.may_hold(fingerprint(text)) for text in texts)


def test_hardly_any_prompt_that_was_not_added_seems_seen():
    seen = SeenPrompts()
    for number in range(20_000):
        seen.add(fingerprint(f"added {number}"))
    others = [fingerprint(f"other {number}") for number in range(20_000)]
    assert sum(map(seen.may_hold, others)) < 20
