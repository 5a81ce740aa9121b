"""Scenarios that tell one situation, and dialogues that nearly say the same, are in one split."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outputs.contamination.kept_together import (
    AlikeDialogues,
    AlikeScenarios,
    alike_situations,
    led_by,
)
from outputs.dataset.card import dataset_card
from outputs.export.export import export
from outputs.export.planning import planned_splits
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.selection import OpenSelection, opened
from outputs.selecting.wish import Selection
from pipeline.importing.situations import NO_BACKGROUND
from scenarios.dialogue import Dialogue
from tests.factories import library, make_case, make_run, make_scenario, make_turn
from tests.outputs.corpora import SCHEME, exportable_run, play, some_scenarios

TOLD = (
    "The Harbour Library closes at eight. A reader stands at the desk of the night clerk with a book "
    "that was returned three weeks late, wet through and without its cover. The clerk has the stamp, "
    "the ledger and the box for fines, and nobody else is on the floor."
)


def told(name, background, **fields):
    return make_scenario().model_copy(update={"id": name, "background": background, **fields})


def alike(scenarios):
    return led_by({s.id for s in scenarios}, alike_situations(scenarios))


def test_scenarios_with_one_background_are_one_situation_whatever_their_order():
    scenarios = [
        told("d", "Another shop."), told("c", "THE shop sells clocks"), told("b", "A stall."),
        told("a", "The shop sells clocks."), told("b", "the  shop sells\nclocks!"),
        told("e", NO_BACKGROUND), told("f", NO_BACKGROUND),
    ]  # fmt: skip
    expected = {"a": "a", "b": "a", "c": "a", "d": "d", "e": "e", "f": "f"}
    assert alike(scenarios) == alike(scenarios[::-1]) == expected


def test_a_background_with_other_names_is_nearly_the_same_and_the_library_has_no_such_pair():
    renamed = TOLD.replace("Harbour Library", "Hill Archive").replace("clerk", "porter")
    [pair] = alike_situations([told("b", renamed), told("a", TOLD)])
    assert (pair.first, pair.second, pair.why) == ("a", "b", "background")
    assert 0.4 <= pair.share < 1
    assert alike_situations(library().scenarios.values()) == []


def test_a_declared_variant_stays_with_its_original_or_with_other_variants_of_it():
    german = told("nacht", "Die Bibliothek schliesst um acht.", variant_of="night")
    french = told("nuit", "La bibliotheque ferme a huit heures.", variant_of="night")
    assert alike([german, french, told("night", TOLD)]) == dict.fromkeys(
        ("nacht", "night", "nuit"), "nacht"
    )
    assert alike_situations([german, french]) == [
        AlikeScenarios("nacht", "nuit", "variant_of", 1.0)
    ]


LINKS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40)


@given(LINKS)
def test_who_is_linked_by_others_stays_together_too(links):
    pairs = [AlikeScenarios(*sorted((f"{a:02}", f"{b:02}")), "background", 1) for a, b in links]
    leaders = led_by([f"{i:02}" for i in range(31)], pairs)
    assert led_by([f"{i:02}" for i in range(31)], pairs[::-1]) == leaders
    assert all(leaders[pair.first] == leaders[pair.second] for pair in pairs)
    for leader in set(leaders.values()):
        assert leader == min(name for name, of in leaders.items() if of == leader)
    assert len(set(leaders.values())) >= 31 - len(pairs)


def said(scenario, *words, number=0, arm="direct"):
    case = make_case(scenario, seed=number, repetition=number)
    turns = [make_turn(i + 2, text) for i, text in enumerate(words)]
    return Dialogue(case, arm, tuple(turns))


SAME = "The ledger was wet when I came in, and nobody had touched the box for fines."
STOCK = "I would rather not say anything more about that tonight, if you do not mind."


def lines_of(scenario, *numbers):
    return [
        said(scenario, f"{' '.join(f'word{i}{n}' for i in range(12))}.", number=n) for n in numbers
    ]


def test_scenarios_that_hold_the_same_dialogues_are_alike_and_a_stock_phrase_makes_none_so():
    one, other, third = (told(name, name) for name in "abc")
    dialogues = [
        *lines_of(one, 1, 2, 3), *lines_of(other, 2, 3, 4, 5), *lines_of(third, 6, 7, 8, 9),
        said(one, STOCK, number=11), said(third, f"Well, {STOCK}", number=12),
        said(one, "No.", number=13), said(third, "No.", number=14),
    ]  # fmt: skip
    found = AlikeDialogues.of(dialogues, SCHEME)
    assert found.scenarios() == [AlikeScenarios("a", "b", "dialogues", 0.5)]
    assert found.across({"a": "train", "b": "train", "c": "test"}) == 2
    assert found.across(dict.fromkeys("abc", "train")) == 0


def test_arms_of_one_case_say_nearly_the_same_by_design():
    scenario = told("a", "a")
    both = [said(scenario, SAME, arm=arm) for arm in ("direct", "reflective")]
    found = AlikeDialogues.of(both, SCHEME)
    assert found.scenarios() == []
    assert found.sizes == Counter(a=2)


def test_however_many_scenarios_hold_one_dialogue_all_of_them_are_alike():
    scenarios = [told(f"s{i:03}", str(i)) for i in range(120)]
    found = AlikeDialogues.of([said(s, SAME) for s in scenarios], SCHEME)
    leaders = led_by([s.id for s in scenarios], found.scenarios())
    assert set(leaders.values()) == {"s000"}


@pytest.fixture
def copied(tmp_path):
    """A run of eight scenarios, and of copies of two of them under other ids and in other words."""
    scenarios = some_scenarios(8)
    copies = [
        scenarios[0].model_copy(update={"id": "another_telling", "background": TOLD}),
        scenarios[1].model_copy(
            update={"id": "noch_einmal", "background": TOLD[::-1], "variant_of": scenarios[1].id}
        ),
    ]
    dialogues: list[Dialogue] = []
    for number, (scenario, goal) in enumerate(product([*scenarios, *copies], SCHEME.goal.values)):
        fact = next(fact.id for fact in scenario.facts if fact.owner == "responder")
        case = make_case(scenario, fact=fact, goal=goal, turns=2, seed=3)
        dialogue = play(case, scenario, "direct", number)
        if scenario.id == "another_telling":  # the words of the original, but for one
            said_there = dialogues[number % 2].turns
            last = make_turn(len(said_there), "Good night, then.")
            dialogue = Dialogue(case, "direct", (*said_there, last))
        dialogues.append(dialogue)
    return make_run(tmp_path / "copied", dialogues, own=copies), scenarios


def test_an_export_keeps_copies_in_one_split_and_tells_so(copied, tmp_path):
    run, scenarios = copied
    for seed in range(4):
        options = ExportOptions("benchmark", fractions=(0.5, 0.3, 0.2), seed=seed, parquet=False)
        folder = tmp_path / f"set{seed}"
        done = export(Selection((run,), verdict="any"), options, folder)
        manifest = json.loads((folder / "manifest.json").read_bytes())
        splits = manifest["splits"]
        assert splits["another_telling"] == splits[scenarios[0].id]
        assert splits["noch_einmal"] == splits[scenarios[1].id]
        assert {(p["first"], p["second"], p["why"]) for p in manifest["together"]} == {
            (*sorted(("another_telling", scenarios[0].id)), "dialogues"),
            (*sorted(("noch_einmal", scenarios[1].id)), "variant_of"),
        }
        assert manifest["near_duplicates_across_splits"] == 0
        assert any("in one split because they are alike" in note for note in done.notes)
        card = dataset_card(done.facts)
        assert "| another\\_telling | " in card
        assert "| declared to tell the same | 100.0% |" in card


def test_what_is_alike_throughout_is_divided_all_the_same_and_counted(tmp_path):
    scenarios = some_scenarios(4)
    dialogues = [said(s, SAME) for s in scenarios]
    run = make_run(tmp_path / "alike", dialogues)
    options = ExportOptions("dialogues", fractions=(0.5, 0.25, 0.25), parquet=False)
    done = export(Selection((run,), verdict="any"), options, tmp_path / "set")
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_bytes())
    assert manifest["together"] == []
    assert manifest["near_duplicates_across_splits"] == 4
    assert any("nearly one of another split" in note for note in done.notes)


def test_a_run_without_near_duplicates_has_nothing_to_tell(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=6)
    options = ExportOptions("benchmark", fractions=(0.5, 0.3, 0.2), parquet=False)
    export(Selection((run,), verdict="any"), options, tmp_path / "set")
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_bytes())
    assert manifest["together"] == []


def test_scenarios_that_a_run_gets_while_it_is_exported_are_left_out_of_account(
    tmp_path, monkeypatch
):
    scenarios = some_scenarios(4)
    run = make_run(tmp_path / "run", [said(s, SAME) for s in scenarios])
    options = ExportOptions("dialogues", fractions=(0.5, 0.5, 0.0))
    with opened(Selection((run,), verdict="any")) as found:
        earlier = [one for one in found.tallies() if one.scenario != scenarios[0].id]
        monkeypatch.setattr(OpenSelection, "tallies", lambda _, **__: earlier)
        plan = planned_splits(found, options)
    assert plan.groups.keys() == {s.id for s in scenarios[1:]}
    assert plan.across == 3
