"""Estimate verifying a run before a request is sent: calls, tokens and dollars by judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from hipo.app.estimates.judging_estimate import (
    SAMPLE,
    JudgeEstimate,
    JudgingEstimate,
    LongestAnswer,
)
from hipo.app.estimates.playing import BYTES_PER_TOKEN
from hipo.app.judging.foils import foil_jobs
from hipo.app.judging.judges import Juror, Panels
from hipo.app.judging.tools import JudgingReady
from pipeline.chunks import chunks
from pipeline.providers.protocol import Usage
from pipeline.store.run_store import RunStore
from prompts.judges import JudgePrompts, judge_view
from prompts.question import Question
from prompts.whole_dialogue import WholeReading, answer_sizes
from quality.judges.protocol import JudgeIdentity
from quality.verification.foil_trials import calls_left
from quality.verification.unverified import PAGE, missing_epochs
from scenarios.dialogue import Dialogue
from scenarios.spec import Scenario
from scenarios.verdicts import Source

ANSWER_TOKENS: Mapping[Source, tuple[int, int]] = {
    "self": (150, 60),
    "external": (450, 200),
    "juror": (120, 0),
}
"""Typical tokens of an answer on a turn, and of one on the whole dialogue."""

_SOURCES: tuple[Source, ...] = ("self", "external")


@dataclass(frozen=True, slots=True)
class QuestionLengths:
    """How long the questions of judges are, and the answers of those that are asked once."""

    prompts: Mapping[tuple[Source, bool], tuple[float, float]]
    """Tokens of a prompt on a turn, and of one on a dialogue, by source and by whether the judge is
    asked once about a dialogue; the prompt on a turn has none then."""
    answers: Mapping[Source, tuple[int, int]]
    """Bytes that an answer of a judge that is asked once has on an utterance, the longest, and on the
    dialogue as a whole; see :func:`prompts.whole_dialogue.answer_sizes`."""
    lines: int
    """Labelled utterances of the longest dialogue that was looked at."""


@dataclass(frozen=True, slots=True)
class Unjudged:
    """What every judge has yet to be asked about the dialogues that are there."""

    generated: int = 0
    """Dialogues there are."""
    dialogues: Counter[JudgeIdentity] = field(default_factory=Counter)
    """Those a judge has yet to judge."""
    turns: Counter[JudgeIdentity] = field(default_factory=Counter)
    """Improvised answers in them."""
    longest: Mapping[JudgeIdentity, int] = field(default_factory=dict)
    """Improvised answers in the longest of them."""
    arms: frozenset[str] = frozenset()
    """Ids of the arms that have dialogues."""
    anew: int = 0
    """Dialogues that are judged again, since a judge was asked otherwise."""


def unjudged(
    store: RunStore, panels: Panels, prompts: JudgePrompts, *, retry_unreadable: bool = False
) -> Unjudged:
    """Count what every judge has yet to be asked, dialogue by dialogue, as verification will."""
    seats = panels.seats(prompts)
    generated = 0
    arms: set[str] = set()
    dialogues: Counter[JudgeIdentity] = Counter()
    turns: Counter[JudgeIdentity] = Counter()
    longest: dict[JudgeIdentity, int] = {}
    for page in chunks(store.dialogues(traces=False), PAGE):
        generated += len(page)
        arms.update(dialogue.arm for dialogue in page)
        runs = store.judgements.runs([d.key for d in page])
        for dialogue in page:
            known = runs.get(dialogue.key, ())
            epochs = missing_epochs(seats[dialogue.arm], known, retry=retry_unreadable)
            for seat, epoch in zip(seats[dialogue.arm], epochs, strict=True):
                if epoch is not None:
                    dialogues[seat] += 1
                    answers = len(dialogue.answers())
                    turns[seat] += answers
                    longest[seat] = max(longest.get(seat, 0), answers)
    anew = panels.judged_otherwise(store, prompts)
    return Unjudged(generated, dialogues, turns, longest, frozenset(arms), anew)


def estimate_judging(
    store: RunStore, ready: JudgingReady, *, retry_unreadable: bool = False
) -> JudgingEstimate:
    """Count what every judge has yet to be asked, and estimate what that costs."""
    left = unjudged(store, ready.panels, ready.prompts, retry_unreadable=retry_unreadable)
    sample = islice(store.dialogues(traces=False), SAMPLE)
    lengths = question_lengths(
        ready.prompts,
        ((d, ready.material.scenario_as_told(d)) for d in sample),
        verify=ready.recipe.verification.judge_style == "verify",
        whole=is_whole(ready.panels),
    )
    # The question with the declared labels is the one of verification: it is asked once.
    jobs = foil_jobs(ready, store)
    extra = calls_left(store.judgements, jobs)
    return JudgingEstimate(
        left.generated,
        tuple(
            judge_estimate(
                seat,
                juror,
                left.dialogues[seat],
                left.turns[seat] + extra[seat],
                lengths,
                longest=left.longest.get(seat, 0),
            )
            for seat, juror in seated(ready.panels, ready.prompts, left.arms).items()
        ),
        left.anew,
        rounds=bool(left.dialogues) + bool(extra),
    )


def seated(
    panels: Panels, prompts: JudgePrompts, arms: Collection[str]
) -> dict[JudgeIdentity, Juror]:
    """Return every judge of these arms once: others have nothing to be judged."""
    return {
        juror.seat(prompts): juror
        for arm, panel in panels.by_arm.items()
        if arm in arms
        for juror in panel.jurors
    }


def is_whole(panels: Panels) -> bool:
    """Whether judges are asked once about a dialogue."""
    jurors = (juror for panel in panels.by_arm.values() for juror in panel.jurors)
    return any(juror.extension.whole for juror in jurors)


def judge_estimate(
    seat: JudgeIdentity,
    juror: Juror,
    dialogues: int,
    turns: int,
    lengths: QuestionLengths,
    *,
    longest: int,
) -> JudgeEstimate:
    """Estimate what a judge takes for so many dialogues with so many answers in all.

    Args:
        seat: who is asked.
        juror: how it asks, and its model, with its price; None for a judge that asks none.
        dialogues: how many.
        turns: improvised answers in them.
        lengths: of questions and answers.
        longest: improvised answers in the longest of them.
    """
    use = juror.use
    if use is None:
        return JudgeEstimate(seat, dialogues, 0, 0, 0, 0.0)
    whole = juror.extension.whole
    on_turn, on_dialogue = lengths.prompts[seat.source, whole]
    answer, verdict = ANSWER_TOKENS[seat.source]
    # Where no prompt was found, the scheme has nothing to ask.
    turns = turns if (on_dialogue if whole else on_turn) else 0
    asked = dialogues if on_dialogue else 0
    calls = asked if whole else turns + asked
    of_turns = Usage(prompt=round(turns * on_turn), completion=turns * answer)
    of_dialogues = Usage(prompt=round(asked * on_dialogue), completion=asked * verdict)
    prompt = of_turns.prompt + of_dialogues.prompt
    completion = of_turns.completion + of_dialogues.completion
    kinds = [(of_turns, turns), (of_dialogues, asked)]
    if whole:
        kinds = [(Usage(prompt=prompt, completion=completion), calls)]
    price = use.price
    cost = None if price is None else sum(price.cost_of_alike(*kind) for kind in kinds)
    room = None
    if whole and calls and use.spec.provider != "offline" and use.spec.parameters is not None:
        line, rest = lengths.answers[seat.source]
        tokens = (longest * line + rest) // BYTES_PER_TOKEN
        room = LongestAnswer(longest, tokens, use.spec.parameters.max_tokens)
    longest_prompt = round(max(on_turn, on_dialogue) * BYTES_PER_TOKEN) if calls else 0
    most = use.spec.parameters.max_tokens if calls and use.spec.parameters is not None else 0
    return JudgeEstimate(
        seat, dialogues, calls, prompt, completion, cost, room,
        worst_usd=0.0 if price is None else price.worst(longest_prompt, most),
        worst_tokens=longest_prompt + most,
    )  # fmt: skip


def question_lengths(
    prompts: JudgePrompts,
    sample: Iterable[tuple[Dialogue, Scenario]],
    *,
    verify: bool = False,
    whole: bool = False,
) -> QuestionLengths:
    """Return how long questions to judges are on average, and the answers of those asked once.

    Args:
        prompts: of the judges.
        sample: dialogues that they are rendered for.
        verify: whether external judges are shown the declared labels.
        whole: whether there are judges that are asked once about a dialogue: of theirs, too.
    """
    sums: dict[tuple[Source, bool], tuple[list[int], list[int]]] = {
        (source, once): ([], []) for source in _SOURCES for once in (False, True)
    }
    answers: dict[Source, tuple[int, int]] = dict.fromkeys(_SOURCES, (0, 0))
    lines = 0
    for dialogue, scenario in sample:
        lines = max(lines, len(dialogue.answers()))
        for source, on_dialogue, question in _prompts(prompts, dialogue, scenario, verify=verify):
            sums[source, False][on_dialogue].append(question.size)
        for source, question in _whole_prompts(prompts, dialogue, scenario) if whole else ():
            sums[source, True][True].append(question.size)
            line, rest = answer_sizes(question.answer)
            answers[source] = (max(answers[source][0], line), max(answers[source][1], rest))
    prompts_of = {
        judge: (mean_tokens(turns), mean_tokens(wholes)) for judge, (turns, wholes) in sums.items()
    }
    return QuestionLengths(prompts_of, answers, lines)


def _prompts(
    prompts: JudgePrompts, dialogue: Dialogue, scenario: Scenario, *, verify: bool
) -> Iterator[tuple[Source, bool, Question[object]]]:
    """Yield every prompt about a dialogue, and whether it is about the whole of it."""
    view = judge_view(scenario, dialogue.case)
    for turn in dialogue.answers():
        said, role = (view, dialogue.history(turn.index), turn.text), turn.role
        if prompts.asked("utterance", readers=False, role=role):
            yield "self", False, prompts.turn(*said, role=role)
        if verify:
            yield "external", False, prompts.verify_turn(*said, turn.tactic, role=role)
        elif prompts.asked("utterance", readers=True, role=role):
            yield "external", False, prompts.turn(*said, readers=True, role=role)
    if prompts.asked("dialogue", readers=False):
        yield "self", True, prompts.dialogue(view, dialogue.history())
    if prompts.asked("dialogue", readers=True):
        yield "external", True, prompts.dialogue(view, dialogue.history(), readers=True)


def _whole_prompts(
    prompts: JudgePrompts, dialogue: Dialogue, scenario: Scenario
) -> Iterator[tuple[Source, Question[WholeReading]]]:
    """Yield the prompts that ask once about a dialogue."""
    view = judge_view(scenario, dialogue.case)
    for source in _SOURCES:
        readers = source == "external"
        places = [
            turn.index
            for turn in dialogue.answers()
            if prompts.asked("utterance", readers=readers, role=turn.role)
        ]
        if places:
            history = dialogue.history()
            yield source, prompts.whole(readers=readers).question(view, history, places)


def mean_tokens(sizes: Sequence[int]) -> float:
    """Return the mean length of prompts whose sizes are in bytes; 0 where there is none."""
    return sum(sizes) / len(sizes) / BYTES_PER_TOKEN if sizes else 0.0
