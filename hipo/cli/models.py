"""``hipo models``: which providers there are, what is installed, which key is missing."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from hipo.cli.main import command_app
from hipo.cli.options.shared import PLUGINS
from hipo.cli.terminal.console import Format, columns, write_json
from pipeline.embeddings.embeddings import INSTALL, missing_packages
from pipeline.providers.registry import PROVIDERS, ProviderExtension

app = command_app()


def describe_models() -> dict[str, object]:
    """Return what ``hipo models --format json`` prints; names of keys only, never values.

    ``providers``: a list of objects with ``provider``, ``example``, ``package`` (None: built in),
    ``installed``, ``key_env`` (None: no key unless ``--api-key-env`` names one), ``key_set``
    (None: none needed), ``needs_base_url``, ``default_url`` and ``languages`` (None: any).
    ``embeddings``: an object with ``installed``, ``missing`` and ``install``.
    """
    missing = missing_packages()
    return {
        "providers": [_describe(PROVIDERS.get(name)) for name in PROVIDERS.names()],
        "embeddings": {
            "installed": not missing,
            "missing": missing,
            "install": INSTALL,
        },
    }


def _describe(entry: ProviderExtension) -> dict[str, object]:
    return {
        "provider": entry.name,
        "example": f"{entry.name}/{entry.example}",
        "package": entry.package or None,
        "installed": entry.installed,
        "key_env": entry.key_env,
        "key_set": bool(os.environ.get(entry.key_env)) if entry.key_env else None,
        "needs_base_url": entry.needs_url,
        "default_url": entry.default_url,
        "languages": sorted(entry.languages) if entry.languages else None,
    }


def _row(entry: ProviderExtension) -> list[str]:
    facts = _describe(entry)
    installed = "yes" if facts["installed"] else f"no: {entry.install}"
    if entry.key_env is None:
        key = "none" if entry.is_local else "none (--api-key-env)"
    else:
        key = f"{entry.key_env} {'set' if facts['key_set'] else 'MISSING'}"
    address = "give --base-url" if entry.needs_url else (entry.default_url or "this machine")
    languages = ", ".join(sorted(entry.languages)) if entry.languages else "any"
    return [entry.name, str(facts["example"]), installed, key, address, languages]


@app.command("models")
def models(
    output_format: Format = typer.Option(
        "text", "--format", help="text, or json: see docs/json-shapes.md."
    ),
    plugins: list[Path] | None = PLUGINS,
) -> None:
    """List the providers: what is installed, which key is set, which languages they know."""
    if output_format == "json":
        write_json(describe_models())
        return
    rows = [_row(PROVIDERS.get(name)) for name in PROVIDERS.names()]
    print(columns(["provider", "example", "installed", "key", "address", "languages"], rows))
    missing = missing_packages()
    print()
    if missing:
        print(f"voting (consistency): {', '.join(missing)} missing: {INSTALL}")
    else:
        print(
            "voting (consistency): installed; MiniLM is used unless the recipe names another model"
        )
