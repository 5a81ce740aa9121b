"""What the author's form needs of the pipeline: previews of a draft, by a model at a price."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from hipo.app.generation.plan_estimates import estimate
from hipo.app.generation.preview import Previewed, prepare_preview, preview_prepared
from hipo.app.options.recipe import RecipeChanges, overridden
from hipo.app.running.waiting import waited_for
from hipo.app.running.watching import Silent
from pipeline.recipes.recipe import Recipe
from pipeline.store.queries.charges import Charges
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
    changes: RecipeChanges | None = None,
    tell: Callable[[Charges], None] = lambda _: None,
) -> AuthoringDesk:
    """Return the desk of a folder; previews are played by one model.

    Args:
        folder: the only one that is written to; it is made with the first file.
        model: who plays previews.
        priced: dollars in words; None is an unknown price.
        changes: the address of the model, the variable of its key, prices, and a budget for all
            previews together, as changes of a recipe.
        tell: is told what each preview took.

    Raises:
        UsageError: the folder is a file, there is no such model, or a budget in dollars has no price
            to count with.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file", "name the folder that scenarios are written to")
    # a scenario of the library stands for any: what it would cost is said before anything is asked
    asked = {"models.default.model": model, **(changes or {})}
    cost = estimate(_recipe("used_car", "hipo", asked, n=2)).cost_usd
    each = priced(cost) if cost is None else f"about {priced(cost)} each"
    price = "" if model.startswith(OFFLINE) else each
    return AuthoringDesk(folder, DraftPlayer(asked, tell), model, price)


@dataclass
class DraftPlayer:
    """Plays a dialogue for each goal of a draft, with its first fact and in its first language.

    Nothing is kept but what was spent: a budget is for all previews of a page.
    """

    asked: RecipeChanges
    """The model, its address, its key and a budget, as changes of a recipe."""
    tell: Callable[[Charges], None]
    """Is told what each preview took."""
    spent: tuple[float, int] = (0.0, 0)
    """US dollars and tokens of all previews so far."""
    _playing: Lock = field(default_factory=Lock)

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
            prepared = prepare_preview(_recipe(scenario, str(labels), own, n=cases), cases)
            with self._playing:
                prepared = replace(prepared, spent_elsewhere=self.spent)
                shown = waited_for(preview_prepared(prepared, Silent(), self._count))
                self._count(shown.charges)
            return [_played(one) for one in shown.played]

    def _count(self, charges: Charges) -> None:
        usd, tokens = self.spent
        self.spent = usd + charges.charged_usd, tokens + charges.charged_tokens
        self.tell(charges)


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
