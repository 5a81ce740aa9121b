"""Run the benchmarks: ``python -m benchmarks [NAME ...] [--quick] [--report FILE]``."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import orjson

from benchmarks.machine import machine, results_page
from benchmarks.report import Row, broken_off, table

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
    "reading",
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
    "worker_kills",
    "ray_kills",
    "batch_kills",
    "fuzz",
    "real_model",
    "opening_probe",
    "swap",
    "audit_power",
    "train",
    "trainers",
    "interval_coverage",
    "agreement_coverage",
    "probe",
    "local_model",
    "peers",
)
"""Many minutes each, or in need of something installed: run only when they are named."""
SMALLER = frozenset(NAMES) - {"startup", "prefix", "throughput", "review_load", "outages"}
"""Minutes each in full: run with everything else, they have the size of ``--quick`` (their rows say
which), so that all of it takes some fifteen minutes on two quiet cores."""


def main() -> int:
    """Run what was named (everything by default); exit 1 when a goal is missed or one broke off."""
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
    seconds: dict[str, float] = {}
    for name in arguments.names or NAMES:
        options = {"quick": arguments.quick or (not arguments.names and name in SMALLER)}
        if name == "fuzz":
            options["minutes"] = arguments.minutes
        began = time.perf_counter()
        rows += measured(name, options)
        seconds[name] = time.perf_counter() - began
        # Written after each one, so that what was measured outlives the command.
        _write(arguments, rows, facts, seconds)
    print(table(rows))
    return 0 if all(row.ok for row in rows) else 1


def measured(name: str, options: Mapping[str, object]) -> list[Row]:
    """Run one benchmark; one that breaks off is told in a row, and the others go on."""
    print(f"running {name} ...", file=sys.stderr, flush=True)
    try:
        rows: list[Row] = importlib.import_module(f"benchmarks.{name}").run(**options)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever one of them raises
        traceback.print_exc()
        return [broken_off(name, error)]
    return rows


def _write(
    arguments: argparse.Namespace,
    rows: Sequence[Row],
    facts: Mapping[str, str],
    seconds: Mapping[str, float],
) -> None:
    """Write the files that were asked for."""
    if arguments.json:
        arguments.json.write_bytes(
            orjson.dumps([asdict(row) | {"ok": row.ok} for row in rows], option=orjson.OPT_INDENT_2)
        )
    if arguments.report:
        page = results_page(rows, facts, seconds, quick=arguments.quick, names=arguments.names)
        arguments.report.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
