"""Model names such as ``openai/gpt-4o``, and the provider that each one leads to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pipeline.providers.address import KEY_OPTION, check_base_url
from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint, imported, told_of_plugin
from scenarios.log import conceal
from scenarios.plugins import PointName
from scenarios.spelling import nearest

if TYPE_CHECKING:  # the protocol brings pydantic, which a look at the registry does not need
    from pipeline.providers.batch_api import BatchApi
    from pipeline.providers.protocol import Provider
    from scenarios.arms import ModelSpec


@dataclass(frozen=True, slots=True)
class ModelName:
    """A provider and the name it has for a model."""

    provider: str
    model: str

    def __str__(self) -> str:
        """Return ``provider/model``, as written on the command line."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class ProviderExtension:
    """A provider by its name: what is known of it before its package is imported."""

    point: ClassVar[PointName] = "provider"
    name: str
    build: str | Callable[..., Provider]
    """What makes it, or ``module:object`` that does, imported when it is first used.

    It is given the keywords ``base_url`` (None for a provider without address), ``api_key`` (None
    without), ``max_concurrency`` and ``headers``.
    """
    package: str = ""
    """The package it needs, as pip knows it, or as it is imported; empty: none."""
    min_version: str = ""
    """The oldest version of the package that will do; empty: any."""
    extra: str = ""
    """The extra of hipo that brings the package along; empty: it is installed by its own name."""
    default_url: str | None = None
    key_env: str | None = None
    """Environment variable of the key; None: none unless the user names one."""
    needs_url: bool = False
    models: tuple[str, ...] = ()
    """All models it has; empty: any name."""
    languages: frozenset[str] | None = None
    """Codes of the languages it knows; None: any."""
    revision: str | Callable[[ModelSpec], str] = ""
    """What names the state of a model's files, which its name does not settle, or ``module:object``
    that does; it refuses settings that the model does not take. Empty: the name settles it."""
    bounds_texts: bool = False
    """Whether a schema may bound its texts with ``maxLength``; strict modes of some refuse it."""
    one_by_one: bool = False
    """Whether each of several samples takes a request of its own, which has its prompt read again."""
    batches: str | Callable[[Any, float], BatchApi] = ""
    """What speaks its batch API, given the provider and the seconds allowed for a request, or
    ``module:object`` that does; empty: it has none."""
    example: str = "<model>"
    """A model of it, for listings."""

    def __post_init__(self) -> None:
        """Refuse a name that no model could begin with."""
        if "/" in self.name:
            raise ValueError(f"found the provider name {self.name!r}, expected one without a slash")

    @property
    def is_local(self) -> bool:
        """Whether it runs in this process and takes no address."""
        return self.default_url is None and not self.needs_url

    @property
    def install(self) -> str:
        """What to type to have its package."""
        return f'pip install "hipo[{self.extra}]"' if self.extra else f"pip install {self.package}"

    @property
    def installed(self) -> bool:
        """Whether the package it needs is there, whatever its version."""
        return not self.package or bool(self.release) or find_spec(self.package) is not None

    @property
    def release(self) -> str | None:
        """The version of its package; None where that is not installed under its name for pip."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


_SHIPPED = (
    ProviderExtension(
        name="openai",
        build="pipeline.providers.openai:OpenAIProvider",
        package="openai",
        min_version="3.0",
        default_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        batches="pipeline.providers.openai_batches:OpenAIBatches",
        example="gpt-4o-mini",
    ),
    ProviderExtension(
        name="anthropic",
        build="pipeline.providers.anthropic:AnthropicProvider",
        package="anthropic",
        min_version="2.0",
        default_url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
        one_by_one=True,
        batches="pipeline.providers.anthropic_batches:AnthropicBatches",
        example="claude-sonnet-4-5",
    ),
    ProviderExtension(
        name="compatible",
        build="pipeline.providers.compatible:CompatibleProvider",
        package="aiohttp",
        min_version="3.14.4",
        needs_url=True,
        bounds_texts=True,
        example="qwen3-32b",
    ),
    ProviderExtension(
        name="hf",
        build="pipeline.providers.hf.provider:HfProvider",
        package="transformers",
        min_version="5",
        extra="local",
        revision="pipeline.providers.hf.revision:revision_of",
        bounds_texts=True,
        example="HuggingFaceTB/SmolLM2-135M-Instruct",
    ),
    ProviderExtension(
        name="offline",
        build="pipeline.providers.offline:build",
        models=("rules", "judge", "reader", "reasoner", "random"),
        languages=frozenset({"en"}),
        example="rules",
    ),
)
PROVIDERS: Final[ExtensionPoint[ProviderExtension]] = ExtensionPoint(
    "provider", ProviderExtension, {entry.name: entry for entry in _SHIPPED}
)
"""Every provider by the name before the slash of a model."""


def parse_model(text: str) -> ModelName:
    """Split ``provider/model``; the model's own name may contain further slashes.

    Raises:
        UsageError: there is no provider in it, or no such provider or model.
    """
    provider, slash, model = text.strip().partition("/")
    if not slash or not model or not provider:
        raise UsageError(
            f"'{text}' is not a model name",
            f"write provider/model, e.g. offline/rules; providers: {', '.join(PROVIDERS.shipped)}",
        )
    entry = PROVIDERS.find(provider)
    if entry is None:
        near = nearest(provider, PROVIDERS.names())
        meant = f"did you mean {near}/{model}? " if near else ""
        raise UsageError(
            f"there is no provider '{provider}'",
            f"{meant}any service that speaks the OpenAI format is compatible/{model} with"
            f" --base-url; {PROVIDERS.unknown(provider).hint}",
        )
    if entry.models and model not in entry.models:
        names = ", ".join(f"{provider}/{known}" for known in entry.models)
        raise UsageError(f"{provider} has no model '{model}'", f"it has: {names}")
    return ModelName(provider, model)


def effective_base_url(name: ModelName, base_url: str | None) -> str | None:
    """Return the address requests go to, checked and normalised, without importing anything.

    Raises:
        UsageError: the address is missing, malformed, or of no use to this provider.
    """
    entry = PROVIDERS.get(name.provider)
    if base_url is None:
        if entry.needs_url:
            raise UsageError(
                f"{name} needs to know where to send requests",
                "give --base-url, e.g. --base-url http://127.0.0.1:8000/v1",
            )
        return entry.default_url
    if entry.is_local:
        raise UsageError(f"{name} runs on this machine and takes no --base-url", "leave it out")
    url = check_base_url(base_url)
    if "?" in url and not entry.needs_url:
        raise UsageError(
            f"{name} takes no --base-url with a query", f"write it as compatible/{name.model}"
        )
    return url


def check_takes_key(name: ModelName, api_key_env: str | None) -> None:
    """Do nothing unless a key is named for a model that ships and asks nobody.

    Raises:
        UsageError: it is.
    """
    local = PROVIDERS.get(name.provider).is_local and name.provider in PROVIDERS.shipped
    if local and api_key_env is not None:  # perhaps the key itself: it is not repeated
        raise UsageError(
            f"{name} runs on this machine and takes no key",
            f"leave it out ({KEY_OPTION}, in a recipe api_key_env)",
        )


def revision_of(spec: ModelSpec) -> str | None:
    """Return what tells one state of a model's files from another; None where its name does.

    Raises:
        UsageError: there is no such model, it does not take its settings, or a package is missing.
    """
    entry = PROVIDERS.get(spec.provider)
    if not entry.revision:
        return None
    _check_package(spec.name, entry)
    with told_of_plugin(PROVIDERS, spec.provider):
        named = imported(entry.revision) if isinstance(entry.revision, str) else entry.revision
        revision = named(spec)
        if not isinstance(revision, str):
            raise TypeError(f"its revision is {revision!r:.100}, expected a text")
    return revision


def build_provider(
    name: ModelName,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    max_concurrency: int = 8,
    headers: Mapping[str, str] | None = None,
) -> Provider:
    """Make the provider of a model, importing its package only now.

    The address is ``base_url`` or the provider's own, never one from the environment: what a run
    recorded is where it went. Call it inside a running event loop or before; connections open
    with the first request, as many as ``max_concurrency``.

    Args:
        name: the model.
        base_url: where to send requests instead of the provider's own address.
        api_key_env: the environment variable that holds the key, instead of the usual one;
            ``HEADER:VARIABLE`` sends it in that header, as it is.
        max_concurrency: size of the connection pool.
        headers: further HTTP headers, sent as they are.

    Raises:
        UsageError: a package, a key or an address is missing; it says which and what to do.
    """
    entry = PROVIDERS.get(name.provider)
    url = effective_base_url(name, base_url)
    _check_package(str(name), entry)
    header, variable = _header_and_variable(name, entry, api_key_env)
    key = _key(name, variable or entry.key_env)
    further = {**(headers or {}), **({header: key} if header and key else {})}
    with told_of_plugin(PROVIDERS, name.provider):
        build = imported(entry.build) if isinstance(entry.build, str) else entry.build
        provider: Provider = build(
            base_url=url,
            api_key=None if header else key,
            max_concurrency=max_concurrency,
            headers=further,
        )
        if name.provider not in PROVIDERS.shipped:
            provider = imported("pipeline.providers.foreign:ForeignProvider")(provider)
    return provider


def _check_package(name: str, entry: ProviderExtension) -> None:
    """Refuse a provider whose package is not there, or too old."""
    if not entry.installed:
        raise UsageError(f"{name} needs the package '{entry.package}'", entry.install)
    if entry.min_version:
        installed = entry.release
        if installed is None:
            raise UsageError(
                f"{name} needs {entry.package} {entry.min_version} or newer, and pip knows of none",
                f"pip install '{entry.package}>={entry.min_version}'",
            )
        if _numbers(installed) < _numbers(entry.min_version):
            raise UsageError(
                f"{name} needs {entry.package} {entry.min_version} or newer, found {installed}",
                f"pip install --upgrade '{entry.package}>={entry.min_version}'",
            )


def _numbers(release: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, e.g. (3, 1) of ``3.1rc2``."""
    return tuple(map(int, re.findall(r"\d+", release.split("+", maxsplit=1)[0])[:3]))


_VARIABLE = re.compile(r"[A-Z]{1,20}|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""What is taken for the name of a variable, though none of this name is set; not for a key."""


_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,40}")
_OF_HTTP = frozenset({"connection", "content-length", "content-type", "host", "transfer-encoding"})
"""Headers that a key would break a request in."""


def _header_and_variable(
    name: ModelName, entry: ProviderExtension, given: str | None
) -> tuple[str, str | None]:
    """Return in which header a key is sent, if it is named, and which variable holds it.

    Raises:
        UsageError: a header is named for a provider that has one of its own, or one that is no place
            for a key, or no variable.
    """
    header, colon, variable = (part.strip() for part in (given or "").partition(":"))
    if not colon or not _HEADER.fullmatch(header):
        return "", given
    if not entry.needs_url:
        raise UsageError(
            f"{name} sends its key in a header of its own",
            f"give {KEY_OPTION} the name of the variable alone",
        )
    if header.lower() in _OF_HTTP:
        raise UsageError(
            f"the header {header} is no place for a key", f"name another with {KEY_OPTION}"
        )
    if not variable:
        raise UsageError(
            f"no variable is named behind the header {header}",
            f"give {KEY_OPTION} both, e.g. {header}:MY_KEY",
        )
    return header, variable


def _key(name: ModelName, variable: str | None) -> str | None:
    """Read the key from the environment variable, if the provider takes one."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    shown = variable if variable in os.environ or _VARIABLE.fullmatch(variable) else ""
    if not key and not shown:  # perhaps the key itself: it is not repeated
        raise UsageError(
            f"{name} needs a key, and what is given is no environment variable that is set",
            f"give the name of the variable, not the key, with {KEY_OPTION}",
        )
    if not key:
        hint = f"export {variable}=..., or name another variable with {KEY_OPTION}"
        raise UsageError(f"{name} needs a key, and {variable} is not set", hint)
    conceal(key)
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"the key in {variable} holds a character that no HTTP header can, e.g. a line break",
            f"export {variable} again, with the key alone",
        )
    return key
