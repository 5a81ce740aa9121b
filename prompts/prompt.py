"""What a prompt is: a fixed system message, a user message made of typed inputs, an answer format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from prompts.environment import MultilineText, Templates
from prompts.responses import ResponseFormat

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a rendered prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be sent."""

    messages: tuple[PromptMessage, ...]


@dataclass(frozen=True, slots=True)
class Prompt(Generic[In, Out]):
    """One way of asking a model for an ``Out``, given an ``In``.

    The system message is rendered once, so that it is the same text in every request of its kind
    and providers can serve it from their prefix cache.
    """

    name: str
    system: str
    templates: Templates
    variables: Callable[[In], Mapping[str, object]]
    """Names the inputs for the template ``<name>_user.j2``."""
    answer: ResponseFormat[Out]

    def render(self, inputs: In) -> Rendered:
        """Return the messages for these inputs.

        Raises:
            UsageError: a template of the user's asks for something that is not there.
        """
        user = self.templates.render(f"{self.name}_user.j2", self.variables(inputs))
        return Rendered((PromptMessage("system", self.system), PromptMessage("user", user)))


def make_prompt(
    name: str,
    templates: Templates,
    variables: Callable[[In], Mapping[str, object]],
    answer: ResponseFormat[Out],
    static: Mapping[str, object],
) -> Prompt[In, Out]:
    """Build a prompt from ``<name>_system.j2`` and ``<name>_user.j2``.

    Args:
        name: what the two templates are called.
        templates: where they come from.
        variables: turns the inputs into the variables of the user template.
        answer: the format of the answer; its skeleton is the variable ``skeleton`` of the system
            template.
        static: the other variables of the system template; nothing in them may vary with the
            scenario.

    Raises:
        UsageError: the system template cannot be rendered.
    """
    system = templates.render(
        f"{name}_system.j2", {**static, "skeleton": MultilineText(answer.skeleton)}
    )
    return Prompt(name, system, templates, variables, answer)
