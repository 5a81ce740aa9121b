"""What a batch API says at odd times or in odd types: clocks that are off, archives, early questions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hipo.app.generation.generate import generate, generate_prepared
from hipo.app.generation.verified import VerifiedPlay
from hipo.app.models import batching
from hipo.app.options.verification import VerificationOverrides
from hipo.app.runs.resumption import prepare_for
from pipeline.providers import batch_calls
from pipeline.providers.anthropic_batches import AnthropicBatches
from pipeline.providers.errors import ServerFault
from pipeline.providers.openai_batches import OpenAIBatches
from pipeline.providers.protocol import Usage
from pipeline.providers.registry import ModelName, build_provider
from scenarios.errors import UsageError
from tests.pipeline.batches.interrupting import Interrupting
from tests.pipeline.batches.runs import QUICK, assert_whole, recipe
from tests.pipeline.integration.records import rows
from tests.pipeline.providers.asking import make_request
from tests.wire.batches import BatchFaults, BatchStep
from tests.wire.server import WireServer


def lose(server: WireServer, run: Path, provider: str, **changes: Any) -> None:
    """Have a run end that does not know whether its batch arrived; it did."""
    server.batches.faults = BatchFaults(lose_creation=1, refusals={"list": [403]})
    with pytest.raises(UsageError, match="cannot be asked about"):
        generate(recipe(server, provider, **changes), output=run)
    assert rows(run, "select remote, state from batches") == [(None, "intended")]
    server.batches.faults = BatchFaults()


def test_a_batch_is_found_though_the_clock_was_ahead_when_it_was_sent(
    server: WireServer, tmp_path: Path
) -> None:
    lose(server, tmp_path / "run", "anthropic")
    server.batches.made[0].created -= 7200
    generate(recipe(server, "anthropic"), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert len(server.batches.made) == 2


def test_a_batch_is_found_by_the_clock_of_the_provider_where_ours_is_far_ahead(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.behind_s = 90 * 86400.0
    lose(server, tmp_path / "run", "anthropic")
    generate(recipe(server, "anthropic"), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)
    assert len(server.batches.made) == 2


def test_archived_results_are_said_to_be_gone(server: WireServer, tmp_path: Path) -> None:
    hasty = recipe(server, "anthropic", limits={"wait_for_endpoint": 0})
    server.batches.held = True
    prepared = prepare_for(tmp_path / "run", hasty)
    asyncio.run(generate_prepared(prepared, tmp_path / "run", signals=True, watcher=Interrupting()))
    server.batches.held, server.batches.archived = False, "msgbatch"
    with pytest.raises(UsageError, match="archived, which is done 29 days") as error:
        generate(hasty, output=tmp_path / "run")
    assert "hipo runs drop-batches" in str(error.value.hint)


def test_an_archived_batch_of_somebody_else_is_passed_over(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.foreign = 1
    lose(server, tmp_path / "run", "anthropic")
    server.batches.foreign, server.batches.archived = 0, "other"
    server.batches.made.reverse()
    hasty = recipe(server, "anthropic", limits={"wait_for_endpoint": 0})
    run = generate(hasty, output=tmp_path / "run")
    assert run.outcome is not None
    assert (run.outcome.done, run.outcome.stopped) == (12, None)
    assert len(server.batches.made) == 3


def test_an_archived_batch_that_may_be_ours_is_not_taken_for_absent(
    server: WireServer, tmp_path: Path
) -> None:
    lose(server, tmp_path / "run", "anthropic")
    server.batches.archived = "msgbatch"
    with pytest.raises(UsageError, match="cannot be told: 1 of that size have no results"):
        generate(
            recipe(server, "anthropic", limits={"wait_for_endpoint": 0}), output=tmp_path / "run"
        )
    assert len(server.batches.made) == 1


@pytest.mark.usefixtures("patient")
def test_a_batch_whose_results_are_not_there_yet_is_not_taken_for_that_of_somebody_else(
    server: WireServer, tmp_path: Path
) -> None:
    server.batches.faults = BatchFaults(lose_creation=1, late=1, once=True)
    # of one line, half of the lines are none
    generate(recipe(server, "anthropic", n=1), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 1)
    assert len(server.batches.made) == 2


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_list_that_is_too_long_does_not_prove_that_a_batch_is_not_there(
    server: WireServer, tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_calls, "PAGES", 0)
    server.batches.faults = BatchFaults(lose_creation=1)
    with pytest.raises(UsageError, match="cannot be told: it is not among the newest"):
        generate(recipe(server, provider), output=tmp_path / "run")
    assert len(server.batches.made) == 1


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_batch_that_was_just_sent_need_not_be_known_yet(
    server: WireServer, tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "RULES", replace(QUICK, settle_s=60.0))  # however slow we are
    server.batches.faults = BatchFaults(refusals={"poll": [404, 404]})
    generate(recipe(server, provider), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)


@pytest.mark.parametrize("step", ["create", "poll", "download"])
def test_a_page_of_a_proxy_does_not_say_that_a_batch_is_gone(
    server: WireServer, tmp_path: Path, step: BatchStep
) -> None:
    server.batches.faults = BatchFaults(refusals={step: [404, 404]}, pages=True)
    generate(recipe(server), output=tmp_path / "run")
    assert_whole(tmp_path / "run", server, 12)


@pytest.mark.parametrize(("provider", "step"), [("openai", "upload"), ("anthropic", "create")])
def test_an_address_of_pages_has_no_batch_api(
    server: WireServer, tmp_path: Path, provider: str, step: BatchStep
) -> None:
    server.batches.faults = BatchFaults(refusals={step: [404] * 2}, pages=True)
    with pytest.raises(UsageError, match="404"):
        generate(recipe(server, provider), output=tmp_path / "run")


def test_a_batch_that_is_gone_is_said_to_be(server: WireServer, tmp_path: Path) -> None:
    server.batches.faults = BatchFaults(refusals={"poll": [404] * 1000})
    with pytest.raises(UsageError, match="of this run is not to be had"):
        generate(recipe(server), output=tmp_path / "run")


@pytest.mark.parametrize(
    "odd", [{"a": 1}, ["expired"], 3, True, None, {"code": {"a": 1}}, {"type": ["x"], "code": [1]}]
)
def test_lines_of_unexpected_types_are_faults_of_the_provider(
    server: WireServer, odd: object
) -> None:
    async def read() -> None:
        one = build_provider(ModelName("openai", "one"), base_url=server.openai_url)
        two = build_provider(ModelName("anthropic", "two"), base_url=server.anthropic_url)
        openai, anthropic = OpenAIBatches(one, 9.0), AnthropicBatches(two, 9.0)  # type: ignore[arg-type]
        lines: list[dict[str, object]]
        lines = [{"error": {"code": odd}}, {"error": odd}, {"response": odd}]
        for line in lines:
            with pytest.raises(ServerFault):
                openai.read(line, make_request())
        lines = [{"result": {"type": odd}}, {"result": odd}]
        for line in lines:
            with pytest.raises(ServerFault):
                anthropic.read(line, make_request())
        await one.close()
        await two.close()

    asyncio.run(read())


def test_a_line_that_failed_is_charged_what_it_says_was_used(server: WireServer) -> None:
    async def read() -> None:
        one = build_provider(ModelName("openai", "one"), base_url=server.openai_url)
        used = {"prompt_tokens": 7, "completion_tokens": 3}
        body = {"error": {"message": "the worker died"}, "usage": used}
        with pytest.raises(ServerFault) as failed:
            OpenAIBatches(one, 9.0).read(  # type: ignore[arg-type]
                {"response": {"status_code": 500, "body": body}}, make_request()
            )
        assert failed.value.usage == Usage(7, 3)
        await one.close()

    asyncio.run(read())


def test_a_status_of_another_type_is_a_fault_that_is_waited_out(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, odd = server.batches._as_openai, [["completed"], None, 7]

    def described(batch: Any) -> dict[str, Any]:
        body = plain(batch)
        return body | {"status": odd.pop()} if odd and batch.polls > 1 else body

    monkeypatch.setattr(server.batches, "_as_openai", described)
    generate(recipe(server), output=tmp_path / "run")
    assert odd == []
    assert_whole(tmp_path / "run", server, 12)


def test_one_model_with_two_keys_is_refused_before_anything_is_made(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    one = {"model": "openai/rules", "base_url": server.openai_url}
    both = recipe(server, models={"default": one, "responder": one | {"api_key_env": "OTHER_KEY"}})
    with pytest.raises(UsageError, match="with the keys of OPENAI_API_KEY and OTHER_KEY"):
        generate(both, output=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert not server.batches.made


def test_a_judge_that_is_the_model_itself_with_another_key_is_refused_too(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    judge = VerificationOverrides(
        judges=["openai/rules"],
        base_url=server.openai_url,
        api_key_env="OTHER_KEY",
        allow_same_judge=True,
        embeddings=False,
    )
    with pytest.raises(UsageError, match="with the keys of OPENAI_API_KEY and OTHER_KEY"):
        generate(recipe(server), output=tmp_path / "run", play=VerifiedPlay(judge))
    assert not server.batches.made
