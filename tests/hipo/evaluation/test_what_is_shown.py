"""Every request of an evaluation: nothing private, no label of the target, nothing said after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.evaluation.evaluate import evaluate
from hipo.app.export.export import export
from outputs.evaluation_items.gold import load_gold
from outputs.evaluation_items.runs import load_run
from outputs.evaluation_items.sets import load_set
from quality.evaluation.item import EvaluationItem
from quality.evaluation.item_set import ItemSet
from quality.gold import gold_canary
from tests.hipo.evaluation.answering import by_hash
from tests.hipo.evaluation.test_asking import asked
from tests.wire.server import Seen, WireServer

BLIND = (
    "hipo-utterance", "hipo-utterance-paper", "hipo-cumulative", "hipo-cumulative-paper",
    "hipo-conversation",
)  # fmt: skip
MODES = ("zero-shot", "cot", "icl", "two-phase")


def user_message(seen: Seen) -> str:
    return str(seen.body["messages"][-1]["content"])


def sections(text: str) -> dict[str, str]:
    """Return what a message says by heading; of equal ones the last."""
    parts = f"\n{text}".split("\n# ")[1:]
    return {head: body for head, _, body in (part.partition("\n") for part in parts)}


def flat(text: str) -> str:
    return " ".join(text.split())


def later(run_items: ItemSet, item: EvaluationItem) -> list[str]:
    """Return what was said after the target of an item, and nowhere before or in its scene."""
    whole = next(
        other.asked.turns
        for other in run_items.items
        if other.kind == "conversation" and (other.case, other.arm) == (item.case, item.arm)
    )
    assert item.turn is not None
    before = {text for _, text in whole[: item.turn + 1]}
    return [text for _, text in whole[item.turn + 1 :] if text not in before]


@pytest.mark.parametrize("mode", MODES)
def test_no_request_of_a_benchmark_task_holds_a_private_fact_or_what_came_later(
    tmp_path: Path, run: Path, wire_server: WireServer, mode: str
) -> None:
    wire_server.answer = by_hash
    items = load_run(run, verdict="any")
    asked(run, tmp_path / "e", wire_server, tasks=BLIND, modes=[mode])
    facts = {(i.asked.fact.text, i.asked.fact.about) for i in items.items if i.asked.fact}
    assert facts
    targets = {i.asked.turns[-1][1]: i for i in items.items if i.kind == "cumulative"}
    found = 0
    for seen in wire_server.seen:
        text = flat(seen.raw)
        assert not [fact for fact, _ in facts if flat(fact) in text]
        asked_about = sections(user_message(seen))
        assert "What only the responder knows" not in asked_about
        line = asked_about.get("Utterance to label", "").removeprefix("Utterance: ").strip()
        if line:
            found += 1
            item = targets[line]
            shown = flat(user_message(seen))
            assert not [said for said in later(items, item) if flat(said) in shown]
    assert found


@pytest.mark.parametrize("task", ["hipo-utterance", "hipo-cumulative", "hipo-oracle", "hipo-swap"])
def test_no_request_depends_on_the_label_of_its_target(
    tmp_path: Path, run: Path, task: str
) -> None:
    """The prompts are the same for items whose references say something else."""
    from dataclasses import replace  # noqa: PLC0415

    from prompts.environment import Templates  # noqa: PLC0415
    from prompts.tasks.prompts import TaskPrompts  # noqa: PLC0415
    from prompts.tasks.registry import load_task  # noqa: PLC0415

    items = load_run(run, verdict="any")
    prompts = TaskPrompts(Templates(), items.scheme, load_task(task, items.scheme))
    for item in items.for_task(prompts.task):
        other = replace(item.asked, right={"veracity": "Manner"}, goal="truthful non-disclosure")
        assert [q.question.messages for q in prompts.questions(item.asked)] == [
            q.question.messages for q in prompts.questions(other)
        ]


def test_only_oracle_and_swap_show_the_fact_and_each_line_beside_two(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    asked(run, tmp_path / "e", wire_server, tasks=("hipo-oracle", "hipo-swap"))
    facts: dict[str, set[str]] = {}
    for seen in wire_server.seen:
        parts = sections(user_message(seen))
        line = parts["Utterance to label"].strip()
        if "Conversation so far" not in parts:
            facts.setdefault(line, set()).add(parts["What only the responder knows"])
    assert facts
    assert {len(shown) for shown in facts.values()} == {2}


def test_a_set_and_the_run_it_is_of_ask_the_same(
    tmp_path: Path, run: Path, benchmark: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    tasks = ("hipo-utterance", "hipo-cumulative", "hipo-conversation", "hipo-oracle")
    asked(run, tmp_path / "run", wire_server, tasks=tasks)
    sent = {user_message(seen) for seen in wire_server.seen}
    wire_server.seen.clear()
    asked(benchmark, tmp_path / "set", wire_server, tasks=tasks, settings={"any_verdict": False})
    assert {user_message(seen) for seen in wire_server.seen} == sent
    of_set = {item.id: item for item in load_set(benchmark).items}
    for item in load_run(run, verdict="any").items:
        if item.kind != "swap":
            assert of_set[item.id].references == item.references
            assert of_set[item.id].split == "test"


def test_a_shared_opening_is_no_item(run: Path) -> None:
    items = load_run(run, verdict="any").items
    turns = [item.turn for item in items if item.kind == "utterance"]
    assert turns
    assert min(turn for turn in turns if turn is not None) == 3


def test_swap_items_of_a_run_and_of_its_set_are_the_same(tmp_path: Path, run: Path) -> None:
    export(run, "swap", tmp_path / "swap", verdict="any", fractions=(0, 0, 100), parquet=False)
    of_set = load_set(tmp_path / "swap")
    of_run = [item for item in load_run(run, verdict="any").items if item.kind == "swap"]
    assert of_set.kind == "swap"
    assert {item.id: item.references for item in of_set.items} == {
        item.id: item.references for item in of_run
    }
    labels = {item.references["swap"]["veracity"] for item in of_run if item.references}
    assert labels == {"Quality", "not Quality"}


def test_gold_lines_are_items_with_settled_labels() -> None:
    gold = load_gold()
    assert len(gold.items) > 200
    assert all(set(item.references) == {"gold"} for item in gold.items)
    assert len({item.id for item in gold.items}) == len(gold.items)


def test_gold_means_the_gold_lines_beside_an_evaluation_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked_twice = [
        evaluate("gold", tasks=["hipo-oracle"], models=["offline/random"], output=Path("gold"), n=9)
        for _ in range(2)
    ]
    assert [done.calls for done in asked_twice] == [9, 0]


def test_gold_lines_carry_their_canary_wherever_an_evaluation_writes_them(tmp_path: Path) -> None:
    canary = gold_canary()
    evaluate("gold", tasks=["hipo-oracle"], models=["offline/random"], output=tmp_path, n=12)
    lines = (tmp_path / "items.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(canary in line for line in lines)
    assert canary in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert canary in (tmp_path / "evaluation.json").read_text(encoding="utf-8")
