"""Where recipes come from: files, the shipped ones by name, and changes laid over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pipeline.providers.own_fields import refused_in_extra
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import Recipe
from pipeline.strategies.registry import STRATEGIES
from scenarios.errors import InputError, UsageError
from scenarios.located import Located, Step
from scenarios.plugins import load_plugins
from scenarios.spelling import nearest, suggestion
from scenarios.text_file import real_path, shown_path
from scenarios.yaml_source import read_yaml, validate_model

SHIPPED = Path(__file__).parent
TACTICS_NAMES = ("free", "balanced")
"""What tactics can be besides a file: chosen by the actor, or drawn so that all labels occur."""
_SUFFIXES = (".yaml", ".yml", ".json")
_PATH_FIELDS = ("variation", "prompt_dir", "prices")


def recipe_names() -> list[str]:
    """Return the names of the recipes that ship."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_recipe(source: str | Path, plugins: Iterable[str | Path] = ()) -> Recipe:
    """Read a recipe from a file, or a shipped one by its name.

    A file goes before a shipped recipe; ``recipes/<name>.yaml`` finds the shipped one where there
    is no such file. Paths in a recipe count from the folder the recipe lies in.

    Example::

        recipe = load_recipe("hipo-paper").with_changes({"n": 10})

    Args:
        source: a path or a name.
        plugins: files whose extensions the recipe uses, besides those it names itself.

    Raises:
        UsageError: there is no such recipe, or a plugin cannot be loaded.
        InputError: the file is not a valid recipe; names file, line and field.
    """
    path = _find(str(source))
    located = read_yaml(path)
    recipe = validate_model(Recipe, located)
    _check_extra(recipe, located)
    recipe = _with_paths_from(recipe, real_path(path).parent, fallback_name=path.stem)
    load_plugins(plugins)
    load_plugins(recipe.plugins)
    _check_strategies(recipe, located)
    return recipe


def _check_strategies(recipe: Recipe, located: Located) -> None:
    """Refuse names of strategies that do not exist, with their lines."""
    problems = [
        located.problem(
            ("strategies", place),
            found=repr(name),
            expected="the name of a strategy",
            hint=STRATEGIES.unknown(name).hint,
        )
        for place, name in enumerate(recipe.strategies)
        if STRATEGIES.find(name) is None
    ]
    if problems:
        raise InputError(problems)


def _check_extra(recipe: Recipe, located: Located) -> None:
    """Refuse fields that ``extra`` cannot hold, with their lines, and without what they hold."""
    problems = [
        located.problem(
            (*path, "extra", field),
            found=f"the field {field!r}",
            expected="a field that 'extra' may hold",
            hint=instead,
        )
        for path, settings in _with_extra(recipe)
        for field, instead in refused_in_extra(
            settings.model or recipe.models.default.model,
            settings.extra,
            has_price=settings.price is not None,
        ).items()
    ]
    if problems:
        raise InputError(problems)


def _with_extra(recipe: Recipe) -> Iterator[tuple[tuple[Step, ...], ModelSettings]]:
    """Yield where a recipe says how a model is asked, and what it says."""
    models, verification = recipe.models, recipe.verification
    for role, settings in {"default": models.default, **models.by_role}.items():
        yield ("models", role), settings
    for place, judge in enumerate(verification.judges):
        yield ("verification", "judges", place), judge
    if verification.self_judge is not None:
        yield ("verification", "self_judge"), verification.self_judge


def changed(recipe: Recipe, changes: Mapping[str, object], options: Mapping[str, str]) -> Recipe:
    """Return the recipe with ``changes`` laid over it.

    Args:
        recipe: what to start from.
        changes: nested values by recipe field.
        options: the command-line option of a dotted field, for messages.

    Raises:
        UsageError: a changed value is not allowed; names the option.
    """
    return recipe.with_changes(changes, options)


def _find(source: str) -> Path:
    """Return the file that ``source`` means."""
    path = Path(source)
    if path.is_file():
        return path
    name = path.stem if path.suffix in _SUFFIXES else source
    shipped = SHIPPED / f"{name}.yaml"
    is_name = path.parent in (Path(), Path("recipes"))
    if is_name and shipped.is_file():
        return shipped
    if path.is_dir():
        raise UsageError(f"{source} is a folder, not a recipe")
    hint = suggestion(name, recipe_names(), listing="shipped recipes")
    raise UsageError(f"there is no recipe {source!r}: no such file, and none ships", hint)


def _with_paths_from(recipe: Recipe, folder: Path, *, fallback_name: str) -> Recipe:
    """Make relative paths absolute, and name a recipe after its file if it does not say."""
    changes: dict[str, object] = {}
    for field in _PATH_FIELDS:
        value = getattr(recipe, field)
        if value is not None:
            changes[field] = str(folder / value)
    if recipe.scheme.endswith(_SUFFIXES):
        changes["scheme"] = str(folder / recipe.scheme)
    if recipe.tactics not in TACTICS_NAMES:
        changes["tactics"] = str(folder / recipe.tactics)
    if recipe.verification.policy.endswith(_SUFFIXES):
        changes["verification"] = {"policy": str(folder / recipe.verification.policy)}
    for field in ("scenario_dirs", "wordings", "plugins"):
        if paths := getattr(recipe, field):
            changes[field] = [str(folder / path) for path in paths]
    if "name" not in recipe.model_fields_set:
        kept = "".join(c if c.isalnum() or c in "._-" else "-" for c in fallback_name)
        changes["name"] = kept.strip("._-")[:80] or "run"
    return recipe.with_changes(changes)


def tactics_file(path: Path) -> Located:
    """Read a file of wanted tactics.

    Raises:
        UsageError: there is none, and the name is rather that of a way to choose tactics, mistyped.
        InputError: the file cannot be read.
    """
    if not path.suffix and not path.exists():
        guess = nearest(path.name, TACTICS_NAMES)
        raise UsageError(
            f"tactics: found {shown_path(path)!r}, expected {', '.join(TACTICS_NAMES)} or a file that is there",
            f"did you mean {guess!r}?" if guess else "check the path of the file",
        )
    return read_yaml(path)
