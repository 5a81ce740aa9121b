"""The dialogues of a data set on disk as an audit reads them: what its rows hold, and no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from outputs.audit.corpus import AuditCorpus, AuditedAnswer, AuditedDialogue, Known
from outputs.audit.drawn_rows import dialogues_in, drawn_rows
from outputs.audit.row_text import RowText, Said, label_dimensions, row_text
from outputs.audit.run_corpus import MOST, not_asked, single_label_dimensions
from outputs.contamination.comparable import Row
from outputs.contamination.contamination import RowSet
from outputs.dataset.manifest import MANIFEST
from outputs.dataset.reader import folders_of
from outputs.dataset.scheme_file import read_scheme
from scenarios.errors import InputError, UsageError
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

NEEDED = ("case", "arm", "scenario", "goal")
"""Columns without which there is nothing to audit."""
_NOT_HELD = "the rows do not hold what was drawn for the people: audit the run for that"
_NO_FACT = (
    "the rows hold neither the words of private facts nor what was drawn for the people: audit the"
    " run for these"
)


@dataclass
class _Gathered:
    """What the rows of one dialogue have told so far."""

    row: Row
    said: Said = ()
    answers: dict[int, RowText] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take in one more row."""
        text, turn = row_text(row), row.get("turn")
        if len(text.said) > len(self.said):
            self.said = text.said
        if isinstance(turn, int) and text.labels:
            known = self.answers.get(turn)
            if known is None or not known.utterance:
                self.answers[turn] = text

    def labelled(self, dimensions: Collection[str]) -> dict[int, RowText]:
        """Return the answers that have a label on one of the dimensions, by turn and in order."""
        return {
            turn: text
            for turn, text in sorted(self.answers.items())
            if any(d in text.labels for d in dimensions)
        }


def set_corpus(
    rows: RowSet, scheme: Scheme | None = None, *, most: int = MOST, seed: int = 0
) -> AuditCorpus:
    """Read the dialogues behind the rows of a data set.

    Args:
        rows: as ``hipo export`` writes them: benchmark, or SFT with labels.
        scheme: of the labels, where it is known; its rules tell which labels are tied to the goal.
        most: dialogues that are read about at most.
        seed: which pairs are drawn where there are more.

    Raises:
        UsageError: rows lack what an audit needs.
    """
    _check(rows)
    gathered: dict[tuple[str, str], _Gathered] = {}
    for row in drawn_rows(rows, most, seed):
        key = (str(row["case"]), str(row["arm"]))
        gathered.setdefault(key, _Gathered(row)).add(row)
    columns = label_dimensions(next(iter(rows.rows())))
    dimensions = tuple(columns) if scheme is None else single_label_dimensions(scheme)
    starts: dict[str, int] = {}
    for one in gathered.values():
        scenario = str(one.row["scenario"])
        for turn in one.labelled(dimensions):
            starts[scenario] = min(turn, starts.get(scenario, turn))
    dialogues = [
        _audited(one, dimensions, starts[str(one.row["scenario"])])
        for one in gathered.values()
        if one.labelled(dimensions)
    ]
    if scheme is not None and not dimensions:
        raise UsageError(
            f"{rows.name}: by the scheme {scheme.name} no speaker declares one label for an answer",
            "there is nothing that an audit could guess",
        )
    if not dialogues:
        raise UsageError(
            f"{rows.name}: no row holds the labels of an answer",
            "audit the run, or a set for --to benchmark, sft or dpo",
        )
    lines = any(one.said for one in gathered.values())
    facts = any(one.row.get("fact_text") for one in gathered.values())
    held: tuple[tuple[Known, bool], ...] = (("lines", lines), ("fact text", facts))
    known = frozenset(name for name, there in held if there)
    goal = "goal" if scheme is None else scheme.assigned
    return AuditCorpus(
        rows.name,
        goal,
        dimensions,
        tuple(dialogues),
        known,
        dialogues_in(rows),
        scheme,
        tuple(_remarks(known, scheme, dimensions)),
    )


def _remarks(
    known: Collection[Known], scheme: Scheme | None, dimensions: Sequence[str]
) -> Iterator[str]:
    """Say what of an audit the rows do not allow."""
    yield _NOT_HELD if "fact text" in known else _NO_FACT
    if "lines" not in known:
        yield "no lines of conversations could be read from the rows"
    if scheme is None:
        yield "the scheme is not known: labels that its rules tie to the goal are not told apart"
    else:
        yield from not_asked(scheme, dimensions)


def scheme_of(path: Path) -> Scheme | None:
    """Return the scheme that the manifest of an export names, from its folder or as it ships; or None.

    Args:
        path: the folder of the export, or one of its files. Of a file that lies elsewhere the scheme is
            not known: versions of a scheme can have the same labels, and other rules about them.
    """
    folders = folders_of(path)
    folder = next((one for one in folders if (one / MANIFEST).is_file()), folders[0])
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        named = manifest["scheme"]
        scheme = read_scheme(folder) or load_scheme(f"{named['id']}@{named['version']}")
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, InputError, UsageError):
        return None
    return scheme if scheme.fingerprint == named["fingerprint"] else None


def _check(rows: RowSet) -> None:
    """Check that there are rows, and that they hold what is needed."""
    number = 0
    for number, row in enumerate(rows.rows(), 1):
        missing = [name for name in NEEDED if not isinstance(row.get(name), str)]
        if missing:
            raise UsageError(
                f"{rows.name}: row {number} has no {missing[0]!r}",
                f"an audit reads what hipo export writes: columns {', '.join(NEEDED)} and labels",
            )
    if not number:
        raise UsageError(f"{rows.name}: holds no row", "give an exported data set")


def _audited(found: _Gathered, dimensions: Collection[str], start: int) -> AuditedDialogue:
    """Return a dialogue.

    Args:
        found: its rows.
        dimensions: of the labels.
        start: the turn of the first answer, in any dialogue of the scenario: what is said from there
            on by somebody whose words are labelled, and has no row, is an answer that was left out.
    """
    row, said, labelled = found.row, found.said, found.labelled(dimensions)
    first = min(labelled)
    answering = {text.role for text in labelled.values()}
    opening = "\n".join(text for _, text in said[:first])
    return AuditedDialogue(
        case=str(row["case"]),
        pair=str(row.get("pair") or row["case"]),
        arm=str(row["arm"]),
        scenario=str(row["scenario"]),
        fact=str(row.get("fact") or ""),
        goal=str(row["goal"]),
        answers=tuple(
            AuditedAnswer(
                turn,
                text.utterance or _said(said, turn),
                {d: text.labels[d] for d in dimensions if d in text.labels},
                _said(said, turn - 1, by_other_than=text.role),
                _said(said, turn + 1, by_other_than=text.role),
            )
            for turn, text in labelled.items()
        ),
        opening=opening,
        asked="\n".join(text for role, text in said if role not in answering),
        fact_text=str(row.get("fact_text") or ""),
        public_text="\n".join([str(row.get("situation") or ""), opening]),
        made_by={k: str(row[k]) for k in ("strategy", "model", "language") if k in row},
        left_out={
            turn: None
            for turn, (role, _) in enumerate(said)
            if turn >= start and turn not in labelled and role in answering
        },
    )


def _said(said: Said, turn: int, by_other_than: str = "") -> str:
    """Return a line by its turn; nothing where the row does not show it."""
    if 0 <= turn < len(said) and said[turn][0] != by_other_than:
        return said[turn][1]
    return ""


def turns_of(rows: RowSet) -> dict[tuple[str, str], set[int | None]]:
    """Return the turns that rows are about, by (case, arm); None: the whole dialogue."""
    found: dict[tuple[str, str], set[int | None]] = {}
    for row in rows.rows():
        turn = row.get("turn")
        key = str(row.get("case")), str(row.get("arm"))
        found.setdefault(key, set()).add(turn if isinstance(turn, int) else None)
    return found
