"""The family ``cross_examination`` from generation to the report, offline."""

from __future__ import annotations

from pathlib import Path

from tests.hipo.cli.conftest import Hipo


def test_trials_are_played_heard_by_a_juror_and_counted(hipo: Hipo, tmp_path: Path) -> None:
    generate = ("generate", "--scheme", "cobra", "--model", "offline/rules", "-n", "2")
    names = "warehouse_fire,hail_direct"
    assert hipo(*generate, "--scenarios", names, "-o", "trials", "-q").code == 0
    heard = hipo("verify", "trials", "--juror", "offline/judge", "-q")
    assert heard.code == 0, heard.err
    done = hipo("metrics", "strategic", "trials", "--json", "-", "--plots", "pictures")
    assert done.code == 0, done.err
    found = done.data
    annotators = {row["annotator"] for row in found["answers"]}
    assert "juror:offline/judge" in annotators
    (speaker,) = annotators - {"juror:offline/judge"}
    assert speaker.startswith("declared:")
    assert {(p["first"], p["second"]) for row in found["against"] for p in row["pairs"]} == {
        (speaker, "juror:offline/judge")
    }
    means = sorted(
        (one["pat"]["mean"], one["answers"])
        for one in found["distributions"]
        if one["annotator"] == speaker
    )
    assert [answers for _, answers in means] == [13, 13]
    assert means[0][0] < 0.05 < 0.3 < means[1][0]  # the control costs its witness nothing
    assert len(list((tmp_path / "pictures").glob("*.svg"))) == 13
    assert hipo("report", "trials", "--no-embeddings").code == 0
    assert "Strategic answers" in (tmp_path / "trials" / "report.html").read_text()
