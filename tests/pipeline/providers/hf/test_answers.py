"""Models of transformers in this process, asked as any provider is: a tiny random Llama."""

from __future__ import annotations

import asyncio
import threading
from importlib import import_module
from importlib.util import find_spec

import orjson
import pytest

from pipeline.providers.errors import ContextExceeded, FieldRejected
from pipeline.providers.registry import build_provider, parse_model
from scenarios.errors import UsageError
from tests.pipeline.providers.hf.asking import MARKS, request, texts
from tests.tiny_model import save_tiny_model, tiny_tokenizer

pytestmark = MARKS


WRITE = "pipeline.providers.hf.engine.write_answers"


@pytest.fixture
def batches(monkeypatch):
    """Return the sizes of the batches that are computed."""
    sizes = []
    write = imported_write()

    def counted(loaded, rows, clock):
        sizes.append(len(rows))
        write(loaded, rows, clock)

    monkeypatch.setattr(WRITE, counted)
    return sizes


def imported_write():
    return import_module("pipeline.providers.hf.generation").write_answers


@pytest.mark.parametrize("temperature", [0.0, 1.0])
async def test_what_is_asked_together_is_computed_together_and_answered_as_alone(
    hf, model, batches, temperature
):
    asked = [
        request(model, "Why? " * i, seed=i, parameters={"temperature": temperature})
        for i in range(1, 7)
    ]
    alone = [(await texts(hf, one))[0] for one in asked]
    assert await texts(hf, *asked) == alone
    assert len(set(alone)) == 6
    assert batches == [1] * 6 + [6]


async def test_no_batch_is_larger_than_the_requests_that_may_fly(model, batches):
    hf = build_provider(parse_model("hf/any"), max_concurrency=2)
    await texts(hf, *(request(model, str(i)) for i in range(5)))
    await hf.close()
    assert sorted(batches) == [1, 2, 2]


async def test_samples_of_one_request_differ_by_their_seeds_and_come_again(hf, model):
    warm = request(model, n=3, seed=5, parameters={"temperature": 1.0})
    first = await texts(hf, warm)
    assert len(set(first)) == 3
    assert await texts(hf, warm) == first
    second = request(model, seed=6, parameters={"temperature": 1.0})
    assert await texts(hf, second) == first[1:2]


async def test_tokens_are_counted_by_the_tokenizer(hf, model):
    asked = request(model, n=2, parameters={"max_tokens": 5})
    reply = await hf.send(asked, 60)
    messages = [{"role": m.role, "content": m.content} for m in asked.messages]
    prompt = tiny_tokenizer().apply_chat_template(
        messages, add_generation_prompt=True, return_dict=False
    )
    assert (reply.usage.prompt, reply.usage.completion) == (len(prompt), 10)
    assert [choice.finish for choice in reply.choices] == ["length", "length"]


@pytest.mark.skipif(find_spec("llguidance") is None, reason="needs pip install 'hipo[local]'")
async def test_an_answer_keeps_to_its_schema_and_ends_with_it(hf, model):
    asked = request(
        model,
        structured="native",
        n=4,
        bounds={"why": 12},
        parameters={"temperature": 1.0, "max_tokens": 300},
    )
    reply = await hf.send(asked, 60)
    for choice in reply.choices:
        answer = orjson.loads(choice.text)
        assert list(answer) == ["act", "why"]
        assert answer["act"] in ("Directives", "Expressives")
        assert len(answer["why"]) <= 12
        assert choice.finish == "stop"


@pytest.mark.skipif(find_spec("llguidance") is None, reason="needs pip install 'hipo[local]'")
async def test_a_schema_that_cannot_be_enforced_is_turned_down_as_servers_do(hf, model):
    impossible = {"type": "object", "properties": {"x": {"type": "string", "not": {}}}}
    with pytest.raises(FieldRejected) as refused:
        await hf.send(request(model, structured="native", schema=impossible), 60)
    assert refused.value.field == "response_format"


async def test_without_the_package_a_schema_is_turned_down_before_anything_is_loaded(
    hf, model, monkeypatch
):
    monkeypatch.setattr("pipeline.providers.hf.provider.find_spec", lambda name: None)
    with pytest.raises(FieldRejected, match=r"pip install .hipo\[local\]") as refused:
        await hf.send(request(model, structured="native"), 60)
    assert refused.value.field == "response_format"


async def test_a_prompt_beyond_the_context_is_told_with_its_sizes_before_it_is_computed(
    hf, tmp_path, batches
):
    small = save_tiny_model(tmp_path / "small", window=64)
    with pytest.raises(ContextExceeded) as told:
        await hf.send(request(small, "x" * 100), 60)
    assert told.value.sizes.available == 64
    assert told.value.sizes.needed > 100
    assert batches == []


async def test_a_prompt_that_is_too_long_spoils_no_other_of_its_batch(hf, tmp_path):
    small = save_tiny_model(tmp_path / "small", window=64)
    outcomes = await asyncio.gather(
        *(hf.send(request(small, text), 60) for text in ("short", "x" * 100)),
        return_exceptions=True,
    )
    assert outcomes[0].choices[0].finish == "length"
    assert isinstance(outcomes[1], ContextExceeded)


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")]
)
async def test_where_memory_is_short_fewer_are_computed_at_once(hf, model, monkeypatch, error):
    write, sizes = imported_write(), []

    def short_of_memory(loaded, rows, clock):
        sizes.append(len(rows))
        if len(rows) > 2:
            raise error
        write(loaded, rows, clock)

    asked = [request(model, str(i)) for i in range(8)]
    plain = await texts(hf, *asked)
    monkeypatch.setattr(WRITE, short_of_memory)
    assert await texts(hf, *asked) == plain
    assert sizes == [8, 4, 2, 2, 2, 2]
    assert await texts(hf, *asked) == plain
    assert sizes[6:] == [2, 2, 2, 2]


async def test_batches_grow_again_when_memory_was_short_for_a_moment(hf, model, monkeypatch):
    write, sizes = imported_write(), []

    def short_at_first(loaded, rows, clock):
        sizes.append(len(rows))
        if len(sizes) == 1:
            raise MemoryError
        write(loaded, rows, clock)

    monkeypatch.setattr(WRITE, short_at_first)
    asked = [request(model, str(i), parameters={"max_tokens": 1}) for i in range(8)]
    for _ in range(30):
        await texts(hf, *asked)
    assert sizes[:3] == [8, 4, 4]
    assert max(sizes[3:]) == 8


async def test_a_prompt_alone_is_tried_again_without_the_beginnings_of_others(
    hf, model, monkeypatch
):
    write, sizes = imported_write(), []
    long = request(model, "And what was that? " * 40)

    def short_while_others_are_kept(loaded, rows, clock):
        sizes.append(len(loaded.prefixes))
        write(loaded, rows, clock)
        if sizes[-1]:
            raise RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate")

    alone = await texts(hf, long)
    await texts(hf, request(model, "Something else entirely. " * 40))
    monkeypatch.setattr(WRITE, short_while_others_are_kept)
    assert await texts(hf, long) == alone
    assert sizes[0] > 0
    assert sizes[1:] == [0]


async def test_also_where_those_are_fewer_than_its_own(hf, model, monkeypatch):
    write, sizes = imported_write(), []
    long = request(model, "And what was that? " * 200)

    def short_while_any_are_kept(loaded, rows, clock):
        sizes.append(len(loaded.prefixes))
        if sizes[-1]:
            raise MemoryError
        write(loaded, rows, clock)

    await texts(hf, request(model, "Something else entirely. " * 20))
    monkeypatch.setattr(WRITE, short_while_any_are_kept)
    [said] = await texts(hf, long)
    assert said
    assert 0 < sizes[0] < 200 * 4 // 64
    assert sizes[1:] == [0]


async def test_where_memory_is_short_for_a_single_one_the_user_is_told(hf, model, monkeypatch):
    def no_memory(*_):
        raise MemoryError

    monkeypatch.setattr(WRITE, no_memory)
    with pytest.raises(UsageError, match="has no memory left for a prompt of") as told:
        await hf.send(request(model), 60)
    assert "max_tokens" in told.value.hint


async def test_a_request_that_is_called_off_is_not_computed_to_its_end(hf, model, monkeypatch):
    written = []
    write = imported_write()
    long = request(model, parameters={"max_tokens": 3000})
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def watched(loaded, rows, clock):
        loop.call_soon_threadsafe(begun.set)
        write(loaded, rows, clock)
        written.extend(rows)

    monkeypatch.setattr(WRITE, watched)
    task = asyncio.create_task(hf.send(long, 600))
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await hf.send(request(model), 60)
    assert [row.end for row in written] == ["abandoned", "length"]
    assert len(written[0].tokens) < 3000


async def test_what_was_called_off_while_it_waited_is_not_computed(hf, model, monkeypatch):
    write, sizes, begun = imported_write(), [], threading.Event()
    door = threading.Event()

    def held(loaded, rows, clock):
        sizes.append(len(rows))
        begun.set()
        door.wait(10)
        write(loaded, rows, clock)

    monkeypatch.setattr(WRITE, held)
    first = asyncio.create_task(hf.send(request(model, "first"), 60))
    await asyncio.to_thread(begun.wait, 10)
    others = [asyncio.create_task(hf.send(request(model, str(i)), 60)) for i in range(3)]
    await asyncio.sleep(0)
    others[0].cancel()
    door.set()
    await asyncio.gather(first, *others, return_exceptions=True)
    assert sizes == [1, 2]
