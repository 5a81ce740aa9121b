"""Import a file of dialogues into a new run: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.importing.imported_run import RunContents, run_name, write_run
from pipeline.importing.reading import Reader
from pipeline.recipes.recipe import Recipe
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.arms import IMPORTED, Arm, ModelSpec
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue
from scenarios.errors import InputError, Problem, UsageError
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme
from scenarios.text_file import shown_path


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
    catalogue = Catalogue.load([FAMILIES, *scenario_dirs], real_names=real_names)
    arm = _arm(path, generator)
    check = Reader(loaded, catalogue, arm.id)
    dialogues = _checked(path, check)
    recipe = Recipe(
        name=run_name(folder),
        scheme=scheme,
        scenario_dirs=tuple(directory.absolute() for directory in scenario_dirs),
        real_names=real_names,
    )
    contents = RunContents(
        recipe=recipe,
        scheme=loaded,
        prompts=prompts,
        scenarios=check.scenarios.values(),
        arm=arm,
        count=dialogues,
        # Read again rather than held: the file may be larger than the memory.
        dialogues=lambda: _sound(Reader(loaded, catalogue, arm.id).read(path)),
    )
    write_run(folder, contents)
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
    if problems:
        raise InputError(problems)
    if not dialogues:
        raise UsageError(f"{shown_path(path)} holds no dialogue", "give a file of JSON lines")
    return dialogues


def _sound(items: Iterable[Dialogue | Problem]) -> Iterator[Dialogue]:
    return (item for item in items if isinstance(item, Dialogue))


def model_spec(generator: str) -> ModelSpec:
    """Read ``provider/model``, who wrote imported words.

    Raises:
        UsageError: it is no name of a model.
    """
    provider, slash, model = generator.partition("/")
    if not slash or not model:
        raise UsageError(f"'{generator}' is not a model name", "write provider/model")
    return ModelSpec(provider, model, parameters=None)


def _arm(path: Path, generator: str | None) -> Arm:
    """Return who wrote the dialogues, as far as it is known."""
    models = {} if generator is None else {"responder": model_spec(generator)}
    return Arm(IMPORTED, models, {"file": path.name})
