"""What a run of hipo 0.1.0 has paid for is found again by today's questions."""

import shutil
from pathlib import Path

import pytest

from hipo.app.runs.old_runs import bring_up_to_date
from pipeline.calls.client import Client
from pipeline.playing.player import CasePlayer
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from pipeline.strategies.direct import Direct
from prompts.actors import ActorPrompts
from tests.pipeline.scripted import endpoint_of, link_of

RUNS = Path(__file__).parents[1] / "fixtures" / "runs_0_1_0"


class Silent:
    """The offline provider by its name, and nobody behind it."""

    name = "offline"
    base_url = None
    samples_per_request = True

    async def send(self, request, timeout_s):
        raise AssertionError(f"paid again: {request.messages[-1].content[-200:]}")


class AsStored:
    """Wants the tactics that a dialogue was made with."""

    def __init__(self, dialogue):
        self.answers = dialogue.answers()

    def wanted(self, case, scenario, turn, role=""):
        return self.answers[turn].wanted


@pytest.mark.anyio
async def test_a_dialogue_of_an_old_run_is_played_again_without_a_request(tmp_path, monkeypatch):
    shutil.copytree(RUNS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    bring_up_to_date(Path("judged"))
    with RunStore.open(Path("judged")) as store:
        material = load_material(store)
        arms = material.identity.arms
        link, prompts = link_of(store), ActorPrompts(material.templates, material.scheme)
        played = [d for d in store.dialogues() if arms[d.arm].strategy == "direct"]
        assert len(played) == 3
        for dialogue in played:
            endpoints = {
                role: endpoint_of(Silent(), link, model=spec.model, parameters=spec.parameters)
                for role, spec in arms[dialogue.arm].models.items()
            }
            asker = Client(link, endpoints, dialogue.arm)
            player = CasePlayer(
                scenarios={dialogue.case.scenario: material.scenario_of(dialogue.case)},
                scheme=material.scheme,
                prompts=prompts,
                arm=dialogue.arm,
                strategy=Direct(prompts, asker),
                asker=asker,
                axes=material.axes,
                design=AsStored(dialogue),
            )
            again = await player.play(dialogue.case, 1)
            assert [t.text for t in again.turns] == [t.text for t in dialogue.turns]
