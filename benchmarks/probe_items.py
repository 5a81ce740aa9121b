"""What the probes read: labelled lines of a run, gold lines and swap items, in one form."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from outputs.audit.corpus import AuditedAnswer, AuditedDialogue
from outputs.audit.run_corpus import run_corpus
from outputs.audit.set_corpus import turns_of
from outputs.dataset.reader import row_set
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from quality.gold import gold_items
from scenarios.schemes.registry import load_scheme


@dataclass(frozen=True, slots=True)
class ProbeItem:
    """One line with its labels, and what a reader of it may be shown."""

    scenario: str
    line: str
    question: str
    """The line that it answers."""
    history: tuple[str, ...]
    """What was said before that, in order; empty where it is not known."""
    fact: str
    labels: dict[str, str]
    """By dimension, the goal among them."""
    said: AuditedAnswer
    within: AuditedDialogue

    @property
    def key(self) -> str:
        """Names the line in its run."""
        return f"{self.within.case}/{self.within.arm}/{self.said.turn}"


@dataclass(frozen=True)
class ProbeSets:
    """What is learnt from, and what else is guessed."""

    label: tuple[ProbeItem, ...]
    """The lines of the exported set of labels."""
    gold: tuple[ProbeItem, ...]
    swap: tuple[ProbeItem, ...]
    """Each line twice: with its own fact, and with one under which it is no lie."""
    models: tuple[str, ...]
    """Who spoke the lines that are learnt from."""

    @property
    def offline(self) -> bool:
        """Whether all of it was made by rules."""
        return all(model.startswith("offline/") for model in self.models)


def offline_run(folder: Path, *, quick: bool) -> Path:
    """Play and verify every case of the library offline (some if quick); return the run."""
    run = folder / "run"
    some = ["-n", "186"] if quick else []
    _hipo("generate", "-o", str(run), "--model", "offline/rules", "--strategy", "direct", *some)
    _hipo("verify", str(run), "--judge", "offline/judge")
    return run


def sets_of(run: Path, folder: Path) -> ProbeSets:
    """Export a run as a set of labels and as swap items, and read both, and gold.

    Args:
        run: the folder of a run that was verified.
        folder: where the exports go.
    """
    export = ("export", str(run), "--splits", "100,0,0")
    _hipo(*export, "--to", "sft", "--aspect", "cumulative", "-o", str(folder / "label"))
    _hipo(*export, "--to", "swap", "-o", str(folder / "swap"))
    with opened(Selection((run,), "any")) as found:
        dialogues = run_corpus(found, name=run.name, only=turns_of(row_set(folder / "label")))
    models = {dialogue.made_by["model"] for dialogue in dialogues.dialogues}
    return ProbeSets(
        label=tuple(item for dialogue in dialogues.dialogues for item in lines_of(dialogue)),
        gold=tuple(gold_probe_items()),
        swap=tuple(_swap(folder / "swap")),
        models=tuple(sorted(models)),
    )


def lines_of(dialogue: AuditedDialogue) -> Iterator[ProbeItem]:
    """Yield the labelled lines of a dialogue with what was said before each."""
    said = dialogue.opening.splitlines()
    for number, answer in enumerate(dialogue.answers):
        if number:
            said += [dialogue.answers[number - 1].text, answer.before]
        yield ProbeItem(
            scenario=dialogue.scenario,
            line=answer.text,
            question=answer.before,
            history=tuple(said[:-1]),
            fact=dialogue.fact_text,
            labels={**answer.labels, load_scheme("hipo").assigned: dialogue.goal},
            said=answer,
            within=dialogue,
        )


def gold_probe_items() -> Iterator[ProbeItem]:
    """Yield the gold lines."""
    goal = load_scheme("hipo").assigned
    for item in gold_items():
        line = item.line
        scenario = line.id.rpartition("_")[0]
        labels = {**line.labels, goal: line.goal}
        yield _alone(scenario, line.id, line.question, line.text, item.view.fact.text, labels)


def _swap(folder: Path) -> Iterator[ProbeItem]:
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            row = orjson.loads(line)
            if row["status"] == "scored":
                labels = {"veracity": LIE if row["false"] else NO_LIE}
                yield _alone(
                    row["scenario"], row["id"], row["question"], row["utterance"],
                    row["fact_text"], labels,
                )  # fmt: skip


LIE, NO_LIE = "Quality", "any other"


def _alone(
    scenario: str, name: str, question: str, line: str, fact: str, labels: dict[str, str]
) -> ProbeItem:
    """Return a line that is known with one question before it and nothing else."""
    said = AuditedAnswer(1, line, labels, question)
    within = AuditedDialogue(
        case=name, pair=name, arm="", scenario=scenario, fact="", goal="", answers=(said,),
        opening=question, asked=question, fact_text=fact,
    )  # fmt: skip
    return ProbeItem(scenario, line, question, (), fact, labels, said, within)


def _hipo(*arguments: str) -> None:
    command: Sequence[str] = [sys.executable, "-m", "hipo", *arguments, "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
