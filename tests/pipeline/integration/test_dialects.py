"""Servers that speak the format in their own ways: a dialogue is played, or one message says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.dialects import KEY, Dialect, DialectServer, both, says
from tests.wire.known_dialects import NOT_PLAYED, PLAYED

GENERATE = ("generate", "--scenarios", "used_car", "-n", "2", "--turns", "1", "-o", "run")
OMITTED = {
    "gemma-on-vllm": "system_role",
    "mistral-7b-on-vllm": "system_role",
    "ministral-on-llama.cpp": "system_role",
    "template-on-tgi": "system_role",
    "gpt-5": "max_tokens temperature top_p",
    "claude": "top_p",
    "claude-behind-openrouter": "top_p",
    "kimi": "temperature top_p",
    "mistral": "seed",
    "cerebras": "seed",
    "xai": "top_p",
    "gemini": "seed",
    "cohere": "n",
    "bedrock": "temperature",
    "litellm": "seed",
}
"""What is left out of requests in the end; of others nothing."""


def key_option(dialect: Dialect) -> tuple[str, ...]:
    header = dialect.key_header
    if not header:
        return ()
    return ("--api-key-env", "MY_KEY" if header == "authorization" else f"{header}:MY_KEY")


@pytest.mark.slow
@pytest.mark.parametrize("dialect", PLAYED, ids=lambda dialect: dialect.name)
def test_a_dialogue_is_played_in_every_dialect(tmp_path: Path, dialect: Dialect) -> None:
    hipo = Hipo(tmp_path)
    with DialectServer(dialect) as server:
        address = ("--model", "compatible/m", "--base-url", server.url, *key_option(dialect))
        hipo.here(*GENERATE, *address, "--strategy", "consistency", "--k", "2", env={"MY_KEY": KEY})
    omitted = rows(tmp_path / "run", "select omitted from requests where code = 'ok'")
    assert omitted[-1] == (OMITTED.get(dialect.name, ""),)
    assert hipo.state("run")["generated"] == 2
    # Each of the two dialogues may meet each refusal once; what was learnt is not tried again.
    assert server.refused <= 8


@pytest.mark.parametrize("name", NOT_PLAYED)
def test_a_server_that_will_not_answer_ends_the_run_at_once_with_one_message(
    tmp_path: Path, name: str
) -> None:
    code, told, dialect = NOT_PLAYED[name]
    with DialectServer(dialect) as server:
        address = ("--model", "compatible/m", "--base-url", server.url)
        done = Hipo(tmp_path).here(*GENERATE, *address, code=code)
    assert told in done.stderr
    assert server.count == 1


@pytest.mark.slow
def test_the_judges_of_a_run_learn_what_their_model_refuses(tmp_path: Path) -> None:
    dialect = next(dialect for dialect in PLAYED if dialect.name == "gemma-on-vllm")
    with DialectServer(dialect) as server:
        hipo = Hipo(tmp_path)
        hipo.here(*GENERATE, "--model", "offline/rules")
        judge = ("--judge", "compatible/m", "--judge-base-url", server.url)
        done = hipo.here("verify", "run", *judge)
    assert "takes no messages of the system" in done.stderr
    assert rows(tmp_path / "run", "select distinct omitted from requests where code = 'ok'")[
        -1
    ] == ("system_role",)


@pytest.mark.slow
def test_claude_is_asked_with_one_of_temperature_and_top_p(tmp_path: Path) -> None:
    refused = says("`temperature` and `top_p` cannot both be specified for this model.")
    with DialectServer(Dialect("claude", (both("temperature", "top_p", 400, refused),))) as server:
        address = ("--model", "anthropic/m", "--base-url", server.anthropic_url)
        Hipo(tmp_path).here(*GENERATE, *address, env={"ANTHROPIC_API_KEY": "a-key-of-mine"})
        last = server.seen[-1].body
    assert last["temperature"] == 0.2
    assert "top_p" not in last
