"""Labels that their speaker declared and every judge who had not seen them gave, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from outputs.dataset.manifest import Column
from outputs.selecting.selection import SelectedDialogue
from quality.judges.comparison import agrees
from scenarios.schemes.model import Scheme
from scenarios.terms import LabelValue
from scenarios.verdicts import Judgement

AGREED: Final = Column(
    "agreed",
    "texts",
    "Dimensions on which every external judge of them that saw no labels gave that of the row; null:"
    " nobody judged so.",
)


class AgreedLabels:
    """Which labels of one dialogue its blind external judges share."""

    def __init__(self, scheme: Scheme, judgements: Sequence[Judgement]) -> None:
        """Take what judges said of a dialogue; those that were shown its labels do not count."""
        self._scheme = scheme
        external = [one for one in judgements if one.source == "external"]
        # A judge that was shown labels names none, and neither does one that could not be read.
        self._blind = {one.judge for one in external if one.value is not None}
        # Judges of plugins may judge a part of the dimensions, and have no say on the others.
        self._asked = {(one.dimension, one.judge) for one in external}
        self._found = {
            (one.turn, one.dimension, one.judge): one.value
            for one in external
            if one.value is not None
        }

    def of(self, turn: int | None, labels: Mapping[str, LabelValue]) -> list[str] | None:
        """Return the dimensions on which every blind judge gave the label; None: there is none.

        Args:
            turn: of which utterance the labels are; the goal is looked up with the dialogue.
            labels: by dimension.
        """
        if not self._blind:
            return None
        return [name for name, label in labels.items() if self._shared(turn, name, label)]

    def _shared(self, turn: int | None, name: str, label: LabelValue) -> bool:
        dimension = self._scheme.dimension(name)
        place = None if dimension.level == "dialogue" else turn
        judges = [judge for judge in self._blind if (name, judge) in self._asked]
        found = [self._found.get((place, name, judge)) for judge in judges]
        return bool(found) and all(
            value is not None and agrees(dimension, label, value) for value in found
        )


def agreed_labels(selected: SelectedDialogue) -> AgreedLabels:
    """Return which labels of a dialogue its judges share, looked up where it was judged at all."""
    judged = selected.source.state.verification.judged
    any_external = any(name.startswith("external ") for name in judged)
    return AgreedLabels(selected.scheme, selected.judgements if any_external else ())


def blind_judges(judged: Mapping[str, int]) -> tuple[str, ...]:
    """Return the external judges of a run by name.

    Args:
        judged: dialogues by judge, as the state of a run counts them.
    """
    names = (name.partition(" ") for name in judged)
    return tuple(sorted(name for source, _, name in names if source == "external"))
