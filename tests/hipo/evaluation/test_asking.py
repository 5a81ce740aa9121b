"""Evaluations over the wire: every answer is stored, counted for what it is, and paid once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hipo.app.evaluation.evaluate import ModelsEvaluated, evaluate
from hipo.app.evaluation.plan import plan_evaluation
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.cli.evaluate.report import evaluated_as_text
from outputs.evaluation.writing import write_evaluation
from outputs.evaluation_items.runs import load_run
from pipeline.recipes.recipe import Limits
from pipeline.stopping.stop import REFUSED
from quality.evaluation.evaluation_record import read_record
from quality.evaluation.result_row import ResultRow, read_results
from quality.evaluation.shown_items import read_items
from scenarios.errors import UsageError
from tests.factories import make_arm, make_dialogue, make_run, make_tactic
from tests.hipo.evaluation.answering import by_hash, choose, first_option
from tests.wire.faults import Faults
from tests.wire.server import WireServer

MODEL = "compatible/reader"


def asked(
    run: Path,
    folder: Path,
    server: WireServer | None = None,
    *,
    tasks: tuple[str, ...] = ("hipo-utterance",),
    models: tuple[str, ...] = (MODEL,),
    settings: dict[str, Any] | None = None,
    **more: Any,
) -> ModelsEvaluated:
    """Evaluate every dialogue of a run, without a page."""
    own = {"any_verdict": True, "limits": Limits(max_concurrency=4, wait_for_endpoint=0)}
    if server is not None:
        own |= {"base_url": server.openai_url}
    own |= settings or {}
    base = EvaluationSettings(**own)
    return evaluate(
        run, tasks=tasks, models=models, output=folder, settings=base, page=False, **more
    )


def rows(folder: Path) -> list[ResultRow]:
    return list(read_results(folder))


def test_every_item_is_asked_about_once_and_a_second_time_sends_nothing(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    tasks = ("hipo-utterance", "hipo-cumulative", "hipo-conversation")
    done = asked(run, tmp_path / "e", wire_server, tasks=tasks)
    items = load_run(run, verdict="any")
    expected = {t: len(items.for_task(p.prompts.task)) for t, p in _plans(run, tasks).items()}
    found = rows(tmp_path / "e")
    assert {t: sum(row.task == t for row in found) for t in tasks} == expected
    assert done.counts == {"answered": sum(expected.values())}
    assert all(row.status == "answered" and row.right for row in found)
    before = (tmp_path / "e" / "results.jsonl").read_bytes(), wire_server.count
    again = asked(run, tmp_path / "e", wire_server, tasks=tasks)
    assert (again.calls, again.outcome.done) == (0, 0)
    assert ((tmp_path / "e" / "results.jsonl").read_bytes(), wire_server.count) == before


def test_what_two_strategies_say_alike_is_paid_for_once_and_scored_for_each(
    tmp_path: Path, wire_server: WireServer
) -> None:
    tactic = make_tactic(intention="Inform", veracity="Manner", illocutionary="Representatives")
    said = make_dialogue("Was it ever hit?", "Once.", tactic=tactic)
    arms = {name: make_arm(strategy=name) for name in ("direct", "consistency")}
    alike = make_run(tmp_path / "run", [replace(said, arm=name) for name in arms], arms=arms)
    wire_server.answer = by_hash
    tasks = ("hipo-utterance", "hipo-cumulative", "hipo-conversation")
    asked(alike, tmp_path / "e", wire_server, tasks=tasks)
    assert wire_server.count == len(tasks)
    found = rows(tmp_path / "e")
    assert sorted(row.strategy for row in found) == ["consistency"] * 3 + ["direct"] * 3


def _plans(run: Path, tasks: tuple[str, ...]) -> dict[str, Any]:
    settings = EvaluationSettings(
        source=str(run), tasks=tasks, models=("offline/judge",), any_verdict=True
    )
    return {plan.prompts.task.id: plan for plan in plan_evaluation(settings).plan.tasks}


def test_a_label_is_right_where_it_is_the_reference_and_by_each_reference_apart(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = choose(lambda key, o: {"veracity": "Quality"}.get(key, o[0]))
    asked(run, tmp_path / "e", wire_server)
    for row in rows(tmp_path / "e"):
        declared = row.references["declared"]
        assert set(declared) == {"intention", "veracity", "illocutionary", "goal"}
        assert row.labels["veracity"] == "Quality"
        assert row.right["declared"]["veracity"] == (declared["veracity"] == "Quality")
        assert row.labels["intention"] == row.options["intention"][0]
        agreed = row.references.get("agreed", {})
        assert set(row.right.get("agreed", {})) == set(agreed)
        assert all(declared[name] == label for name, label in agreed.items())
    assert any("agreed" in row.references for row in rows(tmp_path / "e"))


ODD = {
    "unreadable": ("I could not say.", "unreadable", {"unreadable"}),
    "refused": ("I'm sorry, but I cannot help with that request.", "refused", {"refused"}),
    "empty": ("", "unreadable", {"unreadable"}),
}


@pytest.mark.parametrize("kind", ODD)
def test_what_cannot_be_read_is_an_answer_and_wrong_and_never_repaired(
    tmp_path: Path, run: Path, wire_server: WireServer, kind: str
) -> None:
    text, status, faults = ODD[kind]
    wire_server.answer = lambda messages, seed: text
    done = asked(run, tmp_path / "e", wire_server)
    assert done.counts == {status: 16}
    assert wire_server.count == 16
    for row in rows(tmp_path / "e"):
        assert (row.status, set(row.faults.values())) == (status, faults)
        assert row.reply == text
        assert not any(row.right["declared"].values())
    again = asked(run, tmp_path / "e", wire_server, settings={"retry_failed": True})
    assert again.calls == 0, "an answer was paid for: it is not asked for again"


def test_one_label_that_nobody_knows_spoils_only_itself_and_aliases_are_counted(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    given = {"veracity": "Falsification", "intention": "Gloating"}
    wire_server.answer = choose(lambda key, o: given.get(key, o[0]))
    done = asked(run, tmp_path / "e", wire_server)
    assert done.counts == {"answered": 16}
    for row in rows(tmp_path / "e"):
        assert (row.labels["intention"], row.faults) == (None, {"intention": "unknown label"})
        assert (row.labels["veracity"], row.harmonised) == ("Quality", ("veracity",))
        assert row.raw == given
        assert row.right["declared"]["intention"] is False


def test_where_no_answer_came_nothing_is_scored_and_only_that_is_asked_again(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    limits = Limits(max_concurrency=1, max_attempts=1, wait_for_endpoint=0)
    wire_server.faults = Faults(rates={"broken_json": 0.4}, seed=3)
    done = asked(run, tmp_path / "e", wire_server, settings={"limits": limits})
    failed = done.counts["failed"]
    assert 0 < failed < 16
    assert sum(one.n for one in done.failures) == failed
    assert f"  {done.failures[0].n} {done.failures[0].code}: " in evaluated_as_text(done)
    for row in rows(tmp_path / "e"):
        if row.status == "failed":
            assert (row.reply, row.right) == (None, {})
            assert set(row.labels.values()) == {None}
            assert row.options["veracity"]
            assert row.reason
    before = wire_server.count
    wire_server.faults = Faults()
    assert asked(run, tmp_path / "e", wire_server).calls == 0
    again = asked(run, tmp_path / "e", wire_server, settings={"retry_failed": True})
    assert (again.calls, wire_server.count - before) == (failed, failed)
    assert again.counts == {"answered": 16}


def test_a_model_of_which_nothing_can_be_read_is_not_asked_to_the_end(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = lambda messages, seed: "well"
    limits = Limits(max_concurrency=1)
    settings = {"repeat": 3, "limits": limits}
    done = asked(run, tmp_path / "e", wire_server, settings=settings)
    assert done.outcome.stop_code == REFUSED
    assert "nothing that compatible/reader says to hipo-utterance" in str(done.outcome.stopped)
    assert 20 <= wire_server.count < 25
    going = asked(run, tmp_path / "e", wire_server, settings={**settings, "keep_going": True})
    assert going.outcome.stopped is None
    assert going.counts == {"unreadable": 48}


def test_repeats_ask_the_model_itself_and_not_the_cache(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    asked(run, tmp_path / "e", wire_server, settings={"repeat": 3})
    found = rows(tmp_path / "e")
    assert {(row.repeat, row.draw) for row in found} == {(0, 0), (1, 0), (2, 0)}
    assert (len(found), wire_server.count) == (48, 48)
    assert len({body.raw for body in wire_server.seen}) == 48


def test_worked_examples_are_drawn_three_times(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = first_option
    done = asked(run, tmp_path / "e", wire_server, modes=["icl"])
    assert done.counts == {"answered": 48}
    assert {(row.mode, row.draw) for row in rows(tmp_path / "e")} == {
        ("icl", 0), ("icl", 1), ("icl", 2),
    }  # fmt: skip


def test_explaining_first_takes_two_calls_and_the_second_holds_what_was_said(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = choose(lambda key, o: o[0])
    asked(run, tmp_path / "e", wire_server, modes=["two-phase"])
    assert wire_server.count == 32
    assert sum("so it seems" in seen.raw for seen in wire_server.seen) == 16


def test_models_tasks_and_modes_stand_side_by_side_in_one_folder(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    asked(run, tmp_path / "e", wire_server)
    asked(run, tmp_path / "e", wire_server, models=("compatible/other",), modes=["cot"])
    found = {(row.model, row.mode) for row in rows(tmp_path / "e")}
    assert found == {(MODEL, "zero-shot"), ("compatible/other", "cot")}
    record = read_record(tmp_path / "e")
    assert [(m.name, m.requests) for m in record.models] == [(MODEL, 16), ("compatible/other", 16)]
    assert [(t.id, t.mode) for t in record.tasks] == [
        ("hipo-utterance", "zero-shot"), ("hipo-utterance", "cot"),
    ]  # fmt: skip
    assert {item.item for item in read_items(tmp_path / "e")} == {
        r.item for r in rows(tmp_path / "e")
    }


def test_items_are_drawn_evenly_over_classes_and_the_same_for_every_task(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    drawn = {"n": 6, "balance": "goal", "seed": 5}
    tasks = ("hipo-utterance", "hipo-cumulative")
    asked(run, tmp_path / "e", wire_server, tasks=tasks, settings=drawn)
    found = rows(tmp_path / "e")
    for task in tasks:
        goals = [row.references["declared"]["goal"] for row in found if row.task == task]
        assert sorted(goals) == ["deception"] * 3 + ["truthful non-disclosure"] * 3
    places = {t: {(r.case, r.arm, r.turn) for r in found if r.task == t} for t in tasks}
    assert places["hipo-utterance"] == places["hipo-cumulative"]
    record = read_record(tmp_path / "e")
    assert record.set.drawn is not None
    assert (record.set.drawn.n, record.set.drawn.dimension) == (6, "goal")
    assert sum(record.set.drawn.shares.values()) == pytest.approx(1)


def test_a_raised_n_asks_what_is_new_and_a_lowered_one_is_another_evaluation(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    for n, sent in ((4, 4), (6, 6)):
        asked(run, tmp_path / "e", wire_server, settings={"n": n, "balance": "goal"})
        assert (len(rows(tmp_path / "e")), wire_server.count) == (n, sent)
    with pytest.raises(UsageError, match=r"-n, --balance: .*n 6.* -> n 4"):
        asked(run, tmp_path / "e", wire_server, settings={"n": 4, "balance": "goal"})
    asked(run, tmp_path / "e", wire_server)
    assert len(rows(tmp_path / "e")) == wire_server.count > 6, "all of them hold any draw"


def test_the_shares_of_a_task_stay_known_where_another_is_asked_later(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    drawn = {"n": 4, "balance": "goal"}
    asked(run, tmp_path / "e", wire_server, settings=drawn)
    first = read_record(tmp_path / "e").set.drawn
    asked(run, tmp_path / "e", wire_server, tasks=("hipo-conversation",), settings=drawn)
    both = read_record(tmp_path / "e").set.drawn
    assert first is not None
    assert both is not None
    assert list(both.by_task) == ["hipo-utterance", "hipo-conversation"]
    assert both.by_task["hipo-utterance"] == first.shares


def test_a_model_that_judged_or_wrote_the_items_is_marked(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    models = ("compatible/judge", "compatible/rules", MODEL)
    asked(run, tmp_path / "e", wire_server, models=models)
    marks = {row.model: row.marks for row in rows(tmp_path / "e")}
    assert marks == {
        "compatible/judge": ("its own judge",),
        "compatible/rules": ("its own generator",),
        MODEL: (),
    }


def test_anthropics_sdk_is_asked_without_a_temperature_it_does_not_take(
    tmp_path: Path, run: Path, wire_server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-anthropic")
    wire_server.answer = by_hash
    wire_server.faults = Faults(reject=frozenset({"temperature"}))
    done = asked(
        run, tmp_path / "e", wire_server, models=("anthropic/claude-test",),
        settings={"base_url": wire_server.anthropic_url},
    )  # fmt: skip
    assert done.counts == {"answered": 16}
    assert wire_server.seen[0].body["temperature"] == 0
    assert "temperature" not in wire_server.seen[-1].body


def test_openais_sdk_is_asked_at_temperature_0(
    tmp_path: Path, run: Path, wire_server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-openai")
    wire_server.answer = by_hash
    done = asked(run, tmp_path / "e", wire_server, models=("openai/gpt-test",))
    assert done.counts == {"answered": 16}
    assert {seen.body["temperature"] for seen in wire_server.seen} == {0}
    assert "sk-test-openai" not in (tmp_path / "e" / "results.jsonl").read_text()


def test_the_record_tells_how_a_model_was_asked_and_what_answered(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    wire_server.faults = Faults(reject=frozenset({"temperature"}))
    asked(run, tmp_path / "e", wire_server, settings={"max_tokens": 77})
    (model,) = read_record(tmp_path / "e").models
    assert (model.temperature, model.max_tokens, model.omitted) == (0.0, 77, ("temperature",))
    assert (model.answered_as, model.structured) == (("reader",), ("native",))
    assert (model.first_at or "") <= (model.last_at or "")
    assert (model.first_at or "").endswith("+00:00")
    page = write_evaluation(tmp_path / "e", "1").page.read_text(encoding="utf-8")
    assert "Models, and how they were asked" in page
    assert "not taken: temperature" in page
