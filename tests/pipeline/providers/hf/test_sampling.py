"""How the next tokens of a batch are chosen."""

from __future__ import annotations

from collections import Counter

import pytest

torch = pytest.importorskip("torch")
from pipeline.providers.hf.sampling import AnswerRow, BatchSampler  # noqa: E402

END = 0


def row(**changes):
    fields = {"prompt": [1], "max_tokens": 9, "temperature": 0.0, "top_p": 1.0, "seed": 0}
    return AnswerRow(**{**fields, "timeout_s": 10.0, "abandoned": lambda: False, **changes})


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def step(sampler, *logits):
    """Let a model give ``logits`` for each row; return which rows are done."""
    only = sampler.process(torch.zeros(len(logits), 1), torch.tensor(logits))
    assert torch.isfinite(only).sum(dim=1).tolist() == [1] * len(logits)
    return sampler.finished(torch.zeros(len(logits), 1), None).tolist()


def drawn(logits, count, **changes):
    """Let as many rows, each with a seed of its own, draw one token by the same ``logits``."""
    rows = [row(seed=i, **changes) for i in range(count)]
    BatchSampler(rows, {END}, Clock()).process(
        torch.zeros(count, 1), torch.as_tensor(logits).expand(count, -1)
    )
    return [one.tokens[0] for one in rows]


def test_rows_end_each_for_itself_by_their_end_token_or_their_length():
    rows = [row(), row(max_tokens=2)]
    sampler = BatchSampler(rows, {END}, Clock())
    assert step(sampler, [0.0, 5.0], [0.0, 5.0]) == [False, False]
    assert step(sampler, [9.0, 5.0], [0.0, 5.0]) == [True, True]
    assert [(one.end, one.tokens) for one in rows] == [("stop", [1, 0]), ("length", [1, 1])]


def test_what_is_done_is_not_written_on():
    rows = [row(max_tokens=1), row()]
    sampler = BatchSampler(rows, {END}, Clock())
    for _ in range(3):
        step(sampler, [0.0, 5.0], [0.0, 5.0])
    assert [len(one.tokens) for one in rows] == [1, 3]


def test_a_row_whose_time_is_over_ends_and_the_others_go_on():
    clock = Clock()
    rows = [row(timeout_s=5.0), row(timeout_s=50.0)]
    sampler = BatchSampler(rows, {END}, clock)
    step(sampler, [0.0, 5.0], [0.0, 5.0])
    clock.now = 6.0
    assert step(sampler, [0.0, 5.0], [0.0, 5.0]) == [True, False]
    assert [one.end for one in rows] == ["late", "open"]


def test_a_row_that_nobody_waits_for_ends():
    left = []
    rows = [row(abandoned=lambda: bool(left))]
    sampler = BatchSampler(rows, {END}, Clock())
    assert step(sampler, [0.0, 5.0]) == [False]
    left.append(True)
    assert step(sampler, [0.0, 5.0]) == [True]
    assert rows[0].end == "abandoned"


def test_numbers_that_are_none_end_a_row():
    rows = [row(), row()]
    step(BatchSampler(rows, {END}, Clock()), [0.0, float("nan")], [0.0, 5.0])
    assert [one.end for one in rows] == ["no number", "open"]


def test_samples_are_drawn_in_proportion_to_their_shares():
    logits = torch.log(torch.tensor([0.1, 0.2, 0.7]))
    counts = Counter(drawn(logits, 3000, temperature=1.0))
    assert [counts[i] / 3000 for i in range(3)] == pytest.approx([0.1, 0.2, 0.7], abs=0.03)


def test_temperature_sharpens_the_shares():
    logits = torch.log(torch.tensor([0.4, 0.6]))
    counts = Counter(drawn(logits, 3000, temperature=0.5))
    assert counts[1] / 3000 == pytest.approx(0.36 / 0.52, abs=0.03)


def test_top_p_keeps_the_fewest_tokens_that_reach_it():
    logits = torch.log(torch.tensor([0.05, 0.5, 0.3, 0.15]))
    assert set(drawn(logits, 200, temperature=1.0, top_p=0.7)) == {1, 2}
    assert set(drawn(logits, 50, temperature=1.0, top_p=0.1)) == {1}


def test_a_token_that_is_ruled_out_is_never_drawn():
    logits = torch.tensor([-torch.inf, 0.0, -torch.inf])
    assert set(drawn(logits, 50, temperature=2.0)) == {1}


class LastDraw:
    """Draws the place nearest to the end of all shares."""

    def random(self):
        return 1.0 - 2**-53


@pytest.mark.parametrize("top_p", [1.0, 0.9])
def test_the_last_place_is_that_of_the_last_token_with_a_share(top_p):
    """Rounding must not lead behind it, where a schema has ruled everything out."""
    one = row(temperature=1.0, top_p=top_p)
    one._rng = LastDraw()
    step(BatchSampler([one], {END}, Clock()), [0.1, 0.3, 0.2, *[-torch.inf] * 70])
    assert one.tokens == [2 if top_p == 1.0 else 0]


@pytest.mark.parametrize(
    "changes", [{"temperature": 1e-45}, {"temperature": 1.0, "top_p": 1e-50}], ids=str
)
def test_the_coldest_and_the_narrowest_take_the_likeliest(changes):
    assert set(drawn([5.0, 1.0, 0.0, -3.0], 20, **changes)) == {0}


def test_numbers_beyond_all_others_are_none():
    """Such is what float16 makes of weights that are too large for it."""
    rows = [row(temperature=1.0), row()]
    step(BatchSampler(rows, {END}, Clock()), [1.0, torch.inf], [1.0, torch.inf])
    assert {one.end for one in rows} == {"no number"}


def test_numbers_that_are_none_end_a_row_that_draws_and_no_other():
    rows = [row(temperature=1.0), row(temperature=1.0, top_p=0.5), row(temperature=1.0)]
    none = float("nan")
    step(BatchSampler(rows, {END}, Clock()), [none] * 3, [none] * 3, [-50.0, 1.0, -50.0])
    assert [one.end for one in rows] == ["no number", "no number", "open"]
    assert rows[2].tokens == [1]


class Bits:
    """Allows some tokens, as a schema does."""

    def __init__(self, *allowed):
        self.allowed = allowed

    @staticmethod
    def write_allowed(batch, words):
        for i, one in batch:
            words[i] = 0
            for token in one.allowed:
                words.view("uint32")[i, token // 32] |= 1 << (token % 32)

    def take(self, token):
        return token in self.allowed

    def is_complete(self):
        return False


def test_each_row_keeps_to_its_own_schema_and_one_without_to_none():
    logits = torch.arange(70.0)
    rows = [row(constraint=Bits(3, 31)), row(constraint=Bits(32, 5), temperature=1.0), row()]
    step(BatchSampler(rows, {END}, Clock()), *[logits.tolist()] * 3)
    assert [one.tokens for one in rows] == [[31], [32], [69]]


def test_a_row_draws_the_same_whatever_is_beside_it():
    def written(beside):
        mine = row(seed=7, temperature=1.0)
        sampler = BatchSampler(
            [*(row(seed=i, temperature=1.0) for i in range(beside)), mine], {END}, Clock()
        )
        for _ in range(5):
            step(sampler, *([[-50.0, 1.0, 1.0, 1.0]] * (beside + 1)))
        return mine.tokens

    assert written(0) == written(3)
