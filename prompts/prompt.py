"""A prompt: a fixed system message, a template for the user message, and an answer format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Generic, TypeVar

from prompts.answer_fields import THOUGHTS_BOUND, is_list
from prompts.environment import MultilineText, Templates
from prompts.question import Message, Question, no_objections
from prompts.responses import ResponseFormat
from scenarios.dialogue import History
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.terms import RoleKey

Out_co = TypeVar("Out_co", covariant=True)
T = TypeVar("T")

REMEMBERED_SPEAKERS: Final = 1_024
"""Speakers that are kept as they are printed."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[Out_co]):
    """One kind of question whose answer is read as an ``Out``.

    The system message is rendered once, so that it is the same text in every request of its kind
    and providers can serve it from their prefix cache.
    """

    name: str
    system: str
    templates: Templates
    answer: ResponseFormat[Out_co]

    def render(self, variables: Mapping[str, object]) -> Question[Out_co]:
        """Fill the template ``<name>_user.j2``.

        Raises:
            UsageError: a template of the user's asks for something that is not there.
        """
        return self.question(self._user(variables))

    def render_line(
        self, variables: Mapping[str, object], objections: Callable[[Out_co], Sequence[str]]
    ) -> Question[Out_co]:
        """Fill the template to ask for what somebody says next, in another frame if need be.

        Args:
            variables: of the template.
            objections: says what speaks against an answer.

        Raises:
            UsageError: a template of the user's asks for something that is not there.
        """
        return self.question(self._user(variables), objections, self._frame)

    def question(
        self,
        user: str,
        objections: Callable[[Out_co], Sequence[str]] = no_objections,
        frame: Callable[[], str] | None = None,
    ) -> Question[Out_co]:
        """Return the question with ``user`` as its user message."""
        messages = (Message("system", self.system), Message("user", user))
        return Question(messages, self.answer, self._correction, objections, frame)

    def _user(self, variables: Mapping[str, object]) -> str:
        return self.templates.render(f"{self.name}_user.j2", variables)

    def _frame(self) -> str:
        return self.templates.render("reframe.j2", {})

    def _correction(self, reasons: Sequence[str]) -> str:
        return self.templates.render("repair.j2", {"reasons": tuple(reasons)})


def make_prompt(
    name: str,
    templates: Templates,
    answer: ResponseFormat[T],
    static: Mapping[str, object] | None = None,
    *,
    system: str = "",
) -> Prompt[T]:
    """Build a prompt from ``<name>_system.j2`` and ``<name>_user.j2``.

    Args:
        name: what the two templates are called.
        templates: where they come from.
        answer: the format of the answer; its skeleton is the variable ``skeleton`` of the system
            template.
        static: the other variables of the system template; nothing in them may vary with the
            scenario.
        system: a system template of another name; "" is ``<name>_system.j2``.

    Raises:
        UsageError: the system template cannot be rendered.
    """
    variables = {**(static or {}), "skeleton": MultilineText(answer.skeleton)}
    if not templates.shipped:
        # Nobody knows how long the texts are that templates of the user's ask for.
        bounds = {
            key: bound if is_list(answer.schema, key) else THOUGHTS_BOUND
            for key, bound in answer.bounds.items()
        }
        answer = replace(answer, bounds=bounds)
    shown = templates.render(system or f"{name}_system.j2", variables)
    return Prompt(name, shown, templates, answer)


def prompts_fingerprint(
    templates: Templates, names: Iterable[str], scheme: Scheme, prompts: Sequence[Prompt[object]]
) -> str:
    """Hash what the answers to some prompts depend on, besides the model.

    Args:
        templates: where the prompts come from.
        names: the files among them that the prompts use.
        scheme: the labels asked for.
        prompts: hashed with their system messages and answer formats.
    """
    kinds = [[prompt.system, prompt.answer.name, prompt.answer.schema] for prompt in prompts]
    return fingerprint([templates.fingerprint_of(names), scheme.content, kinds])


def transcript(
    history: History, names: Mapping[RoleKey, str] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return (ROLE, text) of every utterance, as the templates print a conversation.

    Args:
        history: what was said.
        names: who that is to the reader of the prompt, e.g. ``you``; put after the role in
            brackets, so that nobody mixes up whose lines are whose.
    """
    known = names or {}
    return tuple([(_speaker(role, known.get(role)), text) for role, text in history])


@lru_cache(maxsize=REMEMBERED_SPEAKERS)
def _speaker(role: RoleKey, name: str | None) -> str:
    return role_tag(role) if name is None else f"{role_tag(role)} ({name})"


def role_tag(role: RoleKey) -> str:
    """Return what a role is called where prompts print what was said: ``POLICE OFFICER``."""
    return role.replace("_", " ").upper()
