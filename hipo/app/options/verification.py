"""What a command says about verification, laid over a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hipo.app.options.model_changes import told_address
from pipeline.recipes.model_settings import ModelSettings
from pipeline.recipes.recipe import JudgeSettings, Recipe, VerificationSettings
from pipeline.recipes.source import changed
from scenarios.errors import UsageError
from scenarios.plugins import load_plugins

OPTION_OF: Mapping[str, str] = {
    "verification.judges": "--judge",
    "verification.judge_style": "--judge-style",
    "verification.judge_calls": "--judge-calls",
    "verification.judge_max_tokens": "--judge-max-tokens",
    "verification.foils": "--foils",
    "verification.self_judge": "--self-judge",
    "verification.self_judgement": "--no-self",
    "verification.policy": "--policy",
    "verification.gates": "--gate",
    "verification.embeddings": "--no-embeddings",
    "verification.allow_same_judge": "--allow-same-judge",
    "limits.max_concurrency": "--max-concurrency",
    "limits.timeout_s": "--timeout",
    "limits.wait_for_endpoint": "--wait-for-endpoint",
    "budget_usd": "--budget-usd",
    "budget_tokens": "--budget-tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationOverrides:
    """What the command line says about verification; None leaves the recipe as it is."""

    judges: Sequence[str] = ()
    judge_style: str | None = None
    """``commit`` or ``verify``."""
    judge_calls: str | None = None
    """``turn`` or ``dialogue``."""
    judge_max_tokens: int | None = None
    foils: int | None = None
    """Of how many answers judges are also shown wrong labels, with ``verify``."""
    self_judge: str | None = None
    base_url: str | None = None
    """Where the named judges are reached that need an address; all of them, where none does."""
    api_key_env: str | None = None
    self_judgement: bool | None = None
    allow_same_judge: bool | None = None
    policy: str | None = None
    embeddings: bool | None = None
    gates: Sequence[str] = ()
    """Gates of plugins that are asked beside those that ship."""
    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_concurrency: int | str | None = None
    timeout_s: float | None = None
    wait_for_endpoint: str | None = None
    """A time such as ``30m``."""
    batch: bool = False
    """Whether judges are asked in batches."""
    prices: Path | None = None
    plugins: Sequence[Path] = ()
    """Files of extensions, loaded beside those of the recipe."""
    prompt_dir: Path | None = None
    """Templates of judges; None takes those the run was made with in place of shipped ones."""

    @property
    def about_judging(self) -> tuple[str, ...]:
        """The options that say how dialogues are judged, those that were given.

        Address and key are not among them, which jurors have from here, too.
        """
        values = {f"verification.{field.name}": getattr(self, field.name) for field in fields(self)}
        return tuple(o for name, o in OPTION_OF.items() if values.get(name) not in (None, ()))

    def check_used(self, *, jurors: bool = False) -> None:
        """Do nothing unless an option says something of a judge who is not asked.

        Raises:
            UsageError: one does.
        """
        if self.self_judge is not None and self.self_judgement is False:
            raise UsageError(
                "--self-judge says who labels anew, and --no-self that nobody does",
                "leave one of the two out",
            )
        for option, value in (
            ("--judge-base-url", self.base_url),
            ("--judge-api-key-env", self.api_key_env),
        ):
            if value is not None and not (self.judges or self.self_judge or jurors):
                raise UsageError(
                    f"{option} is for judges that are named on the command line, and none is",
                    f"name one with --judge or --self-judge, or leave {option} out",
                )

    def over(self, recipe: Recipe) -> Recipe:
        """Return the recipe with these overrides laid over it; a budget is only what is wished.

        Raises:
            UsageError: a value is not allowed, or is of no use; names the option.
        """
        load_plugins(self.plugins)
        settings: dict[str, Any] = {}
        if self.judges:
            settings["judges"] = self._judges(recipe.verification.judges)
        if self.self_judge is not None:
            settings["self_judge"] = self._model(self.self_judge, recipe.verification.self_judge)
        for name in (
            "self_judgement",
            "allow_same_judge",
            "policy",
            "judge_style",
            "judge_calls",
            "judge_max_tokens",
            "foils",
            "embeddings",
        ):
            if getattr(self, name) is not None:
                settings[name] = getattr(self, name)
        if self.gates:
            settings["gates"] = {name: {} for name in self.gates}
        changes: dict[str, object] = {
            "verification": settings,
            "budget_usd": self.budget_usd,
            "budget_tokens": self.budget_tokens,
        }
        limits = {
            name: getattr(self, name)
            for name in ("max_concurrency", "timeout_s", "wait_for_endpoint")
            if getattr(self, name) is not None
        }
        changes["limits"] = {**limits, "batch": self.batch}
        if self.prices is not None:
            changes["prices"] = str(self.prices)
        resolved = changed(recipe, changes, OPTION_OF)
        asked = resolved.verification
        if self.foils and not (
            asked.judge_style == "verify" or any(one.judge == "verifier" for one in asked.judges)
        ):
            raise UsageError(
                "--foils shows wrong labels to judges who are shown labels, and none is",
                "add --judge-style verify, or leave --foils out",
            )
        return resolved

    def address_of(self, model: str | None, named: Iterable[str | None]) -> dict[str, str]:
        """Return address and key of a model: one that has an address of its own keeps to that.

        Args:
            model: who is asked.
            named: everybody who is.
        """
        if model not in told_address(named):
            return {}
        given = {"base_url": self.base_url, "api_key_env": self.api_key_env}
        return {name: value for name, value in given.items() if value is not None}

    def _judges(self, known: Sequence[JudgeSettings]) -> list[dict[str, object]]:
        """Return the judges by name, with what the recipe says about those that are the same."""
        by_name = {judge.written: judge for judge in known}
        judges = VerificationSettings.model_validate({"judges": list(self.judges)}).judges
        return [
            self._reached(by_name.get(name, judge))
            for name, judge in zip(self.judges, judges, strict=True)
        ]

    def _model(self, name: str, known: ModelSettings | None) -> dict[str, object]:
        """Return a judge by name, with what the recipe says about it if it is the same."""
        base = known if known is not None and known.model == name else ModelSettings(model=name)
        return self._reached(base)

    def _reached(self, settings: ModelSettings) -> dict[str, object]:
        judges = VerificationSettings.model_validate({"judges": list(self.judges)}).judges
        named = [*(judge.model for judge in judges), self.self_judge]
        own = settings.model_dump(mode="json", exclude_none=True)
        return own | self.address_of(settings.model, named)
