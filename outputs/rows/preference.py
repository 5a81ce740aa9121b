"""Preference pairs from what is paid for already: judges, wanted labels, verdicts, revisions, votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from outputs.dataset.columns import (
    PROVENANCE,
    REPLACED,
    TURN,
    LabelValues,
    Reading,
    Row,
    is_labelled,
    label_columns,
    left_out_notes,
    provenance,
    was_replaced,
)
from outputs.dataset.manifest import Column
from outputs.formats.registry import FORMATS
from outputs.formats.shape import RowFormat
from outputs.kinds.export_kind import ExportKind, ExportOptions, ExportTask, KindOption
from outputs.kinds.origins import DEFAULT_ORIGINS, Origin
from outputs.rows.actor_lines import ActorLines, actor_lines, actor_prompts
from outputs.rows.missing_pairs import why_no_pair
from outputs.rows.preferred_answers import (
    PreferredAnswer,
    preferred_answers,
    same_words,
    without_contradictions,
)
from outputs.rows.sft import require_truthful_goals, why_not_learnt
from outputs.selecting.selection import SelectedDialogue
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

_OWN = (
    Column(
        "origin",
        "text",
        "What preferred the better answer: judges, wanted, verdict, revision, vote.",
    ),
    Column(
        "score_chosen",
        "float",
        "Judges: share of judgements that find what is declared. Wanted: share of the wanted labels."
        " Vote: mean similarity to the other candidates. Else null.",
    ),
    Column(
        "score_rejected",
        "float",
        "As score_chosen; of a revision the share of labels that the draft carries.",
    ),
    Column("margin", "float", "score_chosen less score_rejected; null without scores."),
    Column("same_labels", "bool", "Whether both sides declare the same labels."),
    Column("rejected_arm", "text", "The arm of the worse answer."),
)


@dataclass
class PreferenceRows:
    """A prompt with a better and a worse answer; never two that say the same."""

    scheme: Scheme
    actors: ActorLines
    row_format: RowFormat
    include_deception: bool = False
    origins: tuple[Origin, ...] = DEFAULT_ORIGINS
    """Which kinds of preferences."""
    min_margin: float | None = None
    """Pairs whose scores are nearer to each other are left out."""
    same_labels: bool = False
    """Whether pairs are left out whose sides declare different labels."""
    subset: str = field(default="preference", init=False)
    reading: Reading = field(
        default=Reading(
            traces=True, wanted=True, rationales=True, verdicts=("accepted", "discarded")
        ),
        init=False,
    )
    _left_out: Counter[str] = field(default_factory=Counter, init=False)
    _batch: list[SelectedDialogue] = field(default_factory=list, init=False)
    _preferred: list[PreferredAnswer] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        if not self.row_format.pair_columns:
            raise UsageError(f"the format {self.row_format.name!r} has no form for pairs")
        if not self.include_deception:
            require_truthful_goals(self.scheme)
        self._labels = label_columns(self.scheme)
        self._values = LabelValues(self.scheme)
        self._is_labelled = is_labelled(self.scheme)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns of every row."""
        return (*PROVENANCE, TURN, *_OWN, *self._labels, *self.row_format.pair_columns)

    def rows(self, batch: Sequence[SelectedDialogue]) -> Iterator[Row]:
        """Yield the pairs within dialogues that were not discarded, and those between dialogues."""
        self._batch = [
            s for s in batch if not why_not_learnt(s, include_deception=self.include_deception)
        ]
        self._preferred = []
        if not self._batch:
            return
        judgements = batch[0].source.store.judgements.judgements([s.key for s in self._batch])
        self._preferred = list(preferred_answers(self._batch, judgements))
        found = [
            one
            for one in self._preferred
            if one.origin in self.origins
            and self._is_labelled(one.turn)
            and self._says_something_else(one)
        ]
        replaced = {
            (one.selected.key, one.turn.index)
            for one in found
            if was_replaced(one.selected, one.turn)
        }
        self._left_out[REPLACED] += len(replaced)
        found = [one for one in found if (one.selected.key, one.turn.index) not in replaced]
        # What is asked of pairs is asked of those that stand: another kind might else bring back a
        # pair that its first kind was refused for.
        for one in without_contradictions(found, self._left_out):
            if self._fits(one):
                yield self._row(one.selected, one)

    def notes(self) -> tuple[str, ...]:
        """Say what was left out, and which prompts nobody was sent."""
        return left_out_notes(self._left_out + self.actors.counts)

    def why_none(self, selected: SelectedDialogue) -> str:
        """Return why a dialogue of the latest batch gave no pair."""
        not_learnt = why_not_learnt(selected, include_deception=self.include_deception)
        return not_learnt or why_no_pair(selected, self._batch, self._preferred, self.origins)

    def _says_something_else(self, one: PreferredAnswer) -> bool:
        """Return whether the sides of a pair have different words, and count it where not."""
        if same_words(one.chosen.text, one.rejected.text):
            self._left_out["pairs left out whose two sides say the same"] += 1
            return False
        return True

    def _fits(self, one: PreferredAnswer) -> bool:
        """Return whether a pair is as it was asked for, and count it where not."""
        if self.same_labels and not one.same_labels:
            self._left_out["pairs left out whose sides declare different labels"] += 1
            return False
        if self.min_margin is not None and one.margin is not None and one.margin < self.min_margin:
            self._left_out[
                f"pairs left out whose scores differ by less than {self.min_margin:g}"
            ] += 1
            return False
        return True

    def _row(self, selected: SelectedDialogue, found: PreferredAnswer) -> Row:
        case, arm = selected.key
        turn = found.turn
        # Without the labels in it a prompt gives no reason why the answer that has them is better.
        by_labels = found.origin == "wanted"
        asked = self.actors.before(selected, turn, with_wanted=by_labels)
        return {
            "id": f"{case}/{arm}/{turn.index}/{found.origin}/{found.number}",
            **provenance(selected),
            "turn": turn.index,
            "origin": found.origin,
            "score_chosen": found.score_chosen,
            "score_rejected": found.score_rejected,
            "margin": found.margin,
            "same_labels": found.same_labels,
            "rejected_arm": found.rejected_arm,
            **self._values.of(selected, turn),
            **self.row_format.pair(
                asked,
                self.actors.answer(asked, selected, found.chosen.text, found.chosen.tactic),
                self.actors.answer(asked, selected, found.rejected.text, found.rejected.tactic),
            ),
        }


def _rows(scheme: Scheme, options: ExportOptions) -> PreferenceRows:
    shape = FORMATS.get(options.format)
    return PreferenceRows(
        scheme,
        actor_lines(scheme, options),
        shape,
        options.include_deception,
        options.pairs,
        options.min_margin,
        options.same_labels,
    )


_OPTIONS: frozenset[KindOption] = frozenset(
    {"format", "prompt", "target", "include_deception", "pairs", "min_margin", "same_labels"}
)
KIND = ExportKind(
    name="dpo",
    about="pairs of honest answers, the better one and the worse one",
    tasks=(
        ExportTask(
            _rows,
            options=_OPTIONS,
            trains_responder=True,
            prompts=actor_prompts,
        ),
    ),
    pairs=True,
    where_from="pairs need two answers to one prompt: two strategies of which judges or verdicts prefer"
    " one, the strategy reflective, or consistency with --pairs vote",
)
