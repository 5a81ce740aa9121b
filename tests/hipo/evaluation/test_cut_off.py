"""Answers that a limit of tokens cut off: they are told, and a higher limit asks for them again."""

from __future__ import annotations

from pathlib import Path

from hipo.app.evaluation.estimates import estimate_evaluation
from hipo.app.evaluation.plan import plan_evaluation
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.cli.evaluate.report import evaluated_as_json, evaluated_as_text
from outputs.evaluation.writing import write_evaluation
from quality.evaluation.evaluation_record import read_record
from tests.hipo.evaluation.answering import by_hash
from tests.hipo.evaluation.test_asking import MODEL, asked, rows
from tests.wire.faults import Faults
from tests.wire.server import WireServer

CUT_OFF = Faults(
    canned=(
        200,
        {
            "id": "x",
            "object": "chat.completion",
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": ""},
                    "finish_reason": "length",
                }
            ],
        },
    )
)


def test_answers_that_are_cut_off_are_told_with_what_to_do(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.faults = CUT_OFF
    done = asked(run, tmp_path / "e", wire_server, settings={"keep_going": True})
    assert (done.counts["unreadable"], done.cut_off) == (16, 16)
    assert evaluated_as_json(done)["cut_off"] == 16
    text = evaluated_as_text(done)
    assert "cut off before the last label, which counts as wrong: 16 answers; a higher" in text
    assert {fault for row in rows(tmp_path / "e") for fault in row.faults.values()} == {"cut off"}


def test_a_higher_limit_asks_anew_what_the_lower_one_cut_off_and_the_record_tells_both(
    tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    folder = tmp_path / "e"
    low, high = {"max_tokens": 64}, {"max_tokens": 256}
    wire_server.faults = CUT_OFF
    assert asked(run, folder, wire_server, settings=low, n=4).cut_off == 4
    wire_server.faults, wire_server.answer = Faults(), by_hash
    assert asked(run, folder, wire_server, settings=low).counts == {"answered": 12, "unreadable": 4}
    before = {row.item: row.reply for row in rows(folder) if row.status == "answered"}
    settings = EvaluationSettings(
        source=str(run), tasks=["hipo-utterance"], models=[MODEL], any_verdict=True,
        base_url=wire_server.openai_url, **high,
    )  # fmt: skip
    estimate = estimate_evaluation(plan_evaluation(settings), folder, resume="always")
    assert (estimate.answers, estimate.calls) == (4, 4)
    done = asked(run, folder, wire_server, settings=high, resume="always")
    assert (done.calls, done.outcome.present, done.counts) == (4, 12, {"answered": 16})
    assert {seen.body["max_tokens"] for seen in wire_server.seen[-4:]} == {256}
    found = {row.item: row for row in rows(folder)}
    assert {item: found[item].reply for item in before} == before
    assert {found[item].max_tokens for item in before} == {64}
    assert {found[item].max_tokens for item in found.keys() - before.keys()} == {None}
    (model,) = read_record(folder).models
    assert (model.max_tokens, model.lower_limits) == (256, {64: 12})
    written = write_evaluation(folder, "1")
    assert "256; 12 answers under 64" in written.page.read_text()
    again = asked(run, folder, wire_server, settings=high)
    assert (again.calls, again.counts) == (0, {"answered": 16})
    higher = asked(run, folder, wire_server, settings={"max_tokens": 512}, resume="always")
    assert (higher.calls, read_record(folder).models[0].lower_limits) == (0, {64: 12, 256: 4})
    other = {"max_tokens": 1024, "temperature": 0.5}
    assert asked(run, folder, wire_server, settings=other, resume="always").calls == 16
