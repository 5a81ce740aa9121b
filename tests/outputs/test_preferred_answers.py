"""What judges, wanted labels and verdicts prefer, between two arms that answer the same prompt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from hipo.app.export.options import export_options
from hipo.cli.main import run as hipo
from outputs.export.export import export
from outputs.kinds.origins import DEFAULT_ORIGINS, ORIGINS
from outputs.selecting.wish import Selection
from scenarios.dialogue import Attempt, Critique, Draft, Trace
from scenarios.errors import UsageError
from scenarios.verdicts import Decision, Judgement, JudgeRun
from tests.factories import make_arm, make_run
from tests.outputs.corpora import SCHEME, TRUTH, cases, play, rows_in, some_scenarios

DIMENSIONS = tuple(d.id for d in SCHEME.utterance_dimensions)
GOOD, BAD = "direct", "verified"
DIFFER = 3
"""A number of a dialogue whose first answer no other arm gives."""


def two_arms(folder, *, carried=None, named=None, verdicts=("accepted", "accepted"), change=None):
    """Write a run of two arms; what judges say of the first answer is by arm and dimension."""
    ((case, scenario),) = [c for c in cases(some_scenarios(1), 1, 1) if c[0].goal == TRUTH]
    played = {arm: play(case, scenario, arm, DIFFER) for arm in (GOOD, BAD)}
    if change is not None:
        played = {arm: change(arm, dialogue) for arm, dialogue in played.items()}

    async def judge(store, dialogue, number):
        arm = dialogue.arm
        said = {label.dimension: label.value for label in dialogue.turns[3].tactic}
        found = [
            Judgement(
                case.id, arm, 3, "external", "m/j", d,
                (named or {}).get(arm, {}).get(d, said[d]), d not in (carried or {}).get(arm, ()),
            )
            for d in DIMENSIONS
        ]  # fmt: skip
        if carried is not None or named is not None:
            await store.judgements.record(
                JudgeRun(case.id, arm, "external", "m/j", "c", 0, True), found
            )
        decision = Decision(case.id, arm, verdicts[number], "policy:auto", "so")
        await store.judgements.decide([decision])

    arms = {arm: make_arm(arm, "compatible/m") for arm in (GOOD, BAD)}
    return make_run(folder, list(played.values()), arms=arms, each=judge)


def pairs(tmp_path, run, **options):
    chosen = export_options("dpo", fractions=(1, 0, 0), parquet=False, **options)
    done = export(Selection((run,)), chosen, tmp_path / "set")
    return rows_in(tmp_path / "set"), done


def test_what_judges_find_carried_is_preferred_to_what_they_do_not(tmp_path):
    run = two_arms(tmp_path / "run", carried={GOOD: (), BAD: ("veracity",)})
    (row,), _ = pairs(tmp_path, run)
    assert (row["origin"], row["arm"], row["rejected_arm"]) == ("judges", GOOD, BAD)
    assert f"by {GOOD}" in row["chosen"][0]["content"]
    assert row["score_chosen"] == 1
    assert row["margin"] == pytest.approx(1 / len(DIMENSIONS))
    assert row["same_labels"] is True


@pytest.mark.parametrize(("last", "origins"), [(True, ["revision"]), (False, [])])
def test_a_version_that_was_found_at_fault_itself_is_no_better_than_the_draft(
    tmp_path, last, origins
):
    def checked(arm, dialogue):
        turns = list(dialogue.turns)
        said = Draft(turns[3].text, dialogue.case.goal, turns[3].tactic)
        attempts = tuple(
            Attempt(draft, (Critique("price", holds, "so"),))
            for draft, holds in ((replace(said, text="It is nine."), False), (said, last))
        )
        turns[3] = replace(turns[3], trace=Trace("verified", attempts=attempts, chosen=1))
        return replace(dialogue, turns=tuple(turns)) if arm == BAD else dialogue

    run = two_arms(tmp_path / "run", change=checked)
    if origins:
        assert [row["origin"] for row in pairs(tmp_path, run)[0]] == origins
    else:
        with pytest.raises(UsageError, match="nothing is left to export"):
            pairs(tmp_path, run)


def test_where_judges_find_both_or_neither_nothing_is_preferred(tmp_path):
    for number, carried in enumerate(
        ({GOOD: (), BAD: ()}, {GOOD: ("intention",), BAD: ("veracity",)})
    ):
        run = two_arms(tmp_path / f"run{number}", carried=carried)
        with pytest.raises(UsageError, match="nothing is left to export") as caught:
            pairs(tmp_path, run)
        assert "two answers to one prompt" in str(caught.value.hint)


def without_rows(tmp_path, run, **options):
    with pytest.raises(UsageError, match="nothing is left") as caught:
        pairs(tmp_path, run, **options)
    return caught.value.message


def unwanted(_, dialogue):
    return replace(dialogue, turns=tuple(replace(turn, wanted=()) for turn in dialogue.turns))


def test_the_dialogue_of_the_worse_answer_is_told_as_that(tmp_path):
    run = two_arms(tmp_path / "run", carried={GOOD: (), BAD: ("veracity",)})
    _, done = pairs(tmp_path, run)
    assert done.facts.left_out.dialogues == {"worse_side": 1}
    found = without_rows(tmp_path / "none", run, pairs=["judges"], min_margin=0.9)
    assert "1 dialogue all of whose pairs were left out; 1 dialogue to whose answers" in found


def test_two_answers_that_stand_alike_are_told_from_those_of_which_nothing_was_wanted(tmp_path):
    both = {"carried": {GOOD: (), BAD: ()}}
    wanted = without_rows(tmp_path, two_arms(tmp_path / "wanted", **both))
    assert "2 dialogues whose answers stand alike" in wanted
    free = without_rows(tmp_path, two_arms(tmp_path / "free", change=unwanted, **both))
    assert "2 dialogues in which no labels were wanted" in free


def test_strategies_that_say_the_same_are_told_as_that(tmp_path):
    def say(_, dialogue):
        turns = [replace(turn, text="So it is.", trace=None) for turn in dialogue.turns]
        return replace(dialogue, turns=tuple(turns))

    found = without_rows(tmp_path, two_arms(tmp_path / "run", change=say))
    assert "2 dialogues in which another strategy said the same" in found


def wants(veracity):
    """Return what makes both arms be asked for a label."""

    def change(_, dialogue):
        turns = list(dialogue.turns)
        turns[3] = replace(turns[3], wanted=(("veracity", veracity),))
        return replace(dialogue, turns=tuple(turns))

    return change


def test_the_wanted_label_as_judges_name_it_is_preferred_to_another(tmp_path):
    declared = play(*next(cases(some_scenarios(1), 1, 1)), GOOD, DIFFER).turns[3].tactic
    veracity = next(label.value for label in declared if label.dimension == "veracity")
    other = next(v for v in SCHEME.dimension("veracity").values if v != veracity)
    run = two_arms(tmp_path / "run", named={BAD: {"veracity": other}}, change=wants(veracity))
    (row,), _ = pairs(tmp_path, run, pairs=["wanted"])
    assert (row["origin"], row["arm"]) == ("wanted", GOOD)
    assert (row["score_chosen"], row["score_rejected"], row["margin"]) == (1, 0, 1)


@pytest.mark.parametrize("options", [{}, {"prompt": "none"}, {"target": "json"}])
def test_the_prompt_of_a_pair_says_which_labels_were_wanted(tmp_path, options):
    declared = play(*next(cases(some_scenarios(1), 1, 1)), GOOD, DIFFER).turns[3].tactic
    veracity = next(label.value for label in declared if label.dimension == "veracity")
    other = next(v for v in SCHEME.dimension("veracity").values if v != veracity)
    named = {BAD: {"veracity": other}}
    run = two_arms(tmp_path / "run", named=named, change=wants(veracity))
    (row,), _ = pairs(tmp_path, run, pairs=["wanted"], **options)
    said = "\n".join(message["content"] for message in row["prompt"])
    assert said.count(f"Wanted veracity: {veracity}") == 1


def test_a_pair_that_judges_and_verdicts_order_differently_is_left_out(tmp_path):
    run = two_arms(
        tmp_path / "run", carried={GOOD: ("veracity",), BAD: ()}, verdicts=("accepted", "discarded")
    )
    (row,), _ = pairs(tmp_path, run, pairs=["verdict"])
    assert (row["arm"], row["margin"]) == (GOOD, None)
    with pytest.raises(UsageError, match="nothing is left"):
        pairs(
            tmp_path / "both",
            run,
            pairs=["verdict", "judges"],
            include_deception=True,
            balance=None,
        )


def test_the_same_two_answers_are_one_pair_of_the_first_kind(tmp_path):
    run = two_arms(
        tmp_path / "run", carried={GOOD: (), BAD: ("veracity",)}, verdicts=("accepted", "discarded")
    )
    (row,), done = pairs(tmp_path, run)
    assert row["origin"] == "judges"
    assert "pairs left out that are there already: 1" in done.notes


def test_pairs_can_be_held_to_a_margin_and_to_the_same_labels(tmp_path):
    def relabelled(arm, dialogue):
        turns = list(dialogue.turns)
        tactic = turns[3].tactic
        first = SCHEME.utterance_dimensions[0]
        value = next(v for v in first.values if v != tactic[0].value)
        if arm == BAD:
            turns[3] = replace(turns[3], tactic=(replace(tactic[0], value=value), *tactic[1:]))
        return replace(dialogue, turns=tuple(turns))

    run = two_arms(tmp_path / "run", carried={GOOD: (), BAD: ("veracity",)}, change=relabelled)
    (row,), _ = pairs(tmp_path, run, pairs=["judges"])
    assert row["same_labels"] is False
    for option in ({"same_labels": True}, {"min_margin": 0.5}):
        with pytest.raises(UsageError, match="nothing is left"):
            pairs(tmp_path / "no", run, pairs=["judges"], **option)
    rows, _ = pairs(tmp_path / "near", run, pairs=["judges"], min_margin=0.3)
    assert len(rows) == 1


def test_a_margin_and_the_same_labels_only_take_pairs_away(tmp_path):
    """A pair that a kind with scores found too near does not come back as one without scores."""
    run = two_arms(
        tmp_path / "run", carried={GOOD: (), BAD: ("veracity",)}, verdicts=("accepted", "discarded")
    )
    (row,), _ = pairs(tmp_path / "all", run)
    assert row["origin"] == "judges"
    found = without_rows(tmp_path / "far", run, min_margin=0.5)
    assert "pairs left out whose scores differ by less than 0.5: 1" in found
    rows, _ = pairs(tmp_path / "near", run, min_margin=0.3)
    assert rows == [row]


def test_votes_are_taken_on_request_alone():
    assert "vote" not in DEFAULT_ORIGINS
    assert export_options("dpo").pairs == ("judges", "wanted", "verdict", "revision")
    assert export_options("dpo", pairs=["vote", "judges"]).pairs == ("judges", "vote")
    assert export_options("dpo", pairs=["all"]).pairs == ORIGINS
    with pytest.raises(UsageError, match="no pairs of 'judge'") as caught:
        export_options("dpo", pairs=["judge"])
    assert "judges" in str(caught.value.hint)
    with pytest.raises(UsageError, match="--pairs is for --to dpo"):
        export_options("sft", pairs=["vote"])


def test_a_column_is_balanced_by_its_own_name_and_by_that_of_its_dimension(tmp_path):
    run = two_arms(tmp_path / "run")
    for name in ("intention", "label_intention", "goal"):
        words = ["export", str(run), "--to", "turns", "--balance", name, "--no-parquet", "-q"]
        assert hipo([*words, "-o", str(tmp_path / name)]) == 0
    found = [
        Counter(r["label_intention"] for r in rows_in(tmp_path / n))
        for n in ("intention", "label_intention")
    ]
    assert found[0] == found[1]
