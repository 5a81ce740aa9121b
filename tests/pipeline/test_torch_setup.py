"""Threads of the tokenizers: many where much is to be read, none where processes are forked."""

from __future__ import annotations

import os

import pytest

from pipeline.torch_setup import keep_tokenizers_quiet, tokenizing_on_all_cores

NAME = "TOKENIZERS_PARALLELISM"


def within() -> str | None:
    with tokenizing_on_all_cores():
        return os.environ.get(NAME)


def test_tokenizers_use_all_cores_within_and_are_quiet_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert within() is None, "nobody asked for quiet"
    keep_tokenizers_quiet()
    quiet = os.environ[NAME]
    assert within() == "true"
    assert os.environ[NAME] == quiet
    with pytest.raises(OSError, match="lost"), tokenizing_on_all_cores():
        raise OSError("lost")
    assert os.environ[NAME] == quiet


@pytest.mark.parametrize("wanted", ["false", "true"])
def test_what_a_user_says_of_the_threads_holds(
    monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    monkeypatch.setenv(NAME, wanted)
    keep_tokenizers_quiet()
    assert within() == wanted
    assert os.environ[NAME] == wanted


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forks_are_quiet_after_threads_were_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that forks is not warned of threads that were used before."""
    tokenizers = pytest.importorskip("tokenizers")
    monkeypatch.delenv(NAME, raising=False)
    keep_tokenizers_quiet()
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    with tokenizing_on_all_cores():
        made.encode_batch(["a", "b"])
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(write, 2)
        made.encode_batch(["a", "b"])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        assert said.read() == ""
    assert os.waitpid(child, 0)[1] == 0
