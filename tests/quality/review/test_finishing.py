"""What is read when somebody has closed their answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pipeline.store import review_sheets
from quality.review import items
from tests.quality.review.serving import served
from tests.quality.review.visitor import Visitor, answer_item, csrf_of


def is_in_the_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def test_the_last_page_reads_its_persons_answers_alone_and_beside_the_event_loop(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, compared = [], []
    sheet, scores = review_sheets._sheet, items.scores

    def counted(*args: Any) -> Any:
        found = sheet(*args)
        read.append(found.annotator)
        return found

    def watched(*args: Any) -> Any:
        compared.append(is_in_the_event_loop())
        return scores(*args)

    with served(run, mode="quiz", everything=True, per_item=2) as site:
        ada, bea = Visitor(site.url), Visitor(site.url)
        first = ada.come_in(site.link(), "Ada")
        answer_item(ada, first)
        answer_item(bea, bea.come_in(site.link(), "Bea"))
        _, page = ada.get("/finish")
        ada.post("/finish", csrf_of(page.text))
        monkeypatch.setattr(review_sheets, "_sheet", counted)
        monkeypatch.setattr(items, "scores", watched)
        _, page = ada.get("/finish")
    assert "agree with the gold" in page.text
    assert len(read) == 1
    assert compared == [False]
