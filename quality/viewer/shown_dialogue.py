"""A dialogue with everything that is known about it, as its page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pipeline.store.calls import CallRecord
from pipeline.store.queries.browsing import BrowsingReader
from prompts.scheme_text import label_text
from quality.viewer.viewed_run import ViewedRun
from scenarios.annotations import ADJUDICATED, HUMAN, VERIFIER, Annotation
from scenarios.arms import Arm
from scenarios.case import Case
from scenarios.dialogue import Dialogue, Draft, TacticLabel, Trace, Turn
from scenarios.plural import enumerated
from scenarios.spec import Scenario
from scenarios.verdicts import Decision, Flag

KINDS = ("self", "external", "juror", VERIFIER, HUMAN, ADJUDICATED)
"""Whose labels stand beside the declared ones."""
_ACTORS = ("initiator", "responder", "reflector")
"""Models that are asked for lines of a dialogue."""
_CALLED = {
    "self": "the speaker's model",
    "external": "judge",
    "juror": "juror",
    VERIFIER: "program",
    HUMAN: "reader",
    ADJUDICATED: "expert",
}


@dataclass(frozen=True, slots=True)
class ShownLabel:
    """A label that the speaker declared."""

    dimension: str
    value: str
    rationale: str
    wanted: str
    """The label that was asked for, where it is another one."""
    raw: str
    """What the model wrote, where it is something else."""


@dataclass(frozen=True, slots=True)
class ShownOpinion:
    """What somebody else says about one dimension."""

    who: str
    dimension: str
    value: str
    second: str
    carried: bool | None
    """Whether it confirms the declared label, the goal, or what is expected."""
    reason: str


@dataclass(frozen=True, slots=True)
class Version:
    """A candidate of a vote, or an attempt of a strategy that revises."""

    text: str
    """Why it could not be read, where ``readable`` is false."""
    labels: str
    said: bool
    """Whether this is what was said in the end."""
    score: float | None
    readable: bool
    critiques: tuple[tuple[str, str, bool], ...]
    """(dimension, reason, whether the label is carried, or the claim holds)."""


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One utterance, and what stands beside it."""

    index: int
    speaker: str
    is_opposite: bool
    text: str
    is_opening: bool
    labels: tuple[ShownLabel, ...]
    declared_goal: str
    """The goal the speaker says it has, where it is another than the assigned one."""
    opinions: tuple[ShownOpinion, ...]
    flags: tuple[Flag, ...]
    versions: tuple[Version, ...]
    versions_are: str
    """``candidates`` or ``attempts``."""
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownDialogue:
    """A dialogue for people who want to know how it came to be."""

    id: str
    case: Case
    arm: Arm
    title: str
    background: str
    roles: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    """(who knows it, text)."""
    turns: tuple[ShownTurn, ...]
    opinions: tuple[ShownOpinion, ...]
    """About the dialogue as a whole."""
    flags: tuple[Flag, ...]
    """About the dialogue as a whole."""
    decisions: tuple[Decision, ...]
    """Oldest first."""
    traceback: str

    @property
    def verdict(self) -> str:
        """The newest verdict, or that there is none."""
        return self.decisions[-1].verdict if self.decisions else "not judged"

    @property
    def flags_in_all(self) -> int:
        """Flags of the dialogue and of its turns."""
        return len(self.flags) + sum(len(turn.flags) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class ShownPrompt:
    """A prompt as it was sent, and what came back."""

    title: str
    arm: str
    status: str
    """How the last request ended."""
    cost_usd: float | None
    latency_s: float
    messages: tuple[tuple[str, str], ...]
    answers: tuple[tuple[str, str], ...]
    """(status, text)."""


def shown_dialogue(run: ViewedRun, dialogue: Dialogue) -> ShownDialogue:
    """Put together what is known about a dialogue."""
    case, key = dialogue.case, dialogue.key
    scenario = run.scenario_of(dialogue)
    assessment = run.store.judgements.assessments([key]).get(key)
    flags = () if assessment is None else assessment.flags
    opinions = _opinions(run.reader, case, dialogue.arm)
    names = role_names(dialogue, scenario)
    first = dialogue.turns[0].role if dialogue.turns else ""
    return ShownDialogue(
        id=f"{case.id}/{dialogue.arm}",
        case=case,
        arm=run.arms[dialogue.arm],
        title=scenario.title if scenario else case.scenario,
        background=scenario.background if scenario else "",
        roles=tuple((role.name, role.description) for role in scenario.roles.values())
        if scenario
        else (),
        facts=_facts(scenario, case),
        turns=tuple(
            _turn(
                turn,
                case,
                names[turn.role],
                is_opposite=turn.role != first,
                opinions=opinions.get(turn.index, ()),
                flags=tuple(flag for flag in flags if flag.turn == turn.index),
            )
            for turn in dialogue.turns
        ),
        opinions=tuple(opinions.get(None, ())),
        flags=tuple(flag for flag in flags if flag.turn is None),
        decisions=tuple(run.store.judgements.decisions([key]).get(key, ())),
        traceback=run.store.reader.verification_traceback(*key) or "",
    )


def shown_prompts(run: ViewedRun, case: str, arm: str) -> list[ShownPrompt]:
    """Return every prompt that was sent for a case, by any arm and any judge, in order.

    An arm that played the case to its end tells who speaks when.
    """
    names = {arm_id: arm.label for arm_id, arm in run.arms.items()}
    who: dict[int, str] = {}
    if run.store.reader.ending(f"{case}/{arm}").status != "failed":
        dialogue = run.store.dialogue(f"{case}/{arm}")
        called = role_names(dialogue, run.scenario_of(dialogue))
        who = {turn.index: called[turn.role] for turn in dialogue.turns}
    return [_prompt(record, names, who) for record in run.store.calls.of_case(case)]


def role_names(dialogue: Dialogue, scenario: Scenario | None) -> Mapping[str, str]:
    """Return what the roles of a dialogue are called."""
    known = {key: role.name for key, role in scenario.roles.items()} if scenario else {}
    return {turn.role: known.get(turn.role, turn.role) for turn in dialogue.turns}


def _prompt(record: CallRecord, names: Mapping[str, str], who: Mapping[int, str]) -> ShownPrompt:
    request = record.requests[-1]
    costs = [one.cost_usd for one in record.requests if one.cost_usd is not None]
    asked = [request.purpose, request.role]
    if request.role in _ACTORS and request.turn in who:
        asked = [who[request.turn], request.purpose.removeprefix(request.role).lstrip("/")]
    whole = "the dialogue as a whole" if request.turn < 0 else f"turn {request.turn}"
    return ShownPrompt(
        title=f"{', '.join(filter(None, dict.fromkeys((whole, *asked))))}: {request.model}",
        arm=names.get(request.arm, request.arm),
        status=request.code,
        cost_usd=sum(costs) if costs else None,
        latency_s=sum(one.latency_s for one in record.requests),
        messages=tuple(record.messages),
        answers=tuple((choice.status, choice.text) for choice in record.choices),
    )


def _facts(scenario: Scenario | None, case: Case) -> tuple[tuple[str, str], ...]:
    """Return what one of the people alone knows: with a flow, all that anybody does."""
    if scenario is None:
        return ()
    return tuple(
        (enumerated(scenario.knowers_named(fact)), fact.text)
        for fact in scenario.facts
        if scenario.flow or fact.id == case.fact
    )


def _turn(
    turn: Turn,
    case: Case,
    speaker: str,
    *,
    is_opposite: bool,
    opinions: Sequence[ShownOpinion],
    flags: tuple[Flag, ...],
) -> ShownTurn:
    wanted = dict(turn.wanted)
    goal = "" if turn.declared_goal is None else label_text(turn.declared_goal)
    trace = turn.trace
    return ShownTurn(
        index=turn.index,
        speaker=speaker,
        is_opposite=is_opposite,
        text=turn.text,
        is_opening=turn.kind == "opening",
        labels=tuple(_label(label, wanted.get(label.dimension, "")) for label in turn.tactic),
        declared_goal=goal if goal != case.goal else "",
        opinions=tuple(opinions),
        flags=flags,
        versions=() if trace is None else _versions(trace),
        versions_are="candidates" if trace is not None and trace.candidates else "attempts",
        notes=() if trace is None else trace.notes,
    )


def _label(label: TacticLabel, wanted: str) -> ShownLabel:
    value = label_text(label.value)
    return ShownLabel(
        label.dimension,
        value,
        label.rationale,
        wanted if wanted != value else "",
        label.raw if label.raw is not None and label.raw != value else "",
    )


def _versions(trace: Trace) -> tuple[Version, ...]:
    """Return what was drawn or tried; nothing where there was one version and nothing was said of it."""
    if trace.candidates:
        return tuple(
            Version(
                one.error or "" if one.draft is None else one.draft.text,
                "" if one.draft is None else _labels_of(one.draft),
                said=place == trace.chosen,
                score=one.score,
                readable=one.draft is not None,
                critiques=(),
            )
            for place, one in enumerate(trace.candidates)
        )
    versions = []
    for place, attempt in enumerate(trace.attempts):
        said = [(c.dimension, c.reason, c.carried) for c in attempt.critiques]
        if attempt.verification is not None:
            claims = attempt.verification.claims
            said += [(claim.kind, claim.reason, claim.holds) for claim in claims]
        draft = attempt.draft
        versions.append(
            Version(
                draft.text,
                _labels_of(draft),
                said=place == trace.chosen,
                score=None,
                readable=True,
                critiques=tuple(said),
            )
        )
    return tuple(versions) if len(versions) > 1 or any(v.critiques for v in versions) else ()


def _labels_of(draft: Draft) -> str:
    return ", ".join(label_text(label.value) for label in draft.tactic)


def _opinions(reader: BrowsingReader, case: Case, arm: str) -> dict[int | None, list[ShownOpinion]]:
    """Return what others say, by turn; None is the dialogue as a whole."""
    rows = sorted(
        reader.annotations(case.id, arm, KINDS),
        key=lambda one: -1 if one.subject.turn is None else one.subject.turn,
    )
    return {
        turn: [_opinion(one) for one in own]
        for turn, own in groupby(rows, key=lambda one: one.subject.turn)
    }


def _opinion(one: Annotation) -> ShownOpinion:
    called = _CALLED.get(one.kind, one.kind)
    return ShownOpinion(
        who=called if one.kind == VERIFIER and not one.who else f"{called} {one.who}",
        dimension=one.dimension,
        value="" if one.value is None else label_text(one.value),
        second="" if one.second is None else label_text(one.second),
        carried=one.carried,
        reason=one.rationale,
    )
