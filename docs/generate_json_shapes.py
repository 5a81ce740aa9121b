"""Write ``docs/json-shapes.md``: what every command prints with ``--format json``, by example.

``python docs/generate_json_shapes.py`` runs the commands offline in an empty folder and writes the
page; a test runs them again and compares the shapes. Lists are shown by their first element.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from hipo.cli.main import run

PAGE = Path(__file__).with_name("json-shapes.md")
LONGEST = 70
RECIPE = "hipo generate hipo-paper --model offline/rules --scenarios used_car,quit_smoking --tactics balanced"
PREPARATION = (
    f"{RECIPE} --strategy direct,reflective -n 4 --seed 1 -o runs/trial -q",
    "hipo verify runs/trial --judge offline/judge -q",
    "hipo export runs/trial --to benchmark --any --splits 100,0,0 -o sets/one -q",
    "hipo export runs/trial --to benchmark --any --splits 100,0,0 -o sets/two -q",
    "hipo generate -m offline/rules --scenarios used_car -n 2 --shard 1/2 -o shards/1 -q",
    "hipo generate -m offline/rules --scenarios used_car -n 2 --shard 2/2 -o shards/2 -q",
)
QUOTA = "accepted: 5\neach: {goal: all, veracity: Quality}\n"
OWN = {
    "background": "A car is sold.", "fact": "It was hit.", "goal": "deception",
    "turns": [
        {"role": "initiator", "text": "Was it hit?"},
        {"role": "responder", "text": "Never."},
    ],
}  # fmt: skip


class Shape(NamedTuple):
    """A command, and what it prints."""

    title: str
    command: str
    """``DIALOGUE`` stands for the id of the first dialogue of the run."""


SHAPES = (
    Shape("The state of a run", "hipo runs show trial --format json"),
    Shape("All runs: a list of states", "hipo runs --format json"),
    Shape("Whether a run is sound", "hipo runs check trial --format json"),
    Shape("What was saved of a damaged run", "hipo runs repair trial -o runs/saved --format json"),
    Shape("What was merged", "hipo runs merge shards/1 shards/2 -o runs/both --format json"),
    Shape("The dialogues of a run, failures included", "hipo show trial --format json"),
    Shape("One dialogue, with how answers were chosen and what models were asked",
          "hipo show trial DIALOGUE --trace --prompts --format json"),
    Shape("What judges, rules and people made of a dialogue",
          "hipo verdict trial DIALOGUE --format json"),
    Shape("What a run would take", f"{RECIPE} -n 2 --dry-run --format json"),
    Shape("What playing and judging would take",
          f"{RECIPE} -n 2 --verify --judge offline/judge --dry-run --format json"),
    Shape("What a quota would take",
          f"{RECIPE} --quota quota.yaml --dry-run --format json"),
    Shape("The forecast of a pilot",
          f"{RECIPE} -n 2 --verify --judge offline/judge --dry-run --pilot 1 --format json"),
    Shape("Dialogues for a look", f"{RECIPE} -n 2 --preview 1 --format json"),
    Shape("The run that was generated", f"{RECIPE} -n 1 -o runs/more -q --format json"),
    Shape("What verification found", "hipo verify trial --judge offline/judge --format json"),
    Shape("What verification would take",
          "hipo verify trial --judge offline/judge --dry-run --format json"),
    Shape("What was imported", "hipo import own.jsonl -o runs/imported --format json"),
    Shape("The report that was written", "hipo report trial --no-embeddings --format json"),
    Shape("A study",
          "hipo study hipo-paper --models offline/rules --strategy direct,reflective"
          " --scenarios used_car -n 2 --judge offline/judge -o study -q --format json"),
    Shape("The data set that was exported",
          "hipo export runs/trial --to sft --any --splits 100,0,0 -o sets/sft --print json"),
    Shape("An audit of a run or a data set", "hipo audit runs/trial --format json"),
    Shape("How people speak in parts of a run, or in several corpora",
          "hipo compare runs/trial --by role --format json"),
    Shape("The overlap of two data sets", "hipo contamination sets/one sets/two --no-embeddings --format json"),
    Shape("The library", "hipo scenarios list --format json"),
    Shape("One scenario", "hipo scenarios show used_car --format json"),
    Shape("Problems of scenario files", "hipo scenarios validate broken --no-embeddings --format json"),
    Shape("Statistics of scenarios", "hipo scenarios stats --no-embeddings --format json"),
    Shape("How a scenario sounds",
          "hipo scenarios preview used_car --model offline/rules --format json"),
    Shape("The label schemes", "hipo scheme list --print json"),
    Shape("One label scheme", "hipo scheme show cobra --print json"),
    Shape("Problems of scheme files", "hipo scheme validate broken --print json"),
    Shape("Providers and packages", "hipo models --format json"),
    Shape("What an evaluation would take",
          "hipo evaluate sets/one --task hipo-utterance --model offline/judge -o results --dry-run"
          " --format json"),
    Shape("What an evaluation did",
          "hipo evaluate sets/one --task hipo-utterance --model offline/judge -o results --no-page"
          " --format json"),
)  # fmt: skip

HEAD = """# JSON shapes

Commands that take `--format json` (`hipo export` and `hipo scheme`: `--print json`) print one JSON document on standard output; messages go to standard error, and the exit
code is that of the text form. Keys are only ever added. Lists are shown by their first element here, long texts are cut,
and what has a name of yours for a key (scenarios, models, labels) is shown as it came. What is compared
by meaning is null without `hipo[embeddings]`, as it is here with `--no-embeddings`.

`role` of what was said is the id of a role: with a flow one of yours, such as `doctor`. Of models (in `models`, `calls`,
`answering_models` and `purpose`) `responder` is the one that plays every role whose words are labelled, and `initiator` the one that
plays all others; both stand there whatever your roles are called.

Generated by `python docs/generate_json_shapes.py`; a test runs every command and compares the shapes. The run is four
cases by two strategies, made and judged offline:

```sh
{preparation}
```
"""
TAIL = """## People who review

`hipo review user list RUN --format json` prints a list of `{code, name, role, account, consented, erased}`;
`hipo review reports RUN --format json` a list of `{scenario, fact, dialogue, annotator, problem}`.

`hipo runs show RUN --format json` of a run with a quota has in `quota` the cells that the estimate has in `quota.cells`, without
`missing`, `begun`, `assumed_yield` and `tries`.

`hipo review agreement RUN --format json` prints `{study, lines, canary, human_readings, readers, agreement, labels, against_gold,
against_programs}`: `lines` and `canary` of gold lines (0 and null otherwise), `readers` by code the `lines` and `dialogues` of each, `agreement` a list of
`{dimension, statistic, value, interval, items, dialogues, annotators}`, `labels` as in `hipo agreement`, and the two others lists of
`{reader, other, dimension, items, same, kappa, interval, labels, matrix, by_label}`, where rows of `matrix` are the other's labels.

`hipo agreement ... --json FILE|-` writes `{of, with, scheme, sources, groups, pairs}`, of tables also `files` (`{file, group, rows,
read, left_out}`) and `oddities` (`{file, row, line, column, code, found, done, left_out}`): `groups`, the first of which is everything
(`""`), a list of `{group, items, annotators, intervals_draw, statistics, labels, difficulty}`, `pairs` a list of `{group, comparisons}`, where a comparison is
`{reader, other, dimension, items, same, kappa, interval, overlap, labels, matrix, statistics, by_label}`. `intervals_draw` is
`dialogues` or `items`; `labels` and `by_label` are lists of `{dimension, label, answers, items, dialogues, annotators, of_annotators,
specific, specific_interval, alpha, alpha_interval, note}`: each label against all others.

`hipo qc ... --json FILE|-` writes `{scheme, sources, settings, items, annotators, answers, found, findings, vocabulary,
agreement, dimensions, released}`, of tables also `files` and `oddities`: `settings` the thresholds, `found` counts by level
and code, and a dimension is `{dimension, given, ratings, difficulty, lengths, confused, adjacency, split_polarity, polarity_matches, means,
references, to_adjudicate, gold}`.

`hipo evaluate people DIR RUN --format json` prints `{study, annotators, dialogues, hidden, scores, comparisons,
people_by_label, soft_labels, kappa_by_group, by_face_act, choices, chosen_by_two}`: `annotators` a list of codes, `dialogues` how many the quiz has, `hidden` the labels by dimension that it
did not offer, `scores` and `comparisons` as in `scores.json` ([docs/evaluation.md](evaluation.md)), where the models
`people`, `people/CODE` and `people (majority)` stand for annotators (`study` is empty where they were imported), and
`people_by_label` a list of `{reference, task, dimension, label, annotators, accuracy, f1}`, means over annotators;
`soft_labels` a list of `{task, mode, model, dimension, items, people, answers, shared, divergence, cross_entropy}`, the last three
with intervals as in `scores.json`, and `kappa_by_group` a list of `{reference, task, mode, dimension, by, models, groups, rho}`,
where a group is `{group, items, kappa, accuracy, accuracies}`, the last by model, `people` and `people (majority)`; `by_face_act` of
intentions in persuasion a list of `{who, accuracy}` with cells as in `hipo metrics intention`, and `chosen_by_two` what the majority
and models chose, like `choices` there; `choices` a list of `{reference, task, mode, dimension, who, right, chosen, answers, of}`,
where `chosen` is null where no label could be read and `of` counts the answers of `who` where `right` is right.

`hipo metrics strategic FILE|RUN --json -` prints `{formula, distributions, histograms, agreement, against, against_by_dialogue, reasons, pairs,
outcome, answers_by, distributions_by, histograms_by, answers, odd}`: `formula` the variant, weights and threshold; `distributions` one per dialogue and annotator;
`histograms` of BaT, PaT, NRBaT and net benefit by dialogue, where `bins` are the middle of each bin and its share; `agreement` (of
the reference annotators) and `against` (of them with the others) lists of `{quantity, statistic, value, p, pairs}`,
`against_by_dialogue` one of `{dialogue, annotator, statistics}`; `reasons`
of three reference annotators or more `{decided, alike, jaccard, identical}`, else null; `pairs` of models with `--pair` a
list of `{quantity, statistic, wins, losses, ties, mean, median, sd, interval, p, p_bonferroni}`; `outcome` one model per
condition, with `note` where there is none; with `--by`, `answers_by` a list of `{by, answers}`, and `distributions_by` and
`histograms_by` what `distributions` and `histograms` are, where `dialogue` is the group and `last` null; `answers` one per dialogue, annotator and turn, with its labels, `bat`, `pat`,
`bat_sum`, `pat_sum`, `nrbat` and `nra`; `odd` what was odd in files, by row.

`hipo verify RUN --juror MODEL --format json` (without `--judge`) prints `{folder, labelled, failed, stopped, calls, labels}`: `labels`
by juror and dimension how often which label, "" for what could not be read.

`hipo metrics intention FILE --json -` prints `{statistics, questions, words_per_option, right, questions_by_face_act, rules, broken,
answerers, choices, oddities}`: `statistics` with `dialogues`, `turns_per_dialogue` and `words_per_turn`, and turns, labels, runs and alpha in
`rows` by face act and role (empty: all of them), null for an evaluation;
`right` and an answerer's `shares` by the place of an option, from 0; `rules` how many options break each, and `broken` which;
`answerers` one per person or model, with `accuracy` by face act and role; `choices` one for every two of them, and for each beside
`(right)`, with the cells of the matrix of what they chose (empty: no answer that could be read).

`hipo evaluate report DIR --format json` prints `{page, scores, plots}`: the files it wrote, `plots` a list.
"""


def printed(command: str) -> str:
    """Run a command line and return what it printed on standard output.

    Raises:
        RuntimeError: it failed.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(command.split()[1:])
    if code != 0 and "validate" not in command:
        raise RuntimeError(f"{command}: {err.getvalue()}")
    return out.getvalue()


def examples() -> dict[Shape, Any]:
    """Run every command in the current folder, which should be empty, and return what it printed."""
    Path("own.jsonl").write_text(json.dumps(OWN) + "\n", encoding="utf-8")
    Path("quota.yaml").write_text(QUOTA, encoding="utf-8")
    Path("broken").mkdir()
    Path("broken/car.yaml").write_text("id: car\ntitle: A car\n", encoding="utf-8")
    for command in PREPARATION:
        printed(command)
    dialogue = json.loads(printed("hipo show trial --format json"))[-1]["id"]
    return {
        shape: json.loads(printed(shape.command.replace("DIALOGUE", dialogue))) for shape in SHAPES
    }


def shortened(value: Any) -> Any:
    """Return lists by their first element and long texts by their beginning."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shortened(item) for item in value[:1]]
    if isinstance(value, str) and len(value) > LONGEST:
        return value[: LONGEST - 1] + "…"
    return value


def json_page() -> str:
    """Return the page; run it in an empty folder."""
    here, installed = str(Path.cwd()), str(PAGE.parents[1])
    sections = []
    for shape, value in examples().items():
        plain = json.dumps(value).replace(here, ".").replace(installed, "site-packages")
        text = json.dumps(shortened(json.loads(plain)), indent=2, ensure_ascii=False)
        sections.append(
            f"## {shape.title}\n\n```sh\n{shape.command}\n```\n\n```json\n{text}\n```\n"
        )
    return "\n".join([HEAD.replace("{preparation}", "\n".join(PREPARATION)), *sections, TAIL])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        page = json_page()
    PAGE.write_text(page, encoding="utf-8")
