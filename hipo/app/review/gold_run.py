"""Make a run of the gold lines, so that people and judges can be asked to read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hipo.app.runs.folders import RUNS, find_run, is_run
from pipeline.importing.imported_run import RunContents, run_name, write_run
from pipeline.recipes.recipe import Recipe
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.arms import Arm
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue, TacticLabel, Turn
from scenarios.lines.library import gold_lines, scenarios_with
from scenarios.lines.model import GOLD_AXIS, GoldLine, GoldLines
from scenarios.run_configuration import CANARY
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario, with_names

STRATEGY = "gold"


def gold_run(name: str) -> Path:
    """Return the run of the gold lines of this name; it is made where there is none.

    Args:
        name: a folder, or the name of a run under ``./runs``.

    Raises:
        UsageError: there is something else.
    """
    folder = Path(name)
    if is_run(folder) or is_run(RUNS / name) or folder.is_file():
        return find_run(name)
    make_gold_run(folder)
    return folder


def make_gold_run(folder: Path) -> int:
    """Make a run in which every gold line is a dialogue of question and answer.

    The run is marked with the canary of the lines, so that no data set is made of it.

    Returns:
        How many lines there are.

    Raises:
        UsageError: something is in the folder already, or it cannot be written.
    """
    entries = Catalogue.load(environment={}).entries
    files = [spoken_gold(name, entries[name].template) for name in scenarios_with("gold")]
    scenarios = {file.scenario: entries[file.scenario].scenario for file in files}
    scheme = load_scheme("hipo")
    (canary,) = {file.canary for file in files}
    arm = Arm(STRATEGY, {}, {CANARY: canary})
    dialogues = [
        gold_dialogue(line, scenarios[file.scenario], arm) for file in files for line in file.lines
    ]
    contents = RunContents(
        recipe=Recipe(name=run_name(folder), scheme=scheme.id),
        scheme=scheme,
        prompts=ActorPrompts(Templates(), scheme),
        scenarios=scenarios.values(),
        arm=arm,
        count=len(dialogues),
        dialogues=lambda: dialogues,
    )
    write_run(folder, contents)
    return len(dialogues)


def spoken_gold(name: str, template: Scenario) -> GoldLines:
    """Return the gold lines of a scenario that has some, with its fictional names filled in."""
    lines = gold_lines(name)
    if lines is None:
        raise KeyError(name)
    names = {key: placeholder.alias for key, placeholder in template.placeholders.items()}
    return GoldLines.model_validate(with_names(lines.model_dump(), names))


def gold_dialogue(line: GoldLine, scenario: Scenario, arm: Arm) -> Dialogue:
    """Return the dialogue of a line: its question and itself, with its labels as declared."""
    case = make_case(
        scheme=scenario.scheme,
        scenario=scenario.id,
        scenario_fingerprint=scenario.fingerprint,
        fact=line.fact,
        goal=line.goal,
        turns=1,
        language="en",
        variation={GOLD_AXIS: line.id},
        repetition=0,
        seed=0,
    )
    return Dialogue(case, arm.id, tuple(_turns(line)))


def _turns(line: GoldLine) -> Iterator[Turn]:
    labels = tuple(TacticLabel(name, label) for name, label in line.labels.items())
    yield Turn(index=0, role="initiator", text=line.question, kind="improvised")
    yield Turn(index=1, role="responder", text=line.text, kind="improvised", tactic=labels)
