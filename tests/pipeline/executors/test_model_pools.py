"""Models that several workers ask, with what is asked and answered pickled on its way."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from pipeline.embeddings.embeddings import DRAIN, BatchingEncoder
from pipeline.executors.model_pools import (
    RETURN_S,
    ModelHost,
    PoolAway,
    PooledEncoder,
    PooledProvider,
)
from pipeline.providers.context_size import ContextSizes
from pipeline.providers.errors import ContextExceeded, FieldRejected, Unreachable
from pipeline.providers.hf.prompt import model_key
from pipeline.providers.protocol import Choice, Reply, Request, Usage
from pipeline.stopping.stop import UNAVAILABLE, MustStop
from pipeline.vectors import Vectors
from prompts.question import Message
from scenarios.arms import Parameters
from scenarios.errors import HipoError, UsageError

pytestmark = pytest.mark.anyio
REPLY = Reply((Choice("Yes.", "stop"),), Usage(3, 1))
REQUEST = Request(
    model="tiny",
    messages=(Message("user", "What was that?"),),
    parameters=Parameters(extra={"dtype": "float32"}),
    schema={"type": "object", "properties": {"why": {"type": "string"}}},
    schema_name="answer",
    seed=7,
    bounds={"why": 80},
)


class Travelling:
    """A pool of one process, which is this one: everything is pickled as if it were another."""

    def __init__(self, host: ModelHost) -> None:
        self.host = host

    async def ask(self, *question):
        asked = pickle.loads(pickle.dumps(question))
        outcome = await self.host.ask(*asked)
        return pickle.loads(pickle.dumps(outcome)).result()


class Dying:
    """A pool that is away ``times`` times, for good if it is ``gone``, and then answers."""

    def __init__(self, times: int, *, gone: bool = False) -> None:
        self.times, self.gone = times, gone

    async def ask(self, *_):
        if self.times:
            self.times -= 1
            raise PoolAway("the model is away", gone=self.gone)
        return np.ones((1, 1), np.float32)


def raising(error: HipoError) -> Travelling:
    async def ask(*_: object) -> None:
        raise error

    return Travelling(ModelHost(lambda: ask))


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what a host sets for its process set back."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


async def test_votes_of_two_workers_are_one_batch_of_a_model_that_is_loaded_once() -> None:
    batches: list[Sequence[str]] = []

    def embed(texts: Sequence[str]) -> Vectors:
        batches.append(texts)
        return np.array([[float(text)] for text in texts], np.float32)

    # Only a batch that is full goes on its way before the time is over.
    encoder = BatchingEncoder(lambda: embed, linger_s=3_600.0)

    async def ask(texts, scored):
        return await (encoder.scores(texts) if scored else encoder.encode(texts))

    pool = Travelling(ModelHost(lambda: ask))
    first, second = PooledEncoder(pool), PooledEncoder(pool)
    half = [str(i) for i in range(DRAIN // 2)]
    other = [str(i) for i in range(DRAIN // 2, DRAIN)]
    one = asyncio.create_task(first.encode(half))
    for _ in range(5):
        await asyncio.sleep(0.01)
    assert batches == []
    assert (await second.encode(other))[:, 0].tolist() == list(map(float, other))
    assert (await one)[:, 0].tolist() == list(map(float, half))
    assert batches == [[*half, *other]]
    await encoder.close()


async def test_a_host_opens_its_model_once_however_many_ask() -> None:
    opened = 0

    def open_model():
        nonlocal opened
        opened += 1
        return echo

    async def echo(value: int) -> int:
        return value

    host = ModelHost(open_model)
    (await host.ready()).result()
    outcomes = await asyncio.gather(*(host.ask(i) for i in range(20)))
    assert [outcome.result() for outcome in outcomes] == list(range(20))
    assert opened == 1


async def test_a_package_that_is_missing_where_the_model_runs_is_told_when_the_host_starts() -> (
    None
):
    def missing():
        raise UsageError("embeddings need the package torch", "install it")

    outcome = pickle.loads(pickle.dumps(await ModelHost(missing).ready()))
    with pytest.raises(UsageError, match="need the package torch") as raised:
        outcome.result()
    assert raised.value.hint == "install it"


async def test_a_model_that_cannot_be_loaded_is_a_mistake_of_the_users_for_whoever_votes() -> None:
    with pytest.raises(UsageError, match="cannot be loaded"):
        await PooledEncoder(raising(UsageError("it cannot be loaded", "give a path"))).encode(["a"])


@pytest.mark.parametrize(
    "error",
    [
        ContextExceeded("too long", hint="shorten it", sizes=ContextSizes(900, 512)),
        FieldRejected("no schemas", field="response_format", status=400),
    ],
)
async def test_what_a_model_says_of_a_request_arrives_with_all_that_is_known(error) -> None:
    provider = PooledProvider({model_key("tiny", REQUEST.parameters): raising(error)})
    with pytest.raises(type(error)) as raised:
        await provider.send(REQUEST, 5.0)
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)


async def test_a_request_goes_to_the_pool_of_its_model_and_settings_as_it_is() -> None:
    got = []

    async def answer(request: Request, timeout_s: float) -> Reply:
        got.append((request, timeout_s))
        return REPLY

    other = Parameters(extra={"dtype": "float16"})
    provider = PooledProvider(
        {
            model_key("tiny", other): raising(UsageError("the other one was asked")),
            model_key("tiny", REQUEST.parameters): Travelling(ModelHost(lambda: answer)),
        }
    )
    assert await provider.send(REQUEST, 5.0) == REPLY
    assert got == [(REQUEST, 5.0)]
    assert got[0][0].bounded_schema == REQUEST.bounded_schema


async def test_whoever_votes_asks_again_while_a_process_is_started_anew() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    told: list[str] = []
    encoder = PooledEncoder(Dying(3), told.append, "tiny", sleep)
    assert (await encoder.encode(["a"])).shape == (1, 1)
    assert (await encoder.encode(["a"])).shape == (1, 1)
    assert len(slept) == 3
    away = "the model is away; votes wait until it is started again"
    assert told == ["loading the embedding model tiny; this can take a minute", away, away, away]


@pytest.mark.parametrize(("gone", "waited_s"), [(False, RETURN_S), (True, 0.0)])
async def test_an_encoder_that_does_not_come_back_stops_the_run(gone, waited_s) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    with pytest.raises(MustStop) as raised:
        await PooledEncoder(Dying(10_000, gone=gone), sleep=sleep).encode(["a"])
    assert raised.value.code == UNAVAILABLE
    assert sum(slept) == waited_s


@pytest.mark.parametrize("gone", [False, True])
async def test_a_model_whose_process_died_is_an_endpoint_that_is_away(gone) -> None:
    provider = PooledProvider({model_key("tiny", REQUEST.parameters): Dying(1, gone=gone)})
    with pytest.raises(Unreachable) as raised:
        await provider.send(REQUEST, 5.0)
    assert raised.value.retryable
