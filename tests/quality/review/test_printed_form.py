"""The form to print: every dialogue, in fonts that have its letters."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.store.reviews import ReviewStore
from scenarios.errors import UsageError
from tests.quality.review.open_study import Room


def test_the_form_to_print_is_a_pdf_with_every_dialogue(run: Path) -> None:
    pdf = pytest.importorskip("quality.review.export_pdf", exc_type=ImportError)
    with ReviewStore.open(run) as store:
        room = Room(run, store, "review")
        once = pdf.write_pdf(room.scheme, room.study, room.dialogues())
        again = pdf.write_pdf(room.scheme, room.study, room.dialogues())
    assert once.startswith(b"%PDF-")
    assert once.count(b"/Type /Page\n") >= 11
    assert once == again


def test_the_form_to_print_chooses_fonts_and_refuses_scripts_it_has_none_for(run: Path) -> None:
    pdf = pytest.importorskip("quality.review.export_pdf", exc_type=ImportError)

    def form(title: str) -> bytes:
        with ReviewStore.open(run) as store:
            room = Room(run, store, "review")
            scheme = room.scheme.model_copy(update={"title": title})
            made: bytes = pdf.write_pdf(scheme, room.study, [])
            return made

    assert b"HeiseiMin-W3" in form("\u904e\u3061\u306e\u6271\u3044")
    assert b"HYSMyeongJo-Medium" in form("\uc2e4\uc218")
    assert b"STSong-Light" in form("\u8fc7\u9519")
    assert form("M\u00fc\u00dfiggang \u2013 \u201eja\u201c")
    for title in ("\u062e\u0637\u0623", "\u043e\u0448\u0438\u0431\u043a\u0430"):
        with pytest.raises(UsageError, match=r"no font for (Arabic|Cyrillic) letters"):
            form(title)
