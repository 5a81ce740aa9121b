"""The tasks for inspect_ai: the same items, prompts, readings and figures as ``hipo evaluate``."""

from __future__ import annotations

import asyncio
import gc
import json
import tomllib
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from inspect_ai import eval as run_inspect
from inspect_ai import score as score_again
from inspect_ai.log import bundle_log_dir, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.util import registry_info

from hipo import inspect_tasks
from hipo.app.evaluation.evaluate import evaluate
from hipo.app.evaluation.settings import EvaluationSettings
from hipo.app.export.export import export
from outputs.dataset.reader import row_set
from pipeline.recipes.recipe import Limits
from quality.evaluation.result_row import ResultRow, read_results
from quality.evaluation.scoring_results import score_results
from scenarios.errors import UsageError
from scenarios.fingerprint import seed_from
from scenarios.schemes.registry import load_scheme
from tests.hipo.evaluation.answering import by_hash, choose
from tests.quality.review.chromium import chromium, new_page
from tests.serving import serving

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True, scope="module")
def asyncio_is_left_alone():
    """See that inspect_ai has not patched asyncio: every later test of the process would suffer.

    Collecting the garbage takes a second, and is done once.
    """
    yield
    gc.collect()
    assert asyncio.run.__module__ == "asyncio.runners"


ROOT = Path(__file__).resolve().parents[3]
TASKS = {
    "hipo-utterance": inspect_tasks.hipo_utterance,
    "hipo-cumulative": inspect_tasks.hipo_cumulative,
    "hipo-conversation": inspect_tasks.hipo_conversation,
    "hipo-oracle": inspect_tasks.hipo_oracle,
}
LABELS = {d.id: d.values for d in load_scheme("hipo").declared}


def mixed(messages, seed):
    """Answer by the words of the prompt: right, wrong, aliased, cut short, refused, or nonsense."""
    reply = by_hash(messages, seed)
    return (
        reply,
        f"Let me think.\n```json\n{reply}\n```",
        reply.lower(),
        reply.replace('"goal": "', '"goal": "some kind of '),
        "I'm sorry, but I cannot help with that request.",
        "I could not say.",
        reply[: len(reply) // 2],
    )[seed_from("kind", messages[-1][1]) % 7]


def asked_by_inspect(task, answer, folder):
    """Run one task with a scripted model, offline, and return its log."""

    def reply(messages, tools, tool_choice, config):
        assert config.temperature == 0
        said = answer([(message.role, message.text) for message in messages], 0)
        output = ModelOutput.from_content("mockllm", said)
        # without it inspect would load a tokenizer from the hub
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    [log] = run_inspect(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log


def figures_of(log):
    """Return every figure of a log by dimension, under its own name."""
    return {
        score.name: {metric.name: metric.value for metric in score.metrics.values()}
        for score in log.results.scores
    }


def rows_of(log):
    """Return the rows of results in a log, by item."""
    rows = [sample.scores["labels"].metadata["row"] for sample in log.samples]
    return {row["item"]: ResultRow.model_validate(row) for row in rows}


def named(estimate, name):
    """Return what a figure of hipo is called in inspect."""
    near = estimate.by_case
    bounds = {} if near is None else {f"{name}_low": near.low, f"{name}_high": near.high}
    return {name: estimate.value, **bounds}


@pytest.mark.parametrize("name", TASKS)
def test_both_runners_give_the_same_rows_and_figures(tmp_path, benchmark, wire_server, name):
    wire_server.answer = mixed
    settings = EvaluationSettings(
        source="", tasks=(), models=(), base_url=wire_server.openai_url,
        limits=Limits(max_concurrency=4, wait_for_endpoint=0),
    )  # fmt: skip
    evaluate(
        benchmark, tasks=[name], models=["compatible/m"], output=tmp_path / "e",
        settings=settings, page=False,
    )  # fmt: skip
    ours = {row.item: row for row in read_results(tmp_path / "e")}
    log = asked_by_inspect(TASKS[name](str(benchmark)), mixed, tmp_path / "logs")
    theirs = rows_of(log)
    assert ours.keys() == theirs.keys()
    assert len(Counter(row.status for row in ours.values())) > 1
    for item, row in ours.items():
        assert theirs[item] == row.model_copy(update={"model": "mockllm/model"})
    found = figures_of(log)
    expected = [s for s in score_results(ours.values(), LABELS).scores if s.reference == "declared"]
    assert {s.dimension for s in expected} == found.keys()
    for scores in expected:
        figures = found[scores.dimension]
        assert figures.pop("stderr") >= 0
        assert figures == pytest.approx(
            named(scores.accuracy, "accuracy") | named(scores.macro_f1, "macro_f1")
        )


def test_scores_are_those_known_by_hand(tmp_path, benchmark):
    log = asked_by_inspect(
        inspect_tasks.hipo_cumulative(str(benchmark)),
        choose(lambda key, options: {"veracity": "Quality"}.get(key, "Nobody's label")),
        tmp_path,
    )
    labels = [row.references["declared"]["veracity"] for row in rows_of(log).values()]
    right = labels.count("Quality")
    assert 0 < right < len(labels)
    found = figures_of(log)
    assert found["veracity"]["accuracy"] == pytest.approx(right / len(labels))
    f1 = 2 * right / (right + len(labels))
    assert found["veracity"]["macro_f1"] == pytest.approx(f1 / len(set(labels)))
    assert found["goal"]["accuracy"] == found["goal"]["macro_f1"] == 0
    # the sum of squares of what each case has too much or too little
    cases = Counter()
    for row in rows_of(log).values():
        cases[row.case] += (row.labels["veracity"] == row.references["declared"]["veracity"]) - (
            right / len(labels)
        )
    squares = sum(value**2 for value in cases.values())
    correction = len(cases) / (len(cases) - 1)
    assert found["veracity"]["stderr"] == pytest.approx((squares * correction) ** 0.5 / len(labels))


@pytest.mark.parametrize("mode", ["zero-shot", "cot"])
def test_models_are_sent_the_messages_of_the_rows(benchmark, mode):
    column = {"zero-shot": "messages", "cot": "messages_cot"}[mode]
    rows = {row["id"]: row for row in row_set(benchmark).rows()}
    for name in ("hipo_utterance", "hipo_cumulative", "hipo_conversation"):
        task = getattr(inspect_tasks, name)(str(benchmark), mode=mode)
        assert len(task.dataset) > 5
        for sample in task.dataset:
            row = rows[sample.id]
            assert [{"role": m.role, "content": m.text} for m in sample.input] == row[column]
            for dimension, options in sample.metadata["options"].items():
                assert row[f"options_{dimension}"] == options


def test_swap_items_are_told_apart_by_the_fact(tmp_path, run):
    export(run, "swap", tmp_path / "swap", verdict="any", fractions=(0, 0, 100), parquet=False)
    always = choose(lambda key, options: "Quality")
    log = asked_by_inspect(
        inspect_tasks.hipo_swap(str(tmp_path / "swap")), always, tmp_path / "logs"
    )
    found = figures_of(log)["veracity"]
    assert (found["own"], found["other"], found["mean"], found["both"]) == (1, 0, 0.5, 0)
    assert found["accuracy"] == 0.5


def test_inspect_finds_the_tasks_by_their_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["inspect_ai"] == {"hipo": inspect_tasks.__name__}
    for name in ("utterance", "cumulative", "conversation", "swap", "oracle"):
        assert registry_info(getattr(inspect_tasks, f"hipo_{name}")).name == f"hipo/hipo_{name}"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"mode": "two-phase"}, "the tasks for inspect have no mode 'two-phase'"),
        ({"reference": "adjudicated"}, "with a label that is adjudicated"),
        ({"split": "train"}, "with a label that is declared in the split train"),
        ({"dataset": "nowhere"}, "nowhere"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_asked(benchmark, asked, message):
    with pytest.raises(UsageError, match=message):
        inspect_tasks.hipo_utterance(**{"dataset": str(benchmark), **asked})


def test_a_log_can_be_scored_again(tmp_path, benchmark):
    log = asked_by_inspect(inspect_tasks.hipo_conversation(str(benchmark)), by_hash, tmp_path)
    params = json.loads(json.dumps(log.eval.scorers[0].options))
    # read whole: samples that are loaded on demand make inspect nest event loops
    again = score_again(
        read_eval_log(log.location), inspect_tasks.labels(**params), action="overwrite"
    )
    assert figures_of(again) == figures_of(log)


@pytest.mark.browser
def test_the_bundle_of_the_log_viewer_opens(tmp_path, benchmark):
    asked_by_inspect(inspect_tasks.hipo_conversation(str(benchmark)), mixed, tmp_path / "logs")
    bundle_log_dir(str(tmp_path / "logs"), str(tmp_path / "bundle"))
    with chromium() as browser, served(tmp_path / "bundle") as address:
        page = new_page(browser, viewport={"width": 1300, "height": 900})
        page.goto(address)
        page.get_by_text("hipo/hipo_conversation").first.click()
        page.get_by_text("macro_f1").first.wait_for()
        for row in row_set(benchmark).rows():
            if row["aspect"] == "conversation":
                page.get_by_text(row["id"][:30]).first.wait_for()


def served(folder):
    """Serve the files of a folder, as anybody would who shows a bundle."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    return serving(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))))
