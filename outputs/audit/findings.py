"""What an audit found, as records and as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from outputs.audit.probes import ProbeKind
from outputs.audit.ties import TieShare
from scenarios.atomic_files import write_text

_VERSION = 1


@dataclass(frozen=True, slots=True)
class ShortcutFinding:
    """How well one probe reads one dimension."""

    probe: str
    about: str
    kind: ProbeKind
    dimension: str
    measure: str
    """``balanced accuracy``, ``AUC`` or ``right order``; all in [0, 1]."""
    items: int
    scenarios: int
    score: float
    low: float | None
    """95 % over scenarios; None for fewer than two."""
    high: float | None
    floor: float
    """The commonest label of the scenario, or chance where that is more."""
    chance: float
    """The mean with permuted labels."""
    permutations: int
    p: float
    p_corrected: float | None
    """By Holm, over everything that is gated; None for what is only told."""
    bound: float | None
    """What the score is at least, corrected for as many probes as there are; None as before."""
    visible: float | None
    """The smallest difference from chance that could have been told from it; None: none could."""
    ceiling: float | None
    """What a blind reader who knows the fact reaches; None: there is none."""
    found: bool = False
    """Whether it is gated, and reads the label for certain."""

    @property
    def part(self) -> float | None:
        """(score - floor) / (ceiling - floor); None without a ceiling above the floor."""
        if self.ceiling is None or self.ceiling - self.floor < 1e-9:
            return None
        return (self.score - self.floor) / (self.ceiling - self.floor)

    @property
    def excess(self) -> float:
        """By how much the bound is above the floor; 0 for what was not found."""
        return max(0.0, self.bound - self.floor) if self.found and self.bound is not None else 0.0


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What a reader who knows the fact, and not the label, makes of one dimension."""

    reader: str
    """Who read: a judge as ``self provider/model`` or ``external provider/model``, or people."""
    value: float
    readings: int


@dataclass(frozen=True, slots=True)
class SkippedProbe:
    """A probe that could not be asked, and why."""

    probe: str
    kind: ProbeKind
    dimension: str
    why: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What labels can be read from, besides the words that carry them."""

    name: str
    dialogues: int
    """That were looked at."""
    of: int
    """That there are."""
    answers: int
    pairs: int
    scenarios: int
    seed: int
    tests: int
    """Must-not probes times dimensions: what the correction is for."""
    findings: tuple[ShortcutFinding, ...]
    ceilings: Mapping[str, Ceiling]
    """By dimension."""
    ties: tuple[TieShare, ...]
    skipped: tuple[SkippedProbe, ...]
    remarks: tuple[str, ...]

    @property
    def shortcuts(self) -> tuple[ShortcutFinding, ...]:
        """What reads a label for certain and must not, the clearest first."""
        found = [finding for finding in self.findings if finding.found]
        return tuple(sorted(found, key=lambda f: (-f.excess, f.dimension, f.probe)))

    def plain(self) -> dict[str, Any]:
        """Return the audit as plain data."""
        plain = asdict(self)
        for one, finding in zip(plain["findings"], self.findings, strict=True):
            one["part"] = finding.part
        return {
            "audit": _VERSION, **plain,
            "clean": not self.shortcuts,
            "shortcuts": [f"{f.probe} -> {f.dimension}" for f in self.shortcuts],
        }  # fmt: skip

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Audit:
        """Return the audit that :meth:`plain` was made from.

        Raises:
            KeyError, TypeError: it was made from something else.
        """
        if plain["audit"] != _VERSION:
            raise KeyError("audit")
        known = {f.name: plain[f.name] for f in fields(cls)}
        names = [f.name for f in fields(ShortcutFinding)]
        return cls(
            **known
            | {
                "findings": tuple(
                    ShortcutFinding(**{n: one[n] for n in names}) for one in plain["findings"]
                ),
                "ceilings": {d: Ceiling(**one) for d, one in plain["ceilings"].items()},
                "ties": tuple(TieShare(**one) for one in plain["ties"]),
                "skipped": tuple(SkippedProbe(**one) for one in plain["skipped"]),
                "remarks": tuple(plain["remarks"]),
            }
        )


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit as JSON; the file appears when it is complete."""
    text = orjson.dumps(audit.plain(), option=orjson.OPT_INDENT_2).decode()
    write_text(path, text + "\n")


def read_audit(path: Path) -> Audit | None:
    """Read an audit; None where there is none, or one that another version of hipo wrote."""
    try:
        return Audit.from_plain(orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None
