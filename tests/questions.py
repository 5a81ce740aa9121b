"""What a question to a model says, as a test reads it."""

from __future__ import annotations

from prompts.question import Question


def whole(question: Question) -> str:
    """Return all messages as one text."""
    return "\n\n".join(f"[{m.role}]\n{m.content}" for m in question.messages)


def messages(question: Question) -> list[tuple[str, str]]:
    """Return the messages as programs that answer offline take them."""
    return [(message.role, message.content) for message in question.messages]
