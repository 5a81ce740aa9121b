"""A table of four remarks that three people labelled, in the columns of the map ``cei``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def written_table(folder: Path) -> Path:
    path = folder / "data_sarcasm-irony.csv"
    path.write_text(f"{HEADER}\n{ROWS}", encoding="utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
