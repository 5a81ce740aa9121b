"""Import a file of dialogues into a new run: all of it, or nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.chunks import chunks
from pipeline.importing.reading import Reader
from pipeline.recipe import Recipe
from pipeline.run_identity import DIALOGUE_VERSION
from pipeline.run_material import material_items
from pipeline.store.run_store import RunStore
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.arms import Arm, ModelSpec
from scenarios.atomic_files import new_folder
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue
from scenarios.errors import InputError, Problem, UsageError
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme
from scenarios.text_file import shown_path

MOST_PROBLEMS = 50
"""Problems that are shown at once."""
CHUNK = 200
STRATEGY = "imported"


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What was brought into a run."""

    folder: Path
    dialogues: int
    situations: int
    """Situations that came with the dialogues."""
    unlabelled: int
    """Answers to be judged that declare no label."""


def import_dialogues(
    path: Path,
    folder: Path,
    *,
    scheme: str = "hipo",
    scenario_dirs: Sequence[Path] = (),
    real_names: bool = False,
    generator: str | None = None,
) -> ImportedRun:
    """Read a file of dialogues, one JSON object a line, into a new run.

    Args:
        path: the file; see :class:`pipeline.importing.rows.Row` for what a line holds.
        folder: where the run will be; it appears only when everything is in it.
        scheme: the labels.
        scenario_dirs: folders of scenarios that lines name.
        real_names: whether placeholders of scenarios are filled with real names.
        generator: ``provider/model`` that wrote the answers, if it is known.

    Raises:
        UsageError: a folder or a scheme is not fit, or there is a run already.
        InputError: lines that cannot be used, all of them; nothing was made.
    """
    loaded = load_scheme(scheme)
    prompts = ActorPrompts(Templates(), loaded)
    catalogue = Catalogue.load(scenario_dirs, real_names=real_names)
    arm = _arm(path, generator)
    check = Reader(loaded, catalogue, arm.id)
    dialogues = _checked(path, check)
    recipe = Recipe(
        name=_run_name(folder),
        scheme=scheme,
        scenario_dirs=tuple(directory.absolute() for directory in scenario_dirs),
        real_names=real_names,
    )
    with new_folder(folder, _check_empty) as draft:
        config = _config(recipe, prompts.fingerprint, loaded, arm, dialogues)
        material = material_items(
            scheme=loaded, scenarios=check.scenarios.values(), prompts=prompts
        )
        with RunStore.create(draft, config, material=material, name=folder.name) as store:
            store.add_arm(arm.id, arm.fields())
            # Read again rather than held: the file may be larger than the memory.
            asyncio.run(_write(store, Reader(loaded, catalogue, arm.id).read(path)))
            store.set_state("finished")
    return ImportedRun(folder, dialogues, len(check.situations), check.unlabelled)


def _checked(path: Path, reader: Reader) -> int:
    """Read everything once; return how many dialogues there are."""
    problems: list[Problem] = []
    dialogues = 0
    for item in reader.read(path):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            dialogues += 1
    if len(problems) > MOST_PROBLEMS:
        rest = len(problems) - MOST_PROBLEMS
        last = problems[MOST_PROBLEMS]
        more = Problem(last.file, last.line, "", f"{rest:,} more lines with problems", "none")
        problems = [*problems[:MOST_PROBLEMS], more]
    if problems:
        raise InputError(problems)
    if not dialogues:
        raise UsageError(f"{shown_path(path)} holds no dialogue", "give a file of JSON lines")
    return dialogues


def _check_empty(folder: Path) -> None:
    """Do nothing where a run may be made in ``folder``."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already", "choose a new folder with -o")


async def _write(store: RunStore, items: Iterable[Dialogue | Problem]) -> None:
    """Store the dialogues, some hundreds at once."""
    for chunk in chunks((item for item in items if isinstance(item, Dialogue)), CHUNK):
        await store.add_cases([dialogue.case for dialogue in chunk])
        await asyncio.gather(*(store.finish(dialogue, 0) for dialogue in chunk))


def _arm(path: Path, generator: str | None) -> Arm:
    """Return who wrote the dialogues, as far as it is known."""
    models: dict[str, ModelSpec] = {}
    if generator is not None:
        provider, slash, model = generator.partition("/")
        if not slash or not model:
            raise UsageError(f"'{generator}' is not a model name", "write provider/model")
        models["responder"] = ModelSpec(provider, model, parameters=None)
    return Arm(STRATEGY, models, {"file": path.name})


def _config(
    recipe: Recipe, templates: str, scheme: Scheme, arm: Arm, cases: int
) -> RunConfiguration:
    """Return the configuration of the run."""
    identity = RunIdentity(
        dialogue_version=DIALOGUE_VERSION,
        scheme=scheme.id,
        scheme_fingerprint=scheme.fingerprint,
        templates=templates,
        tactics=STRATEGY,
        axes={},
        seed=0,
        real_names=recipe.real_names,
        arms={arm.id: arm},
        scenarios={},
    )
    return RunConfiguration(recipe.model_dump(mode="json"), identity, cases)


def _run_name(folder: Path) -> str:
    kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in folder.name)
    return kept.strip("._-")[:80] or "imported"
