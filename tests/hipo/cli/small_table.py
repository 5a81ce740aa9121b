"""A table of four remarks that three people labelled, in the columns of the map ``cei``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.hipo.cli.conftest import Hipo, Result

HEADER = (
    "id,sd_listener_role,sd_situation,sd_speaker_role,sd_utterance,"
    "sl_plutchik_primary_Ada,sl_plutchik_primary_Bo,sl_plutchik_primary_Cy,gold_standard,"
    "sl_v_Ada,sl_v_Bo,sl_v_Cy,Notes"
)
ROWS = """\
1,host,A dinner goes wrong.,guest,"Well, lovely.",anger,anger,anger,anger,unpleasant,unpleasant,very unpleasant,
2,boss,The printer is out again.,clerk,What a surprise.,sadness,anger,sadness,sadness,unpleasant,neutral,unpleasant,
3,sister,A parcel is late.,brother,It will come.,joy,trust,fear,trust,pleasant,pleasant,unpleasant,the expert chose
4,coach,A race is lost.,runner,I had fun.,joy,joy,bliss,joy,pleasant,very pleasant,pleasant,
"""


TALK = """\
title: Talk
id: talk
scheme: cei
dialogue: talk
turn: n
annotator: {name: me}
texts: [{column: said, role_column: by}]
answers: {emotion: {column: felt, blank: ['']}}
"""


def written_table(folder: Path) -> Path:
    path = folder / "data_sarcasm-irony.csv"
    path.write_text(f"{HEADER}\n{ROWS}", encoding="utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def imported_talk(hipo: Hipo, folder: Path, speakers: list[str]) -> Result:
    rows = "".join(f"t,{n},{who},Line {n}.,joy\n" for n, who in enumerate(speakers))
    (folder / "talk.csv").write_text(f"talk,n,by,said,felt\n{rows}", "utf-8")
    (folder / "map.yaml").write_text(TALK, "utf-8")
    return hipo("import", "talk.csv", "--map", "./map.yaml", "-o", "run")


def as_json(hipo: Hipo, *words: str | Path) -> dict[str, Any]:
    result = hipo(*map(str, words), "--json", "-")
    assert result.code == 0, result.err
    found: dict[str, Any] = json.loads(result.out)
    return found
