"""Keys and passwords that were put in the wrong place: refused before sending, never repeated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo
from tests.wire.server import WireServer

CANARY = "c4n4ryS3cr3t"
GENERATE = ("--log-level", "debug", "generate", "--model", "compatible/m", "-n", "1", "-o", "run")


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize(
    "key",
    [f"{CANARY}\nX-Evil: 1", f"{CANARY}\r\n\r\n", f"a{CANARY}\0b", f"{CANARY}é", f"\x7f{CANARY}"],
)
def test_a_key_that_no_header_can_hold_is_refused_before_anything_is_sent(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, debug: str
) -> None:
    monkeypatch.setenv("HIPO_DEBUG", debug)
    monkeypatch.setattr("os.environ", {**os.environ, "MY_KEY": key})
    with WireServer() as server:
        result = hipo(*GENERATE, "--base-url", server.openai_url, "--api-key-env", "MY_KEY")
        sent = server.count
    if key.strip().isprintable() and key.isascii():  # what surrounds a key is no part of it
        assert (result.code, sent > 0) == (0, True)
    else:
        assert (result.code, sent) == (2, 0)
        assert "the key in MY_KEY holds a character" in result.err
        assert list(tmp_path.iterdir()) == []
    assert CANARY not in result.out + result.err
    assert not any(CANARY.encode() in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{CANARY}@[::1/v1",
        f"user:{CANARY}@127.0.0.1:9702/v1",
        f"http://user:{CANARY}@127.0.0.1:9702/v1",
        f"http://127.0.0.1:port/{CANARY}",
        f"http://127.0.0.1:9702/v1\n{CANARY}",
        f"http://127.0.0.1:9702/v1\0{CANARY}",
        f"http://127.0.0.1:9702/v1?key={CANARY}",
        CANARY,
    ],
)
def test_an_address_that_is_refused_is_not_repeated(hipo: Hipo, tmp_path: Path, url: str) -> None:
    result = hipo(*GENERATE, "--base-url", url)
    assert result.code == 2
    assert "--base-url" in result.err
    assert CANARY not in result.out + result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "key", [f"sk-proj-{CANARY}", f"gsk_{CANARY}", f"AIza{CANARY}", CANARY, "0123456789abcdef" * 2]
)
def test_a_key_in_the_place_of_its_variable_is_not_repeated(
    hipo: Hipo, tmp_path: Path, key: str
) -> None:
    where = ("--base-url", "http://127.0.0.1:9/v1", "--api-key-env", key)
    for command in (GENERATE, ("generate", "--model", "openai/gpt-4o", "-n", "1", "-o", "run")):
        result = hipo(*command, *where)
        assert result.code == 2
        assert "not the key" in result.err
        assert key not in result.out + result.err
        assert list(tmp_path.iterdir()) == []


def test_the_name_of_a_variable_that_is_not_set_is_repeated(hipo: Hipo) -> None:
    result = hipo(*GENERATE, "--base-url", "http://127.0.0.1:9/v1", "--api-key-env", "MY_LAB_KEY_2")
    assert "MY_LAB_KEY_2 is not set" in result.err
