"""Every example on the page about extending runs as it stands there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hipo import open_run
from pipeline.verifiers.registry import verifier_for
from prompts.environment import Templates
from scenarios.catalogue import Catalogue
from scenarios.pack import LIBRARY
from scenarios.plugins import load_plugins
from tests.extension.conftest import Hipo
from tests.outputs.corpora import rows_in

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
FILES = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL))
OFFLINE = ("--scenarios", "used_car", "--turns", "1", "-n", "2", "-q")


@pytest.fixture(autouse=True)
def files(hipo: Hipo) -> None:
    """Write the examples into the empty folder that commands run in."""
    for name, source in FILES.items():
        Path(name).write_text(source)


@pytest.fixture
def made(hipo: Hipo, files: None) -> str:
    result = hipo("generate", "--model", "offline/rules", *OFFLINE, "-o", "made")
    assert result.code == 0, result.err
    return "made"


def test_there_is_an_example_for_every_extension_point() -> None:
    assert sorted(FILES) == [
        "acts_in_context.py", "answers_at_all.py", "closeness.py", "exchanges.py", "in_process.py",
        "plain_words.py", "prices.py", "question_answer.py", "shortest.py", "shouting.py",
    ]  # fmt: skip


def test_the_strategy_plays(hipo: Hipo) -> None:
    result = hipo(
        "generate", "--plugin", "shortest.py", "--strategy", "shortest", "--model",
        "offline/rules", *OFFLINE, "-o", "made",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert re.search(r"shortest +offline/rules +2 +0", hipo("runs", "show", "made").out)


def test_the_critic_criticises(hipo: Hipo) -> None:
    Path("mine.yaml").write_text(
        "strategies: reflective\nreflective: {critic: plain_words}\nplugins: [plain_words.py]\n"
    )
    result = hipo("generate", "mine.yaml", "--model", "offline/rules", *OFFLINE, "-o", "made")
    assert result.code == 0, result.err
    shown = hipo("show", "made", "--format", "json")
    assert shown.code == 0


def test_the_verifier_verifies(hipo: Hipo) -> None:
    load_plugins([Path("prices.py")])
    shipped = Catalogue.load(environment={}).entries["used_car"].scenario
    shop = shipped.model_copy(update={"data": {"prices": {"bread": 3}}})
    verifier = verifier_for(shop, "responder")
    claims = verifier.question(Templates(), "Bread is two, I swear.").answer.read(
        '{"prices": [{"item": "bread", "price": 2}]}'
    )
    found = verifier.verify(claims)
    assert [(claim.notation, claim.holds) for claim in found.claims] == [("bread 2", False)]
    assert found.labels[0].value == "no"


def test_the_verifier_plays_with_a_model_that_answers_anything(hipo: Hipo) -> None:
    car = (LIBRARY / "products/used_car.yaml").read_text().replace("id: used_car", "id: car")
    Path("pack").mkdir()
    Path("pack/car.yaml").write_text(f"{car}\ndata: {{prices: {{bread: 3}}}}\n")
    asked = (
        "--scenario-dir",
        "pack",
        "--only",
        "--strategy",
        "verified",
        "--turns",
        "1",
        "-n",
        "4",
    )
    played = hipo("generate", "--plugin", "prices.py", *asked, "--model", "offline/random",
                  "-q", "-o", "made")  # fmt: skip
    assert played.code in (0, 1), played.err
    codes = {ending.code for ending in open_run("made").endings()}
    assert "internal_error" not in codes
    claims = FILES["prices.py"].replace('Prices(scenario.data["prices"])', "None")
    Path("prices.py").write_text(claims)
    result = hipo("scenarios", "validate", "pack", "--plugin", "prices.py", "--no-embeddings")
    assert "it built None, expected an object with question and verify" in result.out


def test_the_gate_is_asked(hipo: Hipo, made: str) -> None:
    result = hipo("verify", made, "--plugin", "shouting.py", "--gate", "shouting", "-q")
    assert result.code == 0, result.err
    listed = hipo("show", made, "--flag", "shouting")
    assert (listed.code, listed.out) == (0, "nothing to list\n")
    refused = hipo("show", made, "--flag", "shoutin")
    assert refused.code == 2
    assert "did you mean 'shouting'?" in refused.err


def test_the_judge_judges(hipo: Hipo, made: str) -> None:
    result = hipo("verify", made, "--plugin", "answers_at_all.py", "--judge", "answers_at_all")
    assert result.code == 0, result.err
    assert "answers_at_all" in result.out


def test_the_task_is_asked(hipo: Hipo, made: str) -> None:
    asked = ("--task", "acts-in-context", "--model", "offline/judge", "--no-page", "-q")
    result = hipo("evaluate", made, "--any", "--plugin", "acts_in_context.py", *asked, "-o", "done")
    assert result.code == 0, result.err
    rows = [json.loads(line) for line in Path("done/results.jsonl").read_text().splitlines()]
    assert {row["task"] for row in rows} == {"acts-in-context"}
    assert {tuple(row["options"]) for row in rows} == {("illocutionary",)}


def test_the_provider_answers(hipo: Hipo) -> None:
    result = hipo(
        "generate", "--plugin", "in_process.py", "--model", "in_process/rules", *OFFLINE,
        "-o", "made",
    )  # fmt: skip
    assert result.code == 0, result.err


def test_the_derived_dimension_is_computed(hipo: Hipo) -> None:
    (dimension,) = re.findall(r"```yaml\n(  - id: closeness\n.*?)```", PAGE.read_text(), re.DOTALL)
    scheme = (ROOT / "examples/own_scheme/politeness.yaml").read_text()
    Path("politeness.yaml").write_text(f"{scheme}\n{dimension}")
    car = (LIBRARY / "products/used_car.yaml").read_text()
    car = car.replace("id: used_car", "id: car").replace("scheme: hipo", "scheme: politeness")
    Path("pack").mkdir()
    Path("pack/car.yaml").write_text(re.sub(r"^felicitous:.*\n", "", car, flags=re.MULTILINE))
    made = hipo("generate", "--scheme", "politeness.yaml", "--scenario-dir", "pack", "--only",
                "--model", "offline/rules", "-n", "2", "-q", "-o", "made")  # fmt: skip
    assert made.code == 0, made.err
    assert hipo("verify", "made", "--judge", "offline/judge", "--no-embeddings").code == 0
    compared = ("agreement", "made", "--of", "external", "--with", "declared")
    assert "there is no derived 'closeness'" in hipo(*compared).err
    result = hipo(*compared, "--plugin", "closeness.py")
    assert result.code == 0, result.err
    assert re.search(r"offline/judge +responder +closeness ", result.out)


def test_the_kind_is_exported(hipo: Hipo, made: str) -> None:
    result = hipo(
        "export", made, "--any", "--plugin", "exchanges.py", "--to", "exchanges", "--no-parquet",
        "--splits", "100,0,0", "-o", "set",
    )  # fmt: skip
    assert result.code == 0, result.err
    rows = rows_in(Path("set"))
    assert all(row["question"] and row["answer"] for row in rows)


def test_the_kind_says_why_a_dialogue_gave_no_row(hipo: Hipo, made: str) -> None:
    other = FILES["exchanges.py"].replace('turn.role == "responder"', 'turn.role == "nobody"')
    Path("exchanges.py").write_text(other)
    result = hipo("export", made, "--any", "--plugin", "exchanges.py", "--to", "exchanges",
                  "--no-parquet", "--splits", "100,0,0", "-o", "set")  # fmt: skip
    assert result.code == 2
    assert "2 dialogues in which the responder says nothing of its own" in result.err


@pytest.mark.parametrize(
    ("old", "new"),
    [('"question": before.text', '"question": 5'), ('"answer": turn.text,', "")],
)
def test_rows_of_a_kind_that_are_not_what_it_says_are_a_mistake_of_the_plugin(
    hipo: Hipo, made: str, old: str, new: str
) -> None:
    assert old in FILES["exchanges.py"]
    Path("exchanges.py").write_text(FILES["exchanges.py"].replace(old, new))
    result = hipo("export", made, "--any", "--plugin", "exchanges.py", "--to", "exchanges",
                  "--splits", "100,0,0", "-o", "set")  # fmt: skip
    assert result.code == 2
    assert "the export kind 'exchanges' of the plugin" in result.err
    assert not Path("set").exists()


def test_rows_of_a_kind_without_labels_cannot_be_balanced_by_one(hipo: Hipo, made: str) -> None:
    result = hipo(
        "export", made, "--any", "--plugin", "exchanges.py", "--to", "exchanges", "--no-parquet",
        "--splits", "100,0,0", "-o", "set", "--balance", "intention",
    )  # fmt: skip
    assert result.code == 2
    assert "--to exchanges have no column 'label_intention'" in " ".join(result.err.split())
    assert not Path("set").exists()


def test_the_format_is_written(hipo: Hipo, made: str) -> None:
    result = hipo(
        "export", made, "--any", "--plugin", "question_answer.py", "--to", "sft", "--format",
        "question-answer", "--no-parquet", "--splits", "100,0,0", "-o", "set",
    )  # fmt: skip
    assert result.code == 0, result.err


def test_the_same_name_in_two_files_ends_with_exit_code_2(hipo: Hipo) -> None:
    Path("second.py").write_text(FILES["shouting.py"] + "\nSECOND = True\n")
    result = hipo(
        "generate", "--model", "offline/rules", *OFFLINE, "--plugin", "shouting.py", "--plugin",
        "second.py",
    )  # fmt: skip
    assert result.code == 2
    assert "the gate 'shouting' is in" in result.err
    assert "second.py" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("generate", "--model", "offline/rules", "--strategy", "shortst"), "'shortst'"),
        (("generate", "--model", "in_proces/rules"), "in_proces"),
        (("verify", "made", "--gate", "shoutin"), "shoutin"),
        (("verify", "made", "--judge", "answers"), "answers"),
        (
            (
                "evaluate",
                "made",
                "--any",
                "--task",
                "acts-in-contxt",
                "--model",
                "offline/judge",
                "-o",
                "d",
            ),
            "there is no task 'acts-in-contxt'",
        ),
        (("export", "made", "--to", "exchange", "-o", "set"), "there is no export kind 'exchange'"),
        (("export", "made", "--to", "sft", "--format", "qa", "-o", "set"), "export format 'qa'"),
    ],
)
def test_an_unknown_name_ends_with_exit_code_2(
    hipo: Hipo, made: str, arguments: tuple[str, ...], message: str
) -> None:
    result = hipo(*arguments)
    assert result.code == 2
    assert message in result.err


def test_a_file_that_does_not_run_ends_with_exit_code_2_and_its_line(hipo: Hipo) -> None:
    Path("broken.py").write_text("import os\nimport no_such_module\n")
    result = hipo("generate", "--plugin", "broken.py", "--model", "offline/rules")
    assert result.code == 2
    assert "broken.py:2: ModuleNotFoundError" in result.err


def test_the_file_that_a_run_names_is_run_by_nothing_and_told_where_it_is_needed(
    hipo: Hipo, no_plugins: Callable[[], None]
) -> None:
    Path("mine.yaml").write_text(
        "scenarios: used_car\nturns: 1\nn: 2\nmodels: {default: {model: offline/rules}}\n"
        "plugins: [shouting.py]\nverification: {gates: {shouting: {}, off: [near_duplicate]}}\n"
    )
    assert hipo("generate", "mine.yaml", "-o", "made", "-q").code == 0
    assert hipo("verify", "made", "-q").code == 0
    with Path("shouting.py").open("a") as plugin:  # a run that was sent names a file beside it
        plugin.write("\nopen('ran', 'w').close()\n")
    no_plugins()
    assert hipo("show", "made").code == 0
    assert (
        hipo("export", "made", "--any", "--to", "sft", "--splits", "100,0,0", "-o", "set").code == 0
    )
    result = hipo("verify", "made")
    assert result.code == 2
    named = Path("shouting.py").resolve()
    assert f"the run names the plugin {named}: if you trust it, --plugin {named}" in result.err
    assert not Path("ran").exists()
    assert hipo("verify", "made", "--plugin", "shouting.py", "-q").code == 0
