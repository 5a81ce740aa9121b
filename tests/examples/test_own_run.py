"""The example of a run with a strategy, a gate and a scenario of one's own."""

from __future__ import annotations

import re
from pathlib import Path

from hipo import open_run
from tests.scripts import run_script

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "own_run.py"


def test_twelve_lines_make_verify_and_export_a_run_with_extensions_of_ones_own(
    tmp_path: Path,
) -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 12
    out = run_script(EXAMPLE, tmp_path)
    told = re.fullmatch(r"24 verified, (\d+) promises, rows: {'train': \d+, 'test': \d+}\n", out)
    assert told is not None, out
    assert int(told[1]) > 0
    run = open_run(tmp_path / "runs" / "own")
    strategies = {state.arm.strategy: state.generated for state in run.state().arms}
    assert strategies == {"brief": 12, "direct": 12}
    assert {dialogue.case.scenario for dialogue in run.dialogues()} == {"broken_mirror"}
    brief = next(d for d in run.dialogues() if any(t.trace for t in d.answers()))
    assert {len(t.trace.attempts) for t in brief.answers() if t.trace} == {4}
    assert (tmp_path / "sets" / "own" / "manifest.json").is_file()
