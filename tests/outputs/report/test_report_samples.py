"""Dialogues and texts that a report shows or measures in place of all of them."""

import json
import sqlite3
from itertools import pairwise

from hipo import Recipe, generate
from outputs.report.gathered import chosen
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import Sample
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Candidate, Draft, Trace
from tests.factories import ARM, make_arm, make_dialogue, make_run
from tests.outputs.html_tree import XHTML, parsed, section, words_of
from tests.outputs.report.report_page import page_of
from tests.outputs.sample_run import reported_run


def test_a_report_opens_with_one_dialogue_of_each_strategy_and_how_it_came_to_be(tree, sql):
    strategies = {json.loads(text)["strategy"] for (text,) in sql("select description from arms")}
    shown = list(section(tree, "showcase").iter(f"{XHTML}details"))
    assert len(shown) == len(strategies)
    assert all("open" in one.attrib for one in shown)
    told = words_of(section(tree, "showcase"))
    for strategy, sign in (("reflective", "draft"), ("consistency", "candidate 0")):
        assert strategy not in strategies or sign in told


def test_ten_dialogues_are_shown_that_differ_and_the_worst_come_with_their_flags(tree):
    shown = list(section(tree, "samples").iter(f"{XHTML}details"))
    assert len(shown) == 10
    told = words_of(section(tree, "samples"))
    assert "Private fact:" in told
    assert "fixed opening" in told
    worst = section(tree, "flags")
    assert "self_veracity: declared otherwise" in words_of(worst)
    tags = [words_of(e) for e in worst.iter(f"{XHTML}span") if e.get("class") == "tag"]
    assert tags[3] == "discarded"


def test_what_is_shown_does_not_depend_on_which_dialogue_was_finished_first(tmp_path):
    folder = tmp_path / "run"
    recipe = Recipe.model_validate({"n": 8, "strategies": ["direct", "reflective"]})
    generate(recipe.with_changes({"models": {"default": "offline/rules"}}), output=folder)
    with open_figures(folder) as figures:
        planned = [sample.id for sample in figures.samples()]
    connection = sqlite3.connect(folder / "run.sqlite")
    connection.execute("pragma foreign_keys = off")
    connection.execute("update dialogues set seq = -seq")
    connection.commit()
    connection.close()
    with open_figures(folder) as figures:
        assert [sample.id for sample in figures.samples()] == planned


def test_a_scenario_that_has_changed_leaves_its_dialogue_readable(tmp_path, monkeypatch):
    folder = reported_run(tmp_path / "changed", verified=False)
    connection = sqlite3.connect(folder / "run.sqlite")
    connection.execute("update cases set scenario_fingerprint = 'other'")
    connection.commit()
    connection.close()
    told = words_of(section(parsed(page_of(folder)), "samples"))
    assert "Answer" in told
    assert "Private fact" not in told


def test_where_there_are_several_people_it_is_said_who_knows_what(tmp_path):
    recipe = Recipe.model_validate({"scheme": "payoff_reasoning", "n": 1})
    generate(recipe.with_changes({"models": {"default": "offline/rules"}}), output=tmp_path / "run")
    told = words_of(section(parsed(page_of(tmp_path / "run")), "showcase"))
    assert "A private fact is known to those alone whose names stand before it." in told
    assert "labelled turn" in told
    assert "exchange" not in told


def test_of_a_vote_it_is_said_who_was_passed_over_by_the_number_that_candidates_have(tmp_path):
    drafts = [Draft(text, "deception", ()) for text in ("Never been hit.", "A careful owner's.")]
    candidates = tuple(Candidate(at, draft, 0.9 - at / 10) for at, draft in enumerate(drafts))
    note = "candidate 0 was passed over: it repeats words or speaks as a machine"
    trace = Trace("consistency", candidates=candidates, chosen=1, notes=(note,))
    said = make_dialogue("Was it hit?", "A careful owner's.", trace=trace)
    folder = make_run(tmp_path / "run", [said], arms={ARM: make_arm("consistency")})
    page = parsed(page_of(folder))
    told = words_of(section(page, "showcase"))
    assert "candidate 0, likeness 0.900" in told
    assert "candidate 1, likeness 0.800, said" in told
    assert note in told
    (listed,) = (e for e in section(page, "showcase").iter(f"{XHTML}ol"))
    assert listed.get("start") == "0"


def test_each_private_fact_of_several_people_stands_by_itself(tmp_path):
    recipe = Recipe.model_validate({"scheme": "cobra", "scenarios": "warehouse_fire", "n": 1})
    generate(recipe.with_changes({"models": {"default": "offline/rules"}}), output=tmp_path / "run")
    shown = section(parsed(page_of(tmp_path / "run")), "showcase")
    facts = [words_of(e) for e in shown.iter(f"{XHTML}p") if e.get("class") == "fact"]
    assert len(facts) > 1
    assert all(fact.count("Private fact:") == 1 for fact in facts)


def test_samples_are_as_different_as_they_can_be():
    known = Catalogue.load().scenarios
    names = list(known)[:6]
    samples = [
        Sample(f"{name}/{arm}/{goal}", arm, name, goal, 1, None)
        for name in names for arm in ("a", "b") for goal in ("x", "y")
    ]  # fmt: skip
    picked = chosen(samples, 6, known)
    assert len({sample.scenario for sample in picked}) == 6
    assert {sample.arm for sample in picked} == {"a", "b"}
    assert {sample.goal for sample in picked} == {"x", "y"}
    assert chosen(samples, 100, known) != []
    assert len(chosen(samples, 100, known)) == len(samples)


def test_texts_of_an_arm_are_spread_evenly_over_it(run):
    with open_figures(run) as figures:
        every = figures.texts("direct-compatible-m", 1000)
        some = figures.texts("direct-compatible-m", 6)
    assert len(every) == 18
    assert len(some) == 6
    places = [every.index(text) for text in some]
    assert places == sorted(places)
    assert max(b - a for a, b in pairwise(places)) <= 3
