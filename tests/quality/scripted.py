"""A judge that knows the right answers, and errs where it is told to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.calls.client import AnswerUnusable
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from prompts.responses import Unreadable
from quality.judges.blind_judge import BlindJudge
from quality.judges.protocol import seat
from quality.judges.verifying_judge import VerifyingJudge
from scenarios.dialogue import Dialogue
from scenarios.schemes.model import Scheme
from tests.factories import (
    ARM,
    make_case,
    make_dialogue,
    make_opening,
    make_scenario,
    make_scheme,
    make_tactic,
)

HIPO = make_scheme()
CAR = make_scenario()
WHOLE = {"goal": "deception", "misled": "misled"}
TRUE_LABELS = {"intention": "Convince", "veracity": "Quality", "illocutionary": "Representatives"}


def dialogue(
    *,
    turns: int = 1,
    goal: str = "deception",
    repetition: int = 0,
    labels: Mapping[str, Any] | None = None,
    arm: str = ARM,
    scheme: str = "hipo",
) -> Dialogue:
    """Return a dialogue about the used car with ``turns`` lies, each labelled."""
    said = [
        text
        for n in range(turns)
        for text in (
            f"Question {n}, then?", f"No, nobody has ever hit it, number {repetition} {n}.",
        )
    ]  # fmt: skip
    return make_dialogue(
        *said,
        case=make_case(
            scheme=scheme, fact="guardrail", goal=goal, turns=turns, repetition=repetition
        ),
        arm=arm,
        tactics=[make_tactic(**(TRUE_LABELS | dict(labels or {})))],
        opening=[turn.text for turn in make_opening()],
    )


@dataclass
class Oracle:
    """Answers every judge prompt with the truth, but for what it is told to get wrong."""

    labels: Mapping[str, Any] = field(default_factory=dict)
    """What it finds, by dimension, in place of ``TRUE_LABELS`` and the goal deception."""
    verdicts: Mapping[str, bool] = field(default_factory=dict)
    """What it says, by key of the answer; everything else is true."""
    garbled: str = ""
    """A heading or word; prompts with it are answered with nonsense."""
    asked: list[tuple[tuple[str, str], ...]] = field(default_factory=list)

    def __call__(self, messages: Sequence[tuple[str, str]], seed: int) -> str:
        """Answer one prompt."""
        self.asked.append(tuple(messages))
        system, user = messages[0][1], messages[1][1]
        if self.garbled and self.garbled in system + user:
            return "I would rather not say."
        truth = {**TRUE_LABELS, **WHOLE, "coherence": "coherent", **self.labels}
        answer: dict[str, Any] = {}
        for key, placeholder in re.findall(r'^  "(\w+)": (.+?),?$', system, re.MULTILINE):
            if placeholder == '"<text>"':
                answer[key] = f"why {key}"
            elif placeholder == "<true or false>":
                answer[key] = self.verdicts.get(key, True)
            elif key.endswith("_second"):
                options = re.findall(r"one of: ([^>]*)>", placeholder)[0].split(" | ")
                best = truth[key.removesuffix("_second")]
                answer[key] = self.labels.get(key) or min(set(options) - {best})
            else:
                answer[key] = truth[key]
        return json.dumps(answer)


class Asker:
    """Asks an answering function, and reads what it says as the client does; no repairs."""

    gathers = False

    def __init__(self, answer: Callable[..., str]) -> None:
        self.answer = answer
        self.contexts: list[Any] = []
        self.raising: BaseException | None = None

    async def ask(self, question, ctx):
        self.contexts.append(ctx)
        if self.raising is not None:
            raise self.raising
        messages = [(m.role, m.content) for m in question.messages]
        try:
            return question.answer.read(self.answer(messages, ctx.seed))
        except Unreadable as error:
            question.repair("x", error.reasons)
            raise AnswerUnusable(error.kind, str(error)) from error

    async def ask_many(self, question, ctx, *, k):
        return [await self.ask(question, ctx)] * k


def judge_prompts(scheme: Scheme = HIPO) -> JudgePrompts:
    return JudgePrompts(Templates(), scheme)


def self_judge(asker: Asker, scheme: Scheme = HIPO, name: str = "test/own") -> BlindJudge:
    prompts = judge_prompts(scheme)
    return BlindJudge(scheme, prompts, asker, seat("self", name, prompts, {"model": name}))


def external_judge(asker: Asker, scheme: Scheme = HIPO, name: str = "test/other") -> BlindJudge:
    prompts = judge_prompts(scheme)
    return BlindJudge(scheme, prompts, asker, seat("external", name, prompts, {"model": name}))


def verifying_judge(
    asker: Asker, scheme: Scheme = HIPO, name: str = "test/other"
) -> VerifyingJudge:
    prompts = judge_prompts(scheme)
    return VerifyingJudge(scheme, prompts, asker, seat("external", name, prompts, {"model": name}))
