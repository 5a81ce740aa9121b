"""The page on keeping runs: its table has every file, and a copy is the run it was made of."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from hipo import audit, export, generate, load_recipe, open_run, report
from hipo.app.report.report import REPORT
from outputs.dataset.told_audit import AUDIT
from outputs.export.recorded import EXPORTS
from pipeline.store.locks import LOCK
from pipeline.store.people_database import PEOPLE
from pipeline.store.sqlite import DATABASE
from quality.viewer.word_index import FILE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "keeping.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## What is stored")[2].partition("\n## ")[0]


def test_the_table_has_every_file_of_a_run(run: Path, tmp_path: Path) -> None:
    listed = set(re.findall(r"`([\w.-]+)`(?=[^|]*\|[^|]*\|[^|]*\|$)", TABLE, re.MULTILINE))
    assert {DATABASE, PEOPLE, LOCK, EXPORTS, AUDIT, REPORT, FILE} < listed
    copy = Path(shutil.copytree(run, tmp_path / "run"))
    export(open_run(copy), "turns", tmp_path / "turns")
    audit(open_run(copy))
    report(open_run(copy), embeddings=False)
    made = {path.name for path in copy.iterdir() if path.is_file()}
    assert {DATABASE, EXPORTS, AUDIT, REPORT} <= made <= listed


def test_a_copy_has_the_same_rows_and_is_gone_on_with(run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "elsewhere" / "of another name"))
    (copy / PEOPLE).unlink(missing_ok=True)
    rows = [
        (export(open_run(one), "turns", tmp_path / str(n)).folder / "jsonl" / "train.jsonl")
        for n, one in enumerate((run, copy))
    ]
    assert rows[0].read_bytes() == rows[1].read_bytes()
    assert '"run":"trial"' in rows[1].read_text(encoding="utf-8")
    recipe = load_recipe(run / "run.yaml")
    assert generate(recipe, output=copy).calls == 0
