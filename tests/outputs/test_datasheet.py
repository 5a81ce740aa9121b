"""The datasheet: every section, figures of the export, and no text that becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from outputs.dataset.datasheet import datasheet
from tests.outputs.sample_facts import BY_RULES, sample_facts

SECTIONS = [
    "Motivation", "Composition", "Collection process", "Preprocessing, cleaning, labelling", "Uses",
    "Distribution", "Maintenance",
]  # fmt: skip


@pytest.fixture
def facts(tmp_path):
    return sample_facts(tmp_path)


def test_every_section_is_there_in_order(facts):
    lines = datasheet(facts).splitlines()
    assert [line[3:] for line in lines if line.startswith("## ")] == SECTIONS


def test_it_counts_what_the_export_holds(facts):
    sheet = datasheet(facts)
    assert "8 dialogues, 3 scenarios" in " ".join(sheet.split())
    assert "| deception | goal | 6 | 75.0% |" in sheet
    assert "| label | train | 5 |" in sheet
    assert "| openai/gpt-4o | initiator, responder | direct | 6 |" in sheet


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"licence": "cc-by-4.0"}, "cc-by-4.0, chosen by the publisher"),
        ({"generators": BY_RULES}, "demonstration baseline and no training data"),
        ({"real_names": True}, "names of the public record occur"),
        ({"includes_deception": True}, "make deceptive utterances the target"),
        ({"verdict": "any"}, "without regard to their verdict"),
        ({"judges": ()}, "No judge read the dialogues"),
        ({"generators": ()}, "No provider's terms are known to apply"),
        ({"openings": {"shared": 7, "": 1}}, "Imported dialogues are among them"),
    ],
)
def test_what_matters_is_said_where_it_holds_and_only_there(facts, change, words):
    assert words in " ".join(datasheet(replace(facts, **change)).split())
    assert words not in " ".join(datasheet(facts).split())


def test_text_from_data_stays_text(facts):
    sheet = datasheet(replace(facts, name="<b>x</b>\n# y", by_category={"[a](http://b) | c": 1}))
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(sheet)
    assert "<b>" not in page
    assert "<a " not in page
    assert "<td>[a](http://b) | c</td>" in page
    assert page.count("<h1>") == 1


def test_the_same_facts_give_the_same_bytes(tmp_path):
    first = datasheet(sample_facts(tmp_path / "a"))
    assert first == datasheet(sample_facts(tmp_path / "b"))
    assert str(tmp_path) not in first
