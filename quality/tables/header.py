"""What the columns of a plain table are, by the names that they commonly have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ITEM: Final = (
    "item", "item_id", "unit", "unit_id", "instance", "instance_id", "example_id", "sample_id",
    "text_id", "sentence_id", "utterance_id", "comment_id", "post_id", "document_id", "doc_id",
    "question_id", "task_id", "hit_id", "example", "sample", "document", "doc", "turn_id", "turn", "id",
)  # fmt: skip
ANNOTATOR: Final = (
    "annotator", "annotator_id", "annotator_name", "rater", "rater_id", "coder", "coder_id",
    "worker", "worker_id", "participant", "participant_id", "labeler", "labeller", "assessor",
    "judge", "judge_id", "user", "user_id", "who", "prolific_pid", "prolific_id",
)  # fmt: skip
DIMENSION: Final = (
    "dimension", "aspect", "attribute", "criterion", "variable", "metric", "scale",
)  # fmt: skip
VALUE: Final = (
    "value", "label", "answer", "annotation", "rating", "score", "response", "judgement",
    "judgment", "choice", "category", "class", "code", "tag",
)  # fmt: skip
DIALOGUE: Final = (
    "dialogue", "dialogue_id", "dialog", "dialog_id", "conversation", "conversation_id", "thread",
    "thread_id",
)  # fmt: skip
SECONDS: Final = (
    "seconds", "secs", "time_seconds", "duration_seconds", "elapsed_seconds", "time_spent",
    "duration", "elapsed", "lead_time", "work_time_in_seconds",
)  # fmt: skip
GOLD: Final = ("gold", "gold_label", "gold_standard", "true_label", "adjudicated", "consensus")
ASIDE: Final = (
    "text", "utterance", "sentence", "comment", "comments", "content", "context", "prompt",
    "note", "notes", "remark", "remarks", "rationale", "explanation", "timestamp", "time", "date",
    "created_at", "updated_at", "split", "source", "url", "file", "language", "batch", "index",
    "speaker", "role", "session", "trial", "trial_index", "trial_number", "rt", "reaction_time",
    "start_time", "end_time", "accept_time", "submit_time", "assignment_status", "hit_type_id",
)  # fmt: skip
"""Columns that say more about an item and are never answers."""
REVIEW: Final = ("item", "scenario", "category", "utterance", "annotator", "note", "lead_s")
"""Columns that stand together in the sheets of ``hipo review export --to csv`` alone."""
SHOWN_WORDS: Final = ("utterance", "whole dialogue")
"""Columns of such a sheet that tell which row is about what, whatever its id says."""
SHOWN: Final = ("the scene", "private fact", SHOWN_WORDS[1], "possible answers")
"""What somebody who fills in such a sheet has to see. No dimension can be called so: ids have no space."""
REVIEW_ASIDE: Final = (
    "scenario", "category", "issue", "issue_reason", "scenario_problem", "lead_s", *SHOWN,
)  # fmt: skip
"""Columns of such a sheet that are no labels; times of imported answers are not known."""
SEPARATOR: Final = " | "
"""Between several labels in one cell, of such a sheet and of tables that are exported."""
KNOWN: Final = (*ITEM, *ANNOTATOR, *DIMENSION, *VALUE, *DIALOGUE, *SECONDS, *GOLD)
"""Every name that is looked for."""
_BETWEEN: Final = re.compile(r"[\s_.\-]+")


def plain_name(column: str) -> str:
    """Return the name of a column without regard to case, spaces, ``_``, ``-`` and dots."""
    return _BETWEEN.sub("", column.casefold())


_ASIDE_NAMES: Final = frozenset(map(plain_name, ASIDE))
_UNNAMED: Final = re.compile(r"(column|unnamed:?)\d+")
"""What is called so has no name: the column of row numbers that data frames write."""
_NO_ANSWER: Final = re.compile(
    r"(?:^|[\s_.\-])(?i:ids?|pid|uuid|guid)$|[a-z](?:Id|ID)$"
    r"|^(?i:input)\.|[\s_.\-(](?i:ms|msec|millis|milliseconds)\)?$"
)
"""What numbers rows or names people, as in Label Studio's ``annotation_id``; what Mechanical Turk showed
(``Input.text``); and times in another unit than seconds."""


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a plain table, each with what it stands for; None where there is none."""

    item: str | None
    annotator: str | None
    dimension: str | None
    value: str | None
    dialogue: str | None
    seconds: str | None
    gold: str | None
    others: tuple[str, ...]
    """Columns of names that are not common: dimensions, annotators, or none of our business."""
    aside: tuple[str, ...]
    """Columns that are never answers."""
    is_review: bool = False
    """Whether it is a sheet of ``hipo review export``: a row for each utterance and one for the whole
    dialogue, so that cells are empty where nothing is asked."""


def read_header(columns: Sequence[str]) -> Header:
    """Say what the columns of a table stand for; of several that fit the commoner name counts."""
    spelt: dict[str, str] = {}
    for column in columns:
        spelt.setdefault(plain_name(column), column)

    is_review = all(plain_name(name) in spelt for name in REVIEW)
    own = {plain_name(name) for name in REVIEW_ASIDE} if is_review else set()

    def first(names: Sequence[str]) -> str | None:
        plain = (plain_name(name) for name in names)
        return next((spelt[name] for name in plain if name in spelt and name not in own), None)

    roles = {
        "item": first(ITEM), "annotator": first(ANNOTATOR), "dimension": first(DIMENSION),
        "value": first(VALUE), "dialogue": first(DIALOGUE), "seconds": first(SECONDS),
        "gold": first(GOLD),
    }  # fmt: skip
    left = [column for column in columns if column not in roles.values()]
    ids = {plain_name(name) for name in (*ITEM, *ANNOTATOR, *DIALOGUE, *GOLD)}
    aside = [
        column
        for column in left
        if plain_name(column) in _ASIDE_NAMES | ids | own
        or _UNNAMED.match(plain_name(column))
        or _NO_ANSWER.search(column)
    ]
    others = tuple(column for column in left if column not in aside)
    return Header(others=others, aside=tuple(aside), is_review=is_review, **roles)
