"""A form to print: every dialogue with its questions, labels explained once at the front."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import cast
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
)

from quality.review.forms import FormField
from quality.review.outgoing import FALSE_CLAIM, Outgoing, dimensions_of
from scenarios.errors import UsageError
from scenarios.plural import enumerated
from scenarios.reviews import ReviewStudy
from scenarios.schemes.model import Dimension, Scheme

LATIN = "Vera"
CHINESE, JAPANESE, KOREAN = "STSong-Light", "HeiseiMin-W3", "HYSMyeongJo-Medium"
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_FIRST_ASIAN = 0x2E80
_BOX = "[&nbsp;&nbsp;]"
_MARK = colors.HexColor("#fff4d6")


def write_pdf(scheme: Scheme, study: ReviewStudy, dialogues: Iterable[Outgoing]) -> bytes:
    """Return a form for pen and paper; answers go in again as CSV.

    Chinese, Japanese and Korean text uses a font of the reader's own.

    Raises:
        UsageError: there is a script that neither these fonts nor the one of Latin letters hold.
    """
    styles = _styles()
    story: list[Flowable] = [*_front(scheme, study, styles)]
    for number, dialogue in enumerate(dialogues, 1):
        story.append(PageBreak())
        story += _dialogue(number, dialogue, study, styles)
    out = io.BytesIO()
    document = SimpleDocTemplate(
        out, pagesize=A4, title=f"{scheme.title}: {study.id}", author="hipo",
        leftMargin=18 * mm, rightMargin=18 * mm, topMargin=16 * mm, bottomMargin=16 * mm,
        invariant=1,
    )  # fmt: skip
    document.build(story)
    return out.getvalue()


def _styles() -> dict[str, ParagraphStyle]:
    for font in (LATIN, f"{LATIN}Bd", f"{LATIN}It"):
        pdfmetrics.registerFont(TTFont(font, f"{font}.ttf"))
    pdfmetrics.registerFontFamily(LATIN, normal=LATIN, bold=f"{LATIN}Bd", italic=f"{LATIN}It")
    for font in (CHINESE, JAPANESE, KOREAN):
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    body = ParagraphStyle("body", fontName=LATIN, fontSize=9, leading=12.5, spaceAfter=3)
    return {
        "body": body,
        "h1": ParagraphStyle("h1", body, fontName=f"{LATIN}Bd", fontSize=14, leading=18),
        "h2": ParagraphStyle("h2", body, fontName=f"{LATIN}Bd", fontSize=10, spaceBefore=6),
        "fact": ParagraphStyle(
            "fact",
            body,
            borderColor=colors.gray,
            borderWidth=0.7,
            borderPadding=4,
            spaceBefore=6,
            spaceAfter=8,
        ),
        "target": ParagraphStyle("target", body, backColor=_MARK, borderPadding=3),
    }


def _front(
    scheme: Scheme, study: ReviewStudy, styles: dict[str, ParagraphStyle]
) -> Iterator[Flowable]:
    yield Paragraph(_text(scheme.title), styles["h1"])
    yield Paragraph("Code: ______________   Date: ______________", styles["body"])
    yield Paragraph(_text(scheme.description), styles["body"])
    for dimension in dimensions_of(scheme, study):
        parts: list[Flowable] = [
            Paragraph(_text(dimension.title or dimension.id), styles["h2"]),
            Paragraph(_text(dimension.question), styles["body"]),
        ]
        parts += [Paragraph(line, styles["body"]) for line in _definitions(dimension, study)]
        yield KeepTogether(parts)


def _definitions(dimension: Dimension, study: ReviewStudy) -> list[str]:
    lines = []
    for label in dimension.labels:
        if label.id in study.hidden.get(dimension.id, ()):
            continue
        example = f" <i>{_text(label.example)}</i>" if label.example else ""
        lines.append(f"<b>{_text(label.id)}</b>: {_text(label.definition)}{example}")
    return lines + [
        f"{number}. {_text(step.when)}: <b>{_text(step.label)}</b>"
        for number, step in enumerate(dimension.steps, start=1)
    ]


def _dialogue(
    number: int, dialogue: Outgoing, study: ReviewStudy, styles: dict[str, ParagraphStyle]
) -> Iterator[Flowable]:
    exhibit = dialogue.exhibit
    yield Paragraph(f"{number}. {_text(exhibit.title)}", styles["h1"])
    yield Paragraph(f"Item {_text(dialogue.item.id)}", styles["body"])
    if exhibit.background:
        yield Paragraph(_text(exhibit.background), styles["body"])
    for name, description in exhibit.roles:
        yield Paragraph(f"<b>{_text(name)}:</b> {_text(description)}", styles["body"])
    for fact in exhibit.facts if study.shows_fact else ():
        who = enumerated([f"the {name}" for name in fact.knowers])
        verb = "knows" if len(fact.knowers) == 1 else "know"
        false = "".join(f"<br/>{FALSE_CLAIM}: {_text(claim)}" for claim in fact.false_claims)
        said = f"<b>Only {_text(who)} {verb}:</b> {_text(fact.text)}{false}"
        yield Paragraph(said, styles["fact"])
    for utterance in exhibit.utterances:
        mark = f" ({utterance.turn}, to label)" if utterance.is_target else ""
        line = f"<b>{_text(utterance.speaker)}{mark}:</b> {_text(utterance.text)}"
        yield Paragraph(line, styles["target" if utterance.is_target else "body"])
    for section in exhibit.sections:
        title = "The dialogue as a whole" if section.turn is None else f"Turn {section.turn}"
        yield KeepTogether(
            [
                Paragraph(title, styles["h2"]),
                *(Paragraph(_question(field), styles["body"]) for field in section.fields),
            ]
        )
    yield Spacer(1, 4 * mm)
    yield Paragraph("Note: " + "_" * 80, styles["body"])


def _question(field: FormField) -> str:
    title = f"<b>{_text(field.title)}</b>"
    if field.only_where:
        title += f" <i>({_text(field.only_where)})</i>"
    if field.kind == "number":
        low, high = field.dimension.range or (0.0, 0.0)
        return f"{title} ({low:g} to {high:g}): ________"
    return f"{title} " + " ".join(
        f"&nbsp; {_BOX} {_text(choice.title)}" for choice in field.choices
    )


def _text(text: str) -> str:
    """Escape a text, and give what the Latin font lacks to another one."""
    han = JAPANESE if _KANA.search(text) else CHINESE
    parts: list[str] = []
    for font, run in groupby(text, lambda char: _font(char, han)):
        escaped = escape("".join(run)).replace("\n", "<br/>")
        parts.append(escaped if font == LATIN else f'<font name="{font}">{escaped}</font>')
    return "".join(parts)


def _font(char: str, han: str) -> str:
    """Return the font for a sign; ``han`` is the one for those that several languages share."""
    if _HANGUL.match(char):
        return KOREAN
    if ord(char) >= _FIRST_ASIAN:
        return han
    latin = cast("TTFont", pdfmetrics.getFont(LATIN))
    if char.isalpha() and ord(char) not in latin.face.charToGlyph:
        script = unicodedata.name(char, "another script").split(" ")[0].capitalize()
        raise UsageError(
            f"the form to print has no font for {script} letters ({char})",
            "let people label on the page (hipo review serve) or in a spreadsheet (--to csv)",
        )
    return LATIN
