"""The question that asks a judge once about a dialogue: each labelled utterance, and the whole.

It shows what the questions about single utterances show, so no label, goal or rationale; but whoever
answers it has read what is said later, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from prompts.answer_fields import (
    THOUGHTS_BOUND,
    Findings,
    TextField,
    list_bounds,
    object_schema,
    text_bounds,
    usual_size,
    value_of,
)
from prompts.environment import MultilineText, Templates
from prompts.prompt import Prompt, role_tag, transcript
from prompts.question import Question
from prompts.responses import ResponseFormat
from prompts.scheme_text import reader_text
from prompts.tasks.answers import BlindLabel, LabelForm
from prompts.tasks.items import FactView, SceneView, plain_view
from prompts.tasks.option_order import label_order, reordered
from prompts.tasks.part import THOUGHTS
from prompts.tasks.stems import is_listed
from prompts.tolerant_json import Answer
from scenarios.dialogue import History
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Dimension, Scheme
from scenarios.terms import RoleKey

WHOLE_TEMPLATES: Final = (
    "judge_whole_system.j2", "judge_whole_user.j2", "people_whole_system.j2",
    "people_whole_user.j2", "whole_format.j2", "whole_task.j2", "whole_utterances.j2",
)  # fmt: skip
"""The templates that this question has besides those of the other judges."""
_DIALOGUE: Final = "dialogue"
_READING: Final = "what the words claim, held against the fact"


class ReaderView(Protocol):
    """What a judge knows of a case, see :class:`prompts.judges.JudgeView`."""

    @property
    def case(self) -> str:
        """The id of the case: the order of labels follows from it."""

    @property
    def scene(self) -> SceneView:
        """What everybody knows."""

    @property
    def fact(self) -> FactView | None:
        """What the responder alone knows."""

    @property
    def facts(self) -> tuple[FactView, ...]:
        """What each of the people alone knows, where the scene lists them."""


@dataclass(frozen=True, slots=True)
class WholeReading:
    """What a judge finds in a dialogue that it was asked about once."""

    turns: Mapping[int, tuple[BlindLabel, ...]]
    """By the place of the utterance in the dialogue, from 0."""
    dialogue: tuple[BlindLabel, ...]
    """Labels of the whole; empty where none are asked for."""


@dataclass(frozen=True, slots=True)
class FormText:
    """The object that a label or utterance gets, as the templates show it."""

    title: str
    skeleton: MultilineText


class WholePrompts:
    """Asks once about all labelled utterances of a dialogue, and about the dialogue as a whole.

    The system message holds every definition and the form of each object, so that it is the same for
    all dialogues of a scheme and the same roles, whatever their length; which utterances there are stands in the user
    message, and in the schema of the answer.
    """

    def __init__(
        self,
        templates: Templates,
        scheme: Scheme,
        utterance: tuple[Dimension, ...],
        dialogue: tuple[Dimension, ...],
    ) -> None:
        """Take what is asked for.

        Args:
            templates: where the texts come from.
            scheme: the labels.
            utterance: dimensions of an utterance, whoever says it.
            dialogue: dimensions of the dialogue as a whole; may be none.
        """
        self._templates = templates
        self._scheme = scheme
        self._utterance = utterance
        self._dialogue = dialogue
        self._depends_on_role = any(d.depends_on_role for d in utterance)
        self._form = lru_cache(maxsize=None)(self._make_form)
        self._system = lru_cache(maxsize=None)(self._render_system)
        self._format = lru_cache(maxsize=None)(self._make_format)
        roles: tuple[RoleKey, ...] = ("",)
        systems = [self._system(roles, 0, listed=listed) for listed in (False, True)]
        schemas = [self._format(((0, ""),), 0, listed=listed).schema for listed in (False, True)]
        self.fingerprint: str = fingerprint(
            [templates.fingerprint_of(WHOLE_TEMPLATES), scheme.content, systems, schemas]
        )

    def question(
        self, view: ReaderView, history: History, targets: Sequence[int]
    ) -> Question[WholeReading]:
        """Ask for the labels of some utterances, and of the dialogue as a whole.

        Args:
            view: what the judge knows.
            history: everything that was said.
            targets: places of the utterances in it, from 0; something is asked about each.
        """
        order, listed = label_order(view.case), is_listed(view.scene)
        placed = tuple(
            (place, history[place][0] if self._depends_on_role else "") for place in targets
        )
        roles = tuple(sorted({role for _, role in placed}))
        stem = _stem(listed=listed)
        plain = plain_view(view.scene, view.fact)
        variables: dict[str, object] = {
            "view": plain,
            "history": transcript(history),
            "targets": tuple(
                (_key(place), role_tag(history[place][0]), history[place][1]) for place in targets
            ),
            "whole": bool(self._dialogue),
        }
        if listed:
            scene = self._templates.render("people_scene.j2", {"view": plain})
            variables |= {"scene": MultilineText(scene), "facts": view.facts, "goal": None}
        prompt = Prompt(
            stem,
            self._system(roles, order, listed=listed),
            self._templates,
            self._format(placed, order, listed=listed),
        )
        return prompt.render(variables)

    def _make_form(self, role: RoleKey, order: int, *, listed: bool, whole: bool) -> LabelForm:
        """Return the labels of an utterance of a role, or of the dialogue."""
        dimensions = self._dialogue if whole else self._utterance
        if role and not whole:
            dimensions = tuple(d.limited_to(role) for d in dimensions if d.concerns(role))
        return LabelForm(
            tuple(reordered(d, order) for d in dimensions),
            frozenset(d.id for d in dimensions),
            runner_up=True,
            thoughts=TextField("reading", THOUGHTS if listed else _READING),
        )

    def _render_system(self, roles: tuple[RoleKey, ...], order: int, *, listed: bool) -> str:
        asked = {
            d.id: d
            for role in roles
            for d in self._form(role, order, listed=listed, whole=False).dimensions
        }
        if len(roles) > 1:  # labels that only some of them can have are defined for all
            asked = {d.id: reordered(d, order) for d in self._utterance if d.id in asked}
        whole = self._form("", order, listed=listed, whole=True)
        dimensions = (*asked.values(), *whole.dimensions)
        variables = {
            **reader_text(self._scheme, dimensions),
            "forms": tuple(self._forms(roles, order, listed=listed)),
            "whole": bool(self._dialogue),
            "fact_shown": True,
            "thinks": THOUGHTS if listed else _READING,
            "rules": (),
            "reasoned": True,
            "runner_up": True,
            "conditional": any(d.when for d in dimensions),
        }
        return self._templates.render(f"{_stem(listed=listed)}_system.j2", variables)

    def _forms(self, roles: tuple[RoleKey, ...], order: int, *, listed: bool) -> list[FormText]:
        shown = [
            (f"Utterance of {role_tag(role)}" if role else "Utterance", role, False)
            for role in roles
        ]
        if self._dialogue:
            shown.append(("Dialogue", "", True))
        forms = []
        for title, role, whole in shown:
            form = self._form(role, order, listed=listed, whole=whole)
            options = {d.id: d.values for d in form.dimensions}
            forms.append(FormText(title, MultilineText(form.skeleton(options))))
        return forms

    def _make_format(
        self, placed: tuple[tuple[int, RoleKey], ...], order: int, *, listed: bool
    ) -> ResponseFormat[WholeReading]:
        forms = {
            _key(place): (place, self._form(role, order, listed=listed, whole=False))
            for place, role in placed
        }
        whole = self._form("", order, listed=listed, whole=True) if self._dialogue else None
        parts = {key: form for key, (_, form) in forms.items()}
        if whole is not None:
            parts[_DIALOGUE] = whole

        def build(answer: Answer, findings: Findings) -> WholeReading:
            turns = {
                place: _read(key, form, answer, findings) for key, (place, form) in forms.items()
            }
            of_whole = () if whole is None else _read(_DIALOGUE, whole, answer, findings)
            return WholeReading(turns, of_whole)

        return ResponseFormat(
            "dialogue_labels",
            {
                "type": "object",
                "properties": {key: object_schema(form.fields) for key, form in parts.items()},
                "required": list(parts),
                "additionalProperties": False,
            },
            "",  # the system message shows the objects one by one
            tuple(parts),
            build,
            self._bounds(parts.values()),
        )

    def _bounds(self, forms: Iterable[LabelForm]) -> dict[str, int]:
        """Return how long texts and lists may be, by key, in whichever object they stand."""
        forms = tuple(forms)
        lists = {name: bound for f in forms for name, bound in list_bounds(f.fields).items()}
        bounds = {name: bound for f in forms for name, bound in text_bounds(f.fields).items()}
        # Nobody knows how long the texts are that templates of the user's ask for.
        return lists | (
            bounds if self._templates.shipped else dict.fromkeys(bounds, THOUGHTS_BOUND)
        )


def answer_sizes(answer: ResponseFormat[WholeReading]) -> tuple[int, int]:
    """Return how many bytes an answer usually has on an utterance, the longest, and on the whole."""
    parts: Mapping[str, Mapping[str, Any]] = answer.schema["properties"]  # type: ignore[assignment]
    sizes = {key: usual_size(part, answer.bounds) for key, part in parts.items()}
    whole = sizes.pop(_DIALOGUE, 0)
    return max(sizes.values()), whole


def _read(key: str, form: LabelForm, answer: Answer, findings: Findings) -> tuple[BlindLabel, ...]:
    """Return the labels under a key; what is missing or wrong is noted with the key."""
    given = value_of(answer, key)
    if not isinstance(given, Mapping):
        findings.missing(key, "an object with the labels asked for")
        return ()
    own = Findings()
    labels = form.build(given, own)
    if own.reasons:
        findings.kind = own.kind if own.kind == "invalid" else findings.kind
        findings.reasons += [f"{key}: {reason}" for reason in own.reasons]
    return labels


def _key(place: int) -> str:
    """Return the key of an utterance: the number of its line in the dialogue, from 1."""
    return f"line_{place + 1}"


def _stem(*, listed: bool) -> str:
    return "people_whole" if listed else "judge_whole"
