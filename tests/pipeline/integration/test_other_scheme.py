"""Another scheme is another file: the same pipeline labels with it, no code changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows

SCHEME = """\
id: stance
title: Politeness and stance
assigned: stance
dimensions:
  - id: stance
    level: dialogue
    question: Does the speaker go along or push back?
    labels:
      - {id: yielding, definition: The speaker goes along with the other.}
      - {id: resisting, definition: The speaker pushes back.}
  - id: face
    level: utterance
    question: Whose face does the utterance look after?
    labels:
      - {id: own, definition: "The speaker's own."}
      - {id: theirs, definition: "The hearer's."}
      - {id: nobody, definition: Nobody's in particular.}
  - id: politeness
    level: utterance
    measurement: ordinal
    question: How polite is the utterance?
    labels:
      - {id: rude, definition: It would offend.}
      - {id: plain, definition: Neither rude nor polite.}
      - {id: polite, definition: It takes trouble to be kind.}
"""

SCENARIO = """\
id: late_library_book
scheme: stance
title: A book long overdue
category: everyday
summary: A librarian asks a reader about a book that is three months late.
background: >-
  The town library lends books for four weeks. A novel that others are waiting for has been out for
  three months. The reader who has it has come in to borrow something else.
roles:
  initiator: {name: librarian, description: Runs the lending service., aim: get the novel back}
  responder: {name: reader, description: Comes in every week., aim: keep the library card}
opening:
  question: The novel you took out in spring is still missing. Where is it?
  statements:
    any: {text: I know the one you mean. I have thought of it often.}
facts:
  - id: lent_on
    about: the whereabouts of the novel
    text: The reader gave the novel to a colleague, who has moved abroad with it.
    bearing: explains
  - id: bathtub
    about: the state of the novel
    text: The novel fell into the bathtub and has been drying on a radiator since May.
    bearing: embarrasses
  - id: unread
    about: how far the reader has got
    text: The reader has not opened the novel once and is too embarrassed to say so.
    bearing: embarrasses
outcome: {text: The library bought a second copy., as_of: "2026-01"}
sources: fictional
"""


@pytest.mark.parametrize("strategy", ["direct", "reflective", "consistency"])
def test_dialogues_carry_the_labels_of_a_scheme_that_is_only_a_file(
    tmp_path: Path, strategy: str
) -> None:
    (tmp_path / "stance.yaml").write_text(SCHEME)
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "late_library_book.yaml").write_text(SCENARIO)
    Hipo(tmp_path).here(
        "generate", "--openings", "by-goal", "--scheme", "stance.yaml", "--scenario-dir", "pack", "--scenarios",
        "late_library_book", "--model", "offline/rules", "--tactics", "balanced",
        "--strategy", strategy, "-o", "run",
    )  # fmt: skip
    run = tmp_path / "run"
    assert rows(run, "select count(*) from dialogues where status = 'generated'") == [(18,)]
    seen = rows(run, "select dimension, value from labels where kind = 'declared'")
    assert {dimension for dimension, _ in seen} >= {"face", "politeness"}
    values = {value for _, value in seen}
    assert values >= {"own", "theirs", "nobody", "rude", "plain", "polite"}
    assert values <= {
        "own", "theirs", "nobody", "rude", "plain", "polite", "yielding", "resisting",
    }  # fmt: skip
