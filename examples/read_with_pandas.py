"""Read a run with pandas: what became of each dialogue, and how often judges confirm each label.

python examples/read_with_pandas.py runs/example
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd

DIALOGUES = """
    select c.id as case_id, c.scenario, c.goal, c.turns, json_extract(a.description, '$.strategy') as strategy,
        coalesce(v.verdict, 'undecided') as verdict
    from dialogues d join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq
        left join newest_decisions v on v.dialogue = d.seq
    where d.status = 'generated'"""
JUDGED = "select kind, who, dimension, carried from labels where carried is not null and newest"


def main(run: Path) -> None:
    if not (run / "run.sqlite").is_file():
        found = "a data set" if (run / "manifest.json").exists() else "no run.sqlite in it"
        print(
            f"error: {run}: found {found}, expected the folder of a run\n"
            "  make one: hipo generate -o RUN",
            file=sys.stderr,
        )
        sys.exit(2)
    with closing(sqlite3.connect(f"file:{run}/run.sqlite?mode=ro", uri=True)) as connection:
        dialogues = pd.read_sql_query(DIALOGUES, connection)
        judged = pd.read_sql_query(JUDGED, connection)
    print(pd.crosstab([dialogues["strategy"], dialogues["goal"]], dialogues["verdict"]))
    print(judged.groupby(["kind", "who", "dimension"])["carried"].agg(["mean", "count"]).round(2))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python examples/read_with_pandas.py RUN", file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]))
