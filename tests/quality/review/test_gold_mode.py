"""People read the gold lines: what they are shown and asked, and that the lines stay where they are."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

from hipo.app.export.export import export
from hipo.app.review.answer_files import export_answers, import_answers
from hipo.app.review.gold_run import gold_run
from hipo.app.review.reviewing import ReviewOptions
from hipo.cli.main import run as hipo
from pipeline.importing.importer import import_dialogues
from pipeline.store.reviews import ReviewStore
from pipeline.store.run_store import RunStore
from quality.review.import_csv import read_csv
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue
from scenarios.errors import InputError, UsageError
from scenarios.graph import KnowledgeGraph
from scenarios.lines.library import gold_lines, scenarios_with
from scenarios.lines.model import GOLD_AXIS, GoldLine
from scenarios.schemes.registry import load_scheme
from tests.quality.review.chromium import arrive, chromium, come_in, new_page, picture, until
from tests.quality.review.serving import Served, served
from tests.quality.review.visitor import Visitor, answer_item, first_choices

SCHEME = load_scheme("hipo")
LIBRARY = Catalogue.load(environment={}).scenarios
FILES = [lines for name in scenarios_with("gold") if (lines := gold_lines(name))]
LINES = {line.id: (file.scenario, line) for file in FILES for line in file.lines}
(CANARY,) = {file.canary for file in FILES}


def line_of(dialogue: Dialogue) -> tuple[str, GoldLine]:
    """Return the scenario and the line that a dialogue of a gold run was made of."""
    return LINES[dict(dialogue.case.variation)[GOLD_AXIS]]


def shown(site: Served, path: str) -> tuple[str, GoldLine]:
    """Return the scenario and the line that an item's page is about."""
    number = int(path.rpartition("/")[2])
    store, study = site.service.store, site.service.study
    found = (store.assignment(study, number, who) for who in range(1, 4))
    item = next(one.item for one in found if one)
    return line_of(store.dialogues.dialogue(item.id))


def test_every_gold_line_is_a_dialogue_of_a_question_and_its_answer(gold_folder: Path) -> None:
    with RunStore.open(gold_folder, readonly=True) as store:
        dialogues = list(store.dialogues())
    assert len(dialogues) == len(LINES)
    for dialogue in dialogues:
        scenario, line = line_of(dialogue)
        question, answer = dialogue.turns
        assert (question.text, answer.text) == (line.question, line.text)
        assert (dialogue.case.scenario, dialogue.case.fact) == (scenario, line.fact)
        assert dialogue.case.goal == line.goal
        assert {label.dimension: label.value for label in answer.tactic} == line.labels


def test_a_page_shows_all_a_reader_needs_and_neither_labels_nor_goal(gold_folder: Path) -> None:
    with served(gold_folder, mode="gold") as site:
        ada = Visitor(site.url)
        path = ada.come_in(site.link(), "Ada")
        for _ in range(6):
            _, page = ada.get(path)
            text = unescape(page.text)
            name, line = shown(site, path)
            scenario = LIBRARY[name]
            wanted = [scenario.background, line.question, line.text, scenario.fact(line.fact).text]
            wanted += [role.description for role in scenario.roles.values()]
            against = KnowledgeGraph.of(scenario).claims_against(line.fact)
            wanted += [claim.text for claim in against]
            wanted += [step.when for d in SCHEME.utterance_dimensions for step in d.steps]
            assert [part for part in wanted if part not in text] == []
            assert set(first_choices(page.text)) == {
                f"t1.{dimension.id}" for dimension in SCHEME.utterance_dimensions
            }
            assert re.search(r'type="radio"[^>]* checked', page.text) is None
            outside_the_form = re.sub(r"<fieldset.*?</fieldset>", "", text, flags=re.DOTALL)
            assert [goal for goal in SCHEME.goal.values if goal in outside_the_form] == []
            assert line.note is None or line.note not in text
            sent = answer_item(ada, path)
            assert sent.status == 303
            path, after = ada.get(sent.location)
            assert "Declared" not in after.text


def test_lines_come_in_an_order_of_their_own_to_everybody(gold_folder: Path) -> None:
    orders = []
    with served(gold_folder, mode="gold") as site:
        for name in ("Ada", "Bea"):
            visitor = Visitor(site.url)
            path = visitor.come_in(site.link(), name)
            order = []
            for _ in range(8):
                order.append(shown(site, path)[1].id)
                path, _ = visitor.get(answer_item(visitor, path).location)
            orders.append(order)
    in_file = list(LINES)[:8]
    assert orders[0] != orders[1]
    assert in_file not in orders
    assert len({line.rpartition("_")[0] for line in orders[0]}) > 2


def test_an_expert_settles_gold_lines_as_blindly(gold_folder: Path) -> None:
    with served(gold_folder, mode="gold") as site:
        ada, eve = Visitor(site.url), Visitor(site.url)
        answer_item(ada, ada.come_in(site.link(), "Ada"))
        eve.come_in(site.link("expert"), "Eve")
        _, listing = eve.get("/adjudicate")
        (path,) = re.findall(r'href="(/adjudicate/\d+)"', listing.text)
        _, page = eve.get(path)
        assert "Declared" not in page.text
        assert page.text.count('<th scope="row">') == 1 + len(SCHEME.utterance_dimensions)


def test_somebody_who_closes_their_answers_is_not_told_how_many_are_right(
    gold_folder: Path,
) -> None:
    with served(gold_folder, mode="gold") as site:
        ada = Visitor(site.url)
        answer_item(ada, ada.come_in(site.link(), "Ada"))
        _, page = ada.get("/finish")
        assert "agree with the gold" not in page.text
        csrf = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
        assert csrf
        ada.post("/finish", csrf[1])
        _, page = ada.get("/finish")
        assert "Your answers are closed" in page.text
        assert "%" not in page.text


def test_files_for_other_tools_hold_neither_labels_nor_the_goal(
    gold_folder: Path, tmp_path: Path
) -> None:
    options = ReviewOptions(mode="gold")
    for to in ("label-studio", "argilla"):
        export_answers(gold_folder, to, tmp_path / to, options, blind=False)
    studio = (tmp_path / "label-studio" / "label-studio.json").read_text()
    assert '"predictions": []' in studio
    assert '"predictions": [{' not in studio
    assert '"fact":' in studio
    config = (tmp_path / "label-studio" / "label-studio.xml").read_text()
    assert 'name="veracity"' in config
    assert 'name="goal"' not in config
    argilla = (tmp_path / "argilla" / "argilla.jsonl").read_text()
    assert '"agent":"declared"' not in argilla


def test_an_imported_answer_about_the_goal_of_a_gold_line_is_refused(
    gold_folder: Path, tmp_path: Path
) -> None:
    options = ReviewOptions(mode="gold")
    export_answers(gold_folder, "csv", tmp_path, options, blank=True)
    rows = (tmp_path / "blank.csv").read_text(encoding="utf-8-sig").splitlines()
    assert read_csv("\n".join(rows), SCHEME, "blank.csv") == []
    item = next(cell for cell in rows[1].split(",") if "#" in cell).partition("#")[0]
    answers = tmp_path / "answers.csv"
    answers.write_text(f"item,annotator,goal\n{item},Ada,deception\n")
    with pytest.raises(InputError, match="this study does not ask it"):
        import_answers(gold_folder, answers)


def test_gold_lines_are_read_in_the_mode_gold_and_nothing_else_is(
    gold_folder: Path, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for mode in ("review", "quiz"):
        assert hipo(["review", "serve", str(gold_folder), "--mode", mode, "--all"]) == 2
        assert "add --mode gold" in capsys.readouterr().err
    assert hipo(["review", "serve", str(run), "--mode", "gold"]) == 2
    assert "holds other dialogues than the gold lines" in capsys.readouterr().err


def test_a_folder_with_something_else_becomes_no_run(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        gold_run(str(tmp_path / "mine"))
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_the_run_of_the_gold_lines_carries_their_canary(gold_folder: Path) -> None:
    assert CANARY.encode() in (gold_folder / "run.sqlite").read_bytes()


@pytest.mark.parametrize("kind", ["sft", "dpo", "benchmark", "swap"])
def test_no_data_set_is_made_of_gold_lines(
    gold_folder: Path, run: Path, tmp_path: Path, kind: str
) -> None:
    for runs in (gold_folder, [run, gold_folder]):
        with pytest.raises(UsageError, match=f"the gold lines .{CANARY}."):
            export(runs, kind, tmp_path / "out", verdict="any")
    assert not (tmp_path / "out").exists()


def test_gold_lines_that_are_shown_as_json_become_no_run_of_other_dialogues(
    gold_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunStore.open(gold_folder, readonly=True) as store:
        first = next(store.dialogues())
    dialogue = f"{first.case.id}/{first.arm}"
    assert hipo(["show", str(gold_folder), dialogue, "--format", "json"]) == 0
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps(json.loads(capsys.readouterr().out)))
    with pytest.raises(InputError, match="a gold line"):
        import_dialogues(lines, tmp_path / "laundered")
    assert not (tmp_path / "laundered").exists()


@pytest.mark.browser
def test_two_people_read_gold_lines_by_keyboard(tmp_path: Path) -> None:
    folder = gold_run(str(tmp_path / "new"))
    with served(folder, mode="gold") as site, chromium() as browser:
        for name, key in (("Ada", "1"), ("Bea", "2")):
            page = new_page(browser)
            come_in(page, site.link(), name)
            for _ in range(3):
                arrive(page, "#answers")
                url = page.url
                line = shown(site, url)[1]
                assert line.text in page.inner_text(".conversation")
                assert "So it would be false to say or imply" in page.inner_text(".fact")
                if name == "Ada":
                    picture(page, "gold")
                for _ in SCHEME.utterance_dimensions:
                    page.keyboard.press(key)
                page.keyboard.press("Enter")
                until(page, f"location.href != {url!r}")
    with ReviewStore.open(folder) as store:
        sheets = list(store.sheets.sheets(store.studies.get("gold")))
    assert [len([s for s in sheets if s.annotator == code]) for code in ("A01", "A02")] == [3, 3]
    for sheet in sheets:
        position = 0 if sheet.annotator == "A01" else 1
        assert {(label.turn, label.dimension): label.value for label in sheet.labels} == {
            (1, dimension.id): dimension.values[position]
            for dimension in SCHEME.utterance_dimensions
        }
