"""How many answers are written together where memory is short for a while, or for good."""

from __future__ import annotations

import pytest

from pipeline.providers.hf.batch_size import MOST_PATIENCE, PATIENCE, BatchSize


def sizes_tried(size, fits, batches):
    """Write full batches, of which at most ``fits(i)`` answers go together, and return their sizes."""
    tried = []
    for i in range(batches):
        tried.append(size.now)
        if size.now > fits(i):
            size.was_too_much(size.now)
        else:
            size.written(size.now)
    return tried


def test_a_size_that_is_never_too_much_is_kept():
    assert set(sizes_tried(BatchSize(8), lambda _: 8, 100)) == {8}


def test_the_most_is_reached_again_once_the_memory_is_there():
    tried = sizes_tried(BatchSize(32), lambda i: 3 if i < 10 else 32, 200)
    assert min(tried) == 2
    assert tried[-1] == 32


def test_batches_that_are_not_full_say_nothing_about_larger_ones():
    size = BatchSize(8)
    size.was_too_much(8)
    for _ in range(10 * PATIENCE):
        size.written(3)
    assert size.now == 4


@pytest.mark.parametrize("fits", [1, 2, 3, 5, 17, 31])
def test_where_no_more_fits_ever_it_is_tried_ever_less_often(fits):
    size = BatchSize(32)
    tried = sizes_tried(size, lambda _: fits, 2000)
    late = tried[1000:]
    too_much = [n for n in late if n > fits]
    assert 0 < len(too_much) <= len(late) / MOST_PATIENCE + 1
    assert max(late) <= fits + max(1, fits // 4)
    assert min(late) == max(n for n in late if n <= fits), "what was tried in vain halves nothing"


def test_longer_prompts_halve_a_size_that_worked_for_short_ones():
    size = BatchSize(32)
    sizes_tried(size, lambda _: 16, 1 + PATIENCE)
    assert size.now == 20
    size.was_too_much(12)
    assert size.now == 6
