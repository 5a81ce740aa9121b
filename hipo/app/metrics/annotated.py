"""Where annotations come from: files of other people's, or a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Final

from hipo.app.runs.folders import RUNS, find_run, names_run
from pipeline.chunks import chunks
from pipeline.run_material import RunMaterial, load_material
from pipeline.store.queries.annotations import SourceCount, open_annotations
from pipeline.store.queries.dialogues import PAGE
from pipeline.store.run_store import RunStore
from pipeline.store.sqlite import DATABASE, damaged
from quality.agreement.selections import subject_name
from quality.derived_answers import with_derived
from quality.disagreement.lengths import SAID, SITUATION, Words
from quality.judges.juror import juror_dimensions
from quality.tables.checking import CheckedTable, read_files
from quality.tables.measured import Numbers
from quality.tables.table import AnswerTable
from scenarios.annotations import DECLARED, Annotation, Subject
from scenarios.dialogue import Dialogue
from scenarios.errors import UsageError
from scenarios.log import logger
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.spelling import suggestion

_log = logger("annotated")
_KNOWN_SCHEME = "{} says how every dimension is measured"
_LEAVE_OUT = "--measurement is for files without --map: leave it out"
GROUP = "group"
"""The column that says which file, or which group of files, an item comes from."""
SPEAKER: Final = "speaker"
"""Who declared labels where roles have names of their own; else it is stored: the responder."""


@dataclass(frozen=True, slots=True)
class LabelledItem:
    """An item that somebody labelled: what it can be grouped by, and its words."""

    name: str
    columns: Mapping[str, str]
    """Name of a column -> what it says of the item."""
    texts: Mapping[str, str]
    """What is labelled, and the situation that it is said in."""


@dataclass(frozen=True, slots=True)
class Annotated:
    """Annotations, the scheme they are of, and what their items can be grouped by.

    Those of a run are read each time they are asked for: a run holds many more than memory does.
    """

    sources: tuple[str, ...]
    """The files, or the folder of the run."""
    scheme: Scheme
    annotations: Callable[[], Iterator[Annotation]]
    """Reads them, dialogue by dialogue."""
    items: Callable[[], Iterator[LabelledItem]]
    """Reads what they are about."""
    has_groups: bool
    """Whether items may be grouped where nobody names a column."""
    counts: tuple[SourceCount, ...] = ()
    """Of a run, everybody and everything that gave labels."""
    table: CheckedTable | None = None
    """What was read of files; None: the annotations are a run's."""

    def groups(self, by: str | None) -> Mapping[str, str] | None:
        """Return item -> group by a column; None where there is nothing to group by.

        Args:
            by: the column; None: the one that says which file, or group of files, an item is from.

        Raises:
            UsageError: there is no such column, or it says nothing of any item.
        """
        if not by and (by is not None or not self.has_groups):
            return None
        return self.groups_and_words(by)[0]

    def groups_and_words(self, by: str | None) -> tuple[Mapping[str, str] | None, Words]:
        """Return the same, and how long the texts of items are, as far as they are known."""
        name = GROUP if by is None else by
        names: dict[str, object] = {}
        groups: dict[str, str] = {}
        words: dict[str, dict[str, int]] = {SAID: {}, SITUATION: {}}
        for item in self.items():
            names.update(item.columns)
            if name in item.columns:
                groups[item.name] = item.columns[name]
            for which, text in item.texts.items():
                if count := len(text.split()):
                    words[which][item.name] = count
        if by and by not in names:
            hint = suggestion(by, names, listing="there are")
            raise UsageError(f"nothing can be grouped by {by!r}", hint)
        if by and not any(groups.values()):
            raise UsageError(f"no item has a {by!r} to be grouped by", "leave --by out")
        return groups if by or len(set(groups.values())) > 1 else None, words


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
    runs = [source for source in sources if names_run(source)]
    if not runs:
        return None
    if len(sources) > 1:
        raise UsageError(f"{runs[0]} is a run, and stands among others", "give one run, or files")
    return find_run(runs[0])


def _of_files(paths: Sequence[Path], map_name: str | None, numbers: Numbers | None) -> Annotated:
    table = read_files(paths, map_name, numbers)
    return Annotated(
        sources=tuple(file.file for file in table.table.files),
        scheme=table.scheme,
        annotations=lambda: with_derived(table.scheme, table.annotations),
        items=partial(_items_of_files, table.table),
        has_groups=True,
        table=table,
    )


def _items_of_files(table: AnswerTable) -> Iterator[LabelledItem]:
    names = dict.fromkeys(name for dialogue in table.dialogues for name in dialogue.context)
    columns = {
        one.id: {**{name: one.context.get(name, "") for name in names}, GROUP: one.group}
        for one in table.dialogues
    }
    texts = table.texts
    for item, dialogue in {a.item: a.dialogue for a in (*table.answers, *table.gold)}.items():
        of_it = columns[dialogue]
        said = {SAID: texts.get(item, ""), SITUATION: of_it.get(SITUATION, "")}
        yield LabelledItem(item, of_it, said)


def _of_run(folder: Path, kinds: Sequence[str]) -> Annotated:
    with RunStore.open(folder, readonly=True) as store, open_annotations(folder) as reader:
        material = load_material(store)
        counts = tuple(reader.sources())
        if _names_speakers(material):
            counts = tuple(replace(c, who=SPEAKER) if c.kind == DECLARED else c for c in counts)
        return Annotated(
            sources=(str(folder),),
            scheme=_scheme_of_readers(material) if "juror" in kinds else material.scheme,
            annotations=partial(_annotations_of_run, folder, material, kinds),
            items=partial(_items_of_run, folder, material, kinds),
            has_groups=store.reader.varies_by(GROUP),
            counts=counts,
        )


def _scheme_of_readers(material: RunMaterial) -> Scheme:
    """Return the scheme of a run with what jurors were asked by others, as their labels are called."""
    own = material.scheme
    mixed = [name for name, states in material.juror_schemes.items() if len(states) > 1]
    if mixed:
        _log.warning(
            "jurors were asked by several states of the scheme %s: what they said by any is taken for labels"
            " of the newest", ", ".join(mixed),
        )  # fmt: skip
    newest = [states[-1] for states in material.juror_schemes.values()]
    more = [d for other in newest for d in juror_dimensions(other, own)]
    return own.model_copy(update={"dimensions": (*own.dimensions, *more)}) if more else own


def _names_speakers(material: RunMaterial) -> bool:
    """Whether roles have names of their own in every scenario of a run."""
    return bool(material.scenarios) and all(one.flow for one in material.scenarios.values())


def _annotations_of_run(
    folder: Path, material: RunMaterial, kinds: Sequence[str]
) -> Iterator[Annotation]:
    named = _names_speakers(material)
    with open_annotations(folder) as reader:
        # Nobody who asks looks at reasons.
        read = reader.annotations(kinds, reasons=False)
        for _, of_dialogue in groupby(read, lambda a: (a.subject.case, a.subject.arm)):
            for one in with_derived(material.scheme, of_dialogue):
                yield replace(one, who=SPEAKER) if named and one.kind == DECLARED else one


def _items_of_run(
    folder: Path, material: RunMaterial, kinds: Sequence[str]
) -> Iterator[LabelledItem]:
    with RunStore.open(folder, readonly=True) as store, open_annotations(folder) as reader:
        about = (one.subject for one in reader.annotations(kinds, reasons=False))
        by_dialogue = (
            (key, tuple(dict.fromkeys(subjects)))
            for key, subjects in groupby(about, lambda subject: (subject.case, subject.arm))
        )
        for page in map(dict, chunks(by_dialogue, PAGE)):
            for dialogue in store.reader.of(page):
                scenario = material.scenario_of(dialogue.case)
                for subject in page[dialogue.key]:
                    yield _item(folder, subject, dialogue, scenario)


def _item(folder: Path, subject: Subject, dialogue: Dialogue, scenario: Scenario) -> LabelledItem:
    name, turns = subject_name(subject), dialogue.turns
    if subject.turn is not None:
        if subject.turn >= len(turns):
            raise damaged(folder / DATABASE, f"{name} is labelled, and is not there")
        turns = (turns[subject.turn],)
    texts = {SAID: " ".join(turn.text for turn in turns), SITUATION: scenario.background}
    return LabelledItem(name, _columns(dialogue, subject, scenario), texts)


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
