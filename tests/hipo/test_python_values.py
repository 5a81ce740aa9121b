"""Values that only Python can give: wrong ones are told by name, and one without a list is one."""

from __future__ import annotations

import pytest

import hipo
from scenarios.errors import UsageError
from scenarios.plugins import load_plugins

RECIPE = {"models": {"default": "offline/rules"}, "scenarios": ["used_car"], "turns": [1], "n": 1}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> hipo.Run:
    recipe = hipo.Recipe.model_validate(RECIPE)
    return hipo.generate(recipe, output=tmp_path_factory.mktemp("runs") / "run")


def evaluated(run, folder, **arguments):
    """Ask the offline judge about the dialogues of a run."""
    everything = hipo.EvaluationSettings(any_verdict=True)
    return hipo.evaluate(
        run, tasks="hipo-utterance", models="offline/judge", output=folder, page=False,
        settings=everything, **arguments,
    )  # fmt: skip


def test_a_value_that_there_is_not_is_told_with_those_that_there_are(run, tmp_path) -> None:
    [dialogue] = run.dialogues()
    recipe, place = hipo.Recipe.model_validate(RECIPE), f"{dialogue.case.id}/{dialogue.arm}"
    wrong = (
        ("resume", lambda: hipo.generate(recipe, output=run.folder, resume="sometimes")),
        ("resume", lambda: hipo.generate(recipe, output=tmp_path / "new", resume="sometimes")),
        ("resume", lambda: evaluated(run, tmp_path / "results", resume="sometimes")),
        ("status", lambda: list(run.endings(status="done"))),
        ("verdict", lambda: hipo.export(run, "turns", tmp_path / "set", verdict="all")),
        ("split_by", lambda: hipo.export(run, "turns", tmp_path / "set", split_by="turns")),
        ("target", lambda: hipo.export(run, "sft", tmp_path / "set", task="actor", target="all")),
        ("labels", lambda: hipo.export(run, "turns", tmp_path / "set", labels="speakers")),
        ("verdict", lambda: run.decide(place, "maybe", note="x")),
    )
    for name, call in wrong:
        with pytest.raises(UsageError, match=rf"^{name}: found '\w+'") as told:
            call()
        assert "it is one of '" in told.value.hint


def test_a_name_without_a_list_around_it_is_one_name(run, tmp_path) -> None:
    hipo.verify(run, judges="offline/judge")
    [record] = run.verdicts()
    assert record.judgements
    with pytest.raises(UsageError, match="no run has a scenario nowhere"):
        hipo.export(run, "turns", tmp_path / "set", scenarios="nowhere")
    with pytest.raises(UsageError, match="there are no pairs of 'colour'"):
        hipo.export(run, "dpo", tmp_path / "set", pairs="colour")
    plugin = tmp_path / "none.py"
    with pytest.raises(UsageError, match=r"cannot read the plugin .*none\.py"):
        load_plugins(str(plugin))
    with pytest.raises(UsageError, match=r"cannot read the plugin .*none\.py"):
        hipo.load_recipe("demo", plugins=str(plugin))


def test_settings_need_not_repeat_what_the_arguments_say(run, tmp_path) -> None:
    assert evaluated(run, tmp_path / "results").counts == {"answered": 1}


def test_files_and_folders_may_be_texts(run, tmp_path) -> None:
    quota = tmp_path / "quota.yaml"
    quota.write_text("cells:\n- {veracity: Manner, accepted: 1}\n")
    recipe = hipo.Recipe.model_validate(RECIPE | {"n": None})
    planned = hipo.plan_quota(str(quota), hipo.prepare(recipe))
    assert len(planned.quota.cells) == 1
    assert hipo.quota_fill(str(run.folder)) is None
