"""Threads of the tokenizers: many where much is to be read, none where processes are forked."""

from __future__ import annotations

import os
from contextlib import nullcontext

import pytest

from pipeline import torch_setup
from pipeline.torch_setup import keep_tokenizers_quiet, tokenizing_on_all_cores

NAME = "TOKENIZERS_PARALLELISM"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin as a process does that has set nothing yet."""
    monkeypatch.setattr(torch_setup, "_quiet_in", set())


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


@pytest.mark.parametrize("wanted", ["false", "true", "off"])
def test_what_a_user_says_of_the_threads_holds(
    monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    monkeypatch.setenv(NAME, wanted)
    keep_tokenizers_quiet()
    assert within() == wanted
    assert os.environ[NAME] == wanted


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("all_cores", [False, True])
@pytest.mark.parametrize("meanwhile", [False, True])
def test_forks_are_quiet_and_wait_for_no_thread_after_threads_were_used(
    monkeypatch: pytest.MonkeyPatch, all_cores: bool, meanwhile: bool
) -> None:
    """They are not warned of the threads of before, and do not use them: they are not there.

    Args:
        all_cores: whether the fork asks for all of them.
        meanwhile: whether it is made while its parent uses them.
    """
    tokenizers = pytest.importorskip("tokenizers")
    monkeypatch.delenv(NAME, raising=False)
    keep_tokenizers_quiet()
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    read, write = os.pipe()
    with tokenizing_on_all_cores():
        made.encode_batch(["a", "b"])
        child = os.fork() if meanwhile else None
    if child is None:
        child = os.fork()
    if child == 0:
        os.dup2(write, 2)
        with tokenizing_on_all_cores() if all_cores else nullcontext():
            if all_cores and os.environ[NAME] == "true":
                os.write(2, b"would wait for ever")
            elif all_cores or not meanwhile:
                made.encode_batch(["a", "b"])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        assert said.read() == ""
    assert os.waitpid(child, 0)[1] == 0
