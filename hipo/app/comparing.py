"""Compare how people speak in several corpora, or in parts of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hipo.app.options.values import several
from hipo.app.runs.folders import RUNS, is_evaluation, is_run, runs_in
from hipo.app.runs.run import Run, RunLike, folder_of
from outputs.dataset.reader import row_set
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from outputs.speech.compared import (
    ComparedDialogue,
    ComparedLine,
    dialogues_of_rows,
    dialogues_of_run,
)
from outputs.speech.comparison import SpeechComparison, SpeechGroup, compare_groups
from outputs.speech.markers import Markers, load_markers
from outputs.speech.measures import Heard, heard, measures_with, speech_sums
from scenarios.errors import UsageError
from scenarios.plural import enumerated, plural
from scenarios.spelling import suggestion
from scenarios.text_file import real_path

MOST_GROUPS = 12
"""Groups of ``--by`` that are compared at most."""
ROLE = "role"
"""Groups lines by who says them."""


@dataclass(frozen=True, slots=True)
class SpeechChoice:
    """Which lines are compared."""

    by: str | None = None
    """What divides the lines of one source into groups; None: each source is a group."""
    roles: tuple[str, ...] = ()
    """Only what these say; empty: everybody."""
    fixed: bool = False
    """Whether lines count, too, that were fixed beforehand."""

    def is_chosen(self, line: ComparedLine) -> bool:
        """Return whether a line counts."""
        return (self.fixed or not line.fixed) and (not self.roles or line.role in self.roles)


@dataclass(slots=True)
class _Groups:
    """The groups as they fill, and what was seen on the way."""

    choice: SpeechChoice
    markers: Markers
    filled: dict[str, SpeechGroup] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    """What lines could be grouped by."""
    roles: dict[str, set[str]] = field(default_factory=dict)
    """Who speaks, by source."""
    unfit: dict[str, int] = field(default_factory=dict)
    """Dialogues in languages that the markers are not about."""
    unsaid: int = 0
    """Dialogues that do not say their language."""
    wordless: int = 0
    """Lines of rows that hold no text, such as calls of tools."""
    empty: int = 0
    """Dialogues without a line."""

    def add(self, source: str, dialogue: ComparedDialogue) -> None:
        """Take in a dialogue."""
        language = dialogue.language
        if language is None:
            self.unsaid += 1
            language = self.markers.language
        elif not self.markers.fit(language):
            self.unfit[language] = self.unfit.get(language, 0) + 1
        self.wordless += dialogue.wordless
        self.empty += not dialogue.lines
        self.names |= {*dialogue.traits, ROLE}
        parts: dict[str, list[Heard]] = {}
        for line, before in heard(dialogue.lines):
            self.roles.setdefault(source, set()).add(line.role)
            self.names |= line.labels.keys()
            group = self._group(source, dialogue, line)
            if group is not None and self.choice.is_chosen(line):
                parts.setdefault(group, []).append((line, before))
        for name, lines in parts.items():
            sums = speech_sums(lines, self.markers, language)
            self.filled.setdefault(name, SpeechGroup(name)).add(dialogue.cluster, sums, len(lines))

    def speakers(self, source: str | None) -> set[str]:
        """Return who says anything in a source; None: in any of them."""
        return self.roles.get(source, set()) if source else set().union(*self.roles.values())

    def _group(self, source: str, dialogue: ComparedDialogue, line: ComparedLine) -> str | None:
        by = self.choice.by
        if by is None:
            return source
        if by == ROLE:
            return line.role
        return line.labels.get(by) or dialogue.traits.get(by) or None

    def notes(self) -> Iterator[str]:
        """Say what is to be known of what was counted."""
        if self.wordless:
            yield f"{plural(self.wordless, 'line')} without text: left out"
        if self.empty:
            yield f"{plural(self.empty, 'dialogue')} without a line: left out"
        if self.unsaid:
            yield (
                f"{plural(self.unsaid, 'dialogue')} without a language: read as"
                f" {self.markers.language}, the language of the markers"
            )
        for language, dialogues in sorted(self.unfit.items()):
            yield (
                f"{plural(dialogues, 'dialogue')} in {language}: markers are not counted there;"
                " give lists in that language with --markers"
            )


def compare(
    sources: RunLike | Sequence[RunLike],
    *,
    by: str | None = None,
    reference: str | None = None,
    roles: Sequence[str] = (),
    fixed: bool = False,
    markers: str | Path | None = None,
    seed: int = 0,
) -> SpeechComparison:
    """Compare how people speak in several corpora, or in parts of one.

    Example::

        for found in compare("runs/trial", by="goal").differences.values():
            print([(one.measure.id, one.difference) for one in found if one.certain])

    Args:
        sources: runs, or files or folders of rows that hold a dialogue each; one of them with
            ``by``, several without it.
        by: what divides the lines: a dimension of labels, role, goal, strategy, model, verdict,
            whatever else was drawn for cases, or of rows a column.
        reference: the group that others are compared with; None: the first source, or of ``by``
            the one with most lines.
        roles: only what these say; empty: everybody.
        fixed: whether lines count that were fixed beforehand, such as openings.
        markers: a file of lists of phrases; None: the English ones that ship.
        seed: of the resamples; the same one gives the same intervals.

    Raises:
        UsageError: a source is none, nothing was said by these roles, there is nothing of that
            name to divide by, or fewer than two groups, or more than can be compared.
    """
    listed = _sources(sources)
    if len(listed) < 2 if by is None else len(listed) != 1:
        raise UsageError(
            "comparing takes two sources or more, or one and what divides it; found"
            f" {plural(len(listed), 'source')}" + ("" if by is None else f" and --by {by}"),
            "name another run or data set, or give --by goal" if by is None else "leave --by out",
        )
    choice = SpeechChoice(by, several(roles), fixed)
    read = load_markers(None if markers is None else Path(markers))
    groups, measures = _Groups(choice, read), measures_with(read)
    for source in listed:
        with source.dialogues() as dialogues:
            for dialogue in dialogues:
                groups.add(source.name, dialogue)
        if not groups.filled or (by is None and source.name not in groups.filled):
            raise _nothing(groups, source.name)
    _check_roles(groups)
    ordered = _ordered(groups, reference)
    return compare_groups(ordered, measures, seed, tuple(groups.notes()))


@dataclass(frozen=True, slots=True)
class _ComparedSource:
    """A run or a data set, and what it is called."""

    name: str
    path: Path
    is_run: bool

    @contextmanager
    def dialogues(self) -> Iterator[Iterator[ComparedDialogue]]:
        """Open it."""
        if self.is_run:
            with opened(Selection((self.path,), "any")) as found:
                yield dialogues_of_run(found)
        else:
            yield dialogues_of_rows(row_set(self.path, self.name))


def _sources(named: RunLike | Sequence[RunLike]) -> list[_ComparedSource]:
    """Return what is named.

    Raises:
        UsageError: one of them is neither run nor data set, or is named twice.
    """
    listed = [named] if isinstance(named, Run | str | Path) else list(named)
    found = [_source(one) for one in listed]
    places = [real_path(source.path) for source in found]
    for number, source in enumerate(found):
        if places[number] in places[:number]:
            raise UsageError(f"{source.name}: named twice", "name each source once")
    return found


def _source(named: RunLike) -> _ComparedSource:
    name = str(named.folder if isinstance(named, Run) else named)
    path = Path(name)
    if isinstance(named, Run) or is_run(path) or is_run(RUNS / path) or is_evaluation(path):
        return _ComparedSource(name, folder_of(named), is_run=True)
    if not path.exists():
        known = [folder.name for folder in runs_in(RUNS)]
        raise UsageError(
            f"there is neither a file or folder {name} nor a run of that name under ./{RUNS}",
            suggestion(name, known, listing="runs here") or "see the runs with: hipo runs",
        )
    return _ComparedSource(name, path, is_run=False)


def _ordered(groups: _Groups, reference: str | None) -> list[SpeechGroup]:
    """Return the groups, the reference first; of ``by`` those with more lines before others.

    Raises:
        UsageError: there are too few or too many, or none of that name.
    """
    by, filled = groups.choice.by, groups.filled
    found = list(filled.values())
    if by is not None:
        found.sort(key=lambda group: (-group.lines, group.name))
        if len(found) == 1:
            raise UsageError(
                f"--by {by}: all lines are {found[0].name!r}: there is nothing to compare",
                f"lines can be divided by {enumerated(sorted(groups.names))}",
            )
        if len(found) > MOST_GROUPS:
            raise UsageError(
                f"--by {by}: has {len(found)} values, and at most {MOST_GROUPS} are compared",
                "divide by something else, or compare exported sets of fewer (hipo export)",
            )
    if reference is None:
        return found
    if reference not in filled:
        raise UsageError(
            f"--reference {reference}: there is no such group", suggestion(reference, filled)
        )
    found.sort(key=lambda group: group.name != reference)
    return found


def _nothing(groups: _Groups, source: str) -> UsageError:
    """Say why no line was found to compare."""
    by, roles = groups.choice.by, groups.choice.roles
    speakers = groups.speakers(source)
    if not speakers:
        return UsageError(f"{source}: holds no line", "generate or name another one")
    if by is not None and by not in groups.names:
        return UsageError(
            f"--by {by}: nothing that was said has anything of this name",
            suggestion(by, sorted(groups.names)),
        )
    if roles and speakers.isdisjoint(roles):
        return UsageError(
            f"--role {','.join(roles)}: nobody of that name says anything in {source}",
            suggestion(roles[0], sorted(speakers), listing="who speaks"),
        )
    who = enumerated(roles) if roles else "anybody"
    return UsageError(
        f"{source}: nothing that {who} says is left to compare",
        "count what was fixed beforehand, too, with --fixed, or leave --role or --by out",
    )


def _check_roles(groups: _Groups) -> None:
    """Refuse a role that nobody has."""
    speakers = groups.speakers(None)
    for role in groups.choice.roles:
        if role not in speakers:
            raise UsageError(
                f"--role {role}: nobody of that name says anything",
                suggestion(role, sorted(speakers), listing="who speaks"),
            )
