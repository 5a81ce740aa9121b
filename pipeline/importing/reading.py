"""Read a file of dialogues line by line; every line that cannot be used is one problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import orjson

from pipeline.importing.rows import ImportRow, RowTurn
from pipeline.importing.situations import FACT, IMPORTED, situation
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.errors import InputError, Problem
from scenarios.json_lines import numbered_lines
from scenarios.lines.model import GOLD_AXIS
from scenarios.located import Located, shortened
from scenarios.pack import PLUS_NAME
from scenarios.schemes.model import Scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import Scenario
from scenarios.spelling import suggestion
from scenarios.text_file import shown_path
from scenarios.yaml_source import validate_model

LONGEST_LINE = 4 << 20
MOST_SITUATIONS = 5_000
"""Different situations that one file may bring along."""

_CAME_ALONG = (
    "that is a situation that came with imported dialogues: import the file that they came from"
)
_ROLES_HINT = 'e.g. {"messages": [{"role": "user", "content": "..."}, ...], "scenario": ...}'


@dataclass(slots=True)
class Reader:
    """Turns lines into dialogues of one arm, and gathers the situations they bring along."""

    scheme: Scheme
    catalogue: Catalogue
    arm: str
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    """Every scenario that dialogues were about, situations included, by id."""
    situations: dict[str, Scenario] = field(default_factory=dict)
    unlabelled: int = 0
    """Answers to be judged that declare no label."""
    _seen: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def read(self, path: Path) -> Iterator[Dialogue | Problem]:
        """Yield the dialogue of every line, or the first problem with it; blank lines are skipped.

        Raises:
            InputError: the file cannot be read.
        """
        name = shown_path(path)
        lines = numbered_lines(path, "give a file of JSON lines", longest=LONGEST_LINE)
        for number, line in lines:
            yield self._line(name, number, line)

    def _line(self, name: str, number: int, text: bytes) -> Dialogue | Problem:
        located = Located({}, name, {(): number})
        if len(text) > LONGEST_LINE:
            return located.problem((), found="more than 4 MiB", expected="one dialogue a line")
        try:
            data = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            found = f"text that is no JSON ({error.msg} at column {error.colno})"
            return located.problem((), found=found, expected="one JSON object", hint=_ROLES_HINT)
        if not isinstance(data, dict):
            return located.problem((), found=shortened(data), expected="one JSON object")
        try:
            told = data | {"of_scheme": list(self.scheme.roles_of_words)}
            row = validate_model(ImportRow, Located(told, name, {(): number}))
            return self._dialogue(row, located)
        except InputError as error:
            return error.problems[0]

    def _dialogue(self, row: ImportRow, located: Located) -> Dialogue:
        scenario, fact = self._setting(row, located)
        self.scenarios.setdefault(scenario.id, scenario)
        goal = self._goal(row, located)
        exchanges = row.exchanges_of(
            scenario.labelled_roles if scenario.flow else row.labelled_roles
        )
        if not exchanges:
            labelled = f"words of {', '.join(scenario.labelled_roles)}"
            _refuse(located, "messages", "nothing that is labelled", labelled)
        turns = tuple(
            self._turn(turn, place, kind, _is_labelled(scenario, turn), located)
            for place, (turn, kind) in enumerate(zip(row.turns, row.kinds, strict=True))
        )
        language = row.language or row.case.language or "en"
        if GOLD_AXIS in row.case.variation:
            _refuse(
                located, f"case.variation.{GOLD_AXIS}", "a gold line", "a line of another origin",
                "gold lines are for measuring alone: no dialogue of a corpus holds one",
            )  # fmt: skip
        variation, seed = row.variation, row.case.seed
        alike = (scenario.id, fact, goal, exchanges, language, *sorted(variation.items()), seed)
        repetition = max(self._seen[alike], row.case.repetition or 0)
        self._seen[alike] = repetition + 1
        case = make_case(
            scheme=self.scheme.id,
            scenario=scenario.id,
            scenario_fingerprint=scenario.fingerprint,
            fact=fact,
            goal=goal,
            turns=exchanges,
            language=language,
            variation=variation,
            repetition=repetition,
            seed=seed,
        )
        return Dialogue(case, self.arm, turns)

    def _setting(self, row: ImportRow, located: Located) -> tuple[Scenario, str]:
        """Return the scenario of a row and the id of its fact."""
        wanted = row.named_scenario
        if wanted is None:
            made = self._situation(row, located)
            return made, FACT if not made.flow else ""
        if row.background is not None:
            _refuse(located, "background", "a background beside a scenario", "one of the two")
        scenario = self.catalogue.scenarios.get(wanted)
        if scenario is None or scenario.scheme != self.scheme.id:
            known = [s.id for s in self.catalogue.scenarios.values() if s.scheme == self.scheme.id]
            _refuse(
                located, "scenario", f"the unknown scenario {wanted!r}", "the id of a scenario",
                _CAME_ALONG if wanted.startswith(IMPORTED)
                else suggestion(wanted, known, listing="scenarios"),
            )  # fmt: skip
        if self.catalogue.entries[wanted].for_examples:
            _refuse(
                located, "scenario", f"{wanted!r}, of {PLUS_NAME}", "a scenario that is played",
                "examples are written for these: no dialogue of a corpus is about them",
            )  # fmt: skip
        if scenario.flow:
            self._check_roles(row, scenario, located)
            return scenario, ""
        if not row.is_pair:
            _refuse(
                located, "messages", f"turns of {', '.join(row.speakers)}, not in turn",
                f"question and answer, as {wanted} has them: the initiator (user) begins, and the "
                "two take turns",
            )  # fmt: skip
        fact = row.fact or row.case.fact
        facts = [f.id for f in scenario.facts if f.owner == "responder"]
        if fact not in facts:
            found = "nothing" if fact is None else f"the unknown fact {shortened(fact)}"
            hint = suggestion(fact or "", facts, listing="facts")
            _refuse(located, "fact", found, f"the id of a fact of {wanted}", hint)
        return scenario, str(fact)

    def _situation(self, row: ImportRow, located: Located) -> Scenario:
        # Whoever judges a goal has to know the scene, and of a pair what one of them keeps back.
        needed = ("background", "fact") if row.is_pair else ("background",)
        for name in needed if self.scheme.assigned else ():
            if not getattr(row, name):
                _refuse(
                    located, name, "nothing", f"a scenario, or {' and '.join(f'a {n}' for n in needed)}",
                    "judges need to know the situation and what only the responder knows"
                    if row.is_pair else "judges of a goal need to know the situation",
                )  # fmt: skip
        made = situation(row, self.scheme)
        if made.id not in self.situations and len(self.situations) >= MOST_SITUATIONS:
            _refuse(
                located, "background", f"more than {MOST_SITUATIONS:,} different situations",
                "fewer in one file", "split the file",
            )  # fmt: skip
        return self.situations.setdefault(made.id, made)

    def _check_roles(self, row: ImportRow, scenario: Scenario, located: Located) -> None:
        """Refuse a role that the scenario does not have."""
        for place, turn in enumerate(row.turns):
            if turn.role not in scenario.roles:
                hint = suggestion(turn.role, list(scenario.roles), listing="roles")
                where, found = f"messages[{place}].role", f"the unknown role {turn.called!r}"
                _refuse(located, where, found, f"a role of {scenario.id}", hint)

    def _goal(self, row: ImportRow, located: Located) -> str:
        goal = row.goal or row.case.goal
        if not goal:
            return ""
        if not self.scheme.assigned:
            _refuse(located, "goal", shortened(goal), "nothing: the scheme assigns no goals")
        resolved = resolve_label(self.scheme.goal, goal)
        if resolved is None:
            hint = suggestion(goal, self.scheme.goal.values, listing="goals")
            _refuse(located, "goal", shortened(goal), f"a label of {self.scheme.assigned}", hint)
        return str(resolved[0])

    def _turn(
        self, turn: RowTurn, place: int, kind: str, labelled: bool | None, located: Located
    ) -> Turn:
        improvised = kind == "improvised"
        labels = self._labels(turn, place, located)
        declared = None
        if turn.declared_goal is not None and self.scheme.assigned:
            resolved = resolve_label(self.scheme.goal, turn.declared_goal)
            declared = None if resolved is None else resolved[0]
        made = Turn(
            index=place,
            role=turn.role,
            text=turn.text,
            kind="improvised" if improvised else "opening",
            declared_goal=declared,
            tactic=labels,
            labelled=labelled,
        )
        self.unlabelled += made.is_answer and not labels
        return made

    def _labels(self, turn: RowTurn, place: int, located: Located) -> tuple[TacticLabel, ...]:
        """Resolve the labels of a turn, in the order of the scheme."""
        known = {dimension.id: dimension for dimension in self.scheme.utterance_dimensions}
        given: Mapping[str, tuple[object, str, str | None]] = {
            **{label.dimension: (label.value, label.rationale, label.raw) for label in turn.tactic},
            **{n: (v, turn.rationales.get(n, ""), None) for n, v in turn.labels.items()},
        }
        found: dict[str, TacticLabel] = {}
        for name, (value, rationale, raw) in given.items():
            where = f"turns[{place}].labels.{name}"
            if name not in known:
                hint = suggestion(name, list(known), listing="dimensions")
                _refuse(located, where, f"the unknown dimension {name!r}", "a dimension", hint)
            resolved = resolve_label(known[name], value)
            if resolved is None:
                hint = suggestion(str(value), known[name].values, listing="labels")
                _refuse(located, where, shortened(value), f"a label of {name}", hint)
            label, changed = resolved
            if not (
                known[name].concerns(turn.role) and known[name].limited_to(turn.role).admits(label)
            ):
                _refuse(
                    located, where, f"{shortened(value)} of the {turn.called}",
                    f"a label that the scheme {self.scheme.name} has for words of the role {turn.role}",
                )  # fmt: skip
            spelt = raw or (str(value) if changed else None)
            found[name] = TacticLabel(name, label, rationale, spelt)
        return tuple(found[name] for name in known if name in found)


def _refuse(
    located: Located, field_name: str, found: str, expected: str, hint: str = ""
) -> NoReturn:
    """Raise the one problem of a line."""
    raise InputError(
        [
            Problem(
                file=located.file,
                line=located.line(()),
                field=field_name,
                found=found,
                expected=expected,
                hint=hint,
            )
        ]
    )


def _is_labelled(scenario: Scenario, turn: RowTurn) -> bool | None:
    """Return whether words of a turn's role are labelled; None where the roles are a pair."""
    return turn.role in scenario.labelled_roles if scenario.flow else None
