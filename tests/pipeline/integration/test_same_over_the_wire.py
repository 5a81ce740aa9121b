"""The same rules answer in process and behind either wire format: the dialogues are identical.

Only the scores of a vote are compared as numbers: which other texts were encoded in the same batch
moves them by up to 1e-6, and never the winner.
"""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.pipeline.integration.command import Hipo
from tests.pipeline.integration.records import rows
from tests.wire.server import WireServer

CASES = (
    "--scenarios", "used_car,wedding_ring", "-n", "6", "--tactics", "balanced",
    "--strategy", "direct,reflective,consistency", "--seed", "3",
)  # fmt: skip


def said(run: Path) -> bytes:
    """Return everything said and labelled in a run as canonical bytes.

    Which arm a dialogue belongs to is named by its strategy: the id of an arm covers its models.
    """
    turns = rows(
        run,
        "select c.id, json_extract(a.description, '$.strategy'), t.turn, t.role, t.text, t.kind,"
        " t.declared_goal from turns t join dialogues d on d.seq = t.dialogue"
        " join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq order by 1, 2, 3",
    )
    labels = rows(
        run,
        "select l.case_id, json_extract(a.description, '$.strategy'), l.turn, l.kind, l.dimension,"
        " l.value, l.rationale, l.raw from labels l join arms a on a.id = l.arm"
        " order by 1, 2, 3, 4, 5, 6",
    )
    return orjson.dumps([turns, labels], default=bytes.decode)


def chosen(run: Path) -> tuple[list[object], list[float]]:
    """Return the traces of a run without the scores of votes, and those scores."""
    found = rows(
        run,
        "select h.trace from traces h join dialogues d on d.seq = h.dialogue"
        " join cases c on c.seq = d.case_seq join arms a on a.seq = d.arm_seq"
        " order by c.id, json_extract(a.description, '$.strategy'), h.turn",
    )
    scores: list[float] = []

    def without_scores(value: object) -> object:
        if isinstance(value, float):
            scores.append(value)
            return None
        return [without_scores(item) for item in value] if isinstance(value, list) else value

    return [without_scores(orjson.loads(trace)) for (trace,) in found], scores


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in-process")
    Hipo(folder).here("generate", *CASES, "--model", "offline/rules", "-o", "run")
    return folder / "run"


@pytest.mark.parametrize("provider", ["openai", "anthropic", "compatible"])
def test_dialogues_are_the_same_byte_for_byte(
    provider: str, in_process: Path, tmp_path: Path
) -> None:
    with WireServer() as server:
        url = server.anthropic_url if provider == "anthropic" else server.openai_url
        Hipo(tmp_path).here(
            "generate", *CASES, "--model", f"{provider}/rules", "--base-url", url, "-o", "run",
            env={"OPENAI_API_KEY": "test-key", "ANTHROPIC_API_KEY": "test-key"},
        )  # fmt: skip
        assert server.count > 18
    run = tmp_path / "run"
    assert len(said(run)) > 20_000
    assert said(run) == said(in_process)
    traces, scores = chosen(run)
    expected_traces, expected_scores = chosen(in_process)
    assert traces == expected_traces
    assert len(scores) >= 4 * 12
    assert scores == pytest.approx(expected_scores, abs=2e-6)
