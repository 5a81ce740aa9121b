"""What the card of a set, and judges, say of scenarios that a model put into its language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.test_scenario_translate import translation
from tests.wire.server import WireServer

MODEL = "openai/gpt-4o-mini"
LABELS = {"intention": "告知", "veracity": "无操控", "illocutionary": "承诺类"}


@pytest.fixture
def server() -> Iterator[WireServer]:
    """Serve a model that translates."""
    with WireServer(answer=translation) as running:
        yield running


def test_a_card_names_who_translated_and_who_has_read_it(
    hipo: Hipo, server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    reached = ("--model", MODEL, "--base-url", server.openai_url)
    done = hipo("scenarios", "translate", "used_car", "tour_doping", "--language", "zh", *reached, "-o", "words")  # fmt: skip
    assert done.code == 0, done.err
    path = Path("words/zh/used_car.yaml")
    path.write_text(path.read_text().replace('reviewed: ""', "reviewed: Lin"))
    said = {"plan": "p", "utterance": "我不想多说。", "goal": "隐瞒", **LABELS}
    why = {f"{dimension}_rationale": "r" for dimension in LABELS}
    server.answer = lambda messages, seed: json.dumps({**said, **why})
    played = hipo(
        "generate", "--scenarios", "used_car,tour_doping", "--language", "zh", "--wordings", "words",
        "--unreviewed", *reached, "--turns", "1", "-o", "run", "-n", "20",
    )  # fmt: skip
    assert played.code == 0, played.err
    exported = hipo("export", "run", "--to", "dialogues", "-o", "set")
    assert exported.code == 0, exported.err
    card = Path("set/README.md").read_text()
    told = card.partition("### Translated scenarios")[2].partition("#")[0]
    rows = [line.strip("| ").split(" | ") for line in told.splitlines() if line.startswith("| zh")]
    assert [(by.partition(",")[0], reader) for _, by, reader in rows] == [
        (MODEL, "nobody"),
        (MODEL, "Lin"),
    ]
    assert "language:\n- zh\n" in card
    # A program that reads English alone may judge it, and its word is told to be worth nothing.
    rules = ("--judge", "offline/judge", "--self-judge", "offline/judge", "--no-embeddings")
    judged = hipo("verify", "run", *rules, "--format", "json")
    assert judged.code == 0, judged.err
    note = "offline/judge does not know the language of dialogues in zh"
    assert [note in one for one in judged.data["notes"]].count(True) == 1


def test_a_judge_is_told_not_to_know_the_language_of_imported_dialogues(
    hipo: Hipo, tmp_path: Path
) -> None:
    said = {"initiator": "花怎么样了？", "responder": "花都很好，每天都浇水。"}
    line = {
        "language": "zh",
        "background": "一位旅客回到家中，邻居负责浇花。",
        "fact": "邻居在湖边住了十天，没有浇花。",
        "messages": [{"role": role, "content": text} for role, text in said.items()],
    }
    (tmp_path / "said.jsonl").write_text(json.dumps(line))
    assert hipo("import", "said.jsonl", "-o", "chats").code == 0
    rules = ("--judge", "offline/judge", "--no-embeddings", "--format", "json")
    judged = hipo("verify", "chats", *rules)
    assert judged.code == 0, judged.err
    told = [note for note in judged.data["notes"] if "does not know the language" in note]
    assert len(told) == 1
    assert "dialogues in zh:" in told[0]
