"""Records that are held at once share what is equal in them."""

from __future__ import annotations

from scenarios.shared_parts import SharedParts


def test_the_first_of_equal_values_is_handed_out_until_there_are_too_many():
    parts, made = SharedParts(most=2), [{"veracity": "Quality"} for _ in range(3)]
    first, again, later = made
    assert parts.once("quality", first) is first
    assert parts.once("quality", again) is first
    parts.once("another", {})
    assert parts.once("quality", later) is later
