"""What the author's form needs of the pipeline: previews of a draft, by a model at a price."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipo.app.generation.plan_estimates import estimate
from hipo.app.generation.preview import Previewed
from hipo.app.generation.preview import preview as play
from hipo.app.options.recipe import RecipeChanges, overridden
from pipeline.recipes.recipe import Recipe
from prompts.scheme_text import label_text
from quality.authoring.desk import AuthoringDesk
from scenarios.catalogue import Catalogue
from scenarios.errors import UsageError
from scenarios.schemes.model import Scheme

OFFLINE = "offline/"


def open_desk(
    folder: Path,
    model: str,
    priced: Callable[[float | None], str],
    endpoint: RecipeChanges | None = None,
) -> AuthoringDesk:
    """Return the desk of a folder; previews are played by one model.

    Args:
        folder: the only one that is written to; it is made with the first file.
        model: who plays previews.
        priced: dollars in words; None is an unknown price.
        endpoint: the address of the model and the variable of its key, as changes of a recipe.

    Raises:
        UsageError: the folder is a file, or there is no such model.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", "name the folder that scenarios are written to")
    # a scenario of the library stands for any: what it would cost is said before anything is asked
    asked = {"models.default.model": model, **(endpoint or {})}
    cost = estimate(_recipe("used_car", "hipo", asked, n=2)).cost_usd
    each = priced(cost) if cost is None else f"about {priced(cost)} each"
    price = "" if model.startswith(OFFLINE) else each
    return AuthoringDesk(folder, DraftPlayer(asked), model, price)


@dataclass(frozen=True)
class DraftPlayer:
    """Plays a dialogue for each goal of a draft, with its first fact and in its first language.

    Nothing is kept.
    """

    asked: RecipeChanges
    """The model, its address and its key, as changes of a recipe."""

    def __call__(self, text: str, scenario: str, scheme: Scheme) -> list[dict[str, Any]]:
        """Return the dialogues as plain data: goal, error, and turns with name, text and labels.

        Raises:
            UsageError: the draft cannot be played yet; the model cannot be asked.
        """
        with tempfile.TemporaryDirectory(prefix="hipo-author-") as folder:
            pack = Path(folder) / "pack"
            pack.mkdir()
            (pack / f"{scenario}.yaml").write_text(text, encoding="utf-8")
            labels = Path(folder) / "scheme.yaml"
            labels.write_text(scheme.model_dump_json(by_alias=True), encoding="utf-8")
            (entry,) = Catalogue.own([pack]).entries.values()
            own = {
                **self.asked,
                "scenario_dirs": [pack],
                "only_scenario_dirs": True,
                "languages": list(entry.scenario.languages[:1]),
            }
            cases = len(scheme.goals)
            recipe = _recipe(scenario, str(labels), own, n=cases)
            return [_played(one) for one in play(recipe, cases)]


def _recipe(scenario: str, scheme: str, own: RecipeChanges, *, n: int) -> Recipe:
    changes = {
        "scenarios": [scenario],
        "turns": ["2"],
        "scheme": scheme,
        "strategies": ["direct"],
        "n": n,
        **own,
    }
    return overridden(Recipe(), changes)


def _played(played: Previewed) -> dict[str, Any]:
    roles = played.scenario.roles
    turns = () if played.dialogue is None else played.dialogue.turns
    return {
        "goal": played.case.goal,
        "error": played.error,
        "turns": [
            {
                "name": roles[turn.role].name if turn.role in roles else turn.role,
                "text": turn.text,
                "labels": ", ".join(f"{x.dimension}: {label_text(x.value)}" for x in turn.tactic),
            }
            for turn in turns
        ],
    }
