"""What the columns of other people's tables stand for: a file of plain YAML, checked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from scenarios.errors import UsageError
from scenarios.schemes.model import Dimension, Identifier
from scenarios.spelling import suggestion
from scenarios.strict import Strict, as_tuple
from scenarios.yaml_source import read_yaml, validate_model

ANNOTATOR = "{annotator}"
"""Stands in the name of a column for the name of whoever filled it in."""
_SHIPPED = Path(__file__).parent / "maps"


def _is_pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


def _is_encoding(name: str) -> str:
    try:
        b"\xff".decode(name, "replace")
    except (LookupError, ValueError):
        raise ValueError(f"{name!r} is no encoding that Python reads texts in") from None
    return name


Names = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""Names of one column; of those that a file has, the first counts."""
Pattern = Annotated[str, BeforeValidator(lambda text: _is_pattern(str(text)))]
"""A regular expression; case does not matter."""
Encoding = Annotated[str, BeforeValidator(lambda text: _is_encoding(str(text)))]


class TextColumns(Strict):
    """One turn of a row: what was said, and who said it."""

    column: Annotated[Names, Field(min_length=1)]
    role: str = ""
    """The role that says it, in every row."""
    role_column: Names = ()
    """Where each row says who speaks, the column that does."""
    roles: dict[str, str] = Field(default_factory=dict)
    """What that column holds, and which role it stands for."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.role) == bool(self.role_column):
            raise ValueError("a text needs either role or role_column")
        return self


class Values(Strict):
    """How the cells of answers are to be read."""

    values: dict[str, str | tuple[str, ...]] = Field(default_factory=dict)
    """What is written, and which label (or labels) it stands for; case and spaces do not matter."""
    patterns: dict[str, Pattern] = Field(default_factory=dict)
    """Label by a regular expression that what is written must contain."""
    several: bool = False
    """Whether a cell may hold several values: a JSON or Python list, or text with separators."""
    separators: str = ""
    """Characters that separate the values of a cell that is no list."""
    blank: tuple[str, ...] = ()
    """What stands for no answer, besides an empty cell; what is named here is not odd."""


class AnswerColumns(Values):
    """Where the answers on one dimension are."""

    column: Names = ()
    """One column: the answer of whoever the row is by."""
    columns: str = ""
    """One column per annotator, e.g. ``rating_{annotator}``."""
    annotators: Names = ()
    """The annotators that have such a column, where other columns fit as well; empty: all that fit."""
    turn: str = ""
    """Of several turns in a row the role of the one that is labelled; the last if empty."""
    optional: bool = False
    """Whether it is not odd where a file does not have it."""

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if bool(self.column) == bool(self.columns):
            raise ValueError("answers need either column or columns")
        if self.columns and self.columns.count(ANNOTATOR) != 1:
            raise ValueError(f"columns needs {ANNOTATOR} where the name of the annotator stands")
        if self.annotators and not self.columns:
            raise ValueError("annotators are those that columns names: give columns, too")
        return self


class LongAnswers(Strict):
    """Answers with a row each: one column names the dimension, another holds the value."""

    dimension: Annotated[Names, Field(min_length=1)]
    value: Annotated[Names, Field(min_length=1)]
    dimensions: dict[str, str] = Field(default_factory=dict)
    """What the column of dimensions holds, and which dimension it stands for."""
    values: dict[str, Values] = Field(default_factory=dict)
    """How values are read, by dimension."""


class QuestionColumns(Strict):
    """A question with options that a row puts about its turn."""

    of: Identifier
    """The dimension that options are labels of; they are read like the answers on it."""
    options: Annotated[tuple[Names, ...], Field(min_length=2, max_length=26)]
    """The columns of the options, in order."""
    right: Annotated[Names, Field(min_length=1)]
    """Columns that say which option is right, by its number, letter or text; all of those there
    are should say the same."""
    first: Annotated[int, Field(ge=0, le=1)] = 0
    """The number of the first option."""
    chosen: str = ""
    """One column per person or model who answered, e.g. ``chosen_{annotator}``."""
    none: tuple[str, ...] = ()
    """What stands where a row puts no question, besides an empty cell."""


class AnnotatorSource(Strict):
    """Who filled in a row: by a column, else by the name of the file, else one name for all."""

    column: Names = ()
    pattern: Pattern = r"[^/]+$"
    """What of the path without suffix is the name: the first group, or all that matches."""
    name: str = ""

    @property
    def is_column_only(self) -> bool:
        """Whether rows say it and nothing else does."""
        return bool(self.column) and not self.name and "pattern" not in self.model_fields_set


class GoalSource(Strict):
    """Where the label of a dialogue is: in a column, or in the name of the group of the file."""

    column: Names = ()
    values: dict[str, str] = Field(default_factory=dict)
    """What is written, and which label it stands for, where the scheme does not know it as an alias."""


class StandingRule(Strict):
    """Who stands above whom: by a column, else by the words that name two of the people."""

    name: Identifier
    """What it is called beside what ``context`` names."""
    of: tuple[Identifier, Identifier]
    """The two people, as ``people`` calls them."""
    above: str
    """What is said where the first stands above the second."""
    level: str
    below: str
    column: Names = ()
    """Where a file says it itself; words are for files that have no such column."""
    values: dict[str, str] = Field(default_factory=dict)
    """What is written there, and what it stands for."""
    high: tuple[str, ...] = ()
    """Words for people who stand above others; a plural is a word of its own."""
    low: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    """Words for people who are alike, whatever else their names say."""


class TableMap(Strict):
    """What other people's tables of one kind hold."""

    id: Identifier
    title: str = ""
    scheme: str = ""
    """The scheme that the dimensions are of, beside those below; an id or a path."""
    dimensions: tuple[Dimension, ...] = ()
    """Dimensions that the scheme does not have, e.g. because the authors reported on them."""
    encodings: Annotated[tuple[Encoding, ...], Field(min_length=1)] = ("utf-8", "cp1252")
    """The encodings to try, line by line; the last should be one that reads every byte."""
    delimiters: Annotated[str, Field(min_length=1)] = ",;\t|"
    """What may separate cells; which of them does is found out from the header of each file."""
    group: Pattern = r"[^/]+$"
    """What of the path of a file, without suffix, is its group: the first group, or all; ``^``: files
    are not told apart."""
    rows: Literal["turns", "dialogues"] = "turns"
    """Whether a row is a place in a dialogue (with one turn or several) or a whole dialogue."""
    dialogue: Names = ()
    """The column that names the dialogue; without one a file (turns) or a row (dialogues) is one."""
    turn: Names = ()
    """The column that names the place in the dialogue; without one rows count in their order."""
    texts: tuple[TextColumns, ...] = ()
    """The turns of a row, in order."""
    context: dict[str, Names] = Field(default_factory=dict)
    """What else a row says of its dialogue: a name of ours, and the column. Of an imported dialogue
    ``situation`` is what everybody there knows, ``tag`` the tag of its scenario, and ``language`` the
    code of the language that is spoken."""
    optional_context: dict[str, Names] = Field(default_factory=dict)
    """The same, of columns whose absence is not odd."""
    people: dict[Identifier, Names] = Field(default_factory=dict)
    """By role the column that says who this is, those included who only listen."""
    standing: StandingRule | None = None
    """Who of two people stands above the other, under a name of its own beside ``context``."""
    goal: GoalSource | None = None
    """Where the label is that the scheme assigns to a whole dialogue."""
    notes: Names = ()
    """A column of remarks about the item."""
    annotator: AnnotatorSource = AnnotatorSource()
    answers: dict[
        Identifier, AnswerColumns | Annotated[tuple[AnswerColumns, ...], Field(min_length=1)]
    ] = Field(default_factory=dict)
    """By dimension where its answers are; of several places the first that a file has."""
    long: LongAnswers | None = None
    gold: dict[Identifier, AnswerColumns] = Field(default_factory=dict)
    """By dimension the column of the label that the authors settled on."""
    question: QuestionColumns | None = None
    """The question with options that rows put, where they put one."""
    seconds: AnswerColumns | None = None
    """How many seconds an annotator looked at the item."""

    @property
    def texts_of_rows(self) -> tuple[str, ...]:
        """The roles of the turns of a row that are the same in every row."""
        return tuple(text.role for text in self.texts)

    def places(self, dimension: str) -> tuple[AnswerColumns, ...]:
        """Return where the answers on a dimension may be, in the order to look."""
        found = self.answers[dimension]
        return found if isinstance(found, tuple) else (found,)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.answers and self.long is None:
            raise ValueError("answers: nothing says where the answers are")
        if self.long is not None and self.rows == "turns" and not self.turn:
            raise ValueError("long: answers with a row each need the column of the turn")
        if self.rows == "dialogues" and self.turn:
            raise ValueError("turn: a row that is a whole dialogue has no place in one")
        named = [
            (name, place.turn) for name in self.answers for place in self.places(name) if place.turn
        ]
        for name, role in named:
            if role not in self.texts_of_rows:
                raise ValueError(f"answers: {name}: turn: no text of a row is by {role!r}")
        if self.question is not None and self.question.of not in self.answers:
            raise ValueError(f"question: of: nothing says where {self.question.of!r} is answered")
        if self.standing is not None:
            for role in self.standing.of:
                if role not in self.people:
                    raise ValueError(f"standing: of: {role!r} is none of people")
            if self.standing.name in {*self.context, *self.optional_context, *self.people}:
                raise ValueError(f"standing: name: {self.standing.name!r} is called so already")
        if any(place.columns for place in self.gold.values()):
            raise ValueError("gold: the label that was settled on is in one column")
        return self


def map_names() -> list[str]:
    """Return the names of the maps that ship, sorted."""
    return sorted(path.stem for path in _SHIPPED.glob("*.yaml"))


def load_map(name_or_path: str) -> TableMap:
    """Load a map by its shipped name, or from a path that ends in ``.yaml`` or ``.yml``.

    Raises:
        UsageError: no map has this name.
        InputError: the file is not a map.
    """
    path = Path(name_or_path)
    if name_or_path in map_names():
        path = _SHIPPED / f"{name_or_path}.yaml"
    elif path.suffix not in (".yaml", ".yml") and len(path.parts) < 2:
        raise UsageError(
            f"unknown map {name_or_path!r}",
            suggestion(name_or_path, map_names(), listing="maps")
            + "; a map of your own is given by its path, e.g. ./my_map.yaml",
        )
    return validate_model(TableMap, read_yaml(path))
