"""Labels that some roles alone can have: right answers know who speaks, and wrong ones are not imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo

SCHEME = """\
id: haggling
version: 1
title: Acts and aims
description: What a turn does, and what for.
source: our manual
dimensions:
  - id: act
    level: utterance
    question: What does the turn do?
    of: [seller, buyer]
    labels:
      - {id: Ask, definition: It asks., example: Since when?}
      - {id: Praise, definition: It praises., example: Fine., for: {role: [seller]}}
      - {id: Tell, definition: It tells., example: It is old.}
  - id: aim
    level: utterance
    question: What for?
    of: [seller, buyer]
    when: {act: [Ask, Praise, Tell]}
    labels:
      - {id: sell, definition: To sell., example: Buy., for: {role: [seller], act: [Praise, Tell]}}
      - {id: know, definition: To know., example: How old?, for: {act: [Ask]}}
      - {id: lower, definition: To pay less., example: Too dear., for: {role: [buyer], act: [Ask]}}
"""
SAID = (
    ("seller", "A fine car.", {"act": "Praise", "aim": "sell"}),
    ("buyer", "I had one like it.", {"act": "Tell"}),
    ("seller", "Did you?", {"act": "Ask", "aim": "know"}),
)


def _imported(hipo: Hipo, *said: tuple[str, str, dict[str, str]]) -> str:
    Path("haggling.yaml").write_text(SCHEME)
    turns = [{"role": role, "content": text, "labels": given} for role, text, given in said]
    Path("talk.jsonl").write_text(json.dumps({"messages": turns}))
    told = hipo("import", "talk.jsonl", "--scheme", "haggling.yaml", "-o", "talk")
    return told.err if told.code == 2 else ""


def _targets(hipo: Hipo) -> list[dict[str, str | None] | None]:
    asked = ("--to", "benchmark", "--aspect", "utterance", "--splits", "0,0,100", "-o", "set")
    assert hipo("export", "talk", "--any", *asked).code == 0
    rows = map(json.loads, Path("set/jsonl/test.jsonl").read_text().splitlines())
    return [None if row["target"] is None else json.loads(row["target"]) for row in rows]


def test_what_nobody_in_a_role_is_asked_beside_a_label_is_null_in_the_right_answer(
    hipo: Hipo,
) -> None:
    assert not _imported(hipo, *SAID)
    assert _targets(hipo) == [
        {"act": "Praise", "aim": "sell"},
        {"act": "Tell", "aim": None},  # who sells tells to sell; who buys does not
        {"act": "Ask", "aim": "know"},
    ]


@pytest.mark.parametrize(
    ("role", "label", "found"),
    [
        ("Buyer", {"act": "Praise"}, "turns[1].labels.act: found 'Praise' of the Buyer"),
        ("Buyer", {"act": "Ask", "aim": "sell"}, "turns[1].labels.aim: found 'sell' of the Buyer"),
        ("Clerk", {"act": "Ask"}, "turns[1].labels.act: found 'Ask' of the Clerk"),
    ],
)
def test_a_label_that_its_role_cannot_have_is_refused(
    hipo: Hipo, role: str, label: dict[str, str], found: str
) -> None:
    told = _imported(hipo, SAID[0], (role, "Fine indeed.", label))
    assert found in told
    assert (
        f"expected a label that the scheme haggling@1 has for words of the role {role.lower()}"
        in told
    )
    assert not Path("talk").exists()


def test_a_gold_label_that_its_role_cannot_have_is_no_right_answer(hipo: Hipo) -> None:
    Path("haggling.yaml").write_text(SCHEME)
    Path("map.yaml").write_text(
        "id: haggling\nscheme: haggling.yaml\nrows: turns\ndialogue: talk\nturn: n\n"
        "texts: [{role_column: who, column: said}]\nannotator: {name: me}\n"
        "answers: {act: {column: act}}\ngold: {act: {column: gold}}\n"
    )
    Path("talk.csv").write_text(
        "talk,n,who,said,act,gold\nT,1,seller,A fine car.,Praise,Praise\n"
        "T,2,buyer,I had one.,Tell,Praise\n"
    )
    assert hipo("import", "talk.csv", "--map", "map.yaml", "-o", "talk").code == 0
    assert _targets(hipo) == [{"act": "Praise"}, None]
