"""The dataset card: a header the hub can read, prose that says what matters, and text that stays text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from datasets import get_dataset_config_names, load_dataset
from huggingface_hub import DatasetCard
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from outputs.dataset.card import card_header, dataset_card, shares
from outputs.dataset.manifest import Generator, Support
from outputs.markdown import escaped
from outputs.reliability.foil_acceptance import FoilAcceptance
from outputs.reliability.judge_agreement import ConfirmedShare
from outputs.reliability.reliability import JudgeConsistency, Reliability
from prompts.plain_text import one_line
from quality.agreement.agreement import AgreementRow
from quality.statistics.bootstrap import Interval
from scenarios.schemes.registry import load_scheme, scheme_names
from tests.outputs.sample_facts import BY_RULES, rows, sample_facts, write_file

NASTY = (
    "# [x](http://evil.example) <script>alert(1)</script> | `code` **b** www.evil.example {{ 7*7 }}"
)


@pytest.fixture
def facts(tmp_path):
    return sample_facts(tmp_path)


def html(markdown: str) -> str:
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)


def visible(markdown: str) -> str:
    """Return the text a reader sees."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parseInline(markdown)
    return "".join(child.content for token in tokens for child in token.children or ())


def prose(card: str) -> str:
    return card.split("\n---\n", 1)[1]


def test_the_hub_reads_the_header_and_nothing_is_lost_on_the_way(facts):
    card = DatasetCard(dataset_card(facts))
    assert card.data.to_dict() == card_header(facts)
    assert card.data.pretty_name == "harbour"
    assert card.data.size_categories == ["n<1K"]
    assert card.text.lstrip().startswith("# harbour")


def test_the_folder_loads_with_every_subset_split_and_row(facts, tmp_path):
    (tmp_path / "README.md").write_text(dataset_card(facts), encoding="utf-8")
    cache = str(tmp_path / "cache")
    assert get_dataset_config_names(str(tmp_path)) == ["label", "actor"]
    loaded = load_dataset(str(tmp_path), cache_dir=cache)
    assert {split: len(data) for split, data in loaded.items()} == {"train": 5, "test": 3}
    assert loaded["train"][:]["messages"] == [row["messages"] for row in rows("train", 5)]
    assert len(load_dataset(str(tmp_path), "actor", cache_dir=cache)["train"]) == 4


def test_a_subset_without_parquet_makes_the_folder_load_as_json_lines(facts, tmp_path):
    actor = write_file(tmp_path, "data/actor/train.jsonl", "actor", "train", rows("other", 4))
    files = (*facts.files[:4], actor)
    (tmp_path / "README.md").write_text(dataset_card(replace(facts, files=files)), encoding="utf-8")
    cache = str(tmp_path / "cache")
    assert len(load_dataset(str(tmp_path), "label", cache_dir=cache)["test"]) == 3
    assert len(load_dataset(str(tmp_path), "actor", cache_dir=cache)["train"]) == 4


def test_other_rows_in_a_folder_of_the_same_name_are_not_read_from_the_cache(tmp_path):
    lengths = []
    for place, count in (("one", 5), ("other", 2)):
        folder = tmp_path / place / "sft"
        file = write_file(folder, "data/train.jsonl", "label", "train", rows("train", count))
        facts = replace(sample_facts(folder), files=(file,))
        (folder / "README.md").write_text(dataset_card(facts), encoding="utf-8")
        loaded = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
        lengths.append(len(loaded["train"]))
    assert lengths == [5, 2]


def test_no_licence_is_assumed(facts):
    card = dataset_card(facts)
    assert "license" not in card_header(facts)
    assert "No licence is granted by this card" in card
    chosen = dataset_card(replace(facts, licence="cc-by-4.0"))
    assert DatasetCard(chosen).data.license == "cc-by-4.0"
    assert "The publisher chose cc-by-4.0" in chosen


def test_every_generator_is_named_with_the_note_on_its_terms(facts):
    card = dataset_card(facts)
    for made in facts.generators:
        assert f"| {made.model} | {', '.join(made.roles)} | {', '.join(made.strategies)} |" in card
        assert f"- {made.provider} ({made.model}): the terms of use" in card


def test_the_offline_baseline_is_called_no_training_data_and_has_no_provider(facts):
    card = dataset_card(replace(facts, generators=BY_RULES))
    assert "**Not for training.**" in card
    assert "terms of use of this provider" not in card
    assert "**Not for training.**" not in dataset_card(facts)


@pytest.mark.parametrize(
    ("change", "notice"),
    [
        ({"real_names": True}, "**Real names occur.**"),
        ({"real_names": False}, "**Names are aliases.**"),
        ({"includes_deception": True}, "**Holds deceptive behaviour as a target.**"),
        ({"verdict": "any"}, "**Not only accepted dialogues.**"),
        ({"judges": ()}, "No judge has read these dialogues."),
        (
            {"openings": {"shared": 5, "": 3}, "unknown_writer": 3},
            "**Some dialogues were imported.** 3 of 8 came from files of others.",
        ),
    ],
)
def test_a_notice_stands_where_it_is_due_and_only_there(facts, change, notice):
    usual = {
        "real_names": True, "includes_deception": False, "verdict": "accepted",
        "judges": ("a/b",),
    }  # fmt: skip
    opposite = {"real_names": not change.get("real_names", True)}
    assert notice in dataset_card(replace(facts, **{**usual, **change}))
    assert notice not in dataset_card(replace(facts, **{**usual, **opposite}))


def test_subsets_with_the_same_columns_are_described_once(facts):
    card = dataset_card(facts)
    assert card.count("Columns of ") == len({file.columns for file in facts.primary})


def test_what_the_judge_that_knows_the_lines_finds_is_called_no_measure(facts):
    found = (
        JudgeConsistency(
            "self", ("openai/a", "openai/b"), "intention", ConfirmedShare(3, 4, Interval(0.5, 1.0))
        ),
        JudgeConsistency("external", ("openai/c",), "goal", ConfirmedShare(0, 0)),
    )
    rated = replace(
        facts, reliability=Reliability(found), generators=BY_RULES, judges=("offline/judge",)
    )
    assert "measures nothing" in dataset_card(rated)
    assert "measures nothing" not in dataset_card(replace(rated, judges=("openai/gpt-4o",)))


def test_the_card_says_who_translated_scenarios_and_who_has_read_that(facts):
    wordings = (("de", "people", "A. Reader"), ("zh", "openai/gpt-4o, 2026-01-02", ""))
    card = dataset_card(replace(facts, wordings=wordings))
    assert "| zh | openai/gpt-4o, 2026-01-02 | nobody |" in card
    assert "| de | people | A. Reader |" in card
    assert "Translated" not in dataset_card(facts)


def test_every_card_says_that_it_is_fiction_and_what_is_ruled_out(facts):
    card = dataset_card(facts)
    assert "`fictional: true`" in card
    assert "Ruled out, whatever the licence says" in card


@pytest.mark.parametrize("name", scheme_names())
def test_every_label_of_every_scheme_is_defined(name, facts):
    scheme = load_scheme(name)
    page = html(prose(dataset_card(replace(facts, scheme=scheme, by_label={}, support=()))))
    for dimension in scheme.dimensions:
        for label in dimension.labels:
            start = visible(escaped(label.definition)).split("(")[0][:30]
            assert f"<strong>{label.id}</strong>" in page.replace("&quot;", '"')
            assert start.split("&")[0].split("<")[0] in page or '"' in start


def test_distributions_are_sorted_and_shown_with_shares(facts):
    card = dataset_card(facts)
    assert "| deception | 6 | 75.0% |\n| truthful non-disclosure | 2 | 25.0% |" in card
    assert (
        "| Convince | 9 | 75.0% | 7 | 2 | 8 | 1 |\n| Inform | 3 | 25.0% | 1 | 2 | 0 | 3 |" in card
    )
    assert "| None | 1,200 | 100.0% | 0 | 0 | 0 | 0 |" in card
    assert [s.name for s in shares({"b": 1, "a": 1, "c": 2})] == ["c", "a", "b"]
    assert shares({"a": 0})[0].share == 0


def test_what_must_be_known_first_stands_at_the_top(facts):
    share = ConfirmedShare(9, 10)
    known = Reliability(
        foils=(FoilAcceptance("a/b", "intention", share, ConfirmedShare(3, 10), 0.6, None),),
        found_blind={"intention": (3, 4)},
        people=1,
    )
    card = dataset_card(replace(facts, reliability=known))
    top = visible(card[: card.index("## What is in it")])
    assert "Label scheme | hipo@2" in top
    assert "Written by | language models (deepseek/v3, openai/gpt-4o)" in top
    assert "Declared labels confirmed blind (whole runs) | intention 75.0% of 4" in top
    assert "Foils, wrong labels shown to judges (whole runs) | 10, of which 3 were accepted" in top
    assert "Human readings (whole runs) | 0 (one person's answers" in top
    assert "nothing where they are the same words under every goal (5)" in top
    assert "much of itself where they are written for the goal (3)" in top
    assert "| a/b | intention | 90.0% | 30.0% | 10 |" in card
    twice = dataset_card(replace(facts, reliability=Reliability(people=2, read_twice=40)))
    assert "| Human readings (whole runs) | 40 labels by 2 people |" in twice


def test_labels_of_dialogues_without_a_goal_have_a_column_of_their_own(facts):
    """Imported dialogues may have labels and no goal; a split may be called like a goal."""
    support = (Support("veracity", "None", "", "deception", 7),)
    card = dataset_card(replace(facts, support=support, openings={"": 8}))
    assert "| deception | truthful non-disclosure | no goal | deception |" in card
    assert "| None | 1,200 | 100.0% | 0 | 0 | 7 | 7 |" in card
    assert "not known where dialogues were imported (8)" in visible(card)


def test_the_corpus_is_counted_by_category(facts):
    card = dataset_card(facts)
    assert "| finance | 1 | 1 | 3 | 6 | 12 |" in card
    assert "| products | 2 | 2 | 5 | 1,200 | 20 |" in card


def test_agreement_is_shown_where_people_reviewed(facts):
    row = AgreementRow("all", "veracity", "Fleiss kappa", 0.61234, Interval(0.5, 0.7), 40, 3)
    undefined = replace(row, value=None, interval=None, note="one label only")
    card = dataset_card(replace(facts, reliability=Reliability(agreement=(row, undefined))))
    assert (
        "| all | Veracity strategy (how) | Fleiss kappa | 0.612 | 0.500 to 0.700 | 40 | 3 |  |"
        in card
    )
    assert "| undefined |  | 40 | 3 | one label only |" in card
    assert "No person has reviewed" in dataset_card(facts)


def test_rows_that_repeat_others_and_goals_of_experts_are_told_where_there_are_any(facts):
    card = visible(dataset_card(replace(facts, repeated=3, expert_goals=2)))
    assert "3 of the rows repeat another row of their case word for word" in card
    assert "For 2 of the dialogues an expert decided on the goal" in card
    assert "the goals of 2 dialogues" in card
    plain = dataset_card(facts)
    assert "repeat another row" not in plain
    assert "decided on the goal" not in plain


def test_people_who_label_are_called_experts_only_where_an_expert_decided(facts):
    row = AgreementRow("all", "veracity", "Fleiss kappa", 0.61234, Interval(0.5, 0.7), 40, 3)
    reviewed = replace(facts, reliability=Reliability(agreement=(row,)))
    for known, words in (
        (facts, ["machine-generated"]),
        (reviewed, ["machine-generated", "other"]),
        (replace(facts, by_people=2), ["machine-generated", "other"]),
        (replace(facts, expert_goals=1), ["machine-generated", "expert-generated"]),
        (replace(facts, adjudicated=1), ["machine-generated", "expert-generated"]),
        (replace(reviewed, adjudicated=1), ["machine-generated", "expert-generated", "other"]),
    ):
        assert DatasetCard(dataset_card(known)).data.annotations_creators == words


def test_what_csv_alone_writes_otherwise_is_said_where_there_is_csv(facts):
    (first, *others) = facts.files
    table = replace(first, path="csv/train.csv", format="csv")
    assert "an apostrophe before it" in dataset_card(replace(facts, files=(first, *others, table)))
    assert "apostrophe" not in dataset_card(facts)


def test_why_agreement_is_not_known_is_said(facts):
    card = dataset_card(replace(facts, reliability=Reliability(note="a package is missing")))
    assert "was not computed:\na package is missing" in card
    assert "No person has reviewed" not in card


def test_what_judges_found_is_shown_with_its_interval(facts):
    found = (
        JudgeConsistency(
            "self", ("openai/a", "openai/b"), "intention", ConfirmedShare(3, 4, Interval(0.5, 1.0))
        ),
        JudgeConsistency("external", ("openai/c",), "goal", ConfirmedShare(0, 0)),
    )
    card = dataset_card(replace(facts, reliability=Reliability(found)))
    line = "| self | openai/a, openai/b | Communicative intention (why) | 75.0% | 50.0% to 100.0% | 4 |"
    assert line in card
    assert "| external | openai/c | Conversation goal | undefined |  | 0 |" in card
    assert "How often judges find" not in dataset_card(facts)


def test_one_program_in_both_chairs_has_one_row_in_the_card(facts):
    share = ConfirmedShare(3, 4, Interval(0.5, 1.0))
    found = tuple(
        JudgeConsistency(source, ("openai/a",), "intention", share)
        for source in ("self", "external")
    )
    blind = Reliability(found, found_blind={"intention": (3, 4)})
    card = dataset_card(replace(facts, reliability=blind))
    assert card.count("| openai/a | Communicative intention (why) | 75.0% |") == 1
    assert "| blind reading | openai/a |" in card
    assert "*Self*" not in card
    shown = dataset_card(replace(facts, reliability=Reliability(found)))
    assert all(f"| {source} | openai/a |" in shown for source in ("self", "external"))


def test_measured_overlap_is_shown(facts):
    found = {
        "checked": "train", "reference": "test", "ngram_size": 13, "checked_rows": 5,
        "checked_rows_sharing": 4, "checked_rows_to_remove": 1, "removed": True,
    }  # fmt: skip
    assert (
        "| train | test | 13 | 4 of 5 rows (80.00%) | 1 of 5 rows (20.00%) | yes |"
        in dataset_card(replace(facts, contamination=(found,)))
    )
    assert "## Overlap" not in dataset_card(facts)


def test_text_from_data_is_shown_as_it_is(facts):
    made = Generator(f"openai/{NASTY}", ("responder",), ("direct",), 1)
    card = dataset_card(
        replace(
            facts, name=NASTY, runs=(NASTY,), judges=(NASTY,), generators=(made,),
            by_category={NASTY: 3}, options={NASTY: NASTY},
        )
    )  # fmt: skip
    plain = html(prose(dataset_card(facts)))
    page = html(prose(card))
    assert not any(tag in page for tag in ("<script", "<a ", "<b>", "<code>alert"))
    assert "{{ 7*7 }}" in page
    assert page.count("<h1>") == plain.count("<h1>") == 1
    # One generator, one category and two options fewer make 4 + 3 + 4 cells fewer, and no other.
    assert page.count("<td") == plain.count("<td") - 11
    assert DatasetCard(card).data.pretty_name == NASTY


def test_the_version_of_a_scheme_reads_as_it_is_written_and_no_mention_or_address_does():
    assert escaped("scheme hipo@1, and cei@2") == "scheme hipo@1, and cei@2"
    for text in ("@1", "ask @hubot", "a@1.com", "a@1-b.com", "a@b.com"):
        assert "@" not in escaped(text)


@given(st.text(max_size=60) | st.just(NASTY))
def test_an_escaped_text_shows_exactly_itself(text):
    shown = visible("x" + escaped(text)) if text.strip() else "x"
    assert shown == "x" + one_line(text)


@given(
    st.sampled_from("#-+*>=|1234567890.)`~_[]<&$!: \tab"),
    st.text(alphabet="#-+*>=|12.)`~_[]<&$!: ab", max_size=12),
)
def test_an_escaped_text_opens_no_block(first, rest):
    page = html(escaped(first + rest))
    assert page == "" or (page.startswith("<p>") and page.count("<") == 2)


def test_the_same_facts_give_the_same_bytes_whatever_the_folder_and_order(tmp_path):
    one = sample_facts(tmp_path / "a")
    two = sample_facts(tmp_path / "b")
    shuffled = replace(
        two,
        generators=two.generators[::-1],
        by_category=dict(reversed(two.by_category.items())),
        options=dict(reversed(two.options.items())),
    )
    assert dataset_card(one) == dataset_card(shuffled)
    assert str(tmp_path) not in dataset_card(one)


def test_an_empty_export_still_has_a_card(facts):
    empty = replace(
        facts,
        files=(),
        generators=(),
        by_goal={},
        by_category={},
        by_language={},
        by_label={},
        support=(),
    )
    assert DatasetCard(dataset_card(empty)).data.to_dict()["size_categories"] == ["n<1K"]
