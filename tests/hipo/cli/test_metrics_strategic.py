"""``hipo metrics strategic``: from tables of labels to benefit, penalty and who wins."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hipo.app.metrics.annotated import Annotated
from hipo.app.metrics.strategic import strategic_metrics
from scenarios.annotations import Annotation, Subject
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.hipo.cli.conftest import Hipo

HEADER = (
    "question,answer,annotator,commitment,relevance,manner,quality,inconsistent,outcome,reasons"
)
COLUMNS = "consistency_value"
ROWS = (
    "Did you sign?,I did.,{who},{first},1,1,1,0,Witness,[Logical facts]",
    "When?,Ask the bank.,{who},4,3,4,2,0,Questioner,[Emotions]",
    "Alone?,With my clerk.,{who},2,1,1,2,1,Witness,[Logical facts]",
)


def table(path: Path, **firsts: str) -> str:
    """Three answers of one witness, labelled by some annotators who differ on the first one."""
    rows = [row.format(who=who, first=first) for who, first in firsts.items() for row in ROWS]
    header = HEADER.replace("inconsistent", COLUMNS)
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def trial(hipo: Hipo, tmp_path: Path) -> str:
    codes = {"anna": "1", "ben": "1", "juror": "3"}
    return table(tmp_path / "trial.csv", **codes)


def test_prints_counts_metrics_agreement_and_why_there_is_no_model(hipo: Hipo, trial: str) -> None:
    done = hipo("metrics", "strategic", trial)
    assert done.code == 0, done.err
    for heading in ("Labels:", "Metrics:", "Agreement:", "Who wins"):
        assert heading in done.out
    assert "1 dialogue, 3 annotators; as printed" in done.out


def test_the_json_has_every_answer_with_where_the_witness_stands(hipo: Hipo, trial: str) -> None:
    found = hipo("metrics", "strategic", trial, "--json", "-").data
    answers = [row for row in found["answers"] if row["annotator"] == "anna"]
    assert [row["bat"] for row in answers] == [0, 0, 1]
    assert [row["pat"] for row in answers] == pytest.approx([1, 0.5, 0.2])
    assert [row["nra"] for row in answers] == pytest.approx([1, 0, 1 / 3])
    assert answers[1]["reasons"] == ["emotion"]


def test_a_file_for_the_json_leaves_the_text_on_the_terminal(
    hipo: Hipo, trial: str, tmp_path: Path
) -> None:
    done = hipo("metrics", "strategic", trial, "--json", "figures.json")
    assert "Labels:" in done.out
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written == hipo("metrics", "strategic", trial, "--json", "-").data


def test_only_what_is_asked_for_is_made(
    hipo: Hipo, trial: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unasked(*_: object) -> None:
        raise AssertionError("nobody asked for it")

    with monkeypatch.context() as patched:
        patched.setattr("hipo.cli.metrics.strategic.strategic_as_json", unasked)
        assert "Labels:" in hipo("metrics", "strategic", trial).out
    monkeypatch.setattr("hipo.cli.metrics.strategic.strategic_as_text", unasked)
    assert hipo("metrics", "strategic", trial, "--json", "-").data["answers"]


def test_other_labels_of_a_run_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held = 0

    def read() -> Iterator[Annotation]:
        nonlocal held
        for number in range(50):
            about = Subject(f"case{number}", "arm", 1)
            yield Annotation(about, "juror", "m", "cobra.commitment", "neutral")
            yield Annotation(about, "declared", "responder", "veracity", "Quality")
        held = sum(type(one) is Annotation for one in gc.get_objects())  # a look at every object

    run = Annotated(("run",), load_scheme("hipo"), read, lambda: iter(()), has_groups=False)
    monkeypatch.setattr("hipo.app.metrics.strategic.open_annotated", lambda *_: run)
    assert len(strategic_metrics(["run"]).discourses) == 50
    assert 0 < held < 50 + 5


def test_models_are_compared_with_each_person(hipo: Hipo, trial: str) -> None:
    found = hipo("metrics", "strategic", trial, "--with", "juror", "--json", "-").data
    pairs = {(p["first"], p["second"]) for row in found["against"] for p in row["pairs"]}
    assert pairs == {("anna", "juror"), ("ben", "juror")}
    pairs = {(p["first"], p["second"]) for row in found["agreement"] for p in row["pairs"]}
    assert pairs == {("anna", "ben"), ("ben", "anna")}


def test_models_in_pairs_are_held_against_people_dialogue_by_dialogue(
    hipo: Hipo, tmp_path: Path
) -> None:
    """The larger one says what people say in both trials, the smaller one in one of them."""
    one = table(tmp_path / "one.csv", anna="1", ben="1", large="1", small="3")
    two = table(tmp_path / "two.csv", anna="2", ben="2", large="2", small="2")
    command = ("metrics", "strategic", one, two, "--with", "large,small", "--pair", "large,small")
    found = {row["quantity"]: row for row in hipo(*command, "--json", "-").data["pairs"]}
    assert list(found) == ["BaT", "PaT", "NRBaT", "commitment", "relevance", "manner", "quality"]
    commitment = found["commitment"]
    assert (commitment["wins"], commitment["losses"], commitment["ties"]) == (1, 0, 1)
    # Two of three alike, by chance two of nine: kappa 4/7, and 1 of the other.
    assert commitment["mean"] == pytest.approx(3 / 14)
    assert commitment["p_bonferroni"] == pytest.approx(min(1, 4 * commitment["p"]))
    assert (found["manner"]["ties"], found["manner"]["p"]) == (2, None)
    text = hipo(*command).out
    assert "Pairs: how much nearer to the others" in text
    apart = {
        (one["dialogue"], one["annotator"]): {
            row["quantity"]: row["value"]
            for row in one["statistics"]
            if "kappa" in row["statistic"]
        }
        for one in hipo(*command, "--json", "-").data["against_by_dialogue"]
    }
    assert {key: values["commitment"] for key, values in apart.items()} == {
        ("one", "large"): 1, ("one", "small"): pytest.approx(4 / 7),
        ("two", "large"): 1, ("two", "small"): 1,
    }  # fmt: skip
    shown = text.partition("Against the others, by dialogue")[2].splitlines()
    assert shown[1].split() == ["dialogue", "who", *found, "inconsistent"]
    assert hipo("metrics", "strategic", one, "--with", "large", "--json", "-").data[
        "against_by_dialogue"
    ] == []  # fmt: skip
    assert hipo("metrics", "strategic", one, "--json", "-").data["pairs"] == []
    unnamed = hipo("metrics", "strategic", one, two, "--pair", "large,small")
    assert (unnamed.code, "name the models of files with --with" in unnamed.err) == (2, True)


def test_variant_weights_and_threshold_are_options(hipo: Hipo, trial: str) -> None:
    options = ("--variant", "as_released", "--weights", "manner=1, relevance=0", "--threshold", "4")
    found = hipo("metrics", "strategic", trial, *options, "--json", "-").data
    assert found["formula"] == {
        "variant": "as_released",
        "weights": {"relevance": 0, "manner": 1, "quality": 0.2, "consistency": 0.2},
        "threshold": 4,
    }
    assert found["answers"][2]["pat"] == 0


def test_plots_are_written_of_each_dialogue_of_all_labels_and_of_metrics(
    hipo: Hipo, trial: str, tmp_path: Path
) -> None:
    told = hipo("metrics", "strategic", trial, "--plots", "pictures")
    assert told.code == 0
    assert "plots: 9 in pictures" in told.err
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [path.name for path in pictures] == [
        "bat.svg",
        "labels.svg",
        "net-benefit.svg",
        "nrbat.svg",
        "pat.svg",
        "trial-benefit-so-far.svg",
        "trial-nra.svg",
        "trial-nrbat.svg",
        "trial-penalty-so-far.svg",
    ]
    assert all(ElementTree.parse(path).getroot().tag.endswith("svg") for path in pictures)


def test_plots_are_there_when_whoever_reads_the_text_has_had_enough(
    hipo: Hipo, trial: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object) -> None:
        raise UsageError("nobody reads this")

    monkeypatch.setattr("hipo.cli.metrics.strategic.deliver", closed)
    assert hipo("metrics", "strategic", trial, "--plots", "pictures").code == 2
    assert (tmp_path / "pictures" / "labels.svg").is_file()


def test_a_code_that_no_map_knows_is_told_by_row_and_leaves_the_rest(
    hipo: Hipo, tmp_path: Path
) -> None:
    found = hipo(
        "metrics", "strategic", table(tmp_path / "odd.csv", anna="9", ben="2"), "--json", "-"
    ).data
    assert [row["bat"] for row in found["answers"]] == [None, 0, 1, 1, 0, 1]
    (odd,) = [one for one in found["odd"] if one["code"] == "unknown_value"]
    assert (odd["row"], odd["column"]) == (1, "commitment")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--weights", "manner"), "the weight 'manner' is no name with a number"),
        (("--weights", "manor=1"), "no weight 'manor'"),
        (("--threshold", "9"), "threshold 9 is no rating"),
        (("--with", "nobody"), "no annotator 'nobody'"),
        (("--with", "anna,ben,juror"), "nobody is left"),
        (("--pair", "juror"), "the pair 'juror' is no two names"),
        (("--with", "juror", "--pair", "juror,anna"), "'anna' is none of those that are compared"),
        (("--map", "cobar"), "unknown map 'cobar'"),
        (("--map", "cei"), "found no column"),
        (("--map", "lacking.yaml"), "'c7' or one of 4 others of the map, expected one that holds"),
    ],
)
def test_a_mistake_is_one_message_and_exit_code_2(
    hipo: Hipo, trial: str, options: tuple[str, ...], message: str
) -> None:
    columns = [f"c{number}" for number in (*range(12), *range(12))]
    Path("lacking.yaml").write_text(
        "id: lacking\ntitle: Lacking\nscheme: cobra\nrows: turns\nannotator: {name: Ada}\n"
        f"answers:\n  commitment: {{column: [{', '.join(columns)}]}}\n"
    )
    done = hipo("metrics", "strategic", trial, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err


def test_answers_are_counted_by_trial_and_by_who_asks(hipo: Hipo, tmp_path: Path) -> None:
    sides = {"harbour": ("defence", "prosecution"), "mill": ("defence",)}
    files = []
    for trial, asking in sides.items():
        for side in asking:
            path = Path(table(tmp_path / f"{trial}_{side}.csv", anna="1", ben="2"))
            head, *rows = path.read_text(encoding="utf-8").splitlines()
            told = [f"{head},trial,questioner_side", *(f"{row},{trial},{side}" for row in rows)]
            path.write_text("\n".join(told) + "\n", encoding="utf-8")
            files.append(str(path))
    done = hipo("metrics", "strategic", *files, "--by", "trial,asked_by", "--json", "all.json")
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    at = lines.index(["Answers", "by", "trial", "and", "asked_by"])
    assert lines[at + 2 : at + 4] == [
        ["harbour", "3", "3", "6", "50.0%", "50.0%"],
        ["mill", "3", "0", "3", "100.0%", "0.0%"],
    ]
    found = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["answers_by"]
    assert found[0] == {"by": {"trial": "harbour", "asked_by": "defence"}, "answers": 3}
    one = hipo("metrics", "strategic", *files, "--by", "trial", "--json", "-").data["answers_by"]
    assert [row["answers"] for row in one] == [6, 3]


def test_labels_and_benefit_are_told_by_what_answers_are_counted_by(
    hipo: Hipo, tmp_path: Path
) -> None:
    files = []
    for trial in ("harbour", "mill", "mill_again"):
        path = Path(table(tmp_path / f"{trial}.csv", anna="1", ben="2"))
        head, *rows = path.read_text(encoding="utf-8").splitlines()
        told = [f"{head},trial", *(f"{row},{trial.partition('_')[0]}" for row in rows)]
        path.write_text("\n".join(told) + "\n", encoding="utf-8")
        files.append(str(path))
    found = hipo("metrics", "strategic", *files, "--by", "trial", "--json", "-").data
    of = {(row["dialogue"], row["annotator"]): row for row in found["distributions_by"]}
    assert sorted(of) == [(t, who) for t in ("harbour", "mill") for who in ("anna", "ben")]
    assert of["mill", "anna"]["answers"] == 2 * of["harbour", "anna"]["answers"]
    assert of["mill", "ben"]["commitments"] == {
        label: 2 * count for label, count in of["harbour", "ben"]["commitments"].items()
    }
    assert of["mill", "anna"]["last"] is None, "where a witness ends is a matter of one dialogue"
    net = {row["dialogue"]: row for row in found["histograms_by"] if row["metric"] == "net benefit"}
    assert net["mill"]["mean"] == pytest.approx(net["harbour"]["mean"])
    text = hipo("metrics", "strategic", *files, "--by", "trial").out
    assert "Labels by trial" in text
    assert "Net benefit of an answer by trial" in text


@pytest.mark.parametrize(("by", "told"), [
    ("trial,asked_by,group", "one column or two"), ("trial", "nothing can be grouped by 'trial'"),
])  # fmt: skip
def test_columns_that_answers_cannot_be_counted_by_are_refused(
    hipo: Hipo, trial: str, by: str, told: str
) -> None:
    done = hipo("metrics", "strategic", trial, "--by", by)
    assert done.code == 2
    assert told in done.err
