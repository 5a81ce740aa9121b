"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick] [--report FILE]``."""

from __future__ import annotations

import argparse
import importlib
import sys
from dataclasses import asdict
from pathlib import Path

import orjson

from benchmarks.machine import machine, results_page
from benchmarks.report import table

NAMES = (
    "startup",
    "prefix",
    "voting",
    "throughput",
    "scaling",
    "tokens",
    "workers",
    "rate_limits",
    "scale",
    "verification",
    "million",
    "export",
    "planted_defects",
    "reworded",
    "verified",
    "review_load",
    "viewer",
    "outages",
)
LONG = (
    "night",
    "soak",
    "fuzz",
    "real_model",
    "opening_probe",
    "swap",
    "audit_power",
    "train",
    "interval_coverage",
    "agreement_coverage",
    "probe",
    "local_model",
)
"""Many minutes each, or in need of a server: run only when they are named."""


def main() -> int:
    """Run what was named (everything by default); exit 1 when a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES + LONG)}")
    parser.add_argument("--quick", action="store_true", help="smaller and noisier")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument(
        "--report", type=Path, help="also write the table to this page, with machine and versions"
    )
    parser.add_argument("--minutes", type=float, help="how long to fuzz")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*NAMES, *LONG}
    if unknown:
        parser.error(
            f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(NAMES + LONG)}"
        )
    facts, rows = machine(), []
    for name in arguments.names or NAMES:
        print(f"running {name} ...", file=sys.stderr, flush=True)
        options = {"minutes": arguments.minutes} if name == "fuzz" else {}
        run = importlib.import_module(f"benchmarks.{name}").run
        rows += run(quick=arguments.quick, **options)
    print(table(rows))
    if arguments.json:
        arguments.json.write_bytes(
            orjson.dumps([asdict(row) | {"ok": row.ok} for row in rows], option=orjson.OPT_INDENT_2)
        )
    if arguments.report:
        page = results_page(rows, facts, quick=arguments.quick)
        arguments.report.write_text(page, encoding="utf-8")
    return 0 if all(row.ok for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
