"""Quality control of other people's tables by the command."""

from __future__ import annotations

from pathlib import Path

from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.small_table import as_json


def test_thresholds_of_quality_control_are_those_that_are_wanted(
    hipo: Hipo, tmp_path: Path
) -> None:
    """The modified z-score of 31 s is 2.61, and 1.84 of its logarithm."""
    path = tmp_path / "times.csv"
    times = (10, 12, 14, 17, 20, 31)
    rows = (f"{i},Ada,{'xy'[i % 2]},{seconds}\n" for i, seconds in enumerate(times))
    path.write_text("item,annotator,label,seconds\n" + "".join(rows))

    def found(*thresholds: str) -> dict[str, int]:
        words = [word for threshold in thresholds for word in ("--threshold", threshold)]
        counts: dict[str, int] = as_json(hipo, "qc", path, *words)["found"]["level 2"]
        return counts

    assert found() == found("timing_z=2.5") == {}
    assert found("timing_scale=seconds", "timing_z=2.5") == {"timing_outlier": 1}
    assert found("timing_scale=seconds", "timing_z=2.7") == {}
    assert found("fastest_seconds=13", "slowest_seconds=30") == {"too_fast": 2, "too_slow": 1}
    assert found("straight_share=0.4", "straight_minimum=6") == {"straight_lining": 1}
    changed = ("--threshold", "timing_z=2.5")
    assert as_json(hipo, "qc", path, *changed)["settings"]["timing_z"] == 2.5
    assert "thresholds: timing_z 2.5\n" in hipo("qc", str(path), *changed).out
    assert "thresholds:" not in hipo("qc", str(path)).out


def test_a_list_of_findings_that_ends_early_says_how_many_everybody_has(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "times.csv"
    rows = (f"{i},{who},x,0.{i}1\n" for i in range(24) for who in ("Ada", "Zoe")[i % 3 == 0 :])
    path.write_text("item,annotator,label,seconds\n" + "".join(rows))
    out = hipo("qc", str(path)).out
    assert "  Zoe: 24 too_fast" in out
    assert "  Ada: 16 too_fast" in out
    assert out.index("Zoe: 24") < out.index("Ada: 16")


def test_of_a_table_in_which_all_say_the_same_no_label_is_told_that_nobody_wrote(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "alike.csv"
    path.write_text(
        "item,annotator,tone\n" + "".join(f"{i},{w},warm\n" for i in "xy" for w in "AB")
    )
    for command in ("agreement", "qc"):
        out = hipo(command, str(path)).out
        assert "warm" in out
        assert "any other" not in out
    path.write_text(path.read_text().replace("y,B,warm", "y,B,(any other)"))
    assert "(any other)" in hipo("agreement", str(path)).out, "somebody wrote it"
