"""Find what is wrong with the lines of a scenario with a flow: places, number, labels and goals."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.errors import Problem
from scenarios.lines.model import FlowLine, FlowLines
from scenarios.located import Located, Step
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario

Place = tuple[Step, ...]


def flow_problems(
    scenario: Scenario, scheme: Scheme, lines: FlowLines, located: Located
) -> Iterator[Problem]:
    """Yield what does not fit between the lines of a file and the flow they are said in.

    Everybody who improvises in a phase needs a moment for each round there can be: with fewer,
    somebody would say a line twice.
    """

    def error(place: Place, found: str, expected: str, code: str) -> Problem:
        return located.problem(place, found=found, expected=expected, code=code)

    speakers = {phase.id: phase.who for phase in scenario.flow if not phase.text}
    for phase, by_role in lines.flow.items():
        if phase not in speakers:
            expected = f"a phase without fixed words: {', '.join(speakers)}"
            yield error(("flow", phase), repr(phase), expected, "reference")
            continue
        for role, moments in by_role.items():
            place: Place = ("flow", phase, role)
            if role not in speakers[phase]:
                expected = f"who speaks in it: {', '.join(speakers[phase])}"
                yield error(place, repr(role), expected, "reference")
            for number, moment in enumerate(moments):
                for line in moment:
                    for found, expected in _misfits(scheme, role, line):
                        yield error((*place, number), found, expected, "label")
    for phase_ in scenario.flow:
        for role in speakers.get(phase_.id, ()):
            count, most = len(lines.moments(phase_.id, role)), phase_.rounds[1]
            if count < most:
                found = f"{count} moments of {role!r} in {phase_.id!r}"
                yield error(("flow",), found, f"{most}, one for each round", "number-of-lines")


def _misfits(scheme: Scheme, role: str, line: FlowLine) -> Iterator[tuple[str, str]]:
    """Yield (found, expected) of labels and goals that the scheme does not have."""
    for goal in line.goal:
        if goal not in scheme.goals:
            yield f"the goal {goal!r}", f"one of {', '.join(filter(None, scheme.goals)) or 'none'}"
    declared = {dimension.id: dimension for dimension in scheme.declared}
    for name, value in line.labels.items():
        dimension = declared.get(name)
        if dimension is None or not dimension.concerns(role):
            yield f"a label of {name!r}", f"one of what {role!r} declares: {', '.join(declared)}"
        elif resolve_label(dimension, list(value) if isinstance(value, tuple) else value) is None:
            yield f"{name} {value!r}", f"one of {', '.join(dimension.values) or 'its numbers'}"
