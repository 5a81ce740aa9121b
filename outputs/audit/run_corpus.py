"""The dialogues of runs as an audit reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from outputs.audit.corpus import AuditCorpus, AuditedAnswer, AuditedDialogue, Known
from outputs.dataset.columns import is_labelled
from outputs.selecting.selection import OpenSelection, SelectedDialogue
from scenarios.case import AIM, Case
from scenarios.dialogue import Turn
from scenarios.fingerprint import seed_from
from scenarios.schemes.model import Scheme

MOST = 4_000
"""Dialogues that are looked at where there are more: whole pairs, drawn by their id."""
Kept = Mapping[tuple[str, str], Collection[int | None]]
"""Turns by (case, arm); None among them: every answer of the dialogue."""
_EVERYTHING: frozenset[Known] = frozenset(("lines", "variation", "fact text"))
_SCALE = 2**31


def run_corpus(
    found: OpenSelection, *, name: str, most: int = MOST, seed: int = 0, only: Kept | None = None
) -> AuditCorpus:
    """Read the dialogues of a selection.

    Args:
        found: the runs, opened.
        name: of the whole.
        most: from how many dialogues on pairs are drawn, so that about so many are read.
        seed: which pairs are drawn where there are more.
        only: the dialogues and turns that count; None: all of them.
    """
    of = sum(t.n for t in found.tallies() if t.dimension is None) if only is None else len(only)
    single = single_label_dimensions(found.scheme)
    labelled = is_labelled(found.scheme)
    dialogues, counted = [], 0

    def drawn(case: Case, arm: str) -> bool:
        nonlocal counted
        if only is not None and (case.id, arm) not in only:
            return False
        counted += 1
        return is_drawn(case.pair, of, most, seed)

    for selected in found.dialogues(rationales=False, only=drawn):
        turns = None if only is None else only[selected.key]
        answers = [
            turn
            for turn in selected.dialogue.turns
            if labelled(turn) and (turns is None or None in turns or turn.index in turns)
        ]
        if answers:
            dialogues.append(_audited(selected, answers, single))
    scheme = found.scheme
    return AuditCorpus(
        name, scheme.assigned, single, tuple(dialogues), _EVERYTHING, counted, scheme,
        not_asked(scheme, single),
    )  # fmt: skip


def is_drawn(pair: str, of: int, most: int, seed: int) -> bool:
    """Return whether a pair of cases is among those that are looked at."""
    return of <= most or seed_from(seed, "audit", pair) < _SCALE * most / of


def single_label_dimensions(scheme: Scheme) -> tuple[str, ...]:
    """Return the utterance dimensions with one label each, in order."""
    return tuple(
        d.id for d in scheme.utterance_dimensions if d.measurement in ("nominal", "ordinal")
    )


def not_asked(scheme: Scheme, single: Collection[str]) -> tuple[str, ...]:
    """Say which dimensions an audit leaves out."""
    others = [d.id for d in scheme.utterance_dimensions if d.id not in single]
    return (f"no probe for dimensions without one label each: {', '.join(others)}",) * bool(others)


def _audited(
    selected: SelectedDialogue, answers: list[Turn], dimensions: Collection[str]
) -> AuditedDialogue:
    dialogue, scenario = selected.dialogue, selected.scenario
    case, turns = dialogue.case, dialogue.turns
    by_turn = {turn.index: turn for turn in turns}
    first = next((turn.index for turn in turns if turn.is_answer), answers[0].index)
    fixed = [turn.text for turn in turns if turn.kind == "opening"]
    return AuditedDialogue(
        case=case.id,
        pair=case.pair,
        arm=dialogue.arm,
        scenario=case.scenario,
        fact=case.fact,
        goal=case.goal,
        answers=tuple(
            AuditedAnswer(
                turn.index,
                turn.text,
                _labels(turn, dimensions),
                _of_another(by_turn.get(turn.index - 1), turn),
                _of_another(by_turn.get(turn.index + 1), turn),
            )
            for turn in answers
        ),
        left_out={
            turn.index: _labels(turn, dimensions) or None
            for turn in turns
            if turn.is_answer and turn not in answers
        },
        opening="\n".join(turn.text for turn in turns if turn.index < first),
        asked="\n".join(turn.text for turn in turns if not turn.is_of_labelled_role),
        fact_text=" ".join(f.text for f in scenario.facts if f.id == case.fact or scenario.flow),
        public_text="\n".join([scenario.background, *fixed]),
        # What a case was drawn for is no trait of it: it names the labels.
        traits={axis: value for axis, value in case.variation if axis != AIM},
        made_by={"strategy": selected.arm.strategy, "model": selected.arm.model},
    )


def _labels(turn: Turn, dimensions: Collection[str]) -> dict[str, str]:
    return {x.dimension: str(x.value) for x in turn.tactic if x.dimension in dimensions}


def _of_another(beside: Turn | None, answer: Turn) -> str:
    """Return the line beside an answer if another role says it."""
    return "" if beside is None or beside.role == answer.role else beside.text
