"""The family of dilemmas from end to end, without a model."""

import asyncio
import json
from collections import Counter

import pytest

from hipo.app.runs.run import open_run
from hipo.cli.main import run
from pipeline.offline_reasoner.engine import game_in, recalled
from pipeline.reasoning.grammar import read_predicate
from pipeline.store.queries.annotations import open_annotations
from pipeline.store.run_store import RunStore
from pipeline.verifiers.payoffs import payoff_data
from prompts.environment import as_data
from scenarios.annotations import HUMAN, VERIFIER, Annotation, Subject
from scenarios.catalogue import Catalogue
from scenarios.pack import FAMILIES

SCHEME = "payoff_reasoning"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dilemmas") / "run"
    code = run(
        ["generate", "dilemmas", "--model", "offline/reasoner", "-n", "5", "-o", str(folder), "-q"]
    )
    assert code == 0
    return folder


def decisions(folder):
    """Return (dialogue, last turn) of every dialogue: the turn in which somebody chooses."""
    return [(dialogue, dialogue.turns[-1]) for dialogue in open_run(folder).dialogues()]


def figures(tmp_path, *arguments):
    target = tmp_path / "figures.json"
    assert run(["metrics", "reasoning", *map(str, arguments), "--json", str(target)]) == 0
    return json.loads(target.read_text())


def scenarios():
    entries = Catalogue.load([FAMILIES], environment={}).entries.values()
    return [entry.scenario for entry in entries if entry.scenario.scheme == SCHEME]


def test_the_situation_tells_both_players_the_payoffs_that_words_are_checked_against():
    games = scenarios()
    assert len(games) >= 4
    for scenario in games:
        for key, role in scenario.roles.items():
            told = {"Situation": str(as_data(scenario.background)), "You": f"Role: {role.name}"}
            assert game_in(told) == payoff_data(scenario).game_of(key, scenario.id)


def test_every_dialogue_is_talk_and_then_a_reasoning_with_a_choice(made):
    found = decisions(made)
    assert len({dialogue.case.scenario for dialogue, _ in found}) == 5
    by_id = {scenario.id: scenario for scenario in scenarios()}
    for dialogue, turn in found:
        assert [t.labelled for t in dialogue.turns].count(True) == dialogue.case.turns
        game = payoff_data(by_id[dialogue.case.scenario]).game_of(turn.role, "")
        assert recalled(turn.text, game).choice in game.choices
        assert turn.trace.attempts[turn.trace.chosen].draft.text == turn.text


def test_claims_and_attempts_are_labels_of_the_verifier(made):
    with open_annotations(made) as reader:
        found = list(reader.annotations([VERIFIER]))
    said = {(a.subject.case, a.subject.turn, a.subject.part, a.dimension): a.value for a in found}
    for dialogue, turn in decisions(made):
        for number, attempt in enumerate(turn.trace.attempts):
            key = (dialogue.case.id, turn.index, f"attempt {number}")
            assert said[*key, "correct"] == str(int(attempt.verification.holds))
        assert said[dialogue.case.id, turn.index, None, "correct"] == said[*key, "correct"]


def test_a_run_and_its_logs_have_the_same_figures(made, tmp_path):
    logs = tmp_path / "logs"
    found = figures(tmp_path, made, "--logs", logs)
    assert found["logs"] == 5
    assert found["claims"]["malformed"] == found["claims"]["differing_attempts"] == 0
    again = figures(tmp_path, logs)  # with the games that lie beside them
    for key in ("claims", "attempts", "error_rates"):
        assert again[key] == found[key]
    assert again["oddities"] == []


def test_failed_claims_are_counted_by_the_mistake_that_they_are(made, tmp_path):
    expected = Counter()
    for _, turn in decisions(made):
        for stage, attempt in (
            ("original", turn.trace.attempts[0]),
            ("final", turn.trace.attempts[-1]),
        ):
            for claim in attempt.verification.claims:
                if not claim.holds:
                    expected[read_predicate(claim.notation).mistake, stage] += 1
    assert expected
    found = figures(tmp_path, made)["failed_claims"]
    told = Counter({(c["kind"], c["stage"]): c["count"] for c in found if not c["game"]})
    assert +told == expected


def verdicts(folder):
    """Return what the solver says of every turn that is said, by case and turn."""
    with open_annotations(folder) as reader:
        return {
            (one.subject.case, one.subject.turn): one.value
            for one in reader.annotations((VERIFIER,))
            if one.dimension == "correct" and one.subject.part is None
        }


def test_what_the_solver_says_is_the_right_label_of_a_set_that_asks_for_it(made, tmp_path, capsys):
    target = tmp_path / "set"
    words = ["export", str(made), "--any", "--to", "benchmark", "--labels", "verifier"]
    assert run([*words, "-o", str(target)]) == 0
    rows = [json.loads(line) for line in (target / "jsonl" / "test.jsonl").read_text().splitlines()]
    card = (target / "README.md").read_text()
    assert "the labels are what a program found that checks what is said" in card
    assert "are what the speaker's model declared" not in card
    said = verdicts(made)
    assert {row["label_correct"] for row in rows} == set(said.values())
    for row in rows:
        assert (row["labelled_by"], row["label_correct"]) == (
            VERIFIER, said[row["case"], row["turn"]],
        )  # fmt: skip
        assert (row["label_err_type"] is None) is (row["label_correct"] == "1")
    asked = ["--task", "payoff-reasoning", "--model", "offline/judge", "--no-page", "-q"]
    found = []
    for source, name in (([str(target)], "of-set"), ([str(made), "--any"], "of-run")):
        assert run(["evaluate", *source, *asked, "-o", str(tmp_path / name)]) == 0
        lines = (tmp_path / name / "results.jsonl").read_text().splitlines()
        found.append({
            (row["case"], row["turn"]): row["references"][VERIFIER]["correct"]
            for row in map(json.loads, lines)
        })  # fmt: skip
    assert found[0] == found[1] == said
    capsys.readouterr()
    shown = run(["evaluate", "report", str(tmp_path / "of-set")])
    assert shown == 0
    assert (
        "what a program found that checks what is said"
        in (tmp_path / "of-set" / "index.html").read_text()
    )


def test_people_who_reviewed_a_run_are_its_raters(made, tmp_path):
    labels = []
    for place, (dialogue, turn) in enumerate(decisions(made)):
        subject = Subject(dialogue.case.id, dialogue.arm, turn.index)
        for person in ("ann", "ben", "cy"):
            right = not (place == 0 and person == "cy")
            labels.append(Annotation(subject, HUMAN, person, "correct", str(int(right))))
            if not right:
                kinds = ("risk/gain", "unclassified")
                labels.append(Annotation(subject, HUMAN, person, "err_type", kinds))

    async def store() -> None:
        with RunStore.open(made) as opened:
            await opened.annotate(labels)

    asyncio.run(store())
    found = figures(tmp_path, made)
    assert found["raters"] == ["ann", "ben", "cy"]
    final = next(m for m in found["confusion"] if not m["game"] and m["attempt"] == "final")
    assert final["total"] == 5
    assert final["fp"] + final["tn"] == 1
    kinds = {
        (c["error_type"], c["rater"]): c["count"] for c in found["error_types"] if not c["game"]
    }
    assert kinds["risk/gain", "cy"] == 1
    assert kinds["risk/gain", "ann"] == 0


def test_a_run_is_verified_and_reported(made, capsys):
    assert run(["verify", str(made), "--judge", "offline/judge", "-q"]) == 0
    assert run(["report", str(made), "--no-embeddings"]) == 0
    page = (made / "report.html").read_text()
    assert "Reasoning in games" in page
    assert "wrong in the end" in page
    assert run(["agreement", str(made), "--of", "verifier", "--with", "external"]) == 0
    assert "correct" in capsys.readouterr().out


def test_a_run_without_checked_claims_is_refused(tmp_path, capsys):
    folder = tmp_path / "plain"
    made = [
        "generate",
        "dilemmas",
        "--model",
        "offline/reasoner",
        "--strategy",
        "direct",
        "-n",
        "1",
    ]
    assert run([*made, "-o", str(folder), "-q"]) == 0
    assert run(["metrics", "reasoning", str(folder)]) == 2
    assert "--strategy verified" in capsys.readouterr().err
    target = tmp_path / "set"
    words = ["export", str(folder), "--any", "--to", "benchmark", "--labels", "verifier"]
    assert run([*words, "-o", str(target)]) == 2
    assert "has no labels of a program that checks what is said" in capsys.readouterr().err
    assert not target.exists()
