"""Conversations of one's own: a scheme, a map, and a table in two languages that three people labelled."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path

SCHEME = """\
id: chats
version: 1
title: Acts in a chat
description: What every turn of a chat does, and how polite it is.
source: our manual
dimensions:
  - id: act
    level: utterance
    measurement: nominal
    question: What does the turn do?
    of: [client, helper]
    labels:
      - {id: Question, definition: It asks., example: Since when?, aliases: [Frage]}
      - {id: Advice, definition: It says what to do., example: Try to rest., aliases: [Rat]}
      - {id: Other, definition: Neither of these., example: Hello.}
  - id: tone
    level: utterance
    measurement: ordinal
    question: How polite is the turn?
    of: [client, helper]
    labels:
      - {id: rude, definition: It attacks., example: Shut up.}
      - {id: polite, definition: It is kind., example: Would you mind?}
  - id: feelings
    level: utterance
    measurement: multi
    question: Which feelings does the turn show?
    of: [client, helper]
    labels:
      - {id: joy, definition: The speaker is glad.}
      - {id: worry, definition: The speaker is afraid.}
"""
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "annotations.md").read_text("utf-8")
[MAP] = re.findall(r"```yaml\n# map.yaml\n(.*?)```", PAGE, re.DOTALL)
"""The map that the page on annotations has."""
HEADER = (
    "talk;lang;turn;speaker;text;act_Ada;act_Bo;act_Cy;tone_Ada;tone_Bo;tone_Cy;"
    "feelings_Ada;feelings_Bo;feelings_Cy;gold_act"
)
TASK = """\
id: acts
title: Acts and tone
about: Act, tone and feelings of one turn.
subject: utterance
asks: [act, tone, feelings]
sees: {history: before}
"""


def written_talks(folder: Path, talks: int = 12) -> Path:
    """Write scheme, map and table; return the table.

    Talks have two turns. The first half has a gold label of acts, of the first turn alone; on the second
    turn of every third talk all three people say another act.
    """
    (folder / "chats.yaml").write_text(SCHEME, encoding="utf-8")
    (folder / "map.yaml").write_text(MAP, encoding="utf-8")
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    lines, words = [HEADER], (f"wort{number}" for number in count())
    for number in range(talks):
        language = "de" if number % 3 == 0 else "en"
        gold = "Question" if number < talks // 2 else ""
        for turn, speaker in enumerate(("client", "helper")):
            said = " ".join(next(words) for _ in range(9))
            acts = ("Frage", "Question", "Question") if turn == 0 else ("Rat", "Advice", "Other")
            if turn == 1 and number % 3 == 0:
                acts = ("Question", "Advice", "Other")
            tones = ("polite", "polite", "rude" if number % 2 else "polite")
            cells = [f"T{number:02}", language, str(turn + 1), speaker, f"{said}.", *acts, *tones]
            feelings = ("joy, worry", "worry,joy", "joy") if turn == 0 else ("none", "none", "")
            lines.append(";".join([*cells, *feelings, gold if turn == 0 else ""]))
    table = folder / "talks.csv"
    table.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")
    return table


def written_lines(folder: Path, talks: int = 12) -> Path:
    """Write the scheme and the same talks without labels as JSON lines; return these."""
    (folder / "chats.yaml").write_text(SCHEME, encoding="utf-8")
    rows = []
    for number in range(talks):
        said = [f"{who} {number} says {turn}." for turn, who in enumerate(("client", "helper"))]
        rows.append(
            {
                "id": f"T{number:02}",
                "language": "de" if number % 3 == 0 else "en",
                "messages": [
                    {"role": "client", "content": said[0], "labels": {"act": "Frage"}},
                    {"role": "helper", "content": said[1], "labels": {"act": "Rat"}},
                ],
            }
        )
    path = folder / "talks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_in(folder: str, split: str) -> list[dict[str, object]]:
    """Return the rows of a split of an exported set."""
    path = Path(folder) / "jsonl" / f"{split}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
