"""``hipo scenarios stats``: how many scenarios and facts, how long, and how much alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hipo.cli.main import command_app
from hipo.cli.scenarios.options import EMBEDDINGS, ONLY_OWN, REAL_NAMES, SCENARIO_DIRS
from hipo.cli.terminal.console import Format, columns, write_json
from hipo.cli.terminal.errors import say
from scenarios.catalogue import Catalogue
from scenarios.pack import FAMILIES
from scenarios.schemes.registry import load_scheme
from scenarios.statistics import Alike, Closest, Lengths, Statistics, measure

if TYPE_CHECKING:
    from pipeline.embeddings.embeddings import Embed
    from scenarios.checks.checked_scenario import Similarity

app = command_app()
TOO_ALIKE = 0.85
"""From which cosine on two facts of a scenario, or two backgrounds, count as the same."""


@app.command("stats")
def stats(
    *,
    embeddings: bool = EMBEDDINGS,
    real_names: bool = REAL_NAMES,
    scheme: str | None = typer.Option(
        None, "--scheme", help="Only scenarios of this label scheme, an id or a file."
    ),
    scenario_dirs: list[Path] | None = SCENARIO_DIRS,
    only: bool = ONLY_OWN,
    output_format: Format = typer.Option("text", "--format", help="json: see docs/json-shapes.md."),
) -> None:
    """Count scenarios and facts, measure their texts, and find the two that are most alike."""
    wanted = None if scheme is None else load_scheme(scheme).id
    dirs = scenario_dirs or ()
    if only:
        catalogue = Catalogue.own(dirs, real_names=real_names)
    else:
        packs = [*([] if wanted is None else [FAMILIES]), *dirs]
        catalogue = Catalogue.load(packs, real_names=real_names)
    scenarios = [s for s in catalogue.scenarios.values() if wanted in (None, s.scheme)]
    similarity, remark = similarity_if(wanted=embeddings)
    statistics = measure(scenarios, similarity)
    if output_format == "json":
        write_json(statistics_as_json(statistics))
    else:
        print("\n".join(statistics_as_text(statistics)))
        if remark:
            print(remark)


def similarity_if(*, wanted: bool) -> tuple[Similarity | None, str]:
    """Return what compares meanings, and a remark where nothing does."""
    if not wanted:
        return None, "meanings were not compared (--no-embeddings)"
    from pipeline.embeddings.embeddings import (  # noqa: PLC0415 - with its thread and event loop
        INSTALL,
        meaning_similarity,
        missing_packages,
    )

    if missing_packages():
        return None, f"meanings were not compared; to compare them too: {INSTALL}"
    return meaning_similarity(_load), ""


def _load() -> Embed:
    if sys.stderr.isatty():
        say("comparing meanings: loading the embedding model takes some seconds ...")
    from pipeline.embeddings.embeddings import load_sentence_model  # noqa: PLC0415 - as above

    return load_sentence_model(None)


def statistics_as_json(statistics: Statistics) -> dict[str, object]:
    """Return what ``hipo scenarios stats --format json`` prints.

    ``scenarios`` and ``facts``: how many; ``categories``: by category, an object with ``scenarios``
    and ``facts``; ``pairs``: pairs of a claim and a fact by what was decided;
    ``facts_per_scenario`` and ``background_sentences``: objects with ``min``, ``mean``, ``max``;
    ``words``: the same for the words of every ``background``, ``easy question``, ``easy answer``,
    ``hard question``, ``question``, ``statement``, ``angle`` and ``fact``; ``highest_similarity``: an object with ``wording`` (Jaccard) and ``meaning`` (cosine of
    embeddings; None where there was no model), each with ``facts`` (of one scenario) and
    ``backgrounds``: None, or an object with ``score`` and ``between`` (two ids).
    """
    return {
        "scenarios": statistics.scenarios,
        "facts": statistics.facts,
        "categories": {
            name: {"scenarios": scenarios, "facts": facts}
            for name, (scenarios, facts) in statistics.categories.items()
        },
        "pairs": dict(statistics.pairs),
        "facts_per_scenario": _lengths(statistics.facts_per_scenario),
        "background_sentences": _lengths(statistics.background_sentences),
        "words": {kind: _lengths(lengths) for kind, lengths in statistics.words.items()},
        "highest_similarity": {
            "wording": _alike(statistics.wording),
            "meaning": None if statistics.meaning is None else _alike(statistics.meaning),
        },
    }


def statistics_as_text(statistics: Statistics) -> Iterator[str]:
    """Yield the figures as lines for people."""
    rows = [
        [name, str(count), str(facts)] for name, (count, facts) in statistics.categories.items()
    ]
    total = ["in all", str(statistics.scenarios), str(statistics.facts)]
    yield columns(["category", "scenarios", "facts"], [*rows, total])
    yield ""
    measured = {
        "facts per scenario": statistics.facts_per_scenario,
        "sentences per background": statistics.background_sentences,
        **{f"words per {kind}": lengths for kind, lengths in statistics.words.items()},
    }
    header = ["length", "min", "mean", "max"]
    yield columns(header, [[name, *_shown(lengths)] for name, lengths in measured.items()])
    yield ""
    pairs = ", ".join(f"{count} {name}" for name, count in statistics.pairs.items())
    yield f"claims under facts: {pairs}"
    yield from _closest("meaning (cosine)", statistics.meaning, TOO_ALIKE)
    yield from _closest("wording (Jaccard)", statistics.wording, None)


def _closest(measure_name: str, alike: Alike | None, limit: float | None) -> Iterator[str]:
    if alike is None:
        return
    bound = "" if limit is None else f"; {limit:.2f} would be too much"
    for kind, closest in (
        ("two facts of a scenario", alike.facts),
        ("two backgrounds", alike.backgrounds),
    ):
        if closest is not None:
            pair = " and ".join(closest.between)
            yield f"most alike in {measure_name}, {kind}: {closest.score:.3f}, {pair}{bound}"


def _lengths(lengths: Lengths) -> dict[str, float]:
    return {"min": lengths.least, "mean": round(lengths.mean, 2), "max": lengths.most}


def _shown(lengths: Lengths) -> list[str]:
    return [str(lengths.least), f"{lengths.mean:.1f}", str(lengths.most)]


def _alike(alike: Alike) -> dict[str, object]:
    return {"facts": _pair(alike.facts), "backgrounds": _pair(alike.backgrounds)}


def _pair(closest: Closest | None) -> dict[str, object] | None:
    if closest is None:
        return None
    return {"score": round(closest.score, 4), "between": list(closest.between)}
