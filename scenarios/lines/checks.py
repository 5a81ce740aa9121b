"""Find what is wrong with authored lines: names, labels against the matrix, told facts, repeats.

To check the files of one set by hand: ``python -m scenarios.lines.checks stage [scenario ...]``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scenarios.catalogue import Catalogue
from scenarios.errors import Problem
from scenarios.graph import KnowledgeGraph, Truth
from scenarios.lines.flow_checks import flow_problems
from scenarios.lines.library import lines_file, scenarios_with
from scenarios.lines.model import (
    ANGLE,
    ANY_FACT,
    ANY_GOAL,
    ANY_QUESTION,
    HARD_QUESTION,
    LINE_USES,
    PRESSED,
    Detail,
    ExemplarLines,
    FlowLines,
    GoldLines,
    LabelledLine,
    LineUse,
    StageLines,
)
from scenarios.located import Located, Step, shortened
from scenarios.pack import FAMILIES, LIBRARY_PLUS
from scenarios.plural import plural
from scenarios.schemes.misleading import ruled_out_by_truth
from scenarios.schemes.model import Dimension, Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario
from scenarios.wording import shingles, word_count
from scenarios.yaml_source import read_yaml, validate_model

Place = tuple[Step, ...]
RUN = 5
"""Words in a row that a line may not share with the private fact."""
FEWEST, MOST = 3, 45
"""Words of a line."""


@dataclass(frozen=True)
class _Checked:
    """A file of lines with the scenario and the scheme it is held against."""

    scenario: Scenario
    scheme: Scheme
    located: Located
    use: LineUse

    def error(self, place: Place, found: str, expected: str, code: str) -> Problem:
        return self.located.problem(place, found=found, expected=expected, code=code)


def problems_of(use: LineUse, scenario_id: str) -> list[Problem]:
    """Return what is wrong with the lines of one scenario for one use.

    Args:
        use: the set of lines.
        scenario_id: the scenario, which is also the name of the file.

    Raises:
        InputError: there is no such file, or it does not have the form of such lines.
        UsageError: there is no such scenario.
    """
    catalogue = Catalogue.load([LIBRARY_PLUS, FAMILIES], environment={})
    scenario = catalogue.entry(scenario_id).scenario
    located = read_yaml(lines_file(use, scenario_id))
    checked = _Checked(scenario, load_scheme(scenario.scheme), located, use)
    if use == "stage" and scenario.flow:
        said = validate_model(FlowLines, located)
        misfits = flow_problems(scenario, checked.scheme, said, located)
        found = [*_named(checked, said.scenario), *misfits]
    elif use == "stage":
        stage = validate_model(StageLines, located)
        found = [*_named(checked, stage.scenario), *_stage(checked, stage)]
    else:
        model: type[GoldLines | ExemplarLines] = GoldLines if use == "gold" else ExemplarLines
        lines = validate_model(model, located)
        ids = [line.id for line in lines.lines]
        found = [*_named(checked, lines.scenario), *_repeated(checked, ("lines",), ids, "id")]
        for index, line in enumerate(lines.lines):
            found += _line(checked, ("lines", index), line)
        found += _repeated(checked, ("lines",), [line.text for line in lines.lines], "text")
    return sorted(found, key=lambda problem: problem.line or 0)


def _named(checked: _Checked, name: str) -> Iterator[Problem]:
    if name != checked.scenario.id:
        expected = f"{checked.scenario.id!r}, the name of the file"
        yield checked.error(("scenario",), repr(name), expected, "id")


def _stage(checked: _Checked, lines: StageLines) -> Iterator[Problem]:
    ids = [line.id for line in lines.initiator]
    yield from _repeated(checked, ("initiator",), ids, "id")
    known = (HARD_QUESTION, ANGLE, PRESSED, ANY_QUESTION, *ids)
    for index, asked in enumerate(lines.initiator):
        yield from _words(checked, ("initiator", index), asked.text)
    for number, line in enumerate(lines.responder):
        place: Place = ("responder", number)
        if line.answers not in known:
            yield checked.error(
                (*place, "answers"), repr(line.answers), f"one of {', '.join(known)}", "reference"
            )
        yield from _line(checked, place, line)
    texts = [line.text for line in lines.responder]
    yield from _repeated(checked, ("responder",), texts, "text")
    facts = [fact.id for fact in checked.scenario.facts]
    for number, name in enumerate(lines.needless):
        if name not in facts:
            expected = f"one of {', '.join(facts)}"
            yield checked.error(("needless", number), repr(name), expected, "reference")
    claims = [claim.id for claim in checked.scenario.claims]
    for name in lines.in_own_words:
        if name not in claims:
            expected = f"one of {', '.join(claims)}"
            yield checked.error(("in_own_words", name), repr(name), expected, "reference")
    for number, detail in enumerate(lines.details):
        yield from _detail(checked, ("details", number), detail, known)
    texts = [detail.text for detail in lines.details]
    yield from _repeated(checked, ("details",), texts, "text")


def _detail(
    checked: _Checked, place: Place, detail: Detail, questions: Sequence[str]
) -> Iterator[Problem]:
    """A detail names questions, facts and goals that there are, and tells no fact it is said under."""
    facts = [fact.id for fact in checked.scenario.facts]
    named = (
        ("answers", detail.answers, questions),
        ("facts", detail.facts, facts),
        ("goal", detail.goal, checked.scheme.goal.values),
    )
    for field, found, known in named:
        for name in found:
            if name not in known:
                expected = f"one of {', '.join(known)}"
                yield checked.error((*place, field), repr(name), expected, "reference")
    for fact_id in detail.facts or facts:
        if fact_id in facts:
            yield from _leak(checked, place, detail.text, fact_id)


def _line(checked: _Checked, place: Place, line: LabelledLine) -> Iterator[Problem]:
    yield from _words(checked, place, line.text)
    facts = [fact.id for fact in checked.scenario.facts]
    if line.fact not in (*facts, ANY_FACT):
        expected = f"{', '.join(facts)} or {ANY_FACT}"
        yield checked.error((*place, "fact"), repr(line.fact), expected, "reference")
        return
    goals = (*checked.scheme.goal.values, *((ANY_GOAL,) if checked.use == "stage" else ()))
    if line.goal not in goals:
        expected = " or ".join(goals)
        yield checked.error((*place, "goal"), repr(line.goal), expected, "label")
    claims = [claim.id for claim in checked.scenario.claims]
    for index, claim in enumerate(line.claims):
        if claim not in claims:
            expected = f"a claim of the scenario: {', '.join(claims)}"
            yield checked.error((*place, "claims", index), repr(claim), expected, "reference")
            return
    yield from _labels(checked, place, line)
    about = facts if line.fact == ANY_FACT else [line.fact]
    for fact_id in about:
        yield from _truth(checked, place, line, fact_id)
        yield from _leak(checked, place, line.text, fact_id)


def _leak(checked: _Checked, place: Place, text: str, fact_id: str) -> Iterator[Problem]:
    if shingles(text, RUN) & shingles(checked.scenario.fact(fact_id).text, RUN):
        found = f"{RUN} words in a row of the fact {fact_id!r}"
        yield checked.error((*place, "text"), found, "words of the speaker's own", "leak")


def _words(checked: _Checked, place: Place, text: str) -> Iterator[Problem]:
    count = word_count(text)
    if not FEWEST <= count <= MOST:
        expected = f"{FEWEST} to {MOST} words"
        yield checked.error((*place, "text"), plural(count, "word"), expected, "length")


def _labels(checked: _Checked, place: Place, line: LabelledLine) -> Iterator[Problem]:
    wanted = {d.id: d for d in checked.scheme.declared if d.level == "utterance"}
    for name, label in line.labels.items():
        if name not in wanted:
            expected = f"a field of a line, or one of {', '.join(wanted)}"
            yield checked.error((*place, name), repr(name), expected, "label")
        elif not _is_value(wanted[name], label):
            values = ", ".join(wanted[name].values)
            expected = f"one of {values}" if values else "a number of its scale, in quotes"
            yield checked.error((*place, name), repr(label), expected, "label")
    for name in wanted:
        if name not in line.labels:
            yield checked.error(place, f"no {name}", f"a label of {name}", "label")
    act = line.labels.get(checked.scheme.felicity or "")
    if act is not None and checked.scenario.felicitous and act not in checked.scenario.felicitous:
        expected = f"one of {', '.join(checked.scenario.felicitous)}, which the role may do"
        yield checked.error((*place, checked.scheme.felicity or ""), repr(act), expected, "label")


def _is_value(dimension: Dimension, label: str) -> bool:
    if dimension.measurement == "interval":
        return resolve_label(dimension, label) is not None
    return label in dimension.values


def _truth(checked: _Checked, place: Place, line: LabelledLine, fact_id: str) -> Iterator[Problem]:
    """A line is Quality if, and only if, the fact makes a claim of it false; never if truthful."""
    knowledge = KnowledgeGraph.of(checked.scenario)
    truths: dict[str, Truth | None] = {c: knowledge.truth(c, fact_id) for c in line.claims}
    undecided = [claim for claim, truth in truths.items() if truth is None]
    if undecided:
        found = f"{undecided[0]!r}, which the scenario does not decide under {fact_id!r}"
        yield checked.error((*place, "claims"), found, "a claim that is decided", "undecided")
    lies = "false" in truths.values()
    for dimension, false in ruled_out_by_truth(checked.scheme):
        label = line.labels.get(dimension)
        if label == false and not lies:
            expected = f"a claim that the fact {fact_id!r} makes false"
            yield checked.error((*place, "claims"), f"{label} without a lie", expected, "truth")
        elif lies and label != false:
            found = f"{label!r}, with a claim that {fact_id!r} makes false"
            yield checked.error((*place, dimension), found, repr(false), "truth")
    truthful = line.goal in (*checked.scheme.truthful_goals, ANY_GOAL)
    if truthful and {"false", "misleads"} & set(truths.values()):
        found = f"a claim that is false or misleads under {fact_id!r}"
        yield checked.error((*place, "claims"), found, f"none under {line.goal!r}", "truth")


def _repeated(
    checked: _Checked, place: Place, values: Sequence[str], what: str
) -> Iterator[Problem]:
    plain = [" ".join(value.casefold().split()) for value in values]
    for index, value in enumerate(plain):
        if value in plain[:index]:
            first = plain.index(value)
            found = f"{shortened(values[index])}, as in [{first}]"
            yield checked.error((*place, index, what), found, f"a {what} of its own", "repeated")


def _main(arguments: Sequence[str]) -> int:
    use: LineUse = next(name for name in LINE_USES if name == arguments[0])
    count = 0
    for scenario_id in arguments[1:] or scenarios_with(use):
        for problem in problems_of(use, scenario_id):
            count += 1
            sys.stdout.write(f"{problem}\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
