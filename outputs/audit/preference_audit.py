"""Audit preference pairs: which side was chosen, from its text alone, its length, its labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from outputs.audit.auditing import FEWEST, SAME, check_installed
from outputs.audit.cross_fit import CrossFit, Integers, Matrix, grouped_folds
from outputs.audit.drawn_rows import dialogues_in, drawn_rows
from outputs.audit.features import category_columns, number_columns, signs, word_columns
from outputs.audit.findings import Audit, ShortcutFinding, SkippedProbe
from outputs.audit.measures import ScoreKind
from outputs.audit.null_labels import SwappedSides, codes
from outputs.audit.probes import ProbeKind
from outputs.audit.readings import ProbeReading, ReadingResult, corrected, read
from outputs.audit.row_text import answer_of, label_dimensions
from outputs.audit.run_corpus import MOST
from outputs.contamination.comparable import Row, nested_texts
from outputs.contamination.contamination import RowSet
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.plural import plural

PREFERRED = "preferred"
"""In place of a dimension: which of two answers was chosen."""


def holds_preferences(row: Row) -> bool:
    """Return whether a row is a prompt with a better and a worse answer."""
    return "chosen" in row and "rejected" in row


@dataclass(frozen=True)
class PreferencePairs:
    """Pairs of answers: (better, worse) text and labels, and where each pair is from."""

    texts: tuple[tuple[str, str], ...]
    labels: tuple[tuple[Mapping[str, str], Mapping[str, str]], ...]
    scenario_names: tuple[str, ...]
    places: Integers
    """What chance swaps the sides of together, numbered: the pairs of one utterance share a side, and
    those of swap items the facts of their scenario."""
    dialogues: int
    of: int
    """How many dialogues the data set has pairs of; of some of them none may have been read."""

    @cached_property
    def scenarios(self) -> Integers:
        """The scenario of each pair, numbered."""
        return codes(self.scenario_names)


def read_pairs(rows: RowSet, *, most: int = MOST, seed: int = 0) -> PreferencePairs:
    """Read the pairs of a data set in any format that hipo writes.

    Raises:
        UsageError: a row has no scenario.
    """
    _check(rows)
    found = list(drawn_rows(rows, most, seed))
    dimensions = label_dimensions(found[0]) if found else []
    sides = [(_side(row["chosen"]), _side(row["rejected"])) for row in found]
    return PreferencePairs(
        tuple((better[0], worse[0]) for better, worse in sides),
        tuple((_labels(b[1], dimensions), _labels(w[1], dimensions)) for b, w in sides),
        tuple(str(row["scenario"]) for row in found),
        codes([f"{row.get('case')}/{row.get('arm')}/{row.get('turn')}" for row in found]),
        len({(row.get("case"), row.get("arm")) for row in found}),
        dialogues_in(rows),
    )


def _check(rows: RowSet) -> None:
    """Check that rows hold what is needed."""
    for number, row in enumerate(rows.rows(), 1):
        if not isinstance(row.get("scenario"), str) or not holds_preferences(row):
            raise UsageError(
                f"{rows.name}: row {number} has no 'scenario', 'chosen' or 'rejected'",
                "an audit reads what hipo export --to dpo writes",
            )


def _side(value: object) -> tuple[str, Mapping[str, object]]:
    return answer_of(next(iter(nested_texts(value)), ""))


def _labels(answer: Mapping[str, object], dimensions: list[str]) -> Mapping[str, str]:
    return {d: value for d in dimensions if isinstance(value := answer.get(d), str)}


def _words(pairs: PreferencePairs) -> Matrix | None:
    both = np.concatenate([pairs.scenarios, pairs.scenarios])
    columns = word_columns([t for side in (0, 1) for t in (p[side] for p in pairs.texts)], both)
    return _difference(columns)


def _length(pairs: PreferencePairs) -> Matrix | None:
    texts = [p[side] for side in (0, 1) for p in pairs.texts]
    sizes = np.array([(len(text.split()), len(text)) for text in texts], dtype=np.float64)
    return _difference(number_columns(sizes))


def _signs(pairs: PreferencePairs) -> Matrix | None:
    texts = [p[side] for side in (0, 1) for p in pairs.texts]
    return _difference(number_columns(np.array([signs(text) for text in texts])))


def _label_columns(pairs: PreferencePairs) -> Matrix | None:
    both = np.concatenate([pairs.scenarios, pairs.scenarios])
    return _difference(
        category_columns([dict(p[side]) for side in (0, 1) for p in pairs.labels], both)
    )


def _difference(columns: Matrix | None) -> Matrix | None:
    """Return the chosen sides, which come first, less the rejected ones; None where all are equal."""
    if columns is None:
        return None
    half = columns.shape[0] // 2
    difference = columns[:half] - columns[half:]
    return difference if abs(difference).sum() > 0 else None


@dataclass(frozen=True, slots=True)
class PreferenceProbe:
    """One thing to guess the chosen side from."""

    name: str
    about: str
    kind: ProbeKind
    differences: Callable[[PreferencePairs], Matrix | None]
    """The chosen side less the rejected one; None where all are equal."""


PREFERENCE_PROBES = (
    PreferenceProbe("length", "words and characters of either side", "must-not", _length),
    PreferenceProbe("labels", "labels of either side", "must-not", _label_columns),
    PreferenceProbe("text", "words of either side, without the prompt", "surface", _words),
    PreferenceProbe("punctuation", "signs, digits, capitals of either side", "surface", _signs),
)
_GATED = 2


def audit_preferences(rows: RowSet, *, seed: int = 0, most: int = MOST) -> Audit:
    """Guess which side of each pair was chosen, from other scenarios.

    Args:
        rows: pairs, as ``hipo export --to dpo`` writes them.
        seed: of folds, permutations and resamples.
        most: dialogues of which pairs are read, about so many.

    Raises:
        UsageError: a package is missing, or rows lack what is needed.
    """
    check_installed()
    return audit_pairs(read_pairs(rows, most=most, seed=seed), rows.name, seed=seed)


def audit_pairs(
    pairs: PreferencePairs,
    name: str,
    *,
    dimension: str = PREFERRED,
    seed: int = 0,
    remarks: tuple[str, ...] = (),
    probes: Sequence[PreferenceProbe] = PREFERENCE_PROBES,
) -> Audit:
    """Guess which of two sides comes first, from other scenarios.

    Args:
        pairs: the sides, with the one that is to be guessed first.
        name: of the data set.
        dimension: what is guessed, in words.
        seed: of folds, permutations and resamples.
        remarks: what else there is to say of the data set.
        probes: what is guessed from.

    Raises:
        UsageError: the pairs are on too few scenarios.
    """
    scenarios = len(set(pairs.scenario_names))
    if scenarios < FEWEST:
        raise UsageError(
            f"{name} has pairs on {plural(scenarios, 'scenario')}: an audit guesses each"
            " scenario from the others",
            f"it needs at least {FEWEST}",
        )
    results, skipped = [], []
    for probe in probes:
        differences = probe.differences(pairs)
        if differences is None:
            skipped.append(SkippedProbe(probe.name, probe.kind, dimension, SAME))
            continue
        result = _read(pairs, differences, probe, dimension, seed)
        if result is not None:
            results.append(result)
    findings: tuple[ShortcutFinding, ...] = corrected(results, {})
    return Audit(
        name=name,
        dialogues=pairs.dialogues,
        of=pairs.of,
        answers=len(pairs.texts),
        pairs=len(pairs.texts),
        scenarios=scenarios,
        seed=seed,
        tests=sum(finding.kind == "must-not" for finding in findings),
        findings=findings,
        ceilings={},
        ties=(),
        skipped=tuple(skipped),
        remarks=remarks,
    )


def _read(
    pairs: PreferencePairs,
    differences: Matrix,
    probe: PreferenceProbe,
    dimension: str,
    seed: int,
) -> ReadingResult | None:
    chosen = np.ones(len(pairs.texts), np.int64)
    measure = ScoreKind("right order", pairs.scenarios, 2)
    reading = ProbeReading(
        probe.name, probe.about, probe.kind, dimension, measure, chosen,
        SwappedSides(pairs.places), measure.chance,
    )  # fmt: skip
    # A pair says the same whichever side comes first: nothing is taken off as a mean.
    fit = CrossFit(differences, grouped_folds(pairs.scenarios, seed), centred=False)
    return read(reading, fit, seed=seed_from(seed, "audit", probe.name), planned=_GATED)
