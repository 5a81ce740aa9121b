"""Swap items: the same words under the fact that makes them false, under another, and under none."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest

from hipo.cli.main import run as hipo
from outputs.export.export import export
from outputs.kinds.export_kind import KINDS, ExportOptions
from outputs.rows.swap_set import SwapRows
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from pipeline.store.judgements import JudgeRun
from scenarios.errors import UsageError
from scenarios.graph import KnowledgeGraph
from scenarios.verdicts import Judgement
from tests.factories import library, make_case, make_dialogue, make_run, make_scenario, make_tactic
from tests.outputs.corpora import SCHEME, STRATEGIES, exportable_run, exported, rows_in
from tests.outputs.test_adjudicated import decide

ONE_SET = {"fractions": (0, 0, 1), "parquet": False, "verdict": "any"}
LIE = make_tactic(intention="Convince", veracity="Quality", illocutionary="Representatives")
OWN_WORDS = "Somebody's trolley did that, nothing else ever touched it."


def _run(tmp_path, *, found="Quality", fact="guardrail"):
    case = make_case(fact=fact)
    dialogue = make_dialogue("Who painted it?", OWN_WORDS, case=case, tactics=(LIE,))

    async def judge(store, played, number):
        reading = Judgement(
            case.id, played.arm, 3, "external", "compatible/j", "veracity", found,
            found == "Quality", "", None,
        )  # fmt: skip
        run = JudgeRun(case.id, played.arm, "external", "compatible/j", "c", 0, True)
        await store.judgements.record(run, [reading])

    return make_run(tmp_path / "run", [dialogue], each=None if found is None else judge)


@pytest.fixture(scope="module")
def lying_run(tmp_path_factory):
    """A corpus in which every fact of 31 scenarios is lied about at the opening."""
    return exportable_run(tmp_path_factory.mktemp("swap") / "run", scenarios=31, facts=9, turns=1)


@pytest.fixture(scope="module")
def played_run(tmp_path_factory):
    """A corpus of every strategy."""
    folder = tmp_path_factory.mktemp("all") / "run"
    return exportable_run(folder, scenarios=8, facts=9, strategies=STRATEGIES)


@pytest.fixture(scope="module")
def done(tmp_path_factory, lying_run):
    return exported(tmp_path_factory.mktemp("set") / "out", lying_run, "swap", **ONE_SET)


@pytest.fixture(scope="module")
def items(done):
    return rows_in(done.folder, "test")


def _known_lie(claim="never_in_accident"):
    """Return a fixed line of the used car that makes a claim."""
    statements = make_scenario().opening.statements
    return next(said.text for _, said in statements if claim in said.claims)


def test_every_line_is_false_under_one_fact_and_open_under_the_other(items):
    by_line = Counter((item["line"], item["shown"]) for item in items)
    assert set(by_line.values()) == {1}
    assert len(items) % 3 == 0
    assert len(items) >= 3 * 15
    for item in items:
        assert item["label_veracity"] == ("Quality" if item["shown"] == "own" else None)
        assert item["false"] is {"own": True, "other": False, "none": None}[item["shown"]]
        if item["shown"] == "none":
            assert item["fact_text"] is None
            assert item["status"] == "not scored"
            continue
        scenario = library().scenarios[item["scenario"]]
        assert item["fact_text"] == scenario.fact(item["fact_shown"]).text
        ids = {claim.text: claim.id for claim in scenario.claims}
        graph = KnowledgeGraph.of(scenario)
        truths = {graph.truth(ids[claim], item["fact_shown"]) for claim in item["claims"]}
        assert ("false" in truths) is (item["shown"] == "own")
        assert not truths & {None, "misleads"} or item["shown"] == "own"


def test_whoever_reads_the_words_alone_is_right_in_half_of_them(items):
    scored = [item for item in items if item["status"] == "scored"]
    by_text = Counter((item["scenario"], item["utterance"], item["false"]) for item in scored)
    assert set(by_text.values()) == {1}
    assert sum(item["false"] for item in scored) * 2 == len(scored)


def test_a_lie_in_own_words_that_a_judge_found_is_unchecked_under_the_other_fact(tmp_path):
    done = exported(tmp_path / "out", _run(tmp_path), "swap", **ONE_SET)
    mine = [item for item in rows_in(done.folder) if item["utterance"] == OWN_WORDS]
    assert [item["shown"] for item in mine] == ["own", "other", "none"]
    assert {item["status"] for item in mine} == {"unchecked"}
    assert [item["false"] for item in mine] == [True, None, None]
    assert mine[0]["question"] == "Who painted it?"
    against = KnowledgeGraph.of(make_scenario()).claims_against("guardrail")
    assert mine[0]["claims"] == [claim.text for claim in against]


@pytest.mark.parametrize("found", [None, "Manner"])
def test_a_lie_in_the_speakers_own_words_that_nobody_found_is_left_out(tmp_path, found):
    done = exported(tmp_path / "out", _run(tmp_path, found=found), "swap", **ONE_SET)
    assert OWN_WORDS not in {item["utterance"] for item in rows_in(done.folder)}
    assert "lies whose claims nobody wrote down, found by no judge: 1" in done.notes


def test_a_known_lie_that_the_judges_missed_is_unresolved(tmp_path):
    case = make_case()
    dialogue = make_dialogue("Was it hit?", _known_lie(), case=case, opening=(), tactics=(LIE,))

    async def miss(store, played, number):
        reading = Judgement(
            case.id, played.arm, 1, "external", "compatible/j", "veracity", "None", False, "", None
        )
        run = JudgeRun(case.id, played.arm, "external", "compatible/j", "c", 0, True)
        await store.judgements.record(run, [reading])

    run = make_run(tmp_path / "run", [dialogue], each=miss)
    items = rows_in(exported(tmp_path / "out", run, "swap", **ONE_SET).folder)
    assert {item["status"] for item in items} == {"unresolved"}


def test_a_scheme_without_a_label_for_lies_has_no_swap_items(tmp_path):
    case = make_case(scheme="cei")
    run = make_run(tmp_path / "run", [make_dialogue("Well?", "No.", case=case)], scheme="cei")
    with pytest.raises(UsageError, match="rules out no label for who is truthful"):
        exported(tmp_path / "out", run, "swap", **ONE_SET)


def test_what_the_other_fact_leaves_open_is_given_no_label_of_veracity(items):
    """The words may treat the other fact in any way but lie about it, a half-truth included."""
    assert {item["label_veracity"] for item in items if item["shown"] == "other"} == {None}
    [column] = [column for column in SwapRows(SCHEME).columns if column.name == "false"]
    assert "any label but Quality" in column.description


@pytest.mark.parametrize("said", ["Quality", "Manner"])
def test_what_an_expert_decided_counts_before_what_judges_found(tmp_path, said):
    run = _run(tmp_path, found=None)
    decide(run, {"veracity": said})
    mine = [
        item
        for item in rows_in(exported(tmp_path / "out", run, "swap", **ONE_SET).folder)
        if item["utterance"] == OWN_WORDS
    ]
    assert bool(mine) is (said == "Quality")


@pytest.mark.parametrize(
    ("kind", "task"),
    [
        (kind, task.name)
        for kind in KINDS.shipped
        for task in KINDS.get(kind).tasks
        # Questions about intentions are of another scheme, and nobody has labelled this run.
        if kind != "intention-mcq" and task.name != "people"
    ],
)
def test_every_kind_yields_the_same_rows_as_often_as_it_is_asked(tmp_path, played_run, kind, task):
    passes = []

    def screen(rows):
        passes.extend([_lines(rows()), _lines(rows())])
        return ()

    options = ExportOptions(kind, task=task, include_deception=True, **_plain(ONE_SET))
    export(Selection((played_run,), verdict="any"), options, tmp_path / "out", screen=screen)
    written = _lines(rows_in(tmp_path / "out"))
    assert written
    # counted, not compared as lists: pytest would look for their smallest difference for hours
    assert sum(line != kept for line, kept in zip(passes[0], written, strict=True)) == 0
    assert sum(line != kept for line, kept in zip(passes[1], written, strict=True)) == 0


def _lines(rows):
    """Return rows as the lines they are written as, in an order of their own."""
    return sorted(orjson.dumps(row, option=orjson.OPT_SORT_KEYS) for row in rows)


def test_an_item_does_not_depend_on_what_else_was_played(done, items, lying_run):
    with opened(Selection((lying_run,), verdict="any")) as found:
        dialogues = list(found.dialogues())
        alone = [row for one in reversed(dialogues) for row in SwapRows(SCHEME).rows([one])]
    shown = {(row["line"], row["shown"]): (row["id"], row["fact_shown"]) for row in alone}
    for item in items:
        assert shown[item["line"], item["shown"]] == (item["id"], item["fact_shown"])
        if item["shown"] == "other":
            assert item["id"].endswith(f"/other/{item['fact_shown']}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--split-by", "fact"), "--split-by fact is not for --to swap"),
        (("--balance", "intention"), "--balance is not for --to swap"),
        (("--balance", "goal"), "--balance is not for --to swap"),
    ],
)
def test_what_would_take_items_of_a_line_apart_is_refused(
    tmp_path, lying_run, capsys, options, message
):
    arguments = ["export", str(lying_run), "--to", "swap", "--any", "-o", str(tmp_path / "out")]
    assert hipo([*arguments, *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_overlapping_rows_go_with_the_other_items_of_their_line(tmp_path, lying_run, items):
    """The one row that overlaps by its fact takes the row beside it along."""
    options = ExportOptions("swap", **_plain(ONE_SET))
    out = export(
        Selection((lying_run,), verdict="any"), options, tmp_path / "out", screen=lambda rows: {4}
    )
    left = rows_in(tmp_path / "out")
    assert [row["id"] for row in left] == [row["id"] for row in [*items[:3], *items[6:]]]
    assert out.facts.left_out.rows == {"overlap": 3}


def test_items_can_be_compared_with_a_set_that_holds_them_and_be_left_out(
    tmp_path, lying_run, items, capsys
):
    held = tmp_path / "held.jsonl"
    held.write_bytes(b"".join(orjson.dumps(item) + b"\n" for item in items[:3]))
    code = hipo(
        ["export", str(lying_run), "--to", "swap", "--any", "-o", str(tmp_path / "out"), "-q",
         "--against", str(held), "--remove-overlap", "--no-embeddings", "--splits", "0,0,100"]
    )  # fmt: skip
    assert code == 0, capsys.readouterr().err
    left = Counter(item["line"] for item in rows_in(tmp_path / "out"))
    assert items[0]["line"] not in left
    assert set(left.values()) <= {3}


def test_notes_count_items_by_what_is_shown_status_and_label(done, items):
    n = len(items) // 3
    for what in ("own, scored, Quality", "other, scored, no label", "none, not scored, no label"):
        assert f"items that show {what}: {n:,}" in done.notes


def _plain(options):
    return {name: value for name, value in options.items() if name != "verdict"}
