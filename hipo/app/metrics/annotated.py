"""Where annotations come from: files of other people's, or a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hipo.app.runs.folders import RUNS, find_run, is_run
from pipeline.run_material import load_material
from pipeline.store.queries.annotations import SourceCount, open_annotations
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, damaged
from quality.derived_answers import with_derived
from quality.disagreement.lengths import SAID, SITUATION, Words
from quality.selections import subject_name
from quality.tables.checking import CheckedTable, read_files
from quality.tables.measured import Numbers
from scenarios.annotations import DECLARED, Annotation, Subject
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.spelling import suggestion

_KNOWN_SCHEME = "{} says how every dimension is measured"
_LEAVE_OUT = "--measurement is for files without --map: leave it out"
GROUP = "group"
"""The column that says which file, or which group of files, an item comes from."""
SPEAKER: Final = "speaker"
"""Who declared labels where roles have names of their own; else it is stored: the responder."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """Annotations, the scheme they are of, and what their items can be grouped by."""

    sources: tuple[str, ...]
    """The files, or the folder of the run."""
    scheme: Scheme
    annotations: tuple[Annotation, ...]
    columns: Mapping[str, Mapping[str, str]]
    """Name of a column -> item -> what it says."""
    default: str = ""
    """The column that items are grouped by where nobody names one; empty: none."""
    counts: tuple[SourceCount, ...] = field(default=())
    """Of a run, everybody and everything that gave labels."""
    table: CheckedTable | None = None
    """What was read of files; None: the annotations are a run's."""
    words: Words = field(default_factory=dict)
    """How long the texts of items are, as far as they are known."""

    def groups(self, by: str | None) -> Mapping[str, str] | None:
        """Return item -> group by a column; None where there is nothing to group by.

        Raises:
            UsageError: there is no such column, or it says nothing of any item.
        """
        name = self.default if by is None else by
        if not name:
            return None
        if name not in self.columns:
            hint = suggestion(name, self.columns, listing="there are")
            raise UsageError(f"nothing can be grouped by {name!r}", hint)
        if by is not None and not any(self.columns[name].values()):
            raise UsageError(f"no item has a {name!r} to be grouped by", "leave --by out")
        return self.columns[name]


def open_annotated(
    sources: Sequence[str],
    map_name: str | None,
    kinds: Sequence[str],
    numbers: Numbers | None = None,
) -> Annotated:
    """Read files, by a map where one is given, or the annotations of a run.

    Args:
        sources: one or more files, or the folder of one run or its name under ``./runs``.
        map_name: of the map; None: files are plain, and their header says what columns are.
        kinds: of a run, which kinds of annotations are wanted.
        numbers: as what numbers in plain files count; None: by a rule.

    Raises:
        UsageError: there is no such file or run, a file cannot be read, or its header does not
            say what its columns are.
    """
    folder = _run_of(sources)
    if folder is not None:
        if map_name is not None:
            raise UsageError(f"{sources[0]} is a run and needs no map", "leave --map out")
        if numbers is not None:
            raise UsageError(_KNOWN_SCHEME.format(f"the scheme of {sources[0]}"), _LEAVE_OUT)
        return _of_run(folder, kinds)
    if map_name is None:
        missing = [source for source in sources if not Path(source).exists()]
        if missing:
            raise UsageError(
                f"there is no {missing[0]!r}: neither a file nor a run, here or under ./{RUNS}",
                "give files, or a run",
            )
    elif numbers is not None:
        raise UsageError(_KNOWN_SCHEME.format(f"the map {map_name}"), _LEAVE_OUT)
    return _of_files([Path(source) for source in sources], map_name, numbers)


def _run_of(sources: Sequence[str]) -> Path | None:
    """Return the folder of the run that is meant, if one is."""
    runs = [s for s in sources if is_run(Path(s)) or (not Path(s).exists() and is_run(RUNS / s))]
    if not runs:
        return None
    if len(sources) > 1:
        raise UsageError(f"{runs[0]} is a run, and stands among others", "give one run, or files")
    return find_run(runs[0])


def _of_files(paths: Sequence[Path], map_name: str | None, numbers: Numbers | None) -> Annotated:
    table = read_files(paths, map_name, numbers)
    names = dict.fromkeys(n for d in table.table.dialogues for n in d.context)
    groups = table.table.groups
    columns: dict[str, Mapping[str, str]] = {name: table.table.by(name) for name in names}
    columns[GROUP] = groups
    return Annotated(
        sources=tuple(file.file for file in table.table.files),
        scheme=table.scheme,
        annotations=tuple(with_derived(table.scheme, table.annotations)),
        columns=columns,
        default=GROUP if len(set(groups.values())) > 1 else "",
        table=table,
        words=_words(table.table.texts, table.table.by(SITUATION)),
    )


def _words(said: Mapping[str, str], situations: Mapping[str, str]) -> Words:
    """Count the words of what is labelled, and of the situation that it is said in."""
    texts = {SAID: said, SITUATION: situations}
    return {
        name: {item: len(text.split()) for item, text in of_items.items() if text.strip()}
        for name, of_items in texts.items()
    }


def _of_run(folder: Path, kinds: Sequence[str]) -> Annotated:
    with RunStore.open(folder, readonly=True) as store:
        material = load_material(store)
        with open_annotations(folder) as reader:
            counts = tuple(reader.sources())
            # Nobody who asks looks at reasons.
            read = reader.annotations(kinds, reasons=False)
            annotations = tuple(with_derived(material.scheme, read))
        if material.scenarios and all(one.flow for one in material.scenarios.values()):
            counts = tuple(replace(c, who=SPEAKER) if c.kind == DECLARED else c for c in counts)
            annotations = tuple(
                replace(a, who=SPEAKER) if a.kind == DECLARED else a for a in annotations
            )
        subjects: dict[tuple[str, str], dict[Subject, None]] = {}
        for annotation in annotations:
            about = annotation.subject
            subjects.setdefault((about.case, about.arm), {})[about] = None
        columns: dict[str, dict[str, str]] = {}
        words: dict[str, dict[str, int]] = {SAID: {}, SITUATION: {}}
        # One after the other: a run holds many more dialogues than memory does.
        for dialogue in store.reader.of(subjects):
            scenario = material.scenario_of(dialogue.case)
            for subject in subjects[dialogue.case.id, dialogue.arm]:
                item = subject_name(subject)
                if subject.turn is not None and subject.turn >= len(dialogue.turns):
                    raise damaged(folder / DATABASE, f"{item} is labelled, and is not there")
                for name, value in _columns(dialogue, subject, scenario).items():
                    columns.setdefault(name, {})[item] = value
                turns = dialogue.turns if subject.turn is None else (dialogue.turns[subject.turn],)
                texts = {
                    SAID: " ".join(turn.text for turn in turns),
                    SITUATION: scenario.background,
                }
                for name, text in texts.items():
                    if count := len(text.split()):
                        words[name][item] = count
    imported = len(set(columns.get(GROUP, {}).values())) > 1
    return Annotated(
        sources=(str(folder),),
        scheme=material.scheme,
        annotations=annotations,
        columns=columns,
        default=GROUP if imported else "",
        counts=counts,
        words=words,
    )


def _columns(dialogue: Dialogue, subject: Subject, scenario: Scenario) -> dict[str, str]:
    """Return what the items of a dialogue can be grouped by."""
    case = dialogue.case
    role = "" if subject.turn is None else dialogue.turns[subject.turn].role
    return {
        "scenario": case.scenario,
        "category": scenario.category,
        **({"tag": scenario.tags[0]} if len(scenario.tags) == 1 else {}),
        "goal": case.goal,
        "arm": dialogue.arm,
        "language": case.language,
        "role": role,
        **dict(case.variation),
    }
