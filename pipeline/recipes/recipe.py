"""A recipe: everything a run is asked for, as one frozen, strictly checked record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)

from pipeline.planning.shard import Shard
from pipeline.recipes.model_settings import AnswerTokens, Models, ModelSettings, Role
from pipeline.strategies.registry import STRATEGIES
from scenarios.arms import AnswerOrder
from scenarios.durations import seconds_of
from scenarios.errors import UsageError
from scenarios.language_code import LanguageCode
from scenarios.located import shortened
from scenarios.spelling import nearest, suggestion
from scenarios.strict import Strict
from scenarios.terms import LARGEST, Openings

TIMEOUT_S = 120.0
"""Seconds usually allowed for a request."""
SLOW_TIMEOUT_S = 600.0
"""The same where a local server may answer."""


def _one_or_many(value: object) -> object:
    """Let a single value stand where a list is allowed, and ``all`` stand for no restriction."""
    if value in ("all", ["all"], ("all",)):
        return None
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return (value,)
    return value


def _number_or_auto(value: object) -> object:
    """Read ``auto`` as None, and a number that came as text."""
    if not isinstance(value, str):
        return value
    if value == "auto":
        return None
    if not value.isdecimal():
        raise ValueError("a number from 1 to 4096, or auto")
    return int(value)


def _seconds(value: object) -> object:
    """Let a time be written as ``1h``, ``30m`` or ``90s``."""
    return seconds_of(value) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_one_or_many), Field(min_length=1)]
Selection = Annotated[
    Annotated[tuple[str, ...], Field(min_length=1)] | None, BeforeValidator(_one_or_many)
]
"""Names to keep, or None (written ``all``) for everything."""
Number = Annotated[int, Field(ge=1, le=LARGEST)]
"""How many there are of something."""
Turns = Annotated[
    tuple[Annotated[int, Field(ge=1, le=1_000)], ...],
    BeforeValidator(_one_or_many),
    Field(min_length=1),
]


class EmbeddingSettings(Strict):
    """The encoder that voting measures similarity with."""

    model: str | None = None
    """A sentence-transformers id or path; None is the MiniLM that comes with ``hipo[embeddings]``."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"


class Limits(Strict):
    """What the endpoints are spared."""

    max_concurrency: Annotated[
        Annotated[int, Field(ge=1, le=4096)] | None, BeforeValidator(_number_or_auto)
    ] = None
    """Requests in flight per model; None (written ``auto``): found out while the run goes on, see
    ``pipeline/providers/places.py``."""
    max_requests_per_minute: Number | None = None
    max_tokens_per_minute: Number | None = None
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds allowed for a request; None: what is usual for the provider, see ``timeout_for``."""
    wait_for_endpoint: Annotated[float, BeforeValidator(_seconds), Field(ge=0)] = 3600.0
    """Seconds that an endpoint is waited for which does not answer, or a time such as ``30m``; 0
    does not wait."""
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 6
    """HTTP attempts one call may take."""
    batch: bool = False
    """Whether requests are gathered into batches, at the providers' lower price for those."""

    def timeout_for(self, provider: str) -> float:
        """Return the seconds allowed for a request to a provider.

        Behind ``compatible/`` there may be a server that computes for minutes, and one request
        after the other; ``hf/`` computes here, perhaps without a GPU.
        """
        if self.timeout_s is not None:
            return self.timeout_s
        return SLOW_TIMEOUT_S if provider in {"compatible", "hf"} else TIMEOUT_S


def _judge_or_name(value: object) -> object:
    """Let ``provider/model``, ``name=provider/model`` and ``name`` stand for a judge."""
    if not isinstance(value, str):
        return value
    before, equals, after = value.partition("=")
    if equals and "/" not in before:
        return {"judge": before, "model": after}
    return {"model": value} if "/" in value else {"judge": value}


class JudgeSettings(ModelSettings):
    """An external judge: a model that answers the shipped questions, or a judge of a plugin."""

    judge: str = "external"
    """The name of the judge; that of a plugin's may need no model."""

    @property
    def written(self) -> str:
        """How it is written on the command line, and how its judgements name it."""
        if self.judge == "external":
            return self.model or ""
        return self.judge if self.model is None else f"{self.judge}={self.model}"


class VerificationSettings(Strict):
    """How dialogues are verified: who judges them, and what follows from a flag."""

    judges: Annotated[
        tuple[Annotated[JudgeSettings, BeforeValidator(_judge_or_name)], ...],
        BeforeValidator(_one_or_many),
    ] = ()
    """External judges; more than one is a panel. None but the embedded one for offline runs."""
    judge_style: Literal["commit", "verify"] = "commit"
    """``commit``: external judges name labels without seeing the declared ones; ``verify``: they
    say of the declared ones whether the words carry them, as in the paper."""
    judge_calls: Literal["turn", "dialogue"] = "turn"
    """``turn``: judges are asked about each utterance, and once about the dialogue; ``dialogue``:
    once about all of it. Not with ``verify``."""
    judge_max_tokens: AnswerTokens | None = None
    """Longest answer of judges that say none of their own; None is what each kind of judge takes."""
    foils: Annotated[int, Field(ge=0)] = 200
    """With ``verify``: of how many answers judges are also shown wrong labels; 0 is none."""
    self_judge: Role | None = None
    """Who reads the generator's words again; None is the generator itself."""
    self_judgement: bool = True
    allow_same_judge: bool = False
    """Let the generator's own model be an external judge."""
    policy: str = "review"
    """``review``, ``auto``, or the path of a policy file."""
    gates: dict[str, Any] = Field(default_factory=dict)
    """Thresholds of the rules that need no model, and which are off."""
    embeddings: bool = True
    """Whether dialogues are compared by meaning, too, where an embedding model is installed."""


class Recipe(Strict):
    """Everything a run is asked for: what to generate, with which models, within which limits.

    The settings of a strategy stand under its name, e.g. ``consistency: {k: 8}``. Those of a
    plugin are checked by :meth:`strategy_settings`, when the plugin is loaded.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)] = "run"
    """Also the folder under ``./runs`` when no output is given."""
    scheme: str = "hipo"
    """Id of a shipped scheme, or the path of a scheme file."""
    scenarios: Selection = None
    """Ids, categories, globs or ``tag:...``; None is every scenario of the scheme."""
    facts: Selection = None
    """Fact ids, plain or as ``scenario/fact``, globs allowed; None is every fact."""
    goals: Selection = None
    """Labels of the scheme's goal dimension; None is every goal."""
    turns: Turns = (1, 2, 3)
    """Numbers of improvised exchanges; a dialogue is generated for each."""
    openings: Openings = "shared"
    """Fixed lines that are ``shared`` by the goals, or ``by-goal``, which is the paper's way."""
    languages: Annotated[
        tuple[LanguageCode, ...], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = ("en",)
    """BCP 47, however spelled: ``EN`` is ``en``."""
    wordings: tuple[Path, ...] = ()
    """Files, or folders of them, with the texts of scenarios in another language."""
    unreviewed: bool = False
    """Use wordings, too, that no person has read."""
    strategies: Names = ("direct",)
    models: Models = Models()
    embedding: EmbeddingSettings = EmbeddingSettings()
    tactics: str = "free"
    """``free``, ``balanced``, or the path of a file with the distribution that is wanted."""
    answer_order: AnswerOrder = "plan"
    """What responders write first: ``plan``, a few words that are not kept, or, as in the ``paper``,
    the utterance."""
    vary: Annotated[tuple[str, ...], BeforeValidator(_one_or_many)] = ()
    """Axes of variation to draw from: persona, register, style, opening."""
    variation: Path | None = None
    """A file of variation axes to use instead of the shipped one."""
    n: Number | None = None
    """How many cases, spread over scenarios, goals and turns; None is all of them."""
    shard: str | None = None
    """``i/n``: play the i-th of n parts of the plan alone, see :class:`pipeline.planning.shard.Shard`. Budget
    and limits are those of the part; which labels are wanted is as in the whole plan."""
    repetitions: Number = 1
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    limits: Limits = Limits()
    verification: VerificationSettings = VerificationSettings()
    budget_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    budget_tokens: Number | None = None
    prompt_dir: Path | None = None
    """A folder whose templates replace the shipped ones of the same name."""
    scenario_dirs: tuple[Path, ...] = ()
    only_scenario_dirs: bool = False
    """Play scenarios of those folders alone, without what ships."""
    plugins: tuple[Path, ...] = ()
    """Python files with strategies, gates, ... of one's own; see ``scenarios.plugins``."""
    prices: Path | None = None
    """A price table that takes precedence over the shipped one."""
    real_names: bool = False
    """Use the real names of persons and organisations where a scenario has them."""
    model_config = ConfigDict(extra="allow")

    @field_validator("turns", "strategies", "languages", "scenarios", "facts", "goals", "vary")
    @classmethod
    def _without_repeats(cls, value: tuple[object, ...] | None) -> tuple[object, ...] | None:
        """Drop repeated entries, keeping the order; turns are sorted."""
        if value is None:
            return None
        return tuple(dict.fromkeys(value))

    @field_validator("strategies")
    @classmethod
    def _none_is_a_field(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse a strategy of a plugin whose settings would stand under the name of a field."""
        for name in value:
            if name in cls.model_fields:
                raise ValueError(
                    f"another name: {name!r} is a field of recipes: rename the strategy"
                )
        return value

    @field_validator("shard")
    @classmethod
    def _is_shard(cls, value: str | None) -> str | None:
        """Write a shard as it is always written."""
        if value is None:
            return None
        try:
            return str(Shard.parse(value))
        except UsageError as error:
            raise ValueError(str(error.hint).removeprefix("write ")) from None

    @model_validator(mode="after")
    def _strategies_have_such_settings(self) -> Self:
        """Check the settings of strategies that ship; refuse fields that belong to no strategy."""
        extra = self.__pydantic_extra__ or {}
        fields: dict[str, Any] = {
            name: (STRATEGIES.get(name).settings if name in STRATEGIES.shipped else Any, ...)
            for name in extra
            if name in (*STRATEGIES.shipped, *self.strategies)
        }
        # Raises with the place of the mistake, and for every field that is not one of these.
        checked = create_model("StrategySettings", __base__=Strict, **fields).model_validate(extra)
        extra.update({name: getattr(checked, name) for name in fields})
        return self

    def strategy_settings(self, name: str) -> Strict:
        """Return the settings of a strategy, its defaults where the recipe says nothing.

        Raises:
            UsageError: there is no such strategy, or a setting is not allowed.
        """
        settings: type[Strict] = STRATEGIES.get(name).settings
        given = (self.__pydantic_extra__ or {}).get(name, {})
        if isinstance(given, Strict):
            given = given.model_dump(exclude_unset=True)
        try:
            return settings.model_validate(given)
        except ValidationError as error:
            problems = [
                f"{'.'.join(map(str, (name, *detail['loc'])))}: "
                f"found {shortened(detail['input'])}; {detail['msg']}"
                for detail in error.errors()
            ]
            raise UsageError(
                "\n".join(problems), f"settings: {', '.join(settings.model_fields) or 'none'}"
            ) from None

    def with_all_settings(self) -> Recipe:
        """Return the recipe with every setting of its strategies written out.

        Raises:
            UsageError: there is no such strategy, or a setting is not allowed.
        """
        settings = {name: self.strategy_settings(name) for name in self.strategies}
        written = {name: its.model_dump(mode="json") for name, its in settings.items()}
        return self.with_changes({name: values for name, values in written.items() if values})

    def with_changes(
        self, changes: Mapping[str, object], options: Mapping[str, str] | None = None
    ) -> Recipe:
        """Return the recipe with ``changes`` laid over it; nested mappings are merged.

        Args:
            changes: nested values by field.
            options: the command-line option of a dotted field, for messages.

        Raises:
            UsageError: there is no such field, or a value is not allowed; names all of them.
        """
        merged = _merge(self.model_dump(mode="json", exclude_unset=True), changes)
        try:
            return Recipe.model_validate(merged)
        except ValidationError as error:
            problems = [_described(dict(detail), options or {}) for detail in error.errors()]
        raise UsageError("\n".join(dict.fromkeys(problems)))


def _described(detail: Mapping[str, Any], options: Mapping[str, str]) -> str:
    """Say which field or option is wrong, what was found, and what is expected."""
    steps = [str(step) for step in detail["loc"] if not isinstance(step, int)]
    steps = [step for step in steps if not step.startswith(("tuple[", "function-"))]
    field = ".".join(steps)
    name = options.get(field, field)
    if detail["type"] == "extra_forbidden":
        hint = (
            suggestion(steps[-1], Recipe.model_fields, listing="fields") if field in steps else ""
        )
        return f"{name}: a recipe has no such field{hint and f'; {hint}'}"
    expected = str(detail["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    allowed = re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
    guess = nearest(str(detail["input"]), allowed)
    hint = f"; did you mean {guess!r}?" if guess else ""
    return f"{name}: found {shortened(detail['input'])}, expected {expected}{hint}"


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one nested mapping over another."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        if isinstance(value, Mapping) and isinstance(under, Mapping):
            merged[key] = _merge(under, value)
        else:
            merged[key] = value
    return merged
