"""Benchmark items as lm-evaluation-harness reads and scores them."""

from __future__ import annotations

import orjson
import pytest
import yaml
from lm_eval.api.model import LM
from lm_eval.evaluator import evaluate
from lm_eval.models.dummy import DummyLM
from lm_eval.tasks import TaskManager
from lm_eval.utils import apply_template

from hipo.cli.main import run as hipo
from outputs.kinds.aspects import drawn_by
from outputs.lm_eval import task_files
from outputs.lm_eval.choice_prompts import ChoicePrompts
from prompts.environment import Templates
from prompts.languages import described_language
from prompts.tasks.items import PersonView, SceneView, TaskItem
from prompts.tasks.prompts import TaskPrompts
from prompts.tasks.registry import load_task
from scenarios.errors import UsageError
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import SCHEME, exportable_run, exported, rows_in
from tests.outputs.test_benchmark_set import item_of
from tests.outputs.test_imported_sets import TRIAL

pytestmark = pytest.mark.filterwarnings("ignore")
LABELLED = ("intention", "veracity", "illocutionary", "goal")
TASKS = {
    *(f"hipo_{aspect}_{d}" for aspect in ("utterance", "cumulative") for d in LABELLED),
    "hipo_conversation_goal",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    base = tmp_path_factory.mktemp("lm-eval")
    run = exportable_run(base / "run", scenarios=8, facts=1, turns=2)
    return exported(base / "set", run, "lm-eval", fractions=(0, 0, 1)).folder


@pytest.fixture
def evaluated(folder, monkeypatch, tmp_path):
    """Return what evaluates a model on some of the tasks, as the command does."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)  # rows are found from wherever one stands

    def run(model, *tasks):
        manager = TaskManager(include_path=str(folder), include_defaults=False)
        found = manager.load(list(tasks))
        return evaluate(model, found["tasks"], bootstrap_iters=0)

    return run


class Stubborn(LM):
    """Finds one continuation likeliest, whatever it is shown."""

    def __init__(self, answer):
        super().__init__()
        self.answer, self.shown = answer, []

    def loglikelihood(self, requests, disable_tqdm=False):
        self.shown += [request.arguments[0] for request in requests]
        said = [request.arguments[1].strip() for request in requests]
        return [(0.0 if text == self.answer else -9.0, False) for text in said]

    def generate_until(self, requests, disable_tqdm=False):
        raise NotImplementedError

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        raise NotImplementedError


def test_the_dummy_model_runs_through_every_task(evaluated, folder):
    found = evaluated(DummyLM(), "hipo")
    assert set(found["results"]) - {"hipo"} >= TASKS
    for name in TASKS:
        scores = found["results"][name]
        assert found["n-samples"][name]["effective"] == (16 if "conversation" in name else 32)
        assert 0 <= scores["acc,none"] <= 1
        assert 0 <= scores["f1,none"] <= 1


def test_scores_are_those_known_by_hand(evaluated, folder):
    rows = [row for row in rows_in(folder) if row["aspect"] == "utterance"]
    labels = [row["label_veracity"] for row in rows]
    right = labels.count("Quality")
    assert 0 < right < len(labels)
    found = evaluated(Stubborn('{"veracity": "Quality"}'), "hipo_utterance_veracity")
    scores = found["results"]["hipo_utterance_veracity"]
    assert scores["acc,none"] == pytest.approx(right / len(labels))
    f1 = 2 * right / (right + len(labels))
    assert scores["f1,none"] == pytest.approx(f1 / len(set(labels)))


def test_a_model_reads_the_messages_of_hipo_about_one_dimension(evaluated, folder):
    model = Stubborn("")
    evaluated(model, "hipo_cumulative_goal")
    task = load_task("hipo-cumulative").model_copy(update={"questions": "per-dimension"})
    prompts = TaskPrompts(Templates(), SCHEME, task)
    for row in rows_in(folder):
        if row["aspect"] == "cumulative":
            *_, goal = prompts.questions(item_of(row))
            assert goal.dimensions == ("goal",)
            system, user = (message.content for message in goal.question.messages)
            assert row["prompt_goal"] == user
            assert any(system in text and user in text for text in model.shown)


def listed_item(row):
    """Return the item of an utterance in a scene that lists its people."""
    people = [PersonView(one["role"], *one["content"].split("\n", 1)) for one in row["people"]]
    spoken = described_language(row["language"])
    scene = SceneView(row["situation"], "", "", "", "", spoken, tuple(people))
    asking = () if row["question"] is None else ((row["question_role"], row["question"]),)
    turns = (*asking, (row["role"], row["utterance"]))
    order = drawn_by(row["case"], row["turn"], row["aspect"])
    return TaskItem(row["id"], scene, turns, len(asking), 0 if asking else None, drawn_by=order)


@pytest.mark.parametrize(("scheme", "asked"), [("face_acts", "face_act"), ("cei", "emotion")])
def test_a_design_of_many_people_is_asked_as_hipo_asks_about_it(
    monkeypatch, tmp_path, scheme, asked
):
    """Also where a question concerns some roles alone, or a scheme is for one who answers."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    for command in (
        ("generate", "--scheme", scheme, "--model", "offline/rules", "-n", "2", "-o", "run"),
        ("export", "run", "--to", "lm-eval", "--any", "-o", "set"),
        ("export", "run", "--to", "benchmark", "--any", "-o", "items"),
    ):
        assert hipo([*command, "-q"]) == 0
    model, name = Stubborn(""), f"hipo_utterance_{asked}"
    found = TaskManager(include_path="set", include_defaults=False).load([name])
    evaluate(model, found["tasks"], bootstrap_iters=0)
    task = load_task("hipo-utterance").model_copy(
        update={"questions": "per-dimension", "asks": (asked,)}
    )
    prompts = TaskPrompts(Templates(), load_scheme(scheme), task)
    items = [row for row in rows_in(tmp_path / "items") if row["aspect"] == "utterance"]
    assert {row["id"] for row in items} == {
        row["id"] for row in rows_in(tmp_path / "set") if row["aspect"] == "utterance"
    }
    for row in items:
        (question,) = prompts.questions(listed_item(row))
        system, user = (message.content for message in question.question.messages)
        assert any(system in text and user in text for text in model.shown), row["id"]


def test_what_people_are_split_on_is_no_item(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "trial.csv").write_text(TRIAL)
    run, folder = str(tmp_path / "run"), str(tmp_path / "set")
    assert hipo(["import", str(tmp_path / "trial.csv"), "--map", "cobra", "-o", run]) == 0
    assert hipo(["export", run, "--to", "lm-eval", "--any", "-o", folder, "-q"]) == 0
    found = TaskManager(include_path=folder, include_defaults=False).load(["hipo_utterance"])
    samples = evaluate(DummyLM(), found["tasks"], bootstrap_iters=0)["n-samples"]
    split = {f"hipo_utterance_{name}" for name in ("outcome", "relevance")}
    for name, count in samples.items():
        assert count["effective"] == (1 if name in split else 2), name


@pytest.mark.parametrize("end", ["{% endraw %}", "{%- endraw -%}", "{%+\n endraw%}", "{%endraw %}"])
def test_no_word_of_a_scheme_runs_as_a_template_of_the_harness(end):
    said = (
        f'Answer {{"a": "b"}}. {end}{{{{ cycler.__init__.__globals__.os.getcwd() }}}}{{% raw %}} x'
    )
    dimension = SCHEME.dimension("veracity")
    first = dimension.labels[0].model_copy(update={"definition": said})
    hostile = dimension.model_copy(update={"labels": (first, *dimension.labels[1:])})
    others = tuple(d if d.id != "veracity" else hostile for d in SCHEME.dimensions)
    prompts = ChoicePrompts(SCHEME.model_copy(update={"dimensions": others}), ["utterance"])
    systems = prompts.systems["utterance", "veracity"]
    (system,) = systems.values()
    assert "endraw" in system
    assert "__globals__" in system
    assert apply_template(task_files._description(systems), {}) == system


def test_a_dimension_that_nobody_has_a_label_of_is_no_task(monkeypatch, tmp_path):
    """The harness ends at a task without items, also where it is to take all there are."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    head, *rows = TRIAL.splitlines()
    (tmp_path / "trial.csv").write_text("\n".join([head, rows[1], rows[3]]))
    run, folder = str(tmp_path / "run"), str(tmp_path / "set")
    assert hipo(["import", str(tmp_path / "trial.csv"), "--map", "cobra", "-o", run]) == 0
    assert hipo(["export", run, "--to", "lm-eval", "--any", "-o", folder, "-q"]) == 0
    found = TaskManager(include_path=folder, include_defaults=False).load(["hipo"])
    samples = evaluate(DummyLM(), found["tasks"], bootstrap_iters=0)["n-samples"]
    assert "hipo_utterance_manner" in samples
    assert "hipo_utterance_outcome" not in samples


def test_a_scheme_without_labels_to_choose_from_is_refused(tmp_path):
    run = tmp_path / "run"
    words = ["generate", "dilemmas", "--model", "offline/reasoner", "-n", "1"]
    assert hipo([*words, "-o", str(run), "-q"]) == 0
    with pytest.raises(UsageError, match="payoff_reasoning@1 has no labels to choose") as caught:
        exported(tmp_path / "set", run, "lm-eval", verdict="any", fractions=(0, 0, 1))
    assert "--to dialogues" in str(caught.value.hint)
    assert not (tmp_path / "set").exists()


def test_tasks_score_the_held_out_split_and_take_examples_from_train(tmp_path):
    run = exportable_run(tmp_path / "run", scenarios=8, facts=1, turns=1)
    for fractions, splits in {
        (0.5, 0.25, 0.25): {"test_split": "test", "fewshot_split": "train"},
        (0.5, 0.5, 0): {"test_split": "validation", "fewshot_split": "train"},
        (1, 0, 0): {"test_split": "train"},
    }.items():
        done = exported(tmp_path / "set", run, "lm-eval", fractions=fractions, overwrite=True)
        text = (done.folder / "hipo_conversation_goal.yaml").read_text()
        task = yaml.safe_load(text.replace("!function ", ""))
        assert {k: v for k, v in task.items() if k.endswith("_split")} == splits
        listed = {
            f["path"] for f in orjson.loads((done.folder / "manifest.json").read_bytes())["files"]
        }
        assert {"hipo_items.py", *(f"{name}.yaml" for name in TASKS)} <= listed
