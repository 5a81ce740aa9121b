"""Lines with words replaced or swapped: found, told apart from copies and from form, never removed."""

from __future__ import annotations

import pytest

from outputs.contamination.contamination import Settings, compare, reworded_share
from outputs.contamination.reworded_lines import (
    FEWEST_WORDS,
    SIMILARITY,
    RewordedLines,
    _LineIndex,
)
from scenarios.wording import split_words, stem
from tests.outputs.test_contamination import as_set, prose, texts


def replaced(text, every=4):
    """Return a text with one word in so many replaced."""
    others = prose(99, 400).split()
    words = text.split()
    return " ".join(others[n] if n % every == 1 else word for n, word in enumerate(words))


def swapped(text):
    """Return a text with all neighbours swapped."""
    words = text.split()
    for n in range(0, len(words) - 1, 2):
        words[n], words[n + 1] = words[n + 1], words[n]
    return " ".join(words)


def result_of(checked, reference, **settings):
    return compare(as_set("train", checked), as_set("test", reference), Settings(**settings))


@pytest.mark.parametrize("reword", [replaced, swapped])
def test_a_line_with_words_replaced_or_swapped_is_found_and_not_removed(reword):
    line = prose(1, 20)
    result = result_of(texts(prose(2, 20), reword(line)), texts(prose(3, 20), line))
    assert result.rows.tolist() == []
    assert (result.reworded.rows, result.reworded.lines) == (1, 1)
    [found] = result.reworded.worst
    assert (found.row, found.text, found.reference) == (2, reword(line), line)
    assert 0.5 <= found.similarity <= 1
    assert reworded_share(result.summary()) == "1 of 2 rows (50.00%)"
    assert "worst" not in str(result.summary())


def test_a_copy_is_no_reworded_line():
    line = prose(1, 20)
    result = result_of(texts(line, prose(2, 20)), texts(line))
    assert result.rows.tolist() == [0]
    assert result.reworded.rows == 0


def test_a_short_line_is_not_looked_at():
    line = prose(1, FEWEST_WORDS - 1)
    assert result_of(texts(swapped(line)), texts(line)).reworded.rows == 0


def test_nobody_looks_where_nobody_wants_it():
    line = prose(1, 20)
    result = result_of(texts(swapped(line)), texts(line), reworded=False)
    assert result.reworded is None
    assert result.summary()["reworded"] is None
    assert reworded_share(result.summary()) == "not looked for"


def test_a_template_with_filled_blanks_that_both_sets_use_is_form():
    start, end = prose(1, 9), prose(2, 6)
    fills = prose(3, 60).split()

    def filled(kind):
        return texts(*(f"{start} {kind}{fill} {end}" for fill in fills[:30]))

    result = result_of(filled("a"), filled("b"), least=1)
    assert result.reworded.rows == 0
    assert result.reworded.form_lines > 0


def test_a_line_that_one_set_alone_repeats_is_no_form():
    line = prose(1, 20)
    result = result_of(texts(*(replaced(line, every) for every in range(4, 14))), texts(line))
    assert result.reworded.rows == 10
    assert result.reworded.form_lines == 0


def test_equal_lines_are_stored_once():
    lines = RewordedLines()
    for _ in range(3):
        lines.add([prose(1, 20), prose(1, 20)])
    lines.check(0, [swapped(prose(1, 20))])
    assert lines.result(1, ()).lines == 1


def test_lines_are_compared_exactly_and_the_first_of_the_most_similar_is_told():
    lines = [prose(number, 24) for number in range(1, 60)]
    lines += [replaced(line, 5) for line in lines]
    index = _LineIndex([RewordedLines()._taken_apart(line) for line in lines])
    for line in (replaced(lines[3], 6), replaced(lines[20], 4), lines[40], prose(200, 24)):
        own = {stem(word) for word in split_words(line)}
        others = [{stem(word) for word in split_words(other)} for other in lines]
        alike = {number: len(own & other) / len(own | other) for number, other in enumerate(others)}
        numbers, similarity = index.alike(RewordedLines()._taken_apart(line))
        found = dict(zip(numbers.tolist(), similarity.tolist(), strict=True))
        assert found == {number: share for number, share in alike.items() if share >= SIMILARITY}


def test_a_line_that_comes_again_and_again_is_looked_up_once(monkeypatch):
    looked_up = []
    alike = _LineIndex.alike

    def noted(index, line):
        looked_up.append(line.key)
        return alike(index, line)

    monkeypatch.setattr(_LineIndex, "alike", noted)
    line = prose(1, 20)
    checked = texts(*[f"{swapped(line)}\n{prose(number, 20)}" for number in range(2, 42)])
    result = result_of(checked, texts(line, prose(50, 20)))
    assert result.reworded.rows == 40
    assert len(looked_up) == 1 + 40 + 1  # the line, the others, and whether it is form
