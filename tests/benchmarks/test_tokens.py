"""The server of the token benchmark bills prefixes as providers do."""

from __future__ import annotations

from benchmarks.billing_server import BYTES_PER_TOKEN, PrefixCache
from benchmarks.tokens import Tokens


def _prompt(shared: int, own: str, tokens: int) -> bytes:
    return (b"s" * shared * BYTES_PER_TOKEN + own.encode() * tokens * BYTES_PER_TOKEN)[
        : tokens * BYTES_PER_TOKEN
    ]


def test_a_prefix_is_cached_from_1024_tokens_on_in_steps_of_128() -> None:
    cache = PrefixCache()
    assert cache.cached("m", _prompt(1_300, "a", 2_000)) == 0
    assert cache.cached("m", _prompt(1_300, "b", 2_000)) == 1_280
    assert cache.cached("m", _prompt(1_300, "b", 2_000)) == 1_920
    assert cache.cached("m", _prompt(1_151, "c", 2_000)) == 1_024


def test_what_is_shorter_or_asked_of_another_model_is_not_cached() -> None:
    cache = PrefixCache()
    cache.cached("m", _prompt(2_000, "a", 2_000))
    assert cache.cached("m", _prompt(1_000, "b", 2_000)) == 0
    assert cache.cached("m", _prompt(1_023, "a", 1_023)) == 0
    assert cache.cached("other", _prompt(2_000, "a", 2_000)) == 0


def test_a_cached_token_counts_as_its_share_of_the_price() -> None:
    tokens = Tokens(100, 400, 1_000) + Tokens(50, 0, 50)
    assert tokens.billed(0.25) == 250
    assert tokens.naive == 1_050
