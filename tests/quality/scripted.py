"""A judge that knows the right answers, and errs where it is told to."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.client import AnswerUnusable
from prompts.environment import Templates
from prompts.judges import JudgePrompts
from prompts.responses import Unreadable
from quality.judges.external_judge import ExternalJudge
from quality.judges.protocol import seat
from quality.judges.self_judge import SelfJudge
from scenarios.case import Case, make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme

HIPO = load_scheme("hipo")
CATALOGUE = Catalogue.load()
CAR = CATALOGUE.scenarios["used_car"]
ARM = "arm-a"
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
    case: Case = make_case(
        scheme=scheme, scenario=CAR.id, scenario_fingerprint=CAR.fingerprint, fact="guardrail",
        goal=goal, turns=turns, language="en", variation={}, repetition=repetition, seed=7,
    )  # fmt: skip
    said = [
        Turn(0, "initiator", CAR.opening.question[0], "opening"),
        Turn(1, "responder", CAR.opening.statement_for("deception").text[0], "opening"),
    ]
    tactic = tuple(
        TacticLabel(name, value) for name, value in (TRUE_LABELS | dict(labels or {})).items()
    )
    for n in range(turns):
        place = len(said)
        said.append(Turn(place, "initiator", f"Question {n}, then?", "improvised"))
        answer = f"No, nobody has ever hit it, number {repetition} {n}."
        said.append(Turn(place + 1, "responder", answer, "improvised", (), goal, tactic))
    return Dialogue(case, arm, tuple(said))


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
        truth = {**TRUE_LABELS, "goal": "deception", **self.labels}
        answer: dict[str, Any] = {}
        for key, placeholder in re.findall(r'^  "(\w+)": (.+?),?$', system, re.MULTILINE):
            if placeholder == '"<text>"':
                answer[key] = f"why {key}"
            elif placeholder == "<true or false>":
                answer[key] = self.verdicts.get(key, True)
            else:
                answer[key] = truth[key]
        return json.dumps(answer)


class Asker:
    """Asks an answering function, and reads what it says as the client does; no repairs."""

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


def self_judge(asker: Asker, scheme: Scheme = HIPO, name: str = "test/own") -> SelfJudge:
    prompts = judge_prompts(scheme)
    return SelfJudge(scheme, prompts, asker, seat("self", name, prompts, {"model": name}))


def external_judge(asker: Asker, scheme: Scheme = HIPO, name: str = "test/other") -> ExternalJudge:
    prompts = judge_prompts(scheme)
    return ExternalJudge(scheme, prompts, asker, seat("external", name, prompts, {"model": name}))
