"""What an evaluation cannot be made of, or gone on with: one message, exit 2, nothing half-made."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from pipeline.store.evaluation_store import EvaluationStore
from tests.conftest import MadeOnce
from tests.hipo.cli.conftest import Hipo, hipo
from tests.hipo.evaluation.answering import by_hash
from tests.wire.faults import Faults
from tests.wire.server import WireServer

__all__ = ["hipo"]

TASK = ("--task", "hipo-utterance")
MODEL = ("--model", "offline/judge")
OUT = ("-o", "results", "--no-page")
MISTAKES = {
    "no set": (("nothing", *TASK, *MODEL), "there is no 'nothing': neither a set nor a run"),
    "task": (("SET", "--task", "hipo-uterance", *MODEL), "did you mean 'hipo-utterance'?"),
    "task of one's own": (("SET", "--task", "mine", *MODEL), "or is a file: give its path"),
    "no task": (
        ("SET", *MODEL), "tasks for the scheme hipo@2: hipo-conversation, hipo-cumulative-paper"
    ),
    "no model": (("SET", *TASK), "no model is named"),
    "model": (("SET", *TASK, "--model", "gpt-4o"), "write provider/model"),
    "mode": (("SET", *TASK, *MODEL, "--mode", "zero"), "there is no mode 'zero'"),
    "task twice": (("SET", *TASK, *TASK, *MODEL), "--task hipo-utterance stands there twice"),
    "mode twice": ((
        "SET", *TASK, *MODEL, "--mode", "cot", "--mode", "cot"), "--mode cot stands there twice",
    ),
    "two tasks of one id": (
        ("SET", *TASK, "--task", "own.yaml", *MODEL), "two tasks have the id 'hipo-utterance'",
    ),
    "no address": (("SET", *TASK, "--model", "compatible/x"), "give --base-url"),
    "examples": (("SET", *TASK, *MODEL, "--examples", "x.yaml"), "add --mode icl"),
    "balance alone": (("SET", *TASK, *MODEL, "--balance", "goal"), "give -n, too"),
    "no such class": (
        ("SET", "--task", "hipo-conversation", *MODEL, "-n", "4", "--balance", "veracity"),
        "no item of the task hipo-conversation has one label of it",
    ),
    "any of a set": (("SET", *TASK, *MODEL, "--any"), "--any is for runs"),
    "another scheme": (
        ("SET", *TASK, *MODEL, "--scheme", "cei"),
        "has labels of the scheme hipo@2, and cei is cei@2",
    ),
    "a run that is not verified": (("RUN", *TASK, *MODEL), "has not been verified"),
    "price": (
        ("SET", *TASK, "--model", "compatible/x", "--base-url", "http://127.0.0.1:9/v1",
         "--budget-usd", "1"),
        "--budget-usd needs a price for compatible/x",
    ),
    "gold by another scheme": (("gold", *TASK, *MODEL, "--scheme", "cei"), "leave --scheme"),
    "swapping what a set does not swap": (
        ("SET", "--task", "hipo-swap", *MODEL),
        "holds no lines beside one fact and another, which the task hipo-swap is about",
    ),
    "conversations of gold": (
        ("gold", "--task", "hipo-conversation", *MODEL),
        "gold holds no whole conversations, which the task hipo-conversation is about",
    ),
}  # fmt: skip


@pytest.fixture
def there(hipo: Hipo, benchmark: Path, tmp_path: Path, made_once: MadeOnce) -> Hipo:
    """``hipo evaluate`` in an empty folder; SET and RUN stand for a set and an unverified run."""
    fresh = tmp_path / "fresh"
    one = ("--model", "offline/rules", "--scenarios", "used_car", "-n", "1")
    made_once("refused", fresh, lambda: hipo("generate", *one, "-o", str(fresh), "-q"))
    own = (files("prompts.tasks") / "data/hipo-utterance.yaml").read_text(encoding="utf-8")
    (tmp_path / "own.yaml").write_text(f"{own}rules: [Think twice.]\n", encoding="utf-8")
    places = {"SET": str(benchmark), "RUN": str(fresh)}

    def call(*arguments: str):
        return hipo("evaluate", *(places.get(one, one) for one in arguments))

    return call


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_message_and_nothing_is_made(
    there: Hipo, tmp_path: Path, mistake: str
) -> None:
    arguments, expected = MISTAKES[mistake]
    result = there(*arguments, *OUT)
    assert (result.code, result.out) == (2, "")
    assert expected in result.err
    assert result.err.count("error:") == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("scheme", "version", "which"),
    [("own", 3, "which is none of those that ship"), ("hipo", 2, "which has changed since")],
)
def test_a_set_of_a_scheme_that_is_gone_is_told(
    there: Hipo, tmp_path: Path, benchmark: Path, scheme: str, version: int, which: str
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    manifest = json.loads((benchmark / "manifest.json").read_text())
    manifest["scheme"] = {"id": scheme, "version": version, "fingerprint": "0" * 64}
    (mine / "manifest.json").write_text(json.dumps(manifest))
    (mine / "test.jsonl").write_bytes((benchmark / "jsonl" / "test.jsonl").read_bytes())
    result = there("mine", *TASK, *MODEL, *OUT)
    assert result.code == 2
    assert f"mine has labels of the scheme {scheme}@{version}, {which}" in result.err
    assert "export the set anew from its run" in result.err
    assert "--scheme" in result.err


def test_the_name_of_a_scheme_in_a_received_manifest_cannot_drive_the_terminal(
    there: Hipo, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    scheme = {"id": "own\x1b[2J", "version": 3, "fingerprint": "0" * 64}
    (mine / "manifest.json").write_text(json.dumps({"scheme": scheme}))
    result = there("mine", *TASK, *MODEL, *OUT)
    assert (result.code, "\x1b" in result.err) == (2, False)
    assert "of the scheme own\\x1b[2J@3" in result.err


def test_a_row_with_a_label_of_another_scheme_is_told_with_its_line(
    there: Hipo, tmp_path: Path, benchmark: Path
) -> None:
    lines = (benchmark / "jsonl" / "test.jsonl").read_text().splitlines()
    row = json.loads(lines[0]) | {"label_veracity": "Sarcasm", "id": "another"}
    (tmp_path / "mine.jsonl").write_text("\n".join([*lines, json.dumps(row)]))
    result = there("mine.jsonl", *TASK, *MODEL, *OUT)
    assert result.code == 2
    assert f"mine.jsonl:{len(lines) + 1}: label_veracity: found 'Sarcasm'" in result.err
    sft = {"messages": [{"role": "user", "content": "x"}]}
    (tmp_path / "sft.jsonl").write_text(json.dumps(sft))
    result = there("sft.jsonl", *TASK, *MODEL, *OUT)
    assert "holds items of neither a benchmark nor a swap set" in result.err


def test_a_set_without_labels_is_refused_before_anything_is_asked(
    there: Hipo, tmp_path: Path, benchmark: Path
) -> None:
    row = json.loads((benchmark / "jsonl" / "test.jsonl").read_text().splitlines()[0])
    hidden = dict.fromkeys((name for name in row if name.startswith("label_")), None)
    (tmp_path / "mine.jsonl").write_text(json.dumps({**row, **hidden, "goal": None}))
    result = there("mine.jsonl", "--task", f"hipo-{row['aspect']}", *MODEL, *OUT)
    assert result.code == 2
    assert "mine.jsonl has no label of what the task" in result.err
    assert not (tmp_path / "results").exists()


def test_a_set_without_facts_is_told_so_by_the_oracle(
    there: Hipo, tmp_path: Path, benchmark: Path
) -> None:
    lines = (benchmark / "jsonl" / "test.jsonl").read_text().splitlines()
    bare = [json.loads(line) for line in lines]
    for row in bare:
        for column in ("fact_about", "fact_text", "agreed"):
            del row[column]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, bare)))
    result = there("mine.jsonl", "--task", "hipo-oracle", *MODEL, *OUT)
    assert result.code == 2
    assert (
        "the task hipo-oracle shows the private fact, which mine.jsonl does not hold" in result.err
    )
    told = there("mine.jsonl", *TASK, *MODEL, *OUT, "--dry-run")
    assert "no score is against what is agreed" in told.out


def test_going_on_with_something_else_is_refused_with_what_differs(
    there: Hipo, tmp_path: Path, run: Path, wire_server: WireServer
) -> None:
    wire_server.answer = by_hash
    reader = ("--model", "compatible/m", "--base-url", wire_server.openai_url)
    whole = (str(run), "--any", *TASK, *reader, *OUT)
    assert there(*whole).code == 0
    before = (tmp_path / "results" / "results.jsonl").read_bytes(), wire_server.count
    changes = {
        ("SET", *TASK, *reader, *OUT): "items: ",
        (*whole, "--temperature", "0.7"): "temperature of compatible/m: 0.0 -> 0.7",
        (*whole, "--seed", "3"): "seed: 0 -> 3",
        (*whole, "-n", "4"): "-n, --balance: none -> n 4, dimension goal, seed 0",
        (*whole, "--max-tokens", "99"): "max_tokens of compatible/m: 1024 -> 99",
    }
    for arguments, expected in changes.items():
        result = there(*arguments)
        assert result.code == 2
        assert "results holds another evaluation" in result.err
        assert expected in result.err
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "task_intro.j2").write_text("Say what you see.\n")
    result = there(*whole, "--prompt-dir", str(templates))
    assert (
        "task hipo-utterance zero-shot: its prompts, options or examples have changed" in result.err
    )
    result = there(*whole, "--resume", "never")
    assert "results holds an evaluation already" in result.err
    assert ((tmp_path / "results" / "results.jsonl").read_bytes(), wire_server.count) == before
    assert there(*whole, "--temperature", "0.7", "--resume", "always").code == 0
    assert wire_server.count == 2 * before[1], "what differs is asked anew"
    with EvaluationStore.open(tmp_path / "results") as store:
        assert store.identity is not None
        assert store.identity["models"]["compatible/m"]["temperature"] == 0.7


def test_a_context_too_small_for_the_examples_is_told_before_more_is_asked(
    there: Hipo, run: Path, wire_server: WireServer
) -> None:
    says = "This model's maximum context length is 512 tokens. However, you requested 2048 tokens."
    error = {"message": says, "type": "invalid_request_error", "code": "context_length_exceeded"}
    wire_server.faults = Faults(canned=(400, {"error": error}))
    result = there(
        str(run), "--any", *TASK, "--mode", "icl", "--model", "compatible/m",
        "--base-url", wire_server.openai_url, *OUT,
    )  # fmt: skip
    assert result.code == 2
    assert "the context of compatible/m is too small for the prompt of the hipo-utterance icl" in (
        result.err
    )
    assert "it holds 512 tokens" in result.err
    assert wire_server.count == 1


def test_an_evaluation_is_not_made_in_a_run_nor_among_other_files(
    there: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    result = there("SET", *TASK, *MODEL, "-o", "other")
    assert "other holds something that is not an evaluation" in result.err
    result = there("SET", *TASK, *MODEL, "-o", str(tmp_path / "fresh"))
    assert "holds a run" in result.err
