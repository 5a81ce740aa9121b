"""The one query: what passes, in which order, and what is refused by name."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from outputs.audit.run_corpus import run_corpus
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from pipeline.store.queries.turns import TurnReader
from pipeline.store.run_store import RunStore
from scenarios.errors import UsageError
from scenarios.verdicts import Decision
from tests.outputs.corpora import DECEPTION, exportable_run


def verdicts(number):
    return ("accepted", "discarded", "pending", None)[number % 4]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "mixed"
    return exportable_run(
        folder, scenarios=3, strategies=("consistency", "direct"), verdict=verdicts
    )


def select(selection, **reading):
    with opened(selection) as found:
        yield from found.dialogues(**reading)


def ids(selection, **reading):
    return [found.key for found in select(selection, **reading)]


def test_only_accepted_dialogues_pass_unless_all_are_asked_for(run):
    accepted = list(select(Selection((run,))))
    everything = list(select(Selection((run,), verdict="any")))
    assert {found.verdict for found in accepted} == {"accepted"}
    assert {found.verdict for found in everything} == {"accepted", "discarded", "pending", None}
    assert len(everything) == 4 * len(accepted) == 24


def test_a_run_nobody_verified_is_not_taken_for_accepted(tmp_path):
    run = exportable_run(tmp_path / "raw", scenarios=1, verdict=lambda _: None)
    with pytest.raises(UsageError, match="has not been verified") as caught:
        list(select(Selection((run,))))
    assert "hipo verify" in caught.value.hint
    assert "--any" in caught.value.hint
    assert len(ids(Selection((run,), verdict="any"))) == 4


def test_the_newest_decision_counts_and_later_ones_are_not_seen_half_way(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=1)
    before = ids(Selection((run,)))
    with opened(Selection((run,))) as found:
        with RunStore.open(run) as store:
            case, arm = before[0]
            store.judgements.decide_now(Decision(case, arm, "discarded", "expert", "no"))
        assert [d.key for d in found.dialogues()] == before
    assert ids(Selection((run,))) == before[1:]


def test_dialogues_come_as_the_store_has_them(run):
    found = list(select(Selection((run,), verdict="any"), traces=True, wanted=True))
    with RunStore.open(run, readonly=True) as store:
        assert [d.dialogue for d in found] == list(store.dialogues())
    one = found[0]
    assert one.models == {"initiator": "compatible/m", "responder": "compatible/m"}
    assert (one.run, one.strategy, one.scheme.id) == ("mixed", "consistency", "hipo")
    assert one.scenario.id == one.dialogue.case.scenario


def test_what_is_not_asked_for_is_not_read(run):
    plain = next(select(Selection((run,))))
    assert not any(turn.trace or turn.wanted for turn in plain.dialogue.turns)
    with opened(Selection((run,))) as found:
        bare = next(found.dialogues(rationales=False))
    labels = [label for turn in bare.dialogue.turns for label in turn.tactic]
    assert labels
    assert not any(label.rationale for label in labels)
    full = [label for turn in plain.dialogue.turns for label in turn.tactic]
    assert [(x.dimension, x.value) for x in labels] == [(x.dimension, x.value) for x in full]


def test_all_dialogues_are_compared_by_their_words_whatever_was_decided_and_declared(run):
    with opened(Selection((run,))) as found:
        compared = list(found.every_dialogue())
    everything = [one.dialogue for one in select(Selection((run,), verdict="any"))]
    assert [[turn.text for turn in one.turns] for one in compared] == [
        [turn.text for turn in one.turns] for one in everything
    ]
    assert not any(turn.tactic for one in compared for turn in one.turns)


def test_dialogues_are_chosen_by_scenario_goal_strategy_arm_and_language(run):
    everything = list(select(Selection((run,), verdict="any")))
    name = everything[0].scenario.id
    category = everything[0].scenario.category

    def keys(test):
        return [found.key for found in everything if test(found)]

    for wish, test in (
        ({"scenarios": (name,)}, lambda d: d.scenario.id == name),
        ({"scenarios": (category,)}, lambda d: d.scenario.category == category),
        ({"goals": ("lie",)}, lambda d: d.dialogue.case.goal == DECEPTION),
        ({"strategies": ("direct",)}, lambda d: d.strategy == "direct"),
        ({"arms": ("cons",)}, lambda d: d.strategy == "consistency"),
        ({"languages": ("EN",)}, lambda d: True),
        ({"languages": ("en", "EN")}, lambda d: True),
    ):
        assert ids(Selection((run,), verdict="any", **wish)) == keys(test)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"goals": ("truthfull",)}, "has no goal 'truthfull'"),
        ({"strategies": ("dirct",)}, "strategy 'dirct'"),
        ({"arms": ("zz",)}, "no run has an arm 'zz'"),
        ({"scenarios": ("no_such",)}, "no run has a scenario no_such"),
        ({"scenarios": ("*", "no_such")}, "no run has a scenario no_such"),
        ({"languages": ("en", "fr")}, "no run has dialogues in 'fr'"),
    ],
)
def test_a_name_that_nothing_has_is_refused(run, wish, message):
    with pytest.raises(UsageError, match=message):
        ids(Selection((run,), verdict="any", **wish))


def test_a_dialogue_that_two_runs_have_is_taken_from_the_first(run, tmp_path):
    again = exportable_run(tmp_path / "mixed", scenarios=3, strategies=("direct",))
    with opened(Selection((run, again), verdict="any")) as found:
        keys = [(d.run, d.key) for d in found.dialogues()]
        assert len({key for _, key in keys}) == len(keys) == 24
        assert dict(found.duplicates) == {"mixed-2": 12}


def test_only_the_dialogues_that_an_audit_draws_are_read(run, monkeypatch):
    read = []
    turns = TurnReader.turns

    def counted(self, dialogues, **wishes):
        read.extend(dialogues)
        return turns(self, dialogues, **wishes)

    monkeypatch.setattr(TurnReader, "turns", counted)
    with opened(Selection((run,), verdict="any")) as found:
        there = sum(1 for _ in found.dialogues())
        read.clear()
        corpus = run_corpus(found, name="some", most=there // 3)
    assert corpus.of == there
    assert 0 < len(corpus.dialogues) == len(read) < there


def test_flags_and_judgements_are_looked_up_where_they_are_wanted(run):
    dialogues = select(Selection((run,), verdict="any"))
    discarded = next(found for found in dialogues if found.verdict == "discarded")
    assert [flag.code for flag in discarded.flags] == ["labels"]
    assert list(discarded.judgements) == []


def test_failed_cases_are_no_dialogues(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=1, facts=1)
    known = ids(Selection((run,)))

    async def fail(store):
        case = next(iter(store.dialogues())).case
        store.add_arm("other", {"strategy": "direct", "models": {}})
        await store.fail(case, "other", "timeout", "late", 0)

    with RunStore.open(run) as store:
        asyncio.run(fail(store))
    assert ids(Selection((run,), verdict="any")) == known


def test_a_failed_case_that_is_played_again_meanwhile_is_not_seen_half_way(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=1, facts=1)
    with RunStore.open(run) as store:
        played = next(iter(store.dialogues()))
        store.add_arm("other", {"strategy": "direct", "models": {}})
        asyncio.run(store.fail(played.case, "other", "timeout", "late", 0))
        before = ids(Selection((run,), verdict="any"))
        with opened(Selection((run,), verdict="any")) as found:
            asyncio.run(store.finish(replace(played, arm="other"), 1))
            assert [d.key for d in found.dialogues()] == before
        assert len(ids(Selection((run,), verdict="any"))) == len(before) + 1
