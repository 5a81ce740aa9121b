from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.validation import check_scenario
from scenarios.wording import content_stems
from scenarios.yaml_source import read_yaml

Data = dict[str, Any]


def found(data: Data, scheme: Scheme, **options: Any) -> set[tuple[str, str, str]]:
    problems = check_scenario(Scenario.model_validate(data), scheme, **options)
    return {(problem.code, problem.field, problem.severity) for problem in problems}


def test_a_right_scenario_has_no_problem(boat, hipo):
    assert found(boat, hipo, shipped=True) == set()


def test_a_lie_that_nobody_gains_by_is_odd_in_schemes_that_ship_alone(boat, hipo):
    for fact in boat["facts"]:
        fact["cover"] = [{**cover, "gain": "protects"} for cover in fact["cover"]]
    assert {code for code, _, _ in found(boat, hipo)} == {"gain"}
    boat["scheme"] = "white_lies"
    assert found(boat, hipo.model_copy(update={"id": "white_lies"})) == set()


def test_a_text_that_gives_a_fact_away_is_told_by_which_words(boat, hipo):
    boat["summary"] = boat["facts"][0]["text"]
    scenario = Scenario.model_validate(boat)
    (leak,) = [
        p for p in check_scenario(scenario, hipo) if (p.code, p.field) == ("leak", "summary")
    ]
    told = leak.hint.removeprefix("it shares ").partition(" with the fact")[0].split(", ")
    assert set(told) == content_stems(boat["facts"][0]["text"])


def test_todo_is_a_word_of_other_languages(boat, hipo):
    boat["summary"] = "Todo el mundo lo sabe todo, menos ella."
    assert "unfinished" not in {code for code, _, _ in found(boat, hipo)}


def _statements(boat: Data) -> Data:
    statements: Data = boat["opening"]["by_goal"][0]["statements"]
    return statements


def _truthful(boat: Data) -> Data:
    said: Data = _statements(boat)["truthful non-disclosure"]
    return said


def _forget(boat: Data, *claims: str) -> None:
    """Take claims out of the scenario and of every fact."""
    boat["claims"] = [claim for claim in boat["claims"] if claim["id"] not in claims]
    for fact in boat["facts"]:
        for decision in ("makes_false", "misleads", "makes_true", "leaves_open"):
            if decision in fact:
                fact[decision] = [claim for claim in fact[decision] if claim not in claims]


def _set(*path: Any) -> Callable[[Data], None]:
    *steps, last, value = path

    def change(boat: Data) -> None:
        here: Any = boat
        for step in steps:
            here = here[step]
        here[last] = value

    return change


FAULTS: list[tuple[Callable[[Data], None], str, str, str]] = [
    # vocabulary
    (_set("scheme", "cei"), "scheme", "scheme", "error"),
    (_set("category", "boats"), "category", "category", "error"),
    (_set("tags", 1, "sailing"), "unknown-tag", "tags[1]", "error"),
    (_set("tags", 1, "everyday"), "duplicate-tag", "tags[1]", "error"),
    (_set("felicitous", 0, "Promises"), "unknown-label", "felicitous[0]", "error"),
    (lambda b: _statements(b).pop("deception"), "missing-goal", "opening.by_goal[0].statements", "error"),
    (
        lambda b: _statements(b).update(lying=_truthful(b)),
        "unknown-goal", "opening.by_goal[0].statements.lying", "error",
    ),
    # references
    (_set("facts", 1, "id", "leak"), "duplicate-id", "facts[1].id", "error"),
    (_set("facts", 0, "makes_false", ["ready", "redy"]), "unknown-reference", "facts[0].makes_false[1]", "error"),
    (_set("facts", 0, "misleads", ["redy"]), "unknown-reference", "facts[0].misleads[0]", "error"),
    (_set("evidence", 0, "reveals", ["leek"]), "unknown-reference", "evidence[0].reveals[0]", "error"),
    (
        lambda b: _truthful(b).update(claims=["may_look", "x"]),
        "unknown-reference", "opening.by_goal[0].statements['truthful non-disclosure'].claims[1]", "error",
    ),
    # truth
    (
        lambda b: _truthful(b).update(claims=["may_look", "ready"]),
        "false-statement", "opening.by_goal[0].statements['truthful non-disclosure'].claims[1]", "error",
    ),
    (
        lambda b: b["facts"][2].update(makes_false=["varnish_only"], leaves_open=["ready"], misleads=["may_look"]),
        "false-statement", "opening.by_goal[0].statements['truthful non-disclosure'].claims[0]", "error",
    ),
    (
        lambda b: b["facts"][1].update(makes_true=["weekly"], misleads=["twelve"]),
        "false-statement", "opening.shared.exchanges[0].claims[0]", "error",
    ),
    (_set("facts", 0, "leaves_open", []), "undecided", "facts[0]", "error"),
    (_set("facts", 0, "leaves_open", ["may_look", "twelve"]), "decided-twice", "facts[0]", "error"),
    (_set("facts", 0, "cover", []), "no-cover", "facts[0].cover", "error"),
    (_set("facts", 0, "cover", [{"claim": "varnish_only"}]), "cover-not-false", "facts[0].cover[0]", "error"),
    (_set("facts", 0, "cover", 0, "gain", "surprise"), "gain", "facts[0].cover", "warning"),
    (_set("facts", 0, "angle", None), "no-angle", "facts[0]", "warning"),
    (lambda b: b["opening"].pop("shared") and _forget(b, "twelve", "weekly"), "no-shared-opening", "opening", "warning"),
    (lambda b: _statements(b)["deception"].update(claims=[]), "claims-nothing", "opening.by_goal[0].statements.deception.claims", "error"),
    (_set("facts", 2, "owner", "initiator"), "owner", "facts[2].owner", "warning"),
    (
        lambda b: b["claims"].append({"id": "new", "text": "The mast is new."}),
        "unused-claim", "claims[5]", "error",
    ),
    # form
    (_set("background", "A harbour. A boat."), "length", "background", "error"),
    (_set("opening", "shared", "hard_question", 1, "Hello. Is it good? Really?"), "length", "opening.shared.hard_question[1]", "error"),
    (_set("facts", 1, "text", "It broke. It fell. It sank."), "length", "facts[1].text", "error"),
    (_set("summary", "TODO"), "unfinished", "summary", "error"),
    (_set("title", "Lorem ipsum"), "unfinished", "title", "error"),
    (_set("title", "A boat ..."), "unfinished", "title", "error"),
    (_set("title", "The boat of <name>"), "unfinished", "title", "error"),
    (_set("title", "The boat\u202eof a clerk"), "control", "title", "error"),
    (_set("languages", ["english"]), "language", "languages[0]", "error"),
    (_set("languages", []), "language", "languages", "error"),
    (_set("summary", "\u0423\u0447\u0438\u0442\u0435\u043b\u044c \u0438 \u043b\u043e\u0434\u043a\u0430."), "script", "summary", "error"),
    (_set("outcome", "as_of", "2026-13"), "date", "outcome.as_of", "error"),
    (
        _set("sources", [{"document": "Ruling", "body": "Court", "date": "2025-02-30"}]),
        "date", "sources[0].date", "error",
    ),
    # names
    (_set("title", "The boat of {owner}"), "placeholder", "title", "error"),
    (_set("title", "The boat of {{ owner }}"), "placeholder", "title", "error"),
    (_set("placeholders", {"owner": {"alias": "A"}}), "unused-placeholder", "placeholders.owner", "warning"),
    # leakage
    (
        _set("roles", "initiator", "description", "A teacher who heard that a plank split in March and that the pump in the bilge has been running."),
        "leak", "roles.initiator.description", "error",
    ),
    (
        _set("opening", "shared", "hard_question", 0, "Was the emergency transmitter lent to your cousin?"),
        "leak", "opening.shared.hard_question[0]", "error",
    ),
    (
        _set("facts", 1, "angle", "Was the emergency transmitter lent to your cousin?"),
        "leak", "facts[1].angle", "error",
    ),
    (
        lambda b: _truthful(b).update(text="The emergency transmitter was lent to a cousin."),
        "leak", "opening.by_goal[0].statements['truthful non-disclosure'].text", "error",
    ),
    (_set("facts", 2, "about", "the varnish over a barbecue burn"), "about-leak", "facts[2].about", "error"),
    (
        _set("facts", 2, "about", "a b c d e f g h i j k"),
        "about-length", "facts[2].about", "error",
    ),
    # duplicates
    (
        _set("facts", 1, "text", "The bilge pump has run night and day since a plank split last March."),
        "near-duplicate", "facts[1].text", "error",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "code", "field", "severity"), FAULTS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_one_fault_gives_its_problem_and_no_other(boat, hipo, change, code, field, severity):
    change(boat)
    assert found(boat, hipo) == {(code, field, severity)}


def test_problems_carry_file_and_line_in_the_order_of_the_file(boat, hipo, written):
    boat["outcome"]["as_of"] = "2026-13"
    boat["tags"][1] = "sailing"
    path = written(boat)
    located = read_yaml(path)
    problems = check_scenario(Scenario.model_validate(located.data), hipo, located)
    lines = path.read_text().splitlines()
    assert ["sailing" in lines[problems[0].line - 1], "2026-13" in lines[problems[1].line - 1]] == [
        True, True,
    ]  # fmt: skip
    assert {problem.file for problem in problems} == {located.file}


def test_too_few_facts_are_a_fault_only_of_the_library(boat, hipo):
    del boat["facts"][1:]
    _forget(boat, "varnish_only")
    assert found(boat, hipo) == {("number-of-facts", "facts", "warning")}
    assert found(boat, hipo, shipped=True) == {("number-of-facts", "facts", "error")}


def test_a_scenario_in_which_the_responder_knows_nothing_is_refused(boat, hipo):
    for fact in boat["facts"]:
        fact["owner"] = "initiator"
    assert found(boat, hipo) == {("owner", "facts", "error")}


def test_one_statement_for_every_goal_must_be_true_whatever_the_fact(boat, hipo):
    before = dict(_statements(boat))
    _statements(boat).clear()
    _statements(boat)["any"] = {"text": "All set.", "claims": ["ready", "may_look"]}
    place = "opening.by_goal[0].statements.any.claims[0]"
    assert found(boat, hipo) == {("false-statement", place, "error")}
    _statements(boat)["any"]["claims"] = ["may_look"]
    _statements(boat)["deception"] = before["deception"]
    assert found(boat, hipo) == set()


def test_where_no_goal_rules_anything_out_nobody_needs_a_lie(boat, hipo):
    free = hipo.model_copy(update={"contradictions": ()})
    for fact in boat["facts"]:
        del fact["cover"], fact["angle"]
    _forget(boat, "varnish_only")
    assert found(boat, free) == set()


def test_a_scheme_without_contradictions_has_no_truthful_goal(boat, hipo):
    free = hipo.model_copy(update={"contradictions": ()})
    _truthful(boat)["claims"].append("ready")
    assert found(boat, free) == set()


def test_a_denial_gives_nothing_away_but_the_same_words_without_it_do(boat, hipo):
    statement = _statements(boat)["deception"]
    statement["text"] = "No, the emergency transmitter was never lent to any cousin."
    assert found(boat, hipo) == set()
    statement["text"] = "The emergency transmitter was lent to some cousin."
    assert {code for code, _, _ in found(boat, hipo)} == {"leak"}


def test_a_denial_is_read_in_the_language_of_the_scenario(boat, hipo):
    boat["languages"] = ["de"]
    boat["facts"][0]["text"] = "Der Notsender wurde im Sommer an einen Vetter verliehen."
    _statements(boat)["deception"]["text"] = (
        "Der Notsender wurde niemals an einen Vetter verliehen."
    )
    assert "leak" not in {code for code, _, _ in found(boat, hipo)}
    _statements(boat)["deception"]["text"] = "Der Notsender wurde an einen Vetter verliehen."
    assert "leak" in {code for code, _, _ in found(boat, hipo)}


def test_a_real_name_in_the_open_is_found_and_under_its_placeholder_is_not(boat, hipo):
    boat["placeholders"] = {"owner": {"alias": "Halyard Hire", "real": "Acme Boats"}}
    boat["title"] = "A boat of {owner}"
    assert found(boat, hipo) == set()
    boat["summary"] = "Acme boats hires out a boat."
    assert found(boat, hipo) == {("real-name", "summary", "error")}
    boat["placeholders"]["owner"]["alias"] = "Acme Boats"
    assert ("real-name", "placeholders.owner.alias", "error") in found(boat, hipo)


def test_meanings_are_compared_where_a_model_is_at_hand(boat, hipo):
    leaked = boat["opening"]["shared"]["hard_question"][1]
    texts = [fact["text"] for fact in boat["facts"]]

    def similarity(left, right):
        alike = {(texts[0], leaked), (texts[2], texts[1]), (texts[1], texts[2])}
        return [[1.0 if a == b else 0.9 if (a, b) in alike else 0.1 for b in right] for a in left]

    assert found(boat, hipo, similarity=similarity) == {
        ("leak", "opening.shared.hard_question[1]", "error"),
        ("near-duplicate", "facts[2].text", "error"),
    }


@pytest.mark.parametrize("languages", [["de"], ["en", "zh"]])
def test_meanings_are_compared_in_english_alone_as_the_model_reads_nothing_else(
    boat, hipo, languages
):
    def similarity(left, right):
        raise AssertionError("nothing is to be compared")

    boat["languages"] = languages
    codes = {code for code, _, _ in found(boat, hipo, similarity=similarity)}
    assert not codes & {"leak", "near-duplicate"}


def test_a_text_in_the_script_of_its_language_is_in_order(boat, hipo):
    boat["languages"] = ["en", "ru"]
    boat["summary"] = (
        "\u0423\u0447\u0438\u0442\u0435\u043b\u044c \u0438 \u043b\u043e\u0434\u043a\u0430."
    )
    assert found(boat, hipo) == set()
