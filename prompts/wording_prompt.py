"""Ask a model for the texts of a scenario in another language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prompts.answer_fields import ABSENT, Findings, value_of
from prompts.environment import MultilineText, Templates
from prompts.languages import described_language
from prompts.plain_text import one_line
from prompts.prompt import Prompt, make_prompt
from prompts.question import Question
from prompts.responses import ResponseFormat
from prompts.tolerant_json import Answer
from scenarios.fingerprint import fingerprint
from scenarios.wordings import placeholder_difference

NAME: Final = "translate"
TEMPLATES: Final = ("translate_system.j2", "translate_user.j2", "repair.j2")
LONGEST_GROWTH: Final = 4
"""How many times as long as its original a translation may be; one that is longer ran away."""
SHORT: Final = 120
"""Characters that any translation may have."""
BLANK: Final = "<translation>"
"""What stands for a translation in the format a model is shown."""


@dataclass(frozen=True, slots=True)
class _TextPart:
    """One text, and the key its translation has in an answer."""

    key: str
    original: str

    @property
    def bound(self) -> int:
        """Characters the translation may have."""
        return SHORT + LONGEST_GROWTH * len(self.original)

    def read(self, answer: Answer, findings: Findings) -> str:
        """Return the translation on one line; notes what is missing, too long or lacks a name."""
        value = value_of(answer, self.key)
        if value is ABSENT or value is None:
            findings.missing(self.key, "a translation")
            return ""
        text = one_line(value) if isinstance(value, str) else ""
        if not any(map(str.isalnum, text)) or text == BLANK:
            findings.wrong(self.key, value, "a translation")
        elif len(text) > self.bound:
            findings.wrong(self.key, f"{len(text):,} characters", f"at most {self.bound:,}")
        elif differing := placeholder_difference(self.original, text):
            findings.wrong(self.key, text, f"the words in braces of the original ({differing})")
        return text


def wording_question(
    templates: Templates, texts: Mapping[str, str], language: str
) -> Question[dict[str, str]]:
    """Return the question for a scenario's texts in a language.

    Args:
        templates: where the prompt comes from.
        texts: by where they stand in the scenario.
        language: BCP 47.

    Returns:
        A question whose answer holds the translations by the same places.
    """
    parts = {
        place: _TextPart(f"t{number}", text)
        for number, (place, text) in enumerate(texts.items(), 1)
    }

    def build(answer: Answer, findings: Findings) -> dict[str, str]:
        return {place: part.read(answer, findings) for place, part in parts.items()}

    answer = ResponseFormat(
        name="wording",
        schema=_schema([part.key for part in parts.values()]),
        skeleton="{\n" + ",\n".join(f'  "{p.key}": "{BLANK}"' for p in parts.values()) + "\n}",
        keys=tuple(part.key for part in parts.values()),
        build=build,
        bounds={part.key: part.bound for part in parts.values()},
    )
    named = described_language(language)
    prompt: Prompt[dict[str, str]] = make_prompt(NAME, templates, answer, {"language": named})
    return prompt.render(
        {
            "texts": tuple((part.key, place, part.original) for place, part in parts.items()),
            "language": named,
            "skeleton": MultilineText(answer.skeleton),
        }
    )


def wording_fingerprint(templates: Templates, language: str) -> str:
    """Return the hash of what a model is asked, apart from the texts of a scenario."""
    return fingerprint([templates.fingerprint_of(TEMPLATES), described_language(language)])


def _schema(keys: Sequence[str]) -> dict[str, object]:
    """Return the JSON schema of an object with a text under every key."""
    return {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }
