"""What was evaluated, and what asking took."""

from __future__ import annotations

from collections.abc import Iterator

from outputs.evaluation.cells import Cell, nothing, table_of
from outputs.evaluation.evaluated import Evaluated
from outputs.report.method import DEFAULT, REFUSED
from outputs.report.page import Block, Remark, ReportSection, Table, Tile, Tiles
from outputs.report.wording import bill, count, dollars, percent
from quality.evaluation.evaluation_record import AskingTook, EvaluatedModel
from scenarios.arms import UNKNOWN
from scenarios.plural import plural

_FORMS = {
    "native": "a schema is sent",
    "instruct": "the prompt alone asks",
    "ignored": "a schema is sent and not kept to",
}
"""How answers get their form."""
_UNTOLD = nothing("asked by an earlier version, which did not record how")
_KINDS = {
    "benchmark": "an exported benchmark",
    "run": "the dialogues of a run",
    "gold": "the gold lines",
    "swap": "an exported set of swapped facts",
}


def overview_section(evaluated: Evaluated) -> ReportSection:
    """Return what was asked, about what, and by whom it was answered."""
    record = evaluated.record
    known = [took.cost_usd for took in record.took]
    cost = sum(map(_known, record.took))
    tiles = Tiles(
        (
            Tile(count(record.set.items), "items", _KINDS[record.set.kind]),
            Tile(count(len(record.models)), "models"),
            Tile(count(len(evaluated.tasks)), "tasks", ", ".join(evaluated.modes)),
            Tile(count(sum(took.requests for took in record.took)), "requests"),
            Tile(
                dollars(None if None in known else cost),
                "cost",
                _known_of_all(evaluated) if None in known else "",
            ),
        )
    )
    blocks: list[Block] = [tiles, _tasks(evaluated), _models(evaluated)]
    if record.set.drawn is not None:
        drawn = record.set.drawn
        shares = "; ".join(_shares(evaluated))
        blocks.append(
            Remark(
                f"Items were drawn evenly over the classes of {record.title(drawn.dimension)} "
                f"(seed {drawn.seed}), so that no class is rare: figures are given balanced, where "
                "classes count alike, and reweighted to their shares in the whole set "
                f"({shares})."
            )
        )
    writers = ", ".join(name for name in record.set.generators if name != UNKNOWN)
    lead = (
        f"{plural(record.set.items, 'item')} of {record.set.name} (scheme {record.set.scheme})"
        + (f", written by {writers}." if writers else "; it is not known who wrote them.")
    )
    return ReportSection("overview", "What was asked", lead, tuple(blocks))


def _shares(evaluated: Evaluated) -> Iterator[str]:
    """Yield the shares of the classes in the whole set, of each task where they differ."""
    drawn = evaluated.record.set.drawn
    if drawn is None:
        return
    by_task = {task.title: drawn.shares_of(task.id) for task in evaluated.tasks}
    alike = all(shares == drawn.shares for shares in by_task.values())
    for title, shares in ({"": drawn.shares} if alike else by_task).items():
        said = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
        yield f"{title}: {said}" if title else said


def _tasks(evaluated: Evaluated) -> Table:
    record = evaluated.record
    rows = [
        [
            task.title,
            task.mode if task.draws == 1 else f"{task.mode}, {task.draws} draws of examples",
            task.subject,
            task.history or "as the task says",
            ", ".join(map(record.title, task.dimensions)),
        ]
        for task in record.tasks
    ]
    header = ("task", "mode", "about each", "seen of what was said before", "asked for")
    return table_of("Tasks", header, rows)


def _models(evaluated: Evaluated) -> Table:
    """Return how every model was asked, and what answered: what a section on methods says."""
    header = ("model", "answered as", "asked", "temperature", "top-p", "most tokens", "form",
              "further")  # fmt: skip
    rows = [
        [evaluated.signed(one.name), *(_how(one) or [_UNTOLD] * (len(header) - 1))]
        for one in evaluated.record.models
    ]
    return table_of("Models, and how they were asked", header, rows)


def _how(model: EvaluatedModel) -> list[str | Cell]:
    """Return how a model was asked; nothing where that was not recorded."""
    if model.max_tokens is None:
        return []
    return [
        ", ".join(model.answered_as) or nothing("the endpoint does not say what answered"),
        " to ".join(dict.fromkeys(str(at)[:10] for at in (model.first_at, model.last_at) if at)),
        *(
            DEFAULT if x is None or name in model.omitted else f"{x:g}"
            for name, x in (("temperature", model.temperature), ("top_p", model.top_p))
        ),
        "; ".join(
            [
                count(model.max_tokens),
                *(f"{plural(n, 'answer')} under {k:,}" for k, n in model.lower_limits.items()),
            ]
        ),
        ", ".join(_FORMS.get(form, form) for form in model.structured),
        ", ".join(
            [
                *(f"{name}: {value}" for name, value in model.extra.items()),
                *(f"not taken: {REFUSED.get(name, name)}" for name in model.omitted),
            ]
        ),
    ]


def _known(took: AskingTook) -> float:
    """Return what is known of a cost."""
    return took.known_usd if took.cost_usd is None else took.cost_usd


def _known_of_all(evaluated: Evaluated) -> str:
    """Say what is known of a cost that is not known of every model; or nothing."""
    every = evaluated.record.took
    cost = sum(map(_known, every))
    if any(took.bound_usd for took in every):
        bound, unpriced = sum(t.bound_usd for t in every), sum(t.unpriced for t in every)
        return bill(cost, unpriced, bound)
    return f"{dollars(cost)} where it is known" if cost else ""


def cost_of(took: AskingTook) -> str | Cell:
    """Return what requests cost, and the most that they can have cost where usage was not told."""
    if took.cost_usd is None and not (took.known_usd or took.bound_usd):
        return nothing("no prices are known for this model")
    return bill(_known(took), took.unpriced, took.bound_usd)


def cost_section(evaluated: Evaluated) -> ReportSection:
    """Return what asking each model took."""
    header = ("model", "requests", "tokens read", "tokens written", "cost")
    record = evaluated.record
    named: list[tuple[str, AskingTook]] = [(model.name, model) for model in record.models]
    if record.lost.requests:
        named.append(("in flight when a process was killed", record.lost))
    rows = [
        [
            name,
            count(took.requests),
            count(took.prompt_tokens),
            count(took.completion_tokens),
            cost_of(took),
        ]
        for name, took in named
    ]
    lead = (
        "Requests that were sent for this evaluation. An answer that is stored is not asked for "
        "again, so that an evaluation that went on took no more than one that was never stopped."
    )
    return ReportSection("cost", "What it took", lead, (table_of("By model", header, rows),))
