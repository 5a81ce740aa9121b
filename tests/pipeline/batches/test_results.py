"""Files of results, whoever wrote them: every wanted line is found once, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.batch_results import custom_id, lines, place_of, placed_results

TOKEN = "a1b2c3d4"
GARBAGE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"", b"[]", b"null", b"{", b'{"custom_id": 3}', b'{"custom_id": "a1b2c3d4-01"}',
         b'{"custom_id": "a1b2c3d4--1"}', b'{"custom_id": "other-1"}', b"[" * 3000]
    ),
)  # fmt: skip


async def in_pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def found(content: bytes, size: int, wanted: range) -> list[tuple[int, bytes]]:
    pieces = in_pieces(content, size)
    return [result async for result in placed_results(pieces, TOKEN, wanted)]


@given(
    places=st.lists(st.integers(0, 30), max_size=40),
    garbage=st.lists(GARBAGE, max_size=10),
    size=st.integers(1, 200),
    order=st.randoms(use_true_random=False),
)
def test_the_first_line_of_each_request_is_found_among_duplicates_strangers_and_garbage(
    places: list[int], garbage: list[bytes], size: int, order: object
) -> None:
    real = [
        json.dumps({"custom_id": custom_id(TOKEN, place), "number": number}).encode()
        for number, place in enumerate(places)
    ]
    every = [*real, *(line.replace(b"\n", b" ") for line in garbage)]
    order.shuffle(every)  # type: ignore[attr-defined]
    first: dict[int, bytes] = {}
    for line in every:
        if line in real:
            place = places[real.index(line)]
            if place < 20:
                first.setdefault(place, line)
    got = asyncio.run(found(b"\n".join(every), size, range(20)))
    assert dict(got) == first
    assert len(got) == len(first)


def test_a_line_longer_than_any_answer_is_passed_over_in_bounded_memory() -> None:
    async def read() -> list[bytes]:
        content = b"x" * 5000 + b"\nshort\n" + b"y" * 5000 + b"\n\nlast"
        return [line async for line in lines(in_pieces(content, 64), longest=100)]

    assert asyncio.run(read()) == [b"short", b"last"]


def test_an_id_leads_to_its_place_alone() -> None:
    assert place_of(custom_id(TOKEN, 0), TOKEN) == 0
    assert place_of(custom_id(TOKEN, 49_999), TOKEN) == 49_999
    for wrong in (None, "", TOKEN, f"{TOKEN}-", f"{TOKEN}-x", f"{TOKEN}-1-1", f"{TOKEN}-²"):
        assert place_of(wrong, TOKEN) is None
