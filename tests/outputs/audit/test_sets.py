"""Runs and exported sets as an audit reads them, from Python and from the command line."""

from __future__ import annotations

import shutil

import orjson
import pytest

from benchmarks.audit_power import plant_commas, reads, score
from hipo.app.audit import audit, audit_export
from hipo.cli.main import run as hipo_command
from outputs.audit.auditing import audit_dialogues
from outputs.audit.findings import read_audit
from outputs.audit.probes import PROBES
from outputs.audit.run_corpus import run_corpus
from outputs.audit.set_corpus import scheme_of, set_corpus
from outputs.audit.telling import told_audit
from outputs.dataset.reader import row_set
from outputs.dataset.told_audit import AUDIT
from outputs.selecting.selection import opened
from outputs.selecting.wish import Selection
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import exportable_run, exported


def hipo(command: str) -> None:
    assert hipo_command(command.split()) == 0


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A run of the offline rules with shared openings, and three sets of it."""
    folder = tmp_path_factory.mktemp("audited")
    run = folder / "run"
    hipo(
        "generate hipo-paper --model offline/rules --openings shared --strategy direct --tactics"
        f" balanced --scenarios products,finance --vary persona -n 120 -o {run} -q"
    )
    for kind in ("benchmark", "sft"):
        hipo(f"export {run} --to {kind} --any --splits 100,0,0 --no-parquet -o {folder / kind} -q")
    return folder


def corpus_of(run):
    with opened(Selection((run,), "any")) as found:
        return run_corpus(found, name="run")


def audited(path):
    """Audit a set by two probes."""
    names = ("other lines", "line before", "first words")
    probes = [probe for probe in PROBES if probe.name in names]
    return audit_dialogues(set_corpus(row_set(path, path.name), scheme_of(path)), probes=probes)


@pytest.mark.parametrize("kind", ["benchmark", "sft"])
def test_a_set_holds_the_dialogues_of_its_run(played, kind):
    whole = corpus_of(played / "run")
    path = played / kind
    found = set_corpus(row_set(path, kind), scheme_of(path))
    assert found.dimensions == whole.dimensions
    assert found.scheme == whole.scheme
    key = lambda d: (d.case, d.arm)  # noqa: E731
    for one, other in zip(
        sorted(found.dialogues, key=key), sorted(whole.dialogues, key=key), strict=True
    ):
        assert (one.pair, one.goal, one.opening, one.asked) == (
            other.pair, other.goal, other.opening, other.asked,
        )  # fmt: skip
        assert [(a.turn, a.text, a.labels, a.before, a.after) for a in one.answers] == [
            (a.turn, a.text, a.labels, a.before, a.after) for a in other.answers
        ]


def test_a_file_of_an_export_has_the_scheme_of_its_manifest_and_a_lone_one_has_none(
    played, tmp_path
):
    (file,) = (played / "benchmark").rglob("*.jsonl")
    found = set_corpus(row_set(file, file.name), scheme_of(file))
    assert found.scheme == corpus_of(played / "run").scheme
    lone = tmp_path / file.name
    lone.write_bytes(file.read_bytes())
    alone = set_corpus(row_set(lone, lone.name), scheme_of(lone))
    assert alone.scheme is None
    assert any("the scheme is not known" in remark for remark in alone.remarks)


@pytest.fixture(scope="module")
def flows(tmp_path_factory):
    """Runs whose dialogues follow a flow, each with a benchmark set if its speakers declare labels."""
    folder = tmp_path_factory.mktemp("flows")
    for scheme, count in (("cobra", 5), ("face_acts", 2), ("payoff_reasoning", 2)):
        run = folder / scheme
        hipo(f"generate --scheme {scheme} --model offline/rules -n {count} -o {run} -q")
        if scheme != "payoff_reasoning":
            hipo(f"export {run} --to benchmark --any --splits 100,0,0 --no-parquet -o {run}_set -q")
    return folder


@pytest.mark.parametrize("scheme", ["cobra", "face_acts"])
def test_a_set_of_any_roles_holds_the_dialogues_of_its_run(flows, scheme):
    whole = corpus_of(flows / scheme)
    path = flows / f"{scheme}_set"
    found = set_corpus(row_set(path, scheme), scheme_of(path))
    assert found.scheme == whole.scheme
    answers = {
        (one.case, a.turn): (a.text, a.labels, a.before)
        for one in found.dialogues
        for a in one.answers
    }
    assert answers == {
        (one.case, a.turn): (a.text, a.labels, a.before)
        for one in whole.dialogues
        for a in one.answers
    }
    assert sum(bool(before) for _, _, before in answers.values()) > len(answers) / 2


def test_nothing_in_a_set_of_a_scheme_without_single_labels_is_audited_or_gated(flows, tmp_path):
    path, scheme = flows / "cobra_set", load_scheme("payoff_reasoning")
    with pytest.raises(UsageError, match="by the scheme payoff_reasoning@1 no speaker declares"):
        set_corpus(row_set(path, "set"), scheme)
    run = Selection((flows / "payoff_reasoning",), "any")
    rows = [
        {"case": d.case, "arm": d.arm, "turn": None}
        for d in corpus_of(flows / "payoff_reasoning").dialogues
    ]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    with pytest.raises(UsageError, match="--max-shortcut finds no labels of answers"):
        audit_export(tmp_path / "rows.jsonl", run, "set")


def test_a_scheme_without_single_labels_has_nothing_to_audit_and_the_audit_says_so(flows):
    found = audit(flows / "payoff_reasoning")
    told = told_audit(found)
    assert told.tables == ()
    assert told.sentences[0].startswith("Nothing to audit: no dimension has one label")


@pytest.mark.parametrize(
    ("kind", "lacking", "told"),
    [
        ("benchmark", {"variation"}, "do not hold what was drawn for the people:"),
        ("sft", {"variation", "overlap"}, "hold neither the words of private facts nor what was"),
    ],
)
def test_what_a_set_does_not_hold_is_said_and_nothing_else_is(played, kind, lacking, told):
    found = audit(played / kind)
    assert {s.probe for s in found.skipped if s.why == "not in this data set"} == lacking
    assert told in found.remarks[0]
    assert not (played / kind / AUDIT).exists()


def test_a_private_fact_that_only_one_goal_tells_is_found_in_a_set(played, tmp_path):
    """Benchmark rows hold the fact, so what is in it and in nothing public is looked for."""
    rows = next((played / "benchmark").rglob("*.jsonl"))
    told = []
    for line in rows.read_text().splitlines():
        row = orjson.loads(line)
        if row["goal"] != "deception" and row["utterance"]:
            row["utterance"] += " " + row["fact_text"]
        told.append(orjson.dumps(row))
    path = tmp_path / "told.jsonl"
    path.write_bytes(b"\n".join(told))
    probes = [probe for probe in PROBES if probe.name == "overlap"]
    found = audit_dialogues(set_corpus(row_set(path, "told")), probes=probes)
    assert score(found, "overlap", "goal") > 0.9


def test_a_comma_planted_in_a_set_is_found(played, tmp_path):
    rows = next((played / "benchmark").rglob("*.jsonl"))
    plant_commas(rows, tmp_path / "initiator.jsonl", "initiator")
    plant_commas(rows, tmp_path / "responder.jsonl", "responder")
    assert reads(audited(tmp_path / "initiator.jsonl"), "other lines", "goal")
    assert score(audited(tmp_path / "responder.jsonl"), "first words", "goal") > 0.95


def test_a_comma_planted_in_a_set_whose_scheme_is_known_is_found(played, tmp_path):
    shutil.copytree(played / "benchmark", tmp_path / "set")
    rows = next((tmp_path / "set").rglob("*.jsonl"))
    plant_commas(next((played / "benchmark").rglob("*.jsonl")), rows, "initiator")
    assert reads(audited(tmp_path / "set"), "line before", "goal")
    assert audited(played / "benchmark").shortcuts == ()


def test_answers_without_a_row_still_come_before_others(played, tmp_path):
    """A run knows their labels; of a set it is known that they were said."""
    found = corpus_of(played / "run")
    longer = [d for d in found.dialogues if len(d.answers) > 1]
    only = {(d.case, d.arm): {a.turn for a in d.answers[1:]} for d in longer}
    with opened(Selection((played / "run",), "any")) as run:
        rest = run_corpus(run, name="run", only=only).dialogues
    whole = {d.case: d for d in longer}
    assert rest
    assert all(dict(d.said) == dict(whole[d.case].said) for d in rest)
    rows = next((played / "benchmark").rglob("*.jsonl")).read_bytes().splitlines()
    first = {d.case: d.answers[0].turn for d in longer[::2]}
    path = tmp_path / "rest.jsonl"
    path.write_bytes(
        b"\n".join(
            line
            for line in rows
            if (row := orjson.loads(line))["turn"] != first.get(row["case"], -1)
        )
    )
    left = {d.case: d for d in set_corpus(row_set(path, "rest")).dialogues}
    for dialogue in longer:
        known = dict(dialogue.said)
        if dialogue.case in first:
            known[first[dialogue.case]] = None
        assert dict(left[dialogue.case].said) == known


def test_the_audit_of_a_run_is_kept_in_it(played):
    found = audit(played / "run")
    assert read_audit(played / "run" / AUDIT) == found
    assert found.dialogues == 120
    assert not [f for f in found.shortcuts if f.dimension == "goal"]


def test_a_sample_is_of_whole_pairs(played):
    with opened(Selection((played / "run",), "any")) as opened_run:
        sample = run_corpus(opened_run, name="run", most=50, seed=1)
    drawn = {d.pair for d in sample.dialogues}
    every = corpus_of(played / "run").dialogues
    whole = [d for d in every if d.pair in drawn]
    assert 5 < len(drawn) < len({d.pair for d in every})
    assert len(sample.dialogues) == len(whole)
    assert sample.of == 120


def test_preference_pairs_are_read_from_text_length_and_labels(tmp_path):
    run = exportable_run(tmp_path / "run", strategies=("consistency", "reflective"))
    exported(tmp_path / "dpo", run, "dpo", fractions=(1.0, 0.0, 0.0), include_deception=True)
    found = audit(tmp_path / "dpo")
    assert {f.probe for f in found.findings} <= {"length", "labels", "text", "punctuation"}
    sample = audit(tmp_path / "dpo", most=found.dialogues // 2)
    assert sample.of == found.of == found.dialogues > sample.dialogues
    # The losers of these votes say the same and then "Or so, 1.": longer, every one of them.
    assert score(found, "length", "preferred") > 0.95
    assert reads(found, "length", "preferred")
    assert {f.kind for f in found.findings if f.probe == "text"} == {"surface"}


def test_pairs_whose_sides_differ_by_chance_have_no_shortcut(tmp_path):
    import numpy as np  # noqa: PLC0415

    rng = np.random.default_rng(3)

    def side():
        words = " ".join(f"w{rng.integers(80)}" for _ in range(rng.integers(5, 25)))
        return [{"role": "assistant", "content": words}]

    rows = [
        {"scenario": f"s{n % 10}", "case": f"c{n}", "arm": "a", "turn": 3,
         "chosen": side(), "rejected": side()}
        for n in range(200)
    ]  # fmt: skip
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    found = audit(path)
    assert found.shortcuts == ()
    assert [s.probe for s in found.skipped] == ["labels"]


def test_rows_of_another_making_are_refused_with_what_they_lack(tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text('{"case": "c", "arm": "a", "goal": "g"}\n')
    with pytest.raises(UsageError, match="row 1 has no 'scenario'"):
        audit(path)


def test_rows_without_labels_are_refused(played, tmp_path):
    hipo(
        f"export {played / 'run'} --to sft --task initiator --any --splits 100,0,0 --no-parquet"
        f" -o {tmp_path / 'asking'} -q"
    )
    with pytest.raises(UsageError, match="no row holds the labels of an answer"):
        audit(tmp_path / "asking")


def test_neither_run_nor_set_is_told_apart(tmp_path):
    with pytest.raises(UsageError, match="there is no run"):
        audit(str(tmp_path / "nothing"))


def test_the_command_prints_tables_or_json(played, capsys, tmp_path):
    hipo(f"audit {played / 'run'} --dialogues 40 -o {tmp_path / 'a.json'}")
    text = capsys.readouterr().out
    assert "Must tell nothing" in text
    assert "Tied by the scheme: veracity Quality" in text
    assert "of 120 dialogues" in text
    hipo(f"audit {played / 'run'} --dialogues 40 -o {tmp_path / 'b.json'} --format json")
    printed = orjson.loads(capsys.readouterr().out)
    assert printed == orjson.loads((tmp_path / "a.json").read_bytes())
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
