import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipo.app.study import StudyOutcome
from hipo.cli.main import run as hipo
from hipo.cli.study import study_as_text
from outputs.reliability.judge_agreement import Count, differences, kappa, shares
from outputs.study.outcome import outcome_sentence, seats
from outputs.study.page import study_files, study_page, study_table
from outputs.study.study import ALL_MODELS, read_study, study_as_json
from pipeline.store.queries.report import open_figures
from quality.agreement.annotations import Answer
from quality.agreement.coefficients import cohen_kappa
from quality.agreement.ratings import ratings
from quality.statistics.bootstrap import Interval, Resampling
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.outputs.html_tree import parsed
from tests.outputs.sample_run import HOSTILE, reported_run
from tests.wire.fixtures import wire_server  # noqa: F401

DIMENSIONS = ("intention", "veracity", "illocutionary")
counts = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 5), st.integers(0, 5)).map(
        lambda t: Count(t[0], min(t[1], t[2]), t[2])
    ),
    max_size=6,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return [
        reported_run(folder / "one", model="compatible/one", failed=0),
        reported_run(folder / "two", model="compatible/two", failed=2, skew=1),
    ]


@pytest.fixture(scope="module")
def study(runs):
    return read_study(runs)


def case_votes(runs):
    """Return {(strategy, model): {(case, scenario, source, dimension): (yes, judged)}}."""
    found = {}
    for run, model in zip(runs, ("one", "two"), strict=True):
        with open_figures(run) as figures:
            for strategy in ("direct", "reflective"):
                found[strategy, f"compatible/{model}"] = {
                    (v.case, v.scenario, v.source, v.dimension): (v.yes, v.judged)
                    for v in figures.case_votes(f"{strategy}-compatible-{model}")
                }
    return found


def common_cases(votes):
    return set.intersection(*({key[0] for key in mine} for mine in votes.values()))


def test_only_cases_that_everyone_played_are_compared(study, runs):
    assert study.cases == 10
    assert study.left_out == 2
    assert len(study.contestants) == 4
    assert study.scenarios == 3


def test_shares_are_those_of_the_judgements_on_common_cases(study, runs):
    votes = case_votes(runs)
    common = common_cases(votes)
    for contestant, mine in votes.items():
        for source in ("self", "external"):
            for dimension in DIMENSIONS:
                chosen = [
                    v for k, v in mine.items() if k[0] in common and k[2:] == (source, dimension)
                ]
                share = study.measure(contestant, source, dimension)
                assert share.yes == sum(yes for yes, _ in chosen)
                assert share.judged == sum(judged for _, judged in chosen) > 0
                assert share.interval.low <= share.value <= share.interval.high


def test_goal_and_what_only_readers_label_are_compared_by_what_is_expected(study, runs):
    common = common_cases(case_votes(runs))
    for run, model in zip(runs, ("one", "two"), strict=True):
        with open_figures(run) as figures:
            votes = [
                v for v in figures.case_votes(f"direct-compatible-{model}")
                if v.whole and v.case in common
            ]  # fmt: skip
        for source, dimension in (("self", "goal"), ("external", "goal"), ("external", "misled")):
            right = [v.yes for v in votes if (v.source, v.dimension) == (source, dimension)]
            share = study.measure(("direct", f"compatible/{model}"), source, dimension)
            assert (share.yes, share.judged) == (sum(right), len(right))
            assert share.judged == study.cases


def test_wins_are_the_best_mean_share_of_a_scenario(study, runs):
    votes = case_votes(runs)
    common = common_cases(votes)
    for model in ("compatible/one", "compatible/two", ALL_MODELS):
        won, tied = defaultdict(int), defaultdict(int)
        for scenario in ("used_car", "quit_smoking", "texting_ex"):
            means = {}
            for strategy in ("direct", "reflective"):
                values = []
                for dimension in DIMENSIONS:
                    chosen = [
                        v for (name, own), mine in votes.items() for k, v in mine.items()
                        if name == strategy and model in (own, ALL_MODELS) and k[0] in common
                        and k[1:] == (scenario, "self", dimension)
                    ]  # fmt: skip
                    values.append(sum(y for y, _ in chosen) / sum(j for _, j in chosen))
                means[strategy] = sum(values) / 3
            if abs(means["direct"] - means["reflective"]) < 1e-9:
                tied["direct"] += 1
                tied["reflective"] += 1
            else:
                won[max(means, key=means.get)] += 1
        for strategy in ("direct", "reflective"):
            (found,) = [
                w for w in study.wins
                if (w.strategy, w.model, w.source) == (strategy, model, "self")
            ]  # fmt: skip
            assert (found.won, found.tied, found.scenarios) == (won[strategy], tied[strategy], 3)


def test_differences_are_from_direct_with_the_same_model(study):
    for found in study.differences:
        assert found.strategy == "reflective"
        mine, base = (
            study.measure((strategy, found.model), found.source, found.dimension).value
            for strategy in ("reflective", "direct")
        )
        assert found.value == pytest.approx(mine - base)
    # Two models; of utterances three dimensions, and of dialogues the goal, and who is misled.
    assert len(study.differences) == 2 * (4 + 5)


def test_the_page_is_sound_and_says_what_was_left_out(study):
    html = study_page(study, title=HOSTILE, version="1")
    tree = parsed(html)
    assert "<script" not in html
    text = "".join(tree.itertext())
    assert "2 cases left out" in text
    assert "What only readers label" in text


def test_a_study_says_who_is_ahead_and_what_tells_nothing_apart(study):
    first, second, *rest = study.differences
    ahead = replace(first, value=0.2, interval=Interval(0.1, 0.3))
    behind = replace(second, value=-0.2, interval=Interval(-0.3, -0.1))
    told = outcome_sentence(replace(study, differences=(ahead, behind, *rest)))
    assert f"reflective with {ahead.model} is ahead of direct on" in told
    assert f"reflective with {behind.model} is behind direct on" in told
    assert "+20.0 points" in told
    assert "-20.0 points" in told
    assert "16 of 18 comparisons tell nothing apart" in told


def test_a_study_of_equals_says_that_nothing_can_be_told_apart(study):
    same = [replace(d, value=0.0, interval=Interval(-0.1, 0.1)) for d in study.differences]
    equal = replace(study, differences=tuple(same))
    assert outcome_sentence(equal) == (
        "No strategy can be told apart from direct: the intervals of all 18 comparisons contain zero."
    )


def test_a_study_of_one_scenario_claims_nothing_of_intervals_that_there_are_not(study):
    bare = [replace(d, value=0.1, interval=None) for d in study.differences]
    assert outcome_sentence(replace(study, scenarios=1, differences=tuple(bare))) == (
        "Nothing can be told apart from direct: no comparison has an interval, as with one "
        "scenario there is none."
    )
    one = replace(bare[0], interval=Interval(-0.1, 0.2))
    assert outcome_sentence(replace(study, differences=(one, *bare[1:]))) == (
        "Nothing can be told apart from direct: the interval of the one comparison contains zero."
    )


def test_a_study_of_alike_answers_in_several_scenarios_does_not_speak_of_one(study):
    assert study.scenarios > 1
    same = [replace(d, value=0.0, interval=None) for d in study.differences]
    told = outcome_sentence(replace(study, differences=tuple(same)))
    assert told.endswith("as each difference is the same in whichever scenarios are drawn.")


def test_one_program_in_both_chairs_is_shown_once(study):
    one = replace(study, judges=("external x/same", "self y/same"))
    assert seats(one) == (("external", "blind reading"),)
    page = study_page(one, title="x", version="1")
    assert "Self-judgement" not in page
    shown = frozenset(pair for pair in one.named if pair != ("external", "intention"))
    assert [source for source, _ in seats(replace(one, named=shown))] == ["self", "external"]
    assert list(study_files(one)) == ["study-external.svg"]


def test_one_program_in_both_chairs_is_printed_once(study):
    one = replace(study, judges=("external x/same", "self y/same"))
    printed = study_as_text(StudyOutcome(Path("study"), one, 1, Counter(), None))
    assert printed.count("\nstrategy ") == 1


def test_ties_are_counted_beside_wins(study):
    _, rows = study_table(study, "self")
    wins = {(w.strategy, w.model, w.source): w for w in study.wins}
    for row in rows:
        found = wins[row[0], row[1], "self"]
        tied = f", {found.tied} tied" if found.tied else ""
        assert row[-1] == f"{found.won}{tied} of {found.scenarios}"


def test_plots_are_files_of_their_own(study):
    files = study_files(study)
    assert sorted(files) == ["study-external.svg", "study-self.svg"]
    for text in files.values():
        assert ElementTree.fromstring(text).get("role") == "img"


def test_the_data_can_be_read_by_programs(study):
    data = json.loads(json.dumps(study_as_json(study)))
    assert data["cases"] == 10
    assert len(data["measures"]) == 4 * (4 + 5)
    assert {m["model"] for m in data["wins"]} == {"compatible/one", "compatible/two", None}
    assert all(m["low"] <= m["share"] <= m["high"] for m in data["measures"])


def test_one_arm_twice_is_refused(runs):
    with pytest.raises(UsageError, match="compared with itself"):
        read_study([runs[0], runs[0]])


def test_nothing_is_refused():
    with pytest.raises(UsageError, match="nothing to compare"):
        read_study([])


def test_a_study_without_judges_has_a_page(tmp_path):
    study = read_study([reported_run(tmp_path / "raw", verified=False)])
    assert study.cases == 0
    assert "No judge has looked" in study_page(study, title="x", version="1")


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 3), counts, max_size=3))
def test_a_share_is_all_yes_over_all_judged(groups):
    for key, share in shares(groups, Resampling(50)).items():
        assert share.yes == sum(c.yes for c in groups[key])
        assert share.judged == sum(c.judged for c in groups[key])
        if share.interval is not None:
            assert 0 <= share.interval.low <= share.interval.high <= 1


def test_the_interval_is_that_of_resampling_scenarios_by_hand():
    groups = {"x": [Count("a", 1, 4), Count("b", 9, 10), Count("c", 3, 6), Count("a", 1, 1)]}
    share = shares(groups, Resampling(4000, seed=1))["x"]
    yes, judged = np.array([2, 9, 3]), np.array([5, 10, 6])
    rng = np.random.default_rng(0)
    drawn = rng.integers(3, size=(4000, 3))
    by_hand = yes[drawn].sum(axis=1) / judged[drawn].sum(axis=1)
    low, high = np.quantile(by_hand, (0.025, 0.975))
    assert share.interval.low == pytest.approx(low, abs=0.03)
    assert share.interval.high == pytest.approx(high, abs=0.03)


def test_what_is_hard_for_both_cancels_out_of_a_difference():
    hard = [Count("a", 1, 10), Count("b", 9, 10), Count("c", 5, 10)]
    better = [Count(c.cluster, c.yes + 1, c.judged) for c in hard]
    assert differences({"x": better, "y": hard}, [("x", "y")]) == [(pytest.approx(0.1), None)]
    better[0] = Count("a", 3, 10)
    ((value, interval),) = differences({"x": better, "y": hard}, [("x", "y")])
    assert value == pytest.approx(4 / 30)
    assert (interval.low, interval.high) == (pytest.approx(0.1), pytest.approx(0.2))


def test_one_scenario_has_no_interval():
    assert shares({"x": [Count("a", 1, 2)]})["x"].interval is None
    assert differences({"x": [Count("a", 1, 2)], "y": [Count("a", 2, 2)]}, [("x", "y")]) == [
        (-0.5, None)
    ]


def test_kappa_of_one_label_throughout_is_undefined():
    assert kappa([[5]]) is None
    assert kappa([]) is None


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_is_that_of_the_library(cells):
    names = ("Inform", "Convince", "Affect")
    answers, item = [], 0
    for i, row in enumerate(cells):
        for j, n in enumerate(row):
            for _ in range(n):
                answers += [Answer(str(item), "intention", "a", names[i]),
                            Answer(str(item), "intention", "b", names[j])]  # fmt: skip
                item += 1
    expected = (
        cohen_kappa(ratings(load_scheme("hipo").dimension("intention"), answers)) if item else None
    )
    assert kappa(cells) == (None if expected is None else pytest.approx(expected))


COMMAND = ["study", "demo", "-n", "3", "--strategy", "direct,reflective"]


def test_the_command_plays_judges_and_compares_and_does_nothing_twice(tmp_path, capsys):
    folder = tmp_path / "study"
    assert hipo([*COMMAND, "-o", str(folder), "-q", "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["cases"] == 3
    assert first["judges"] == ["external offline/judge"]
    assert {m["strategy"] for m in first["measures"]} == {"direct", "reflective"}
    names = {child.name for child in folder.iterdir()}
    assert names == {
        "offline_rules", "study.html", "study.json", "study-external.svg",
    }  # fmt: skip
    page = (folder / "study.html").read_bytes()
    assert hipo([*COMMAND, "-o", str(folder), "-q", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert (folder / "study.html").read_bytes() == page
    assert hipo([*COMMAND, "-o", str(folder)]) == 0
    assert "0 calls, nothing to do" in capsys.readouterr().out


def test_a_study_of_two_models_stops_at_its_budget_and_goes_on(tmp_path, capsys, wire_server):  # noqa: F811
    folder = tmp_path / "study"
    command = [
        *COMMAND, "-o", str(folder), "-q", "--format", "json", "--models",
        "compatible/small,compatible/large", "--base-url", wire_server.openai_url, "--no-self",
        "--judge", "offline/judge", "--seed", "7",
    ]  # fmt: skip
    assert hipo([*command, "--budget-tokens", "90000"]) == 4
    printed = capsys.readouterr()
    stopped = json.loads(printed.out)
    spent = sum(effort["tokens"] for effort in stopped["efforts"])
    assert spent <= 90_000
    enough = re.search(r"raise --budget-tokens above (\d+)\n", printed.err)
    assert int(enough[1]) > 90_000
    assert hipo([*command, "--budget-tokens", str(int(enough[1]) + 5_000)]) == 4
    more = json.loads(capsys.readouterr().out)
    assert sum(effort["tokens"] for effort in more["efforts"]) > spent
    assert hipo(command) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["cases"] == 3
    assert [effort["model"] for effort in data["efforts"]] == [
        "compatible/small",
        "compatible/large",
    ]
    assert data["judges"] == ["external offline/judge"]
    shares_of = {
        model: [m["share"] for m in data["measures"] if m["model"] == model]
        for model in ("compatible/small", "compatible/large")
    }
    assert shares_of["compatible/small"] == shares_of["compatible/large"]  # the same rules answer


def test_what_cannot_work_is_said_before_anything_is_sent(tmp_path, capsys, wire_server):  # noqa: F811
    folder = tmp_path / "study"
    command = [
        *COMMAND, "-o", str(folder), "--models", "compatible/small,compatible/large", "--base-url",
        wire_server.openai_url, "--judge", "compatible/large",
    ]  # fmt: skip
    assert hipo(command) == 2
    assert "cannot be the external judge" in capsys.readouterr().err
    assert wire_server.count == 0
    assert not folder.exists()


def test_a_dry_run_sends_and_writes_nothing(tmp_path, capsys):
    folder = tmp_path / "study"
    assert hipo([*COMMAND, "-o", str(folder), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "Verifying:" in told
    assert "the whole study: $0" in told
    assert not folder.exists()


def test_a_run_is_not_taken_for_a_study(tmp_path, capsys):
    run = reported_run(tmp_path / "run", verified=False)
    assert hipo([*COMMAND, "-o", str(run)]) == 2
    assert "is a run, not a study" in capsys.readouterr().err


def test_runs_of_two_versions_of_a_scheme_are_not_compared(runs, tmp_path):
    old = reported_run(tmp_path / "old", model="compatible/three", scheme="hipo@1")
    with pytest.raises(UsageError, match="different label schemes: hipo@1, hipo@2") as error:
        read_study([*runs, old])
    assert "one scheme and version" in error.value.hint
