"""Query an exported data set with DuckDB, straight from its Parquet files.

python examples/read_with_duckdb.py runs/example/sft
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb


def main(data_set: Path) -> None:
    if not any(data_set.glob("data/**/*.parquet")):
        found = "a run" if (data_set / "run.sqlite").exists() else "no Parquet files below data/"
        print(
            f"error: {data_set}: found {found}, expected a folder that hipo export wrote\n"
            "  export the run: hipo export RUN --to sft -o SET",
            file=sys.stderr,
        )
        sys.exit(2)
    files = str(data_set / "data" / "**" / "*.parquet")
    rows = duckdb.sql("select * from read_parquet($files)", params={"files": files})
    print(f"{len(rows)} rows with the columns {', '.join(rows.columns)}")
    print(
        duckdb.sql(
            "select scenario, goal, count(*) as n from rows group by all order by n desc, scenario, goal"
        )
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python examples/read_with_duckdb.py SET", file=sys.stderr)
        sys.exit(2)
    main(Path(sys.argv[1]))
