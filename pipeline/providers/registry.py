"""Model names such as ``openai/gpt-4o``, and the provider that each one leads to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from pipeline.providers.address import check_base_url
from pipeline.providers.protocol import Provider
from scenarios.errors import UsageError


@dataclass(frozen=True, slots=True)
class ModelName:
    """A provider and the name it has for a model."""

    provider: str
    model: str

    def __str__(self) -> str:
        """Return ``provider/model``, as written on the command line."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """What is known of a provider before its package is imported."""

    module: str
    package: str
    """The package it needs, as pip knows it."""
    default_url: str | None
    key_env: str | None
    """Environment variable of the key; None: none unless the user names one."""
    needs_url: bool = False
    models: tuple[str, ...] = ()
    """All models it has; empty: any name."""
    languages: frozenset[str] | None = None


PROVIDERS: Mapping[str, ProviderEntry] = {
    "openai": ProviderEntry(
        module="pipeline.providers.openai",
        package="openai",
        default_url="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
    ),
    "anthropic": ProviderEntry(
        module="pipeline.providers.anthropic",
        package="anthropic",
        default_url="https://api.anthropic.com",
        key_env="ANTHROPIC_API_KEY",
    ),
    "compatible": ProviderEntry(
        module="pipeline.providers.compatible",
        package="aiohttp",
        default_url=None,
        key_env=None,
        needs_url=True,
    ),
    "offline": ProviderEntry(
        module="pipeline.providers.offline",
        package="",
        default_url=None,
        key_env=None,
        models=("rules", "judge"),
        languages=frozenset({"en"}),
    ),
}


class _Module(Protocol):
    """What every provider's module offers."""

    def build(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        max_concurrency: int,
        headers: Mapping[str, str],
    ) -> Provider:
        """Make the provider."""


def parse_model(text: str) -> ModelName:
    """Split ``provider/model``; the model's own name may contain further slashes.

    Raises:
        UsageError: there is no provider in it, or no such provider or model.
    """
    provider, slash, model = text.strip().partition("/")
    if not slash or not model or not provider:
        raise UsageError(
            f"'{text}' is not a model name",
            f"write provider/model, e.g. offline/rules; providers: {', '.join(PROVIDERS)}",
        )
    entry = PROVIDERS.get(provider)
    if entry is None:
        near = get_close_matches(provider.lower(), PROVIDERS, n=1)
        meant = f"did you mean {near[0]}/{model}? " if near else ""
        raise UsageError(
            f"there is no provider '{provider}'",
            f"{meant}providers: {', '.join(PROVIDERS)}; any other service that speaks the"
            f" OpenAI format is compatible/{model} with --base-url",
        )
    if entry.models and model not in entry.models:
        names = ", ".join(f"{provider}/{known}" for known in entry.models)
        raise UsageError(f"{provider} has no model '{model}'", f"it has: {names}")
    return ModelName(provider, model)


def languages_of(name: ModelName) -> frozenset[str] | None:
    """Return the language codes a model can answer in, or None for no known restriction."""
    return PROVIDERS[name.provider].languages


def effective_base_url(name: ModelName, base_url: str | None) -> str | None:
    """Return the address requests go to, checked and normalised, without importing anything.

    Raises:
        UsageError: the address is missing, malformed, or of no use to this provider.
    """
    entry = PROVIDERS[name.provider]
    if base_url is None:
        if entry.needs_url:
            raise UsageError(
                f"{name} needs to know where to send requests",
                "give --base-url, e.g. --base-url http://127.0.0.1:8000/v1",
            )
        return entry.default_url
    if name.provider == "offline":
        raise UsageError(f"{name} runs on this machine and takes no --base-url", "leave it out")
    return check_base_url(base_url)


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
        api_key_env: the environment variable that holds the key, instead of the usual one.
        max_concurrency: size of the connection pool.
        headers: further HTTP headers, sent as they are.

    Raises:
        UsageError: a package, a key or an address is missing; it says which and what to do.
    """
    entry = PROVIDERS[name.provider]
    url = effective_base_url(name, base_url)
    if entry.package and find_spec(entry.package) is None:
        raise UsageError(
            f"{name} needs the package '{entry.package}'", f"pip install {entry.package}"
        )
    key = _key(name, api_key_env or entry.key_env)
    module = cast("_Module", import_module(entry.module))
    return module.build(
        base_url=url, api_key=key, max_concurrency=max_concurrency, headers=headers or {}
    )


def _key(name: ModelName, variable: str | None) -> str | None:
    """Read the key from the environment variable, if the provider takes one."""
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        hint = f"export {variable}=..., or name another variable with --api-key-env"
        raise UsageError(f"{name} needs a key, and {variable} is not set", hint)
    return key
