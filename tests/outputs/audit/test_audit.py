"""An audit finds what is planted, lets be what is clean, and tells ties by name."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from benchmarks.audit_power import (
    comma_in_answers,
    comma_in_questions,
    persona_for_goal,
    reads,
    score,
    simulated,
)
from outputs.audit.auditing import ONE_GOAL, audit_dialogues
from outputs.audit.features import edge_words, signs
from outputs.audit.findings import Audit, SkippedProbe, read_audit, write_audit
from outputs.audit.probes import PROBES
from outputs.audit.telling import audit_sentences, frame_table, shortcut_table
from scenarios.errors import UsageError

SMALL = {"scenarios": 12, "pairs": 10}


@pytest.fixture(scope="module")
def clean() -> Audit:
    return audit_dialogues(simulated(1, **SMALL))


def asked(corpus, *names) -> Audit:
    """Audit by the probes of these names alone."""
    return audit_dialogues(corpus, probes=[probe for probe in PROBES if probe.name in names])


def planted(planting, *names) -> Audit:
    return asked(simulated(2, planting=planting, **SMALL), *names)


def old_style(dialogue, _):
    """An opening in the words that openings by goal once had."""
    kind = "No, never." if dialogue.goal == "deception" else "I am not going to say."
    return replace(dialogue, opening=f"{dialogue.opening}\n{kind} Of {dialogue.scenario}.")


def test_clean_dialogues_have_no_shortcut(clean):
    assert clean.shortcuts == ()
    assert clean.tests > 30
    assert abs(score(clean, "line before", "goal") - 0.5) < 0.1


def test_lines_that_take_up_lies_are_told_and_make_no_set_fail(clean):
    """The initiator of simulated dialogues hears lies, which the scheme ties to one goal."""
    told = {(f.probe, f.kind): f for f in clean.findings if f.dimension == "goal"}
    assert told["other lines", "tied"].score > 0.6
    assert told["line before", "tied"].score > 0.55
    assert ("other lines", "must-not") not in told
    after = next(f for f in clean.findings if (f.probe, f.dimension) == ("line after", "veracity"))
    assert after.kind == "surface"
    assert after.score > after.chance + 0.05


def test_who_goes_on_otherwise_after_a_lie_gives_no_goal_away():
    def insisting(dialogue, _):
        lied, answers = False, []
        for answer in dialogue.answers:
            labels = {**answer.labels, "intention": "Convince"} if lied else answer.labels
            text = f"{answer.text} {answer.text}" if lied else answer.text
            lied = lied or answer.labels["veracity"] == "Quality"
            answers.append(replace(answer, labels=labels, text=text))
        return replace(dialogue, answers=tuple(answers))

    found = planted(insisting, "length", "labels")
    assert {f.kind for f in found.findings if f.dimension == "goal"} == {"must-not", "tied"}
    assert not [f for f in found.shortcuts if f.dimension == "goal"]


def test_words_of_a_place_tell_no_goal_where_one_goal_goes_on_longer():
    def numbered(dialogue, _):
        answers = tuple(
            replace(answer, before=f"Number {['first', 'second', 'third'][place]}.")
            for place, answer in enumerate(dialogue.answers)
        )
        return replace(dialogue, answers=answers)

    found = planted(numbered, "line before")
    assert score(found, "line before", "goal") == 0.5


def test_what_one_goal_alone_reaches_is_not_asked_and_that_is_said():
    def lying_at_once(dialogue, _):
        if dialogue.goal != "deception":
            return dialogue
        first, *others = dialogue.answers
        return replace(
            dialogue,
            answers=(replace(first, labels={**first.labels, "veracity": "Quality"}), *others),
        )

    found = planted(lying_at_once, "labels", "line before")
    assert SkippedProbe("labels", "must-not", "goal", ONE_GOAL) in found.skipped
    assert abs(score(found, "line before", "goal") - 0.5) < 0.1
    assert any(f"Not asked ({ONE_GOAL}): labels" in line for line in audit_sentences(found))


def test_labels_of_a_large_clean_set_tell_no_goal():
    assert asked(simulated(1), "labels").shortcuts == ()


def test_openings_by_goal_light_up_and_shared_ones_do_not(clean):
    found = planted(old_style, "opening", "opening again")
    assert score(found, "opening", "goal") > 0.95
    assert reads(found, "opening", "goal")
    assert reads(found, "opening again", "goal")
    assert not reads(clean, "opening", "goal")
    assert score(clean, "opening again", "goal") <= 0.5


def test_an_opening_that_tells_its_goal_in_its_own_scenario_alone_is_found():
    def own_words(dialogue, _):
        # Every other scenario says it the other way round: nothing is common to them.
        swapped = int(dialogue.scenario[1:]) % 2 == (dialogue.goal == "deception")
        said = f"Never in {dialogue.scenario}." if swapped else f"I won't in {dialogue.scenario}."
        return replace(dialogue, opening=said)

    found = planted(own_words, "opening", "opening again")
    assert score(found, "opening again", "goal") > 0.99
    assert reads(found, "opening again", "goal")
    assert not reads(found, "opening", "goal")


def test_a_comma_of_the_initiator_is_a_shortcut():
    found = planted(comma_in_questions(1.0), "line before")
    assert reads(found, "line before", "goal")
    assert found.shortcuts[0].bound > 0.9


def test_a_comma_in_lines_after_answers_that_tell_nothing_is_a_shortcut():
    found = planted(comma_in_questions(1.0, later=True), "line before", "opening")
    assert reads(found, "line before", "goal")
    assert not reads(found, "opening", "goal")


def test_longer_lines_of_the_initiator_under_one_goal_are_a_shortcut():
    def longer(dialogue, _):
        more = " as I said before" * (dialogue.goal == "deception")
        answers = tuple(replace(a, before=a.before + more) for a in dialogue.answers)
        return replace(dialogue, answers=answers)

    assert reads(planted(longer, "length around"), "length around", "goal")


def test_a_word_within_a_line_without_spaces_is_a_shortcut():
    def in_japanese(dialogue, rng):
        asked = "".join(
            rng.choice(list("\u3042\u3044\u3046\u3048\u304a\u304b\u304d\u304f\u3051\u3053"), 12)
        )
        told = "\u6b63\u76f4" if dialogue.goal == "deception" else ""
        said = f"{asked}{told}{asked[::-1]}\u3002"
        return replace(dialogue, answers=tuple(replace(a, before=said) for a in dialogue.answers))

    found = planted(in_japanese, "line before")
    assert reads(found, "line before", "goal")


def test_first_words_and_signs_of_other_scripts_are_seen():
    line = "\u306f\u3044\u3001\u305d\u3046\u3067\u3059\u3002"
    assert "\u306f\u3044" in edge_words(line, last=False)
    assert signs(line) == signs("a,b.") != signs("ab")
    assert signs("\u0644\u0627\u060c \u0623\u0646\u062a\u061f") == signs("a, b?")


def test_a_comma_in_answers_is_told_and_not_gated():
    found = planted(comma_in_answers(1.0), "first words", "punctuation", "length")
    assert score(found, "first words", "goal") > 0.95
    assert score(found, "punctuation", "goal") > 0.6
    assert all(f.kind == "must-not" for f in found.shortcuts)


def test_a_persona_that_goes_with_the_goal_is_a_shortcut():
    assert reads(planted(persona_for_goal(0.8), "variation"), "variation", "goal")


def test_labels_that_the_scheme_ties_are_told_by_name_and_make_no_set_fail(clean):
    assert [(tie.name, tie.shares["truthful non-disclosure"]) for tie in clean.ties] == [
        ("veracity Quality", 0)
    ]
    tied = next(f for f in clean.findings if (f.probe, f.kind) == ("labels", "tied"))
    assert tied.score > 0.6
    assert not tied.found
    assert abs(score(clean, "labels", "goal") - 0.5) < 0.1
    assert any("Tied by the scheme: veracity Quality" in line for line in audit_sentences(clean))


def test_labels_that_tell_the_goal_beyond_the_ties_are_a_shortcut():
    def convince(dialogue, rng):
        answers = tuple(
            replace(a, labels={**a.labels, "intention": "Convince"}) for a in dialogue.answers
        )
        return replace(dialogue, answers=answers) if dialogue.goal == "deception" else dialogue

    assert reads(planted(convince, "labels"), "labels", "goal")


def test_the_same_seed_gives_the_same_audit_and_another_much_the_same():
    corpus = simulated(1, scenarios=6, pairs=4)
    one, again, other = (audit_dialogues(corpus, seed=seed) for seed in (3, 3, 4))
    assert one == again != other
    assert one.shortcuts == other.shortcuts == ()


def test_an_audit_is_written_and_read_again(clean, tmp_path):
    write_audit(tmp_path / "audit.json", clean)
    assert read_audit(tmp_path / "audit.json") == clean
    plain = orjson.loads((tmp_path / "audit.json").read_bytes())
    assert (plain["clean"], plain["shortcuts"]) == (True, [])
    assert read_audit(tmp_path / "none.json") is None


def test_what_another_version_wrote_is_no_audit(tmp_path):
    (tmp_path / "audit.json").write_text('{"audit": 7}')
    assert read_audit(tmp_path / "audit.json") is None


def test_what_could_be_seen_is_said_and_with_few_scenarios_it_is_little(clean):
    few = audit_dialogues(simulated(1, scenarios=3, pairs=6))
    middle = [sorted(f.visible for f in a.findings if f.kind == "must-not") for a in (clean, few)]
    assert middle[1][len(middle[1]) // 2] > 3 * middle[0][len(middle[0]) // 2]
    assert any("could not be told from chance" in line for line in audit_sentences(few))
    assert frame_table(clean).rows[3][0] == "could be seen from"


def test_the_table_of_shortcuts_says_how_far_each_is_above_its_floor():
    row = shortcut_table(planted(comma_in_questions(1.0), "line before")).rows[0]
    assert row[:3] == ("line before", "goal", "1.000")
    assert row[4:6] == ("0.500", row[5])


def test_one_scenario_cannot_be_guessed_from_others():
    with pytest.raises(UsageError, match="1 scenario"):
        audit_dialogues(simulated(1, scenarios=1, pairs=3))
    with pytest.raises(UsageError, match="0 scenarios"):
        audit_dialogues(simulated(1, scenarios=0, pairs=3))


def test_without_scikit_learn_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr("outputs.audit.auditing.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="scikit-learn") as error:
        audit_dialogues(simulated(1, **SMALL))
    assert error.value.hint == 'pip install "hipo[audit]"'


def test_no_false_alarm_in_a_few_clean_sets():
    audits = [audit_dialogues(simulated(s, scenarios=8, pairs=4), seed=s) for s in range(5, 8)]
    assert [found.shortcuts for found in audits] == [()] * 3
