"""Hold readers against the gold lines: which label they give, and how far that can be trusted.

The one place outside ``scenarios.lines`` where gold is read. A reader is asked with the shipped
prompt for blind judges: scene, fact, standing question and line, and none of the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from prompts.judges import JudgePrompts, JudgeView, judge_view
from prompts.question import Question
from prompts.tasks.answers import BlindLabel
from quality.bootstrap import Resampling
from quality.confusion import Confusion, confusion
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import History
from scenarios.lines.library import gold_lines, scenarios_with
from scenarios.lines.model import ANY_FACT, GoldLine
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario, with_names

Read = Mapping[str, Sequence[BlindLabel] | None]
"""By the id of a gold line what a reader found; None where its answer could not be read."""


@dataclass(frozen=True, slots=True)
class GoldItem:
    """A gold line in its scene."""

    line: GoldLine
    view: JudgeView

    def question(self, prompts: JudgePrompts) -> Question[tuple[BlindLabel, ...]]:
        """Return what a reader is asked: every dimension of the utterance, blind."""
        history: History = (("initiator", self.line.question),)
        return prompts.turn(self.view, history, self.line.text)


def gold_items() -> list[GoldItem]:
    """Return every gold line of the library, with the names of its scene filled in."""
    scenarios = Catalogue.load(environment={}).entries
    return [
        _item(scenarios[name].template, line)
        for name in scenarios_with("gold")
        if name in scenarios and (lines := gold_lines(name)) is not None
        for line in lines.lines
    ]


def _item(template: Scenario, line: GoldLine) -> GoldItem:
    names = {key: known.alias for key, known in template.placeholders.items()}
    spoken = GoldLine.model_validate(with_names(line.model_dump(), names))
    scenario = template.named()
    case = make_case(
        scheme=scenario.scheme,
        scenario=scenario.id,
        scenario_fingerprint=scenario.fingerprint,
        fact=scenario.facts[0].id if line.fact == ANY_FACT else line.fact,
        goal=line.goal,
        turns=1,
        language="en",
        variation={},
        repetition=0,
        seed=0,
    )
    # The order of labels follows from the line, since many lines have one case.
    return GoldItem(spoken, replace(judge_view(scenario, case), case=f"gold {line.id}"))


def against_gold(
    reader: str,
    scheme: Scheme,
    lines: Iterable[GoldLine],
    read: Read,
    how: Resampling | None = None,
) -> list[Confusion]:
    """Return how a reader's labels stand to gold, one table per dimension of the utterance.

    Args:
        reader: what it is called.
        scheme: the scheme of the labels.
        lines: the gold lines.
        read: what it found; lines that are missing were not put to it.
        how: how intervals are bootstrapped over lines; 2,000 times from seed 42 if None.

    Raises:
        UsageError: a label is none of the scheme's.
    """
    gold = list(lines)
    tables = []
    for dimension in scheme.utterance_dimensions:
        truth = {line.id: line.labels[dimension.id] for line in gold if dimension.id in line.labels}
        found = {
            name: None if labels is None else _label_of(labels, dimension.id)
            for name, labels in read.items()
        }
        tables.append(
            confusion(reader, dimension.id, dimension.values, truth=truth, judged=found, how=how)
        )
    return tables


def _label_of(labels: Sequence[BlindLabel], dimension: str) -> str | None:
    return next((str(one.value) for one in labels if one.dimension == dimension), None)
