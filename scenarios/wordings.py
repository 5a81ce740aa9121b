"""The texts of a scenario in another language: a file of pairs, with where they come from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from scenarios.errors import InputError, Problem, UsageError
from scenarios.language_code import LanguageCode
from scenarios.located import Located
from scenarios.schemes.model import Identifier
from scenarios.spec import Scenario, WordingOrigin
from scenarios.strict import Strict
from scenarios.yaml_source import read_yaml, validate_model

Words = Annotated[str, Field(min_length=1)]
_TEXTS: Final = frozenset(
    [
        "title",
        "summary",
        "background",
        "name",
        "description",
        "aim",
        "voice",
        "question",
        "answer",
        "hard_question",
        "text",
        "about",
        "angle",
        "label",
        "brief",
        "alias",
    ]
)
"""Fields of a scenario, and of what is in it, that hold words for people; all others hold ids."""
_APART: Final = frozenset({"data", "sources", "wording"})
_PLACEHOLDER: Final = re.compile(r"\{[a-z][a-z0-9_]*\}")


class WordedText(Strict):
    """One text in two languages."""

    original: Words
    """As the scenario has it: what was translated."""
    text: Words
    """In the other language; holds the same ``{placeholders}``."""


class ScenarioWording(Strict):
    """Every text of one scenario in another language."""

    scenario: Identifier
    language: Annotated[LanguageCode, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]+)*$")]
    """BCP 47, e.g. ``zh``."""
    origin: WordingOrigin | None = None
    """Which model wrote them; none: people did."""
    reviewed: str = ""
    """Who has read every text beside its original; empty: nobody has yet."""
    texts: Annotated[dict[str, WordedText], Field(min_length=1)]
    """By where the text stands in the scenario, e.g. ``facts.odometer.text``."""


@dataclass(frozen=True, slots=True)
class WordingFile:
    """A wording, and the file it was read from."""

    wording: ScenarioWording
    located: Located

    def applied(self, template: Scenario) -> Scenario:
        """Return a scenario, its placeholders still in it, with the texts of this file.

        Raises:
            InputError: texts are missing or too many, are of another state of the scenario, or
                lack a placeholder; names all of them.
        """
        problems = list(self._problems(texts_of(template)))
        if problems:
            raise InputError(problems)
        wording = self.wording
        texts = {place: worded.text for place, worded in wording.texts.items()}
        plain = _replaced(template.model_dump(mode="json"), (), texts)
        plain["languages"] = [wording.language]
        plain["wording"] = {
            "origin": None if wording.origin is None else wording.origin.model_dump(),
            "reviewed": wording.reviewed or None,
        }
        return Scenario.model_validate(plain)

    def _problems(self, originals: Mapping[str, str]) -> Iterator[Problem]:
        again = "translate the scenario anew, or write this text yourself"
        for place, original in originals.items():
            worded = self.wording.texts.get(place)
            if worded is None:
                expected = f"a wording of {place}: {original[:60]!r}"
                yield self.located.problem(("texts",), found="none", expected=expected, hint=again)
            elif worded.original.split() != original.split():
                yield self.located.problem(
                    ("texts", place, "original"),
                    found=repr(worded.original[:60]),
                    expected=f"{original[:60]!r}, which the scenario says by now",
                    hint=again,
                )
            elif differing := placeholder_difference(original, worded.text):
                yield self.located.problem(
                    ("texts", place, "text"), found=differing, expected="those of the original"
                )
        for place in self.wording.texts:
            if place not in originals:
                yield self.located.problem(
                    ("texts", place),
                    found=repr(place),
                    expected="the place of a text in the scenario",
                    hint="leave it out",
                )


def texts_of(scenario: Scenario) -> dict[str, str]:
    """Return every text of a scenario that people read, by where it stands, in order."""
    return dict(_walk(scenario.model_dump(mode="json"), ()))


def placeholder_difference(original: str, text: str) -> str:
    """Say which ``{placeholders}`` a translation lacks or has too many; empty: they agree."""
    wanted, found = set(_PLACEHOLDER.findall(original)), set(_PLACEHOLDER.findall(text))
    lacking, strange = sorted(wanted - found), sorted(found - wanted)
    parts = [f"{', '.join(lacking)} missing"] if lacking else []
    parts += [f"{', '.join(strange)} too much"] if strange else []
    return " and ".join(parts)


def load_wordings(paths: Sequence[Path]) -> dict[tuple[str, str], WordingFile]:
    """Read files of wordings, or all ``.yaml`` files of folders, by scenario and language.

    Raises:
        UsageError: a path does not exist, or holds none.
        InputError: a file is no wording, or two are of the same scenario and language.
    """
    found: dict[tuple[str, str], WordingFile] = {}
    for path in _files(paths):
        one = read_wording(path)
        key = one.wording.scenario, one.wording.language
        if key in found:
            first = found[key].located.file
            expected = f"another scenario or language: {first} has this one"
            raise InputError(
                [one.located.problem(("scenario",), found=repr(key[0]), expected=expected)]
            )
        found[key] = one
    return found


def read_wording(path: Path) -> WordingFile:
    """Read one file of wordings.

    Raises:
        InputError: it is none.
    """
    located = read_yaml(path)
    return WordingFile(validate_model(ScenarioWording, located), located)


def written(wording: ScenarioWording) -> str:
    """Return a wording as the file that people read and mend."""
    origin, said = wording.origin, wording.texts.items()
    head = [f"# The scenario {wording.scenario} in {wording.language}. {_TO_REVIEW}"]
    head += [f"scenario: {wording.scenario}", f"language: {wording.language}"]
    if origin is not None:
        fields = origin.model_dump()
        head += ["origin:", *(f"  {name}: {_quoted(text)}" for name, text in fields.items())]
    head += [f"reviewed: {_quoted(wording.reviewed)}", "texts:"]
    for place, worded in said:
        head += [
            f"  {_quoted(place)}:",
            f"    original: {_quoted(worded.original)}",
            f"    text: {_quoted(worded.text)}",
        ]
    return "\n".join(head) + "\n"


_TO_REVIEW: Final = (
    "Read each text beside its original, mend it,\n"
    "# and put your name after reviewed: only then do runs use it (or with --unreviewed)."
)


def _quoted(text: str) -> str:
    """Return a text as a YAML string on one line: JSON strings are that."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"there is no file or folder {path}", "hipo scenarios translate writes wordings"
            )
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"there is no wording in {path}", "its files end in .yaml")
        yield from files


def _steps(value: object) -> Iterator[tuple[str, Any]]:
    """Yield what a container holds by the name it has in a place: keys, ids, or else numbers."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield (item["id"] if isinstance(item, Mapping) and "id" in item else str(number)), item


def _is_text(place: Sequence[str]) -> bool:
    """Whether words for people stand at a place: in a field of such words, or in a list of them."""
    if not place[-1].isdigit():
        return place[-1] in _TEXTS
    return place[-2] in ("hard_question", "text") or place[-3:-2] == ("strategies",)


def _walk(value: object, place: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if value and _is_text(place):
            yield ".".join(place), value
        return
    for name, item in _steps(value):
        if place or name not in _APART:
            yield from _walk(item, (*place, name))


def _replaced(value: Any, place: tuple[str, ...], texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return texts.get(".".join(place), value) if _is_text(place) else value
    if isinstance(value, Mapping):
        return {name: _replaced(item, (*place, name), texts) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, (*place, name), texts) for name, item in _steps(value)]
    return value
