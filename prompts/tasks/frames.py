"""User messages pasted together: what a template makes of its variables is found out once.

Rendering takes ten times as long as pasting, and most of the time that rows of a training set take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from prompts.environment import MultilineText, Templates, as_line
from prompts.tasks.items import FactView, SceneView, plain_view
from scenarios.dialogue import History
from scenarios.quick_records import quickly_made

_FRAMES: Final = 4096
_MARK: Final = re.compile("\ue000([0-9]+)\ue001")


@quickly_made
@dataclass(frozen=True, slots=True)
class UserParts:
    """What varies in a user message from item to item."""

    scene: MultilineText
    skeleton: MultilineText
    several: bool
    """Whether more than one dimension is asked about."""
    history: History
    question: str | None
    utterance: str
    fact: FactView | None
    goal: str | None
    view: SceneView | None = None
    """The scene part by part, for templates of judges, which name its parts."""

    @property
    def shape(self) -> tuple[object, ...]:
        """What decides which lines a message has."""
        return (
            self.several,
            tuple(role for role, _ in self.history),
            bool(self.question),
            None if self.fact is None else len(self.fact.false_claims),
            bool(self.goal),
            self.view is None,
        )

    def variables(self) -> dict[str, object]:
        """Return the variables of the template."""
        return {
            "scene": self.scene,
            "skeleton": self.skeleton,
            "several": self.several,
            "history": tuple((role.upper(), text) for role, text in self.history),
            "question": self.question,
            "utterance": self.utterance,
            "fact": self.fact,
            "goal": self.goal,
            "examples": (),
            "options": (),
            "explaining": False,
            "explanation": None,
            "view": None if self.view is None else plain_view(self.view, self.fact),
        }

    def texts(self) -> list[str]:
        """Return every text that varies, in the order in which :func:`_marked` numbers them."""
        private = () if self.fact is None else (self.fact.about, self.fact.text)
        claims = () if self.fact is None else self.fact.false_claims
        data = (
            self.question or "", self.utterance, self.goal or "", *private, *claims,
            *(text for _, text in self.history),
        )  # fmt: skip
        scene = () if self.view is None else _told(self.view)
        return [self.scene, self.skeleton, *map(as_line, data), *scene]


def _told(view: SceneView) -> list[str]:
    """Return the parts of a scene of question and answer."""
    names = (
        view.situation, view.initiator, view.initiator_description, view.responder,
        view.responder_description, view.language,
    )  # fmt: skip
    return list(map(as_line, names))


class UserFrames:
    """The user messages of one shipped template."""

    def __init__(self, templates: Templates, name: str) -> None:
        """Begin with no shape known."""
        self._templates = templates
        self._name = name
        self._frames: dict[tuple[object, ...], _Frame] = {}

    def render(self, parts: UserParts) -> str:
        """Return what the template makes of the parts."""
        shape = parts.shape
        frame = self._frames.get(shape)
        if frame is None:
            if len(self._frames) >= _FRAMES:
                self._frames.clear()
            rendered = self._templates.render(self._name, _marked(parts).variables())
            frame = self._frames[shape] = _frame(rendered, len(parts.texts()))
        literals, woven = frame
        return "".join(woven([*parts.texts(), *literals]))


_Frame = tuple[Sequence[str], Callable[[Sequence[str]], Any]]
"""What stands between texts; and what picks, from texts and these behind them, all in their order."""


def _frame(rendered: str, count: int) -> _Frame:
    """Take a message apart that has a mark for each of so many texts."""
    pieces = _MARK.split(rendered)
    places = [
        int(piece) if number % 2 else count + number // 2 for number, piece in enumerate(pieces)
    ]
    return pieces[::2], itemgetter(*places)


def _marked(parts: UserParts) -> UserParts:
    """Return parts of the same shape with a mark for every text."""
    count = iter(range(10_000))

    def mark() -> str:
        return f"\ue000{next(count)}\ue001"

    def mark_if(present: object) -> str:
        text = mark()
        return text if present else ""

    scene, skeleton = MultilineText(mark()), MultilineText(mark())
    question, utterance, goal = mark_if(parts.question), mark(), mark_if(parts.goal)
    fact = None
    if parts.fact is not None:
        about, text = mark(), mark()
        fact = FactView(about, text, tuple(mark() for _ in parts.fact.false_claims))
    history = tuple((role, mark()) for role, _ in parts.history)
    view = None
    if parts.view is not None:
        view = SceneView(mark(), mark(), mark(), mark(), mark(), mark())
    return UserParts(scene, skeleton, parts.several, history, question, utterance, fact, goal, view)
