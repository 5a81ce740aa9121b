"""The fixed lines of a scenario: what a dialogue of question and answer starts with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from scenarios.schemes.model import Identifier
from scenarios.strict import Strict, as_tuple

Text = Annotated[str, Field(min_length=1)]


_Texts = Annotated[tuple[Text, ...], Field(min_length=1, max_length=12)]
Wordings = Annotated[_Texts, BeforeValidator(as_tuple, json_schema_input_type=Text | _Texts)]
"""The default wording first, then paraphrases of it (drawn by the variation axis ``opening``)."""


class Statement(Strict):
    """What the responder says to an opening question under one goal, and the claims it makes."""

    text: Text
    """One or two sentences, as the responder says them."""
    claims: tuple[Identifier, ...] = ()
    """Ids of the claims that whoever says this makes."""


class EasyExchange(Strict):
    """A public question and its answer: true, complete, the same under every goal."""

    question: Text
    """What the initiator asks first; nobody has a reason to lie about it."""
    answer: Text
    """The whole truth about that question, by what the scene and the roles say."""
    claims: tuple[Identifier, ...] = ()
    """Ids of the claims the answer makes; none that a fact makes false or misleading."""


class SharedOpening(Strict):
    """An opening that is the same under every goal, so that it cannot give the goal away."""

    exchanges: Annotated[tuple[EasyExchange, ...], Field(min_length=1, max_length=12)]
    """The first of them is the default; a dialogue starts with one."""
    hard_question: Wordings
    """The initiator's fixed first line after that: the question this is all about."""


class GoalOpening(Strict):
    """An opening question with one statement for each goal that answers this very question."""

    question: Text
    """What the initiator asks."""
    statements: Annotated[dict[str, Statement], Field(min_length=1)]
    """By goal label; the key ``any`` serves every goal that has no statement of its own."""

    def statement_for(self, goal: str) -> Statement:
        """Return the statement that fits ``goal``.

        Raises:
            KeyError: neither the goal nor ``any`` has a statement.
        """
        return self.statements[goal] if goal in self.statements else self.statements["any"]


class Opening(Strict):
    """The fixed lines every dialogue starts with: shared by all goals, or one for each.

    Source of the openings by goal: HIPO, section 4.2 and appendix C.
    """

    shared: SharedOpening | None = None
    """What runs with ``--openings shared`` start with."""
    by_goal: tuple[GoalOpening, ...] = ()
    """What runs with ``--openings by-goal`` start with, the default first."""

    @model_validator(mode="before")
    @classmethod
    def _from_version_1(cls, data: object) -> object:
        """Read the form in which hipo 0.1 stored openings: wordings of a question and statements."""
        if not isinstance(data, Mapping) or not {"question", "statements"} <= set(data):
            return data
        questions = _listed(data["question"])
        statements = data["statements"]
        if not isinstance(statements, Mapping):
            return data
        wordings = {goal: _listed(_field(said, "text")) for goal, said in statements.items()}
        length = math.lcm(*map(len, (questions, *wordings.values())))  # every question with each
        return {
            "by_goal": [
                {
                    "question": questions[i % len(questions)],
                    "statements": {
                        goal: {
                            "text": texts[i % len(texts)],
                            "claims": _field(statements[goal], "claims") or (),
                        }
                        for goal, texts in wordings.items()
                    },
                }
                for i in range(length)
            ]
        }

    @property
    def statements(self) -> Iterator[tuple[str, Statement]]:
        """Yield every statement by goal with its goal."""
        for opening in self.by_goal:
            yield from opening.statements.items()


def _listed(value: object) -> tuple[object, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None
