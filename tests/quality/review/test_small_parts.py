"""Consent, translations, passwords, links, addresses, and agreement with the gold."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.review.adjudication import in_blind_order, side_by_side
from quality.review.consent import STORED, load_consent
from quality.review.exhibits import ReviewDialogue, exhibit
from quality.review.gold import gold_labels, scores
from quality.review.passwords import hashed, matches, return_code
from quality.review.translations import Translations
from quality.web.server import Address, access_at
from quality.web.sessions import (
    Links,
    first_session,
    form_token,
    is_form_token,
    new_token,
    next_token,
)
from scenarios.errors import InputError, UsageError
from scenarios.reviews import Adjudication, GivenLabel, Item, ReviewStudy, Sheet
from scenarios.schemes.registry import load_scheme
from tests.pipeline.store.samples import dialogue

HIPO = load_scheme("hipo")
QUIZ = ReviewStudy(1, "quiz", "quiz", 3, 0, {"veracity": ("None",)})
REVIEW = ReviewStudy(1, "review", "review", 3, 0, {})
ITEM = Item(1, "c", "a", "", ())


def shown(study: ReviewStudy = QUIZ) -> ReviewDialogue:
    return exhibit(dialogue(), None, HIPO, study)


def sheet(annotator: str, *labels: GivenLabel) -> Sheet:
    return Sheet(1, ITEM, annotator, "done", labels, None, "page")


def test_a_study_can_change_every_word_but_not_what_is_stored(tmp_path: Path) -> None:
    text = tmp_path / "consent.md"
    text.write_text("# Hello\n\nOnly this.\n")
    blocks = load_consent(text).blocks
    assert blocks[0].lines == ("Hello",)
    assert blocks[-1].lines == STORED
    assert load_consent(text).fingerprint != load_consent(None).fingerprint


def test_the_shipped_text_names_what_is_stored_in_its_place() -> None:
    blocks = load_consent(None).blocks
    position = [block.lines for block in blocks].index(STORED)
    assert blocks[position - 1].lines == ("What is stored",)


@pytest.mark.parametrize("content", [b"", b"  \n", b"\xff\xfe"])
def test_a_consent_text_that_says_nothing_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "consent.md"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        load_consent(path)


@pytest.mark.parametrize("place", ["We keep {stored}.", "## Kept\n{stored}", "- {stored}"])
def test_what_is_stored_cannot_be_lost_within_a_paragraph(tmp_path, place):
    path = tmp_path / "mine.md"
    path.write_text(f"# Study\n\n{place}\n\nYes.\n")
    with pytest.raises(UsageError, match="stands among other words") as told:
        load_consent(path)
    assert "an empty line before and after it" in told.value.hint


def test_a_line_of_spaces_is_an_empty_line(tmp_path):
    path = tmp_path / "mine.md"
    path.write_text("# Study\n \n{stored}\n\t\nYes.\n")
    assert [block.kind for block in load_consent(path).blocks] == ["h1", "list", "p"]


def test_translations_are_found_by_the_text_they_translate(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"language": "zh", "text": "Good  day.", "translation": "你好。"}\n')
    translations = Translations.load([path])
    assert translations.of("Good day.", "zh") == "你好。"
    assert translations.of("Good day.", "original") == ""
    assert translations.languages == {"original": "English", "zh": "English + Chinese"}


def test_every_line_that_is_no_translation_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('nonsense\n{"language": "zh"}\n')
    with pytest.raises(InputError) as caught:
        Translations.load([path])
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_a_password_is_known_by_its_hash_only() -> None:
    stored = hashed("correct horse")
    assert "correct" not in stored
    assert stored != hashed("correct horse")
    assert matches("correct horse", stored)
    assert not matches("correct house", stored)
    assert not matches("correct horse", "nonsense")


def test_return_codes_are_easy_to_copy_and_hard_to_guess() -> None:
    codes = {return_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(set(code) <= set("abcdefghjkmnpqrstuvwxyz23456789-") for code in codes)


def test_a_form_belongs_to_one_session() -> None:
    assert is_form_token("session", form_token("session"))
    assert not is_form_token("another", form_token("session"))
    assert not is_form_token("session", "é")


def test_sessions_that_follow_each_other_have_their_first_in_common() -> None:
    first = new_token()
    second = next_token(first)
    third = next_token(second)
    assert len({first, second, third}) == 3
    assert first_session(first) == first_session(second) == first_session(third)
    assert first_session(first) != first_session(new_token())
    assert first not in second


def test_a_link_is_spent_by_its_first_use() -> None:
    told: list[str] = []
    links = Links(lambda role, token: told.append(token))
    token = links.mint("expert")
    assert links.spend(token) == "expert"
    assert links.spend(token) is None
    assert links.spend(told[0]) == "expert"


def test_only_this_machine_gets_in_by_link() -> None:
    access = access_at(Address(), accounts=0)
    assert not access.accounts
    assert "127.0.0.1:8642" in access.hosts


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "example.org"])
def test_other_machines_need_encryption_and_accounts(host: str, tmp_path: Path) -> None:
    files = {"certfile": tmp_path / "c", "keyfile": tmp_path / "k"}
    with pytest.raises(UsageError, match="nothing would be encrypted"):
        access_at(Address(host), accounts=3)
    with pytest.raises(UsageError, match="nobody has an account"):
        access_at(Address(host, **files), accounts=0)
    with pytest.raises(UsageError, match="nobody has an account"):
        access_at(Address("127.0.0.1", trusted_proxies=("127.0.0.1",)), accounts=0)
    access = access_at(Address(host, **files, public_urls=("https://review.test",)), accounts=1)
    assert access.accounts
    assert access.tls


def test_half_a_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="go together"):
        access_at(Address("0.0.0.0", certfile=tmp_path / "c"), accounts=1)
    with pytest.raises(UsageError, match="no IP address"):
        access_at(Address(trusted_proxies=("proxy",)), accounts=1)


@pytest.mark.parametrize(
    ("host", "proxies"), [("0.0.0.0", ()), ("::", ()), ("127.0.0.1", ("127.0.0.1",))]
)
def test_a_page_whose_name_nobody_can_know_has_to_be_told(
    host: str, proxies: tuple[str, ...], tmp_path: Path
) -> None:
    files = {} if proxies else {"certfile": tmp_path / "c", "keyfile": tmp_path / "k"}
    with pytest.raises(UsageError, match="only to its own name") as caught:
        access_at(Address(host, trusted_proxies=proxies, **files), accounts=1)
    assert "--public-url" in str(caught.value.hint)
    urls = ("https://Review.test", "https://[2001:db8::1]:8443/", "https://other.test:443")
    access = access_at(
        Address(host, trusted_proxies=proxies, public_urls=urls, **files), accounts=1
    )
    assert {"review.test", "[2001:db8::1]:8443", "other.test"} <= access.hosts
    assert "localhost:8642" in access.hosts
    assert "0.0.0.0:8642" not in access.hosts


@pytest.mark.parametrize(
    "url",
    [
        "review.test",
        "http://review.test",
        "https://",
        "https://review.test/page",
        "https://review.test?x",
        "https://ada@review.test",
        "https://review.test:99999",
        "https://[::1",
        "https://review test",
    ],
)
def test_a_public_url_that_is_none_is_refused(url: str) -> None:
    address = Address("127.0.0.1", trusted_proxies=("127.0.0.1",), public_urls=(url,))
    with pytest.raises(UsageError, match="is no address of a page"):
        access_at(address, accounts=1)


def test_a_public_url_needs_encryption() -> None:
    with pytest.raises(UsageError, match="for a page that others reach"):
        access_at(Address(public_urls=("https://review.test",)), accounts=0)


def test_in_the_quiz_the_gold_is_what_was_declared_unless_an_expert_says_otherwise() -> None:
    said = GivenLabel(3, "intention", "Affect")
    final = Adjudication(1, "E01", None, (said,), "", 0)
    gold = gold_labels(shown(), final, QUIZ)
    assert gold[3, "veracity"] == "Quality"
    assert gold[3, "intention"] == "Affect"
    assert gold[None, "goal"] == "deception"
    assert gold_labels(shown(), None, REVIEW) == {}


def test_agreement_with_the_gold_is_counted_by_dimension() -> None:
    mine = sheet("A01", GivenLabel(3, "veracity", "Manner"), GivenLabel(None, "goal", "deception"))
    found = scores(HIPO, [mine], {1: gold_labels(shown(), None, QUIZ)})
    assert {s.dimension: (s.same, s.compared) for s in found} == {
        "goal": (1, 1),
        "veracity": (0, 1),
    }


def test_answers_side_by_side_mark_what_differs_and_propose_the_majority() -> None:
    values = ("Quality", "Quality", "Manner")
    sheets = [sheet(f"A{i}", GivenLabel(3, "veracity", v)) for i, v in enumerate(values)]
    rows = {r.field.name: r for r in side_by_side(shown().sections, sheets, shown(), None).rows}
    row = rows["t3.veracity"]
    assert row.differ
    assert row.odd == (False, False, True)
    assert row.proposed == "Quality"
    assert row.declared == "Quality"
    assert not rows["t3.intention"].differ


def test_columns_do_not_follow_the_annotators() -> None:
    people = [f"A{i:02d}" for i in range(8)]
    orders = set()
    for number in range(20):
        item = Item(number, f"case {number}", "a", "", ())
        sheets = [Sheet(i, item, p, "done", (), None, "") for i, p in enumerate(people)]
        orders.add(tuple(s.annotator for s in in_blind_order(QUIZ, sheets)))
    assert len(orders) > 15
