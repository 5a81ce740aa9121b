"""Import dialogues and annotations of other people's tables into a new run: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hipo.app.metrics.annotated import GROUP
from pipeline.importing.imported_run import RunContents, run_name, write_run
from pipeline.importing.importer import model_spec
from pipeline.importing.rows import name_of, role_key
from pipeline.importing.situations import Situation, flowing_situation
from pipeline.recipes.recipe import Recipe
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from quality.tables.checking import CheckedTable, read_files
from quality.tables.oddities import Oddity, Place, shown
from quality.tables.table import TableDialogue
from quality.tables.table_map import TableMap, load_map
from scenarios.annotations import Annotation, Subject
from scenarios.arms import IMPORTED, Arm
from scenarios.case import SOURCE, Case, make_case
from scenarios.dialogue import Dialogue, Turn
from scenarios.errors import UsageError
from scenarios.language_code import check_code, spelled_code
from scenarios.nested_texts import spaced
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.schemes.vocabulary import resolve_label
from scenarios.spec import MOST_ROLES, Scenario
from scenarios.terms import RoleKey

NO_WORDS = "(no words)"
"""What a turn says whose cell is empty: its place is kept."""
LANGUAGE: Final = "language"
"""What maps call the column of the code of the language that is spoken."""
ENGLISH: Final = "en"
"""The language of a dialogue of which no code is told."""
LONGEST_VALUE = 80
"""Characters of what a dialogue can be grouped by."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """What was brought into a run of what some files hold."""

    folder: Path
    dialogues: int
    situations: int
    annotators: int
    annotations: int
    aside: tuple[str, ...]
    """Dimensions of the map that its scheme does not have: their answers are not in the run."""
    table: CheckedTable
    """What was read, with what was odd."""


def import_tables(
    paths: Sequence[Path], map_name: str, folder: Path, *, generator: str | None = None
) -> ImportedTable:
    """Read files by a map into a new run: dialogues, and what annotators said about them.

    Args:
        paths: the files.
        map_name: a map that ships, or the path of one.
        folder: where the run will be; it appears only when everything is in it.
        generator: ``provider/model`` that wrote the words, if it is known.

    Raises:
        UsageError: a file, the map or its scheme cannot be read, the files hold no words, or there
            is something in the folder already.
    """
    how = load_map(map_name)
    table = read_files(paths, map_name)
    if not any(turn.text for dialogue in table.table.dialogues for turn in dialogue.turns):
        raise UsageError(
            f"{table.table.files[0].file} holds no words that anybody says",
            "a run is made of dialogues: let the map name columns under texts; "
            "hipo agreement and hipo qc read tables without",
        )
    scheme = load_scheme(how.scheme) if how.scheme else table.scheme
    models = {} if generator is None else {"responder": model_spec(generator)}
    names = ", ".join(path.name for path in paths)
    arm = Arm(IMPORTED, models, {"file": names, "map": how.id})
    maker = _Maker(scheme, how, table, arm.id)
    dialogues = [maker.dialogue(one) for one in table.table.dialogues]
    known = {dimension.id for dimension in scheme.dimensions if dimension.derived is None}
    annotations = list(maker.annotations(known))
    write_run(
        folder,
        RunContents(
            recipe=Recipe(name=run_name(folder), scheme=how.scheme or how.id),
            scheme=scheme,
            prompts=ActorPrompts(Templates(), scheme),
            scenarios=maker.scenarios.values(),
            arm=arm,
            count=len(dialogues),
            dialogues=lambda: dialogues,
            annotations=annotations,
        ),
    )
    return ImportedTable(
        folder=folder,
        dialogues=len(dialogues),
        situations=len(maker.scenarios),
        annotators=len(table.table.annotators),
        annotations=len(annotations),
        aside=tuple(name for name in table.table.dimensions if name not in known),
        table=replace(table, oddities=(*table.oddities, *maker.oddities)),
    )


class _Maker:
    """Makes dialogues of a run of those of a table."""

    def __init__(self, scheme: Scheme, how: TableMap, table: CheckedTable, arm: str) -> None:
        """Make dialogues of one arm."""
        self.scenarios: dict[str, Scenario] = {}
        self.oddities: list[Oddity] = []
        self._scheme, self._how, self._table, self._arm = scheme, how, table, arm
        self._cases: dict[str, Case] = {}
        self._alike: dict[tuple[object, ...], int] = {}
        answered: dict[str, set[int]] = {}
        for answer in table.table.answers:
            if answer.turn is not None:
                answered.setdefault(answer.dialogue, set()).add(answer.turn)
        self._answered = answered

    def dialogue(self, given: TableDialogue) -> Dialogue:
        """Return a dialogue as a run holds it; all turns of labelled roles are to be judged."""
        turns = given.turns
        if len({turn.role for turn in turns} | set(self._how.people)) > MOST_ROLES:
            raise UsageError(
                f"{given.file}: more than {MOST_ROLES} people speak in {given.id!r}",
                "is the column of the role the right one? A map may say which roles its values mean",
            )
        language = self._language(given)
        situation = Situation(
            background=given.context.get("situation", ""),
            names=self._names(given),
            written={
                turn.role: name_of(role_key(turn.role), spaced(turn.called))
                for turn in reversed(turns)
                if turn.called
            },
            speaking=tuple(dict.fromkeys(turn.role for turn in turns)),
            labelled=(),
            tag=given.context.get("tag", ""),
            language=language,
        )
        labelled = self._labelled(given, situation.keys)
        situation = replace(situation, labelled=labelled)
        scenario = flowing_situation(self._scheme, situation)
        scenario = self.scenarios.setdefault(scenario.id, scenario)
        goal = self._goal(given)
        count = sum(turn.role in labelled for turn in turns)
        alike = (scenario.id, goal, count)
        repetition = self._alike.get(alike, 0)
        self._alike[alike] = repetition + 1
        case = make_case(
            scheme=self._scheme.id,
            scenario=scenario.id,
            scenario_fingerprint=scenario.fingerprint,
            fact="",
            goal=goal,
            turns=count,
            language=language,
            variation=self._variation(given),
            repetition=repetition,
            seed=0,
        )
        self._cases[given.id] = case
        return Dialogue(case, self._arm, tuple(self._turns(given, situation)))

    def annotations(self, known: set[str]) -> Iterator[Annotation]:
        """Yield what annotators said, about the dialogues of the run."""
        table = self._table.table
        told = {answer.subject: answer for answer in (*table.answers, *table.gold)}
        for one in self._table.annotations:
            if one.dimension in known:
                answer = told[one.subject.case, one.subject.turn]
                case = self._cases[answer.dialogue]
                yield replace(one, subject=Subject(case.id, self._arm, answer.turn))

    def _labelled(self, given: TableDialogue, keys: Mapping[str, RoleKey]) -> tuple[str, ...]:
        """Return the roles whose words somebody labelled; of a dialogue without any, all roles."""
        answered = self._answered.get(given.id, set())
        theirs = {keys[turn.role] for place, turn in enumerate(given.turns) if place in answered}
        roles = (turn.role for turn in given.turns if not theirs or keys[turn.role] in theirs)
        return tuple(dict.fromkeys(roles))

    def _names(self, given: TableDialogue) -> Mapping[str, str]:
        """Return what the people of a dialogue are called, those who only listen included."""
        named = {role: given.context[role] for role in self._how.people if given.context.get(role)}
        return {**{turn.role: turn.role for turn in given.turns}, **named}

    def _variation(self, given: TableDialogue) -> dict[str, str]:
        """Return what a dialogue can be told apart and grouped by."""
        told = {
            name: value
            for name, value in given.context.items()
            if name not in ("situation", LANGUAGE, *self._how.people)
            and len(value) <= LONGEST_VALUE
        }
        return {**told, SOURCE: given.id, GROUP: given.group}

    def _language(self, given: TableDialogue) -> str:
        """Return the language that a dialogue is said to be in; English where nothing is said."""
        told = given.context.get(LANGUAGE, "").strip() or ENGLISH
        try:
            check_code(told)
        except UsageError as error:
            odd = Oddity(
                Place(given.file), "unknown_language", error.message, f"taken for {ENGLISH}"
            )
            self.oddities.append(odd)
            return ENGLISH
        return spelled_code(told)

    def _goal(self, given: TableDialogue) -> str:
        if not given.goal or not self._scheme.assigned:
            return ""
        resolved = resolve_label(self._scheme.goal, given.goal)
        if resolved is None:
            place = Place(given.file)
            found = f"{shown(given.goal)} of {given.id!r} is no {self._scheme.assigned}"
            self.oddities.append(Oddity(place, "unknown_goal", found, "the dialogue has none"))
            return ""
        return str(resolved[0])

    def _turns(self, given: TableDialogue, situation: Situation) -> Iterator[Turn]:
        roles = situation.keys
        for place, turn in enumerate(given.turns):
            if not turn.text:
                found = f"no words in turn {place} of {given.id!r}"
                self.oddities.append(
                    Oddity(Place(given.file), "no_words", found, f"stored as {NO_WORDS!r}")
                )
            yield Turn(
                index=place,
                role=roles[turn.role],
                text=turn.text or NO_WORDS,
                kind="improvised",
                labelled=turn.role in situation.labelled,
            )
