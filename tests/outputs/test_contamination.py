"""Overlap between two sets: what is found, what is form, what is removed, and what it costs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.contamination.comparable import Row, row_lines
from outputs.contamination.contamination import (
    Contamination,
    RowSet,
    Settings,
    compare,
    overlap_share,
    without,
)
from outputs.contamination.ngrams import SHORTEST, SIZE, NgramHasher, NgramIndex
from outputs.dataset.reader import row_set
from scenarios.errors import InputError, UsageError
from scenarios.wording import words

WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]


def prose(seed: int, count: int) -> str:
    """Return words that hardly ever repeat a run of 13 by chance."""
    random = np.random.default_rng(seed)
    return " ".join(WORDS[i] for i in random.integers(0, len(WORDS), count))


def as_set(name: str, rows: Sequence[Row]) -> RowSet:
    return RowSet(name, lambda: iter(rows))


def texts(*values: str) -> list[Row]:
    return [{"text": value} for value in values]


def found(checked: Sequence[Row], reference: Sequence[Row], **settings: float) -> Contamination:
    """Compare; a row overlaps if it shares anything, unless settings say otherwise."""
    settings = {"least": 0, **settings}
    return compare(
        as_set("train", checked),
        as_set("test", reference),
        Settings(**settings),  # type: ignore[arg-type]
    )


def test_thirteen_shared_words_are_found_and_twelve_are_not():
    shared = prose(1, 13)
    reference = texts(f"{prose(2, 9)} {shared} {prose(3, 9)}", prose(4, 30))
    checked = texts(
        prose(5, 30),
        f"{prose(6, 20)} {shared} {prose(7, 4)}",
        f"{prose(8, 20)} {shared.rsplit(' ', 1)[0]} {prose(9, 20)}",
    )
    result = found(checked, reference)
    assert result.rows.tolist() == [1]
    assert (result.checked.overlapping, result.reference.overlapping) == (1, 1)
    assert (result.checked.rows, result.reference.rows, result.shared_ngrams) == (3, 2, 1)
    [passage] = result.passages
    assert (passage.row, passage.text) == (2, shared)
    assert passage.share == pytest.approx(1 / 25, abs=1e-4)  # 37 words make 25 runs of 13


def test_case_punctuation_and_the_format_around_the_words_do_not_hide_them():
    said = "Well, I never SAID that the car had not been in for repairs -- did I, now?"
    plain = "well i never said that the car had not been in for repairs did i now"
    messages: Row = {
        "messages": [
            {"role": "system", "content": "irrelevant"},
            {
                "role": "user",
                "content": f"# Conversation so far\nRESPONDER: {said}\nINITIATOR: Hm.",
            },
        ]
    }
    assert found([messages], texts(plain)).rows.tolist() == [0]
    assert found([{"conversations": [{"from": "gpt", "value": plain}]}], [messages]).rows.size == 1


def test_system_messages_do_not_count_in_any_format():
    rules = prose(1, 40)
    rows: list[Row] = [
        {"messages": [{"role": "system", "content": rules}]},
        {"conversations": [{"from": "system", "value": rules}]},
        {"system": rules, "instruction": "x"},
    ]
    result = found(rows, texts(rules))
    assert result.rows.size == 0
    assert result.checked.bare == 3


def test_what_both_sets_repeat_in_row_after_row_is_form_and_not_content():
    form = prose(1, 40)
    checked = texts(*(f"{form}\n{prose(100 + i, 20)}" for i in range(30)))
    reference = texts(*(f"{form}\n{prose(200 + i, 20)}" for i in range(30)))
    result = found(checked, reference)
    assert result.common_ngrams == 40 - SIZE + 1
    assert result.rows.size == 0
    assert result.shared_ngrams == 0
    # A text that only one of the sets repeats is content: the scenario of a test set, say.
    leak = found([*checked, *texts(form)], [*texts(form), *texts(prose(3, 20))])
    assert leak.rows.size == 31


def test_few_rows_are_never_taken_for_boilerplate():
    same = texts(*[prose(1, 30)] * 9)
    assert found(same, same).rows.tolist() == list(range(9))


def test_a_short_line_is_only_found_as_a_whole_line():
    line = "no it was never in an accident"
    assert SHORTEST <= len(line.split()) < SIZE
    assert found(texts(f"So:\n{line}"), texts(line)).rows.tolist() == [0]
    assert found(texts(f"{line} {prose(1, 20)}"), texts(line)).rows.size == 0
    assert found(texts("it was never"), texts("it was never")).checked.bare == 1


def test_a_row_may_have_to_share_more_than_one_passage_to_count():
    shared = prose(1, 20)
    checked = texts(f"{shared}\n{prose(2, 200)}", shared)
    strict = found(checked, texts(shared), least=0.5)
    assert strict.rows.tolist() == [1]
    assert (strict.checked.sharing, strict.checked.overlapping) == (2, 1)
    assert [passage.row for passage in strict.passages] == [2, 1]
    assert found(checked, texts(shared)).rows.tolist() == [0, 1]
    stock = texts(f"{prose(5, 13)}\n{prose(6, 400)}")
    assert compare(as_set("a", stock), as_set("b", texts(prose(5, 13)))).rows.size == 0


def test_removal_leaves_the_other_rows_in_their_order_and_nothing_overlaps_any_more():
    reference = texts(*(prose(i, 30) for i in range(5)))
    checked = texts(*(prose(i, 30) for i in range(3, 12)))
    rows = as_set("train", checked)
    result = compare(rows, as_set("test", reference))
    kept = list(without(rows, result))
    assert kept == checked[2:]
    assert found(kept, reference).rows.size == 0


@given(st.lists(st.text(max_size=40) | st.sampled_from(WORDS), max_size=60))
def test_a_line_shares_with_itself_every_ngram_it_has(parts):
    line = " ".join(parts)
    tokens = words(line)
    hashes = NgramHasher().line(tokens)
    if len(tokens) < SHORTEST:
        assert not len(hashes)
    else:
        distinct = {tuple(tokens[i : i + SIZE]) for i in range(max(1, len(tokens) - SIZE + 1))}
        assert len(np.unique(hashes)) == len(distinct)
        assert len(hashes) == max(1, len(tokens) - SIZE + 1)


@given(
    st.lists(st.lists(st.sampled_from("ab"), min_size=SHORTEST, max_size=9), max_size=8),
    st.lists(st.lists(st.sampled_from("ab"), min_size=SHORTEST, max_size=9), max_size=8),
)
def test_the_streaming_comparison_equals_one_with_plain_sets_of_words(checked, reference):
    size = 7

    def grams(tokens: list[str]) -> set[tuple[str, ...]]:
        return {tuple(tokens[i : i + size]) for i in range(max(1, len(tokens) - size + 1))}

    all_reference = set().union(*map(grams, reference)) if reference else set()
    expected = [i for i, tokens in enumerate(checked) if grams(tokens) & all_reference]
    result = found(
        texts(*(" ".join(t) for t in checked)), texts(*(" ".join(t) for t in reference)), size=size
    )
    assert result.rows.tolist() == expected


def test_hashes_are_the_same_in_every_process():
    hashes = NgramHasher().line(["one", "two", "three", "four", "five", "six"])
    assert hashes.tolist() == [STABLE]


STABLE = 9334694656868760843


def test_an_index_built_in_many_parts_equals_one_built_at_once(monkeypatch):
    rows = [
        np.unique(np.random.default_rng(i).integers(0, 500, 60).astype(np.uint64))
        for i in range(40)
    ]
    whole = NgramIndex.of(rows)
    monkeypatch.setattr("outputs.contamination.ngrams._BUFFER", 50)
    parts = NgramIndex.of(rows)
    assert (
        whole.hashes.tolist() == parts.hashes.tolist() == sorted(set(np.concatenate(rows).tolist()))
    )
    assert whole.rows.tolist() == parts.rows.tolist()
    assert int(whole.rows.sum()) == sum(len(row) for row in rows)


def letters(batch: Sequence[str]) -> np.ndarray:
    """Embed a text as its letter counts, unit length."""
    counts = np.array([[text.count(c) + 1e-3 for c in "abcdefghij"] for text in batch], np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def test_a_near_copy_that_shares_no_ngram_is_found_by_its_neighbour():
    reference = texts("aaaa bbbb aaaa bbbb", "cccc dddd cccc dddd")
    checked = texts("bbbb aaaa bbbb aaaa", "eeee ffff eeee ffff", "aaaa", "")
    result = compare(as_set("a", checked), as_set("b", reference), embed=letters)
    assert result.checked.overlapping == 0
    assert result.rows.tolist() == [0]
    near = result.neighbours
    assert near is not None
    assert (near.compared, near.close, near.highest) == (2, 1, 1.0)
    assert near.median == pytest.approx(0.0, abs=0.01)


def test_neighbours_are_compared_by_what_is_not_form():
    form = prose(1, 40)
    rows = texts(*(f"{form}\n{' '.join('abcdefghij'[i % 5] * 9)}" for i in range(20)))
    other = texts(*(f"{form}\n{' '.join('abcdefghij'[5 + i % 5] * 9)}" for i in range(20)))
    result = compare(as_set("a", rows), as_set("b", other), embed=letters)
    assert result.neighbours is not None
    assert result.neighbours.highest == pytest.approx(0, abs=0.01)


def test_rows_that_end_alike_are_embedded_once(monkeypatch):
    monkeypatch.setattr("outputs.contamination.neighbours._BATCH", 2)
    embedded: list[str] = []

    def embed(batch: Sequence[str]) -> np.ndarray:
        embedded.extend(batch)
        return letters(batch)

    one, two, three = (prose(seed, 30) for seed in (1, 2, 3))
    reference = texts(one, two, two, one, two)
    result = compare(
        as_set("a", texts(three, two, three, two, two)), as_set("b", reference), embed=embed
    )
    assert embedded == [one, two, three, two]
    assert result.neighbours is not None
    assert result.neighbours.compared == 5


def test_an_empty_set_overlaps_with_nothing():
    for checked, reference in ([], texts(prose(1, 20))), (texts(prose(1, 20)), []):
        result = compare(as_set("a", checked), as_set("b", reference), embed=letters)
        assert result.rows.size == 0
        assert result.passages == ()
        assert result.neighbours is not None
        assert result.neighbours.highest is None
    assert overlap_share(found([], []).summary()) == "no rows"


def test_memory_does_not_grow_with_the_checked_set(monkeypatch):
    monkeypatch.setattr("outputs.contamination.ngrams._KNOWN_LINES", 64)
    monkeypatch.setattr("outputs.contamination.reworded_lines._KNOWN_LINES", 64)
    monkeypatch.setattr("outputs.contamination.comparable._SHORT", 0)

    def peak(count: int) -> int:
        def rows() -> Iterator[Row]:
            for i in range(count):
                yield {"text": prose(i, 40)}

        tracemalloc.start()
        compare(RowSet("train", rows), as_set("test", texts(prose(10**6, 40))))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    # The n-grams of 1,000 more rows, if they were kept, would take 225 kB.
    assert peak(1200) - peak(200) < 100_000


def test_the_report_is_plain_data_and_the_summary_holds_no_text():
    shared = prose(1, 20)
    result = found(texts(shared), texts(shared))
    assert result.report()["passages"] == [{"row": 1, "share": 1.0, "text": shared}]
    assert "passages" not in result.summary()
    assert overlap_share(result.summary()) == "1 of 1 rows (100.00%)"


def test_lines_of_every_known_format_are_read():
    assert row_lines({"prompt": [{"role": "user", "content": "a"}], "chosen": "b", "n": 3}) == [
        "a",
        "b",
    ]
    assert row_lines({"x": {"y": ["c\nd", None, 1.5, True]}}) == ["c", "d"]
    assert row_lines({"chat": [{"role": "No", "content": "No"}]}) == ["No"]


def test_ids_and_lists_of_labels_are_no_text_that_two_sets_share():
    arm, case = "98e48ce84d352f3c84e4", "0a1b2c3d4e5f6a7b8c9d"
    asked = 'Label it.\n{\n  "veracity": "<one of: Manner | Quality | Quantity | None>",\n}'

    def row(number: int, said: str) -> Row:
        name = f"{case[number:]}/{arm}/{number}/utterance"
        return {"id": name, "arm": arm, "prompt": f"{asked}\n{said}", "turn": number}

    assert row_lines(row(3, "Yes.")) == ["Label it.", "{", "}", "Yes."]
    result = found([row(3, prose(1, 20))], [row(5, prose(2, 20))])
    assert (result.shared_ngrams, result.checked.sharing) == (0, 0)
    assert result.reworded is not None
    assert result.reworded.rows == 0


def test_a_short_answer_is_found_whatever_tag_a_format_puts_before_it():
    said = "Listen: nobody here has ever driven it hard"
    for tagged in (f"RESPONDER: {said}", f"Utterance: {said}", f"Antwort: {said}"):
        assert row_lines({"text": tagged}) == row_lines({"text": said})
        assert found(texts(f"{prose(1, 20)}\n{tagged}"), texts(said)).rows.tolist() == [0]


def test_files_and_folders_are_read_and_parquet_only_where_there_are_no_json_lines(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table({"text": ["p"] * 600}), tmp_path / "data" / "train.parquet")
    assert sum(1 for _ in row_set(tmp_path).rows()) == 600
    (tmp_path / "data" / "a.jsonl").write_text('{"text": "x"}\n\n{"text": "y"}\n')
    assert [row["text"] for row in row_set(tmp_path).rows()] == ["x", "y"]
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(UsageError, match=r"broken\.parquet: cannot be read as Parquet"):
        list(row_set(tmp_path / "broken.parquet").rows())


@pytest.mark.parametrize(("line", "message"), [("{", "no JSON"), ("[1]", "a JSON list")])
def test_a_line_that_is_no_object_is_named(tmp_path, line, message):
    file = tmp_path / "a.jsonl"
    file.write_text(f'{{"text": "x"}}\n{line}\n')
    with pytest.raises(InputError, match=rf"a\.jsonl:2: found .*{message}"):
        list(row_set(file).rows())


def test_json_files_are_a_row_or_a_list_of_rows_where_a_folder_holds_no_others(tmp_path):
    (tmp_path / "1.json").write_text('\ufeff{"text":\n "x"}', encoding="utf-8")
    (tmp_path / "2.json").write_text('[{"text": "y"}, {"text": "z"}]')
    assert [row["text"] for row in row_set(tmp_path).rows()] == ["x", "y", "z"]
    assert [row["text"] for row in row_set(tmp_path / "2.json").rows()] == ["y", "z"]
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    assert [row["text"] for row in row_set(tmp_path).rows()] == ["a"]


@pytest.mark.parametrize(
    ("held", "message"),
    [("{", "found no JSON"), ('"x"', "found a JSON str"), ("[{}, 1]", "item 2: found a JSON int")],
)
def test_a_json_file_that_holds_no_row_is_named(tmp_path, held, message):
    file = tmp_path / "a.json"
    file.write_text(held)
    with pytest.raises(
        InputError, match=rf"a\.json: ?{message}.*expected a JSON object, or a list"
    ):
        list(row_set(file).rows())


def test_what_holds_no_rows_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    export = tmp_path / "export"
    export.mkdir()
    (export / "manifest.json").write_text("{}")
    for path in (export, tmp_path / "a.csv", tmp_path / "none"):
        with pytest.raises(UsageError):
            row_set(path)


@pytest.mark.parametrize(
    "disguise",
    [
        pytest.param(
            lambda text: text.translate(str.maketrans("aeo", "\u0430\u0435\u043e")), id="homoglyphs"
        ),
        pytest.param("\u200b".join, id="zero-width signs inside words"),
        pytest.param(lambda text: text.replace("a", "a\u00ad"), id="soft hyphens"),
        pytest.param(lambda text: text.replace("e", "\u00e9"), id="accents"),
    ],
)
def test_a_copy_that_only_looks_the_same_is_found_without_embeddings(disguise):
    text = prose(1, 40)
    copied = found(texts(disguise(text), prose(2, 40)), texts(text, prose(3, 40)))
    assert copied.rows.tolist() == [0]
