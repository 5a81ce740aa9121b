"""Other people's tables through the commands: agreement, quality control, and a run made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from tests.hipo.cli.conftest import Hipo
from tests.hipo.cli.small_table import as_json, imported_talk, written_table


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written_table(tmp_path)


def value(found: dict[str, Any], dimension: str, statistic: str) -> float | None:
    [row] = [
        row
        for row in found["groups"][0]["statistics"]
        if (row["dimension"], row["statistic"]) == (dimension, statistic)
    ]
    number: float | None = row["value"]
    return number


def test_agreement_of_a_table_counts_what_is_unanimous_decided_and_split(
    hipo: Hipo, table: Path
) -> None:
    found = as_json(hipo, "agreement", table, "--map", "cei")
    counts = found["groups"][0]["difficulty"]["emotion"]
    assert counts == {"items": 4, "unanimous": 2, "majority": 1, "split": 1}
    # Items agree in 3, 1, 0 and 1 of 3, 3, 3 and 1 pairs: one answer is none of the labels.
    assert value(found, "emotion", "percent agreement") == pytest.approx((1 + 1 / 3 + 0 + 1) / 4)
    [odd] = [odd for odd in found["oddities"] if odd["code"] == "unknown_value"]
    assert (odd["row"], odd["line"], odd["column"]) == (4, 5, "sl_plutchik_primary_Cy")
    assert "bliss" in odd["found"]


def test_why_a_figure_is_undefined_stands_below_the_table(hipo: Hipo, tmp_path: Path) -> None:
    path = tmp_path / "alike.csv"
    path.write_text("item,annotator,label\n1,A,x\n1,B,x\n2,A,x\n2,B,x\n")
    said = hipo("agreement", str(path)).out
    assert (
        said.count("undefined (Cohen kappa, Fleiss kappa): fewer than two labels were given") == 1
    )
    assert "undefined (percent agreement" not in said


def test_where_figures_rest_on_unequally_many_items_the_fewest_are_named(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "numbers.csv"
    rows = [
        f"{item},{who},{(item * 3 + len(who)) % 7}.5"
        for item in range(12)
        for who in ("A", "BB", "CCC")[: 3 if item < 4 else 2]
    ]
    path.write_text("\n".join(["item,annotator,score", *rows]))
    said = hipo("agreement", str(path)).out
    assert "ICC(2,1)" in said
    assert "fewer than 20 items (score 4)" in said


def test_agreement_says_what_intervals_draw_and_has_each_label(hipo: Hipo, tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    rows = [
        f"d{d},{t},{who},{label}"
        for d in range(6)
        for t, labels in enumerate(("xx", "xy", "yy"))
        for who, label in zip("AB", labels, strict=True)
    ]
    path.write_text("\n".join(["dialogue,turn,annotator,label", *rows]))
    said = hipo("agreement", str(path)).out
    assert "intervals draw whole dialogues" in said
    assert "fewer than 20 dialogues (label 6)" in said
    assert said.count("Cicchetti and Feinstein 1990") == 1
    found = as_json(hipo, "agreement", path)["groups"][0]
    assert found["intervals_draw"] == "dialogues"
    assert {row["dialogues"] for row in found["statistics"]} == {6}
    assert [(row["label"], row["specific"]) for row in found["labels"]] == [
        ("x", pytest.approx(2 / 3)), ("y", pytest.approx(2 / 3)),
    ]  # fmt: skip
    path.write_text(path.read_text().replace("dialogue,", "talk,").replace("turn", "item"))
    assert "intervals draw items one by one" in hipo("agreement", str(path)).out


def test_one_annotator_is_held_against_the_gold_labels_of_the_file(hipo: Hipo, table: Path) -> None:
    found = as_json(
        hipo, "agreement", table, "--map", "cei", "--of", "human:Bo", "--with", "adjudicated"
    )
    [pair] = found["pairs"][0]["comparisons"]
    assert (pair["reader"], pair["other"], pair["items"]) == ("Bo", "gold", 4)
    assert pair["same"] == pytest.approx(3 / 4)
    anger, sadness = pair["labels"].index("anger"), pair["labels"].index("sadness")
    assert pair["matrix"][sadness][anger] == 1


def test_a_selection_is_not_compared_with_itself(hipo: Hipo, table: Path) -> None:
    refused = hipo("agreement", str(table), "--map", "cei", "--of", "human", "--with", "human")
    assert (refused.code, "leave --with out" in refused.err) == (2, True)


def test_the_majority_is_a_reader_like_any_other(hipo: Hipo, table: Path) -> None:
    found = as_json(
        hipo, "agreement", table, "--map", "cei", "--of", "human:majority", "--with", "adjudicated"
    )
    [pair] = [p for p in found["pairs"][0]["comparisons"] if p["dimension"] == "emotion"]
    assert (pair["items"], pair["same"]) == (3, 1.0)


def test_a_run_made_of_a_table_agrees_as_the_table_does(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    result = hipo("import", str(table), "--map", "cei", "-o", str(run))
    assert result.code == 0, result.err
    assert "4 dialogues imported" in result.out
    assert "bliss" in result.out
    of_file = as_json(hipo, "agreement", table, "--map", "cei")
    of_run = as_json(hipo, "agreement", run)
    for dimension, statistic in (("emotion", "Fleiss kappa"), ("valence", "ICC(2,1)")):
        expected = value(of_file, dimension, statistic)
        assert value(of_run, dimension, statistic) == pytest.approx(expected)


def test_a_run_made_of_a_table_knows_situation_people_and_assigned_label(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    found = as_json(hipo, "agreement", run, "--by", "goal")
    assert [group["group"] for group in found["groups"]] == ["", "sarcasm"]
    with RunStore.open(run, readonly=True) as store:
        material = load_material(store)
        dialogues = {d.turns[0].text: d for d in store.dialogues()}
    assert sorted(dialogues) == ["I had fun.", "It will come.", "Well, lovely.", "What a surprise."]
    guest = dialogues["Well, lovely."]
    scenario = material.scenario_of(guest.case)
    assert scenario.background == "A dinner goes wrong."
    assert {key: (role.name, role.speaks) for key, role in scenario.roles.items()} == {
        "speaker": ("guest", True),
        "listener": ("host", False),
    }
    assert scenario.labelled_roles == ("speaker",)


def test_any_people_in_any_order_become_roles(hipo: Hipo, tmp_path: Path) -> None:
    result = imported_talk(hipo, tmp_path, ["Judge Smith", "clerk", "Clerk", "Judge  Smith", "7"])
    assert result.code == 0, result.err
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        [dialogue] = store.dialogues()
        scenario = load_material(store).scenario_of(dialogue.case)
    spoken = [turn.role for turn in dialogue.turns]
    assert spoken == ["judge_smith", "clerk", "clerk", "judge_smith", "role_7"]
    assert list(scenario.roles) == ["judge_smith", "clerk", "role_7"]
    assert [role.name for role in scenario.roles.values()] == ["Judge Smith", "clerk", "7"]
    assert all(turn.is_answer for turn in dialogue.turns)


def test_people_of_a_table_whose_names_differ_in_accents_or_signs_alone_are_two(
    hipo: Hipo, tmp_path: Path
) -> None:
    result = imported_talk(hipo, tmp_path, ["José", "Jose", "A+", "A-", "a", "jose"])
    assert result.code == 0, result.err
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        [dialogue] = store.dialogues()
        scenario = load_material(store).scenario_of(dialogue.case)
    spoken = [turn.role for turn in dialogue.turns]
    assert (spoken[1], spoken[4]) == ("jose", "a")  # spelled by their own names, as before
    assert spoken[5] == "jose"
    assert len(set(spoken)) == 5
    assert [scenario.roles[role].name for role in spoken] == [
        "José",
        "Jose",
        "A+",
        "A-",
        "a",
        "Jose",
    ]
    assert all(turn.is_answer for turn in dialogue.turns)


def test_more_people_than_a_scene_has_are_refused(hipo: Hipo, tmp_path: Path) -> None:
    result = imported_talk(hipo, tmp_path, [f"speaker {n}" for n in range(13)])
    assert result.code == 2
    assert "more than 12 people" in result.err
    assert not (tmp_path / "run").exists()


def test_a_table_without_a_map_makes_no_run_and_says_what_to_name(hipo: Hipo, table: Path) -> None:
    result = hipo("import", str(table))
    assert result.code == 2
    assert f"{table} is a table, and without --map a run is made of JSON lines" in result.err
    assert "--map with one of cei, cobra, face_acts, payoff_reasoning" in result.err


def test_the_decisions_of_an_expert_are_not_written_over(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    words = ("qc", str(table), "--map", "cei", "-o", "checked")
    assert hipo(*words).code == 0
    decided = tmp_path / "checked" / "adjudication.csv"
    decided.write_text("decision\ntrust\n", encoding="utf-8")
    again = hipo(*words)
    assert again.code == 2
    assert "checked holds an adjudication.csv already, in which somebody may have" in again.err
    assert "choose a new folder" in again.err
    assert decided.read_text(encoding="utf-8") == "decision\ntrust\n"


def test_quality_control_goes_through_four_levels(hipo: Hipo, table: Path, tmp_path: Path) -> None:
    found = as_json(hipo, "qc", table, "--map", "cei", "-o", tmp_path / "qc")
    assert found["found"]["level 1"]["unknown_value"] == 1
    assert found["found"]["level 3"]["split"] == 1
    [emotion] = found["dimensions"]
    assert [row["item"] for row in emotion["to_adjudicate"] if row["undecided"]] == [
        "sarcasm-irony/003#0"
    ]
    gold = {row["item"]: (row["label"], row["basis"], row["note"]) for row in emotion["gold"]}
    assert gold["sarcasm-irony/003#0"] == ("trust", "expert", "the expert chose")
    assert gold["sarcasm-irony/001#0"][:2] == ("anger", "unanimous")
    assert gold["sarcasm-irony/002#0"][:2] == ("sadness", "majority")
    assert sorted(path.name for path in (tmp_path / "qc").iterdir()) == [
        "adjudication.csv", "flags.csv", "gold.csv",
    ]  # fmt: skip
    # A spreadsheet shows the names of Chinese annotators only then as they are.
    assert (tmp_path / "qc" / "adjudication.csv").read_bytes().startswith(b"\xef\xbb\xbfdimension,")


def test_quality_control_of_a_run_made_of_a_table_says_the_same(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    of_file, of_run = as_json(hipo, "qc", table, "--map", "cei"), as_json(hipo, "qc", run)
    for part in ("given", "ratings", "difficulty", "confused", "adjacency", "polarity_matches"):
        one, other = of_file["dimensions"][0][part], of_run["dimensions"][0][part]
        assert [r for r in one if not r["group"]] == [r for r in other if not r["group"]], part
    assert sorted(r["label"] for r in of_run["dimensions"][0]["gold"]) == sorted(
        r["label"] for r in of_file["dimensions"][0]["gold"]
    )


def test_the_report_of_imported_answers_has_what_people_gave_and_no_empty_distributions(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert hipo("import", str(table), "--map", "cei", "-o", str(run)).code == 0
    assert hipo("report", str(run), "--no-embeddings").code == 0
    page = (run / "report.html").read_text("utf-8")
    labels = page[page.index("Nobody declared labels of these utterances") :]
    assert f"hipo qc {run}" in labels[:400]
    assert page.index("Pragmatic subtype") < page.index("Nobody declared labels")
    declared = page[page.index("Labels that the generator declared") : -len(labels)]
    assert "Primary emotion" not in declared
    given = labels[labels.index("What people gave") :]
    assert "<td>anger</td>" in given
    assert "Ratings" in given[: given.index("Labels given to one item")]


def test_raw_answers_are_held_against_released_ones(
    hipo: Hipo, table: Path, tmp_path: Path
) -> None:
    raw = tmp_path / "raw" / "data_sarcasm-irony.csv"
    raw.parent.mkdir()
    raw.write_text(table.read_text("utf-8").replace("joy,trust,fear", "joy,anger,fear"), "utf-8")
    found = as_json(hipo, "qc", raw, "--map", "cei", "--released", table)
    [emotion] = [one for one in found["released"] if one["dimension"] == "emotion"]
    differ = {row["annotator"]: len(row["differing"]) for row in emotion["annotators"]}
    assert differ == {"": 1, "Ada": 0, "Bo": 1, "Cy": 0}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("agreement", "TABLE"), "--map NAME|MAP.yaml"),
        (("agreement", "TABLE", "--map", "cie"), "did you mean 'cei'"),
        (("agreement", "TABLE", "--map", "cei", "--of", "human:Dee"), "human:Ada"),
        (("agreement", "TABLE", "--map", "cei", "--by", "weather"), "there are: situation"),
        (("agreement", "nowhere.csv", "--map", "cei"), "no such file"),
        (("agreement", "nowhere"), "neither a file nor a run"),
        (("import", "TABLE", "--map", "cei", "--scheme", "hipo"), "leave --scheme"),
        (("qc", "TABLE", "--map", "cobra"), "found no column"),
        (("qc", "TABLE", "--map", "cei", "--threshold", "0.9"), "write --threshold straight_share"),
        (("qc", "TABLE", "--map", "cei", "--threshold", "timing=2"), "did you mean 'timing_z'"),
        (("qc", "TABLE", "--map", "cei", "--threshold", "straight_share=2"), "it is 0.8 where"),
    ],
)
def test_a_mistake_is_one_message(
    hipo: Hipo, table: Path, words: tuple[str, ...], said: str
) -> None:
    result = hipo(*(str(table) if word == "TABLE" else word for word in words))
    assert result.code == 2
    assert said in result.err


PLAIN = "item;rater;score\n1;Ada;3\n1;Bo;4\n2;Ada;1\n2;Bo;1\n3;Ada;5\n3;Bo;5\n"


def test_a_plain_table_needs_no_map_and_says_what_its_columns_were_taken_for(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(PLAIN)
    result = hipo("agreement", str(path))
    assert result.code == 0, result.err
    taken = "without a map: items in 'item', annotators in 'rater'; score (ordinal)"
    assert result.out.startswith(taken)
    found = as_json(hipo, "qc", path, "--measurement", "interval")
    assert (found["items"], found["annotators"]) == (3, ["Ada", "Bo"])
    assert {row["statistic"] for row in found["agreement"]} >= {"ICC(2,1)"}


def test_tables_of_figures_say_which_items_alone_some_of_them_rest_on(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text("item,Ada,Bo,Cy\n1,a,b,\n2,b,b,\n3,a,a,\n4,b,b,a\n")
    for command in ("agreement", "qc"):
        assert "of the 3 of 4 items with 2 answers each" in hipo(command, str(path)).out


def test_a_table_of_an_unknown_form_ends_with_one_error_and_says_how_a_map_helps(
    hipo: Hipo, tmp_path: Path
) -> None:
    path = tmp_path / "strange.csv"
    path.write_text("sentence,first,second\nHi,a,b\n")
    for command in ("agreement", "qc"):
        result = hipo(command, str(path))
        assert result.code == 2
        assert "found no column that names the items" in result.err
        assert "--map" in result.err
        assert not result.out


def test_how_a_map_measures_is_not_overruled(hipo: Hipo, table: Path) -> None:
    result = hipo("agreement", str(table), "--map", "cei", "--measurement", "ordinal")
    assert result.code == 2
    assert "leave it out" in result.err


MAP = """\
id: mine
dialogue: item
texts: [{role: responder, column: item}]
annotator: {column: rater}
answers: {score: {column: score}}
"""


SCORE = "{id: score, level: utterance, measurement: interval, range: [1, 5], title: Score, question: How?}"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "names no scheme and has no dimensions\n  say of which scheme"),
        (f"dimensions: [{SCORE}, {SCORE}]", "two dimensions have the same id"),
        (f"dimensions: [{SCORE}]\nencodings: [hex]", "encodings[0]: found 'hex'"),
        (f"dimensions: [{SCORE}]\nencodings: [idna]", "encodings[0]: found 'idna'"),
        (f"dimensions: [{SCORE}]\nencodings: [undefined]", "encodings[0]: found 'undefined'"),
    ],
)
def test_a_map_that_reads_nothing_is_refused(
    hipo: Hipo, tmp_path: Path, more: str, said: str
) -> None:
    (tmp_path / "table.csv").write_bytes(PLAIN.encode() + b"4;Ada;\xff\n")
    (tmp_path / "map.yaml").write_text(MAP + more)
    result = hipo("import", "table.csv", "--map", "./map.yaml", "-o", "runs/new")
    assert result.code == 2, result
    assert said in result.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["agreement", "qc"])
def test_a_group_that_no_item_has_is_refused_where_it_is_asked_for(
    hipo: Hipo, tmp_path: Path, command: str
) -> None:
    (tmp_path / "plain.csv").write_text("item,annotator,tone\nu1,Lin,4\nu1,Ada,5\n")
    result = hipo(command, "plain.csv", "--by", "group")
    assert (result.code, result.out) == (2, "")
    assert "no item has a 'group' to be grouped by" in result.err
    assert hipo(command, "plain.csv").code == 0
