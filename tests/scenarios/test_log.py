"""Whatever a record holds, no key leaves it; and a program that does not listen hears nothing."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from scenarios.log import conceal, logger, scrub

KEY = "quite-an-odd-secret"
KEY_LIKE = (
    "sk-proj-abcdefgh1234", "hf_AbCdEfGhIjKlMn", "gsk_0123456789abc", "Bearer abc.def.ghi",
    "AIzaSyA0123456789abcdef", "ghp_0123456789abcdefghij",
)  # fmt: skip


class Heard(logging.Handler):
    """Keeps every record."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler = Heard()
    root = logging.getLogger("hipo")
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.setLevel(logging.NOTSET)
    root.removeHandler(handler)


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD"])
def test_a_key_of_the_environment_is_masked_wherever_it_stands(
    heard: Heard, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, KEY)
    try:
        int(KEY)
    except ValueError:
        fields = {"header": f"x-api-key {KEY}", "status": 401}
        logger("test").exception("sent %s", [KEY], extra={"fields": fields})
    (record,) = heard.records
    assert record.getMessage() == "sent ['[key]']"
    assert record.fields == {"header": "x-api-key [key]", "status": 401}
    assert "base 10: '[key]'" in record.exc_text
    assert KEY not in logging.Formatter().format(record)


def test_a_key_that_was_read_is_masked_whatever_its_variable_is_called(heard: Heard) -> None:
    conceal("a-key-of-another-name")
    logger("test").warning("a-key-of-another-name was refused")
    assert heard.records[0].getMessage() == "[key] was refused"


@pytest.mark.parametrize("text", KEY_LIKE)
def test_what_looks_like_a_key_is_masked(heard: Heard, text: str) -> None:
    logger("test").info("refused: %s", text)
    assert heard.records[0].getMessage() == "refused: [key]"


def test_of_two_secrets_the_longer_is_masked_whole() -> None:
    assert scrub("it is secret-one-two", ("secret-one", "secret-one-two")) == "it is [key]"


def test_a_short_secret_leaves_no_half_of_another_key() -> None:
    assert scrub("sent gsk_0123456789abc", ("123456",)) == "sent [key]"
    assert scrub("12 of 123456", ("123456",)) == "12 of [key]"


def test_who_does_not_listen_hears_nothing() -> None:
    code = "from scenarios.log import logger; logger('x').error('to nobody')"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (result.stdout, result.stderr) == ("", "")
