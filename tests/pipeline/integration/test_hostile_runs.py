"""Whole runs against hostile replies: they end, every case with its reason, and nothing is paid twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hipo import generate
from pipeline.recipes.recipe import Recipe
from tests.pipeline.integration.records import count, rows
from tests.wire.hostile_server import HostileServer


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer() as hostile:
        yield hostile


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("finish-list", "ok"),
        ("usage-i64", "ok"),
        ("usage-1e30", "ok"),
        ("id-nested", "ok"),
        ("text-long", "ok"),
        ("text-nested", "ok"),
        ("text-nul", "ok"),
        ("choices-none", "empty_reply"),
        ("body-nested-objects", "server_fault"),
        ("body-not-utf-8", "server_fault"),
        ("gzip-bomb", "server_fault"),
        ("endless", "server_fault"),
        ("header-huge", "server_fault"),
        ("error-lists-900", "bad_request"),
    ],
)
def test_a_run_against_one_hostile_reply_ends_and_pays_for_nothing_twice(
    server: HostileServer, tmp_path: Path, reply: str, code: str
) -> None:
    recipe = Recipe.model_validate(
        {
            "name": "hostile",
            "scenarios": ["used_car"],
            "n": 2,
            "strategies": ["direct"],
            "models": {"default": {"model": f"compatible/{reply}", "base_url": f"{server.url}/v1"}},
            "limits": {"max_attempts": 1, "timeout_s": 20},
        }
    )
    server.asked.clear()
    folder = tmp_path / "run"
    run = generate(recipe, output=folder)
    state = run.state()
    assert state.generated + sum(state.failed.values()) == state.planned == 2
    assert "internal_error" not in state.failed
    sent = server.asked[reply]
    assert sent == count(folder, "requests") > 0
    codes = {found for (found,) in rows(folder, "select distinct code from requests")}
    assert codes <= {code, "ok", "bad_request"}
    assert code in codes
    if code in {"ok", "empty_reply"} or reply.startswith("body-"):  # it came, and is kept
        kept = "select (select count(*) from choices) + count(unread) from requests"
        assert rows(folder, kept) > [(0,)]
    if code != "bad_request":  # it may have been billed
        assert rows(folder, "select min(charged_tokens) from requests") > [(0,)]
    longest = "select max(length(coalesce(unread, ''))), (select max(length(text)) from choices)"
    assert max(size or 0 for size in rows(folder, f"{longest} from requests")[0]) < 60_100
    generate(recipe, output=folder)
    assert server.asked[reply] == sent
