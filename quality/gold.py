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
from quality.evaluation.answers import ScoredAnswer
from quality.evaluation.result_row import Fault
from quality.evaluation.scores import Scores
from quality.evaluation.scoring import ScoreKey, score
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
    scenario: Scenario
    """With its names filled in."""
    fact: str
    """The id of the fact that it is read with."""

    def question(self, prompts: JudgePrompts) -> Question[tuple[BlindLabel, ...]]:
        """Return what a reader is asked: every dimension of the utterance, blind."""
        history: History = (("initiator", self.line.question),)
        return prompts.turn(self.view, history, self.line.text)


def gold_canary() -> str:
    """Return the string by which one finds out whether a corpus has taken in gold lines."""
    files = (gold_lines(name) for name in scenarios_with("gold"))
    (canary,) = {lines.canary for lines in files if lines is not None}
    return canary


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
    view = replace(judge_view(scenario, case), case=f"gold {line.id}")
    return GoldItem(spoken, view, scenario, case.fact)


def against_gold(
    reader: str,
    scheme: Scheme,
    lines: Iterable[tuple[str, GoldLine]],
    read: Read,
) -> list[Scores]:
    """Return how a reader's labels stand to gold, one table per dimension of the utterance.

    Args:
        reader: what it is called.
        scheme: the scheme of the labels.
        lines: the gold lines, each after the id of its scenario.
        read: what it found; a line that is missing got no answer, which is not held against it.

    Raises:
        UsageError: a gold label is none of the scheme's.
    """
    gold = list(lines)
    return [
        score(
            ScoreKey("gold", "judge-turn", "zero-shot", reader, dimension.id),
            [_answer(place, line, dimension.id, read) for place, line in gold
             if dimension.id in line.labels],
            dimension.values,
        )
        for dimension in scheme.utterance_dimensions
    ]  # fmt: skip


def _answer(scenario: str, line: GoldLine, dimension: str, read: Read) -> ScoredAnswer:
    found = read.get(line.id)
    label = next((str(one.value) for one in found or () if one.dimension == dimension), None)
    fault: Fault = "unreadable" if line.id in read else "failed"
    return ScoredAnswer(
        item=line.id,
        case=line.id,
        scenario=scenario,
        dimension=dimension,
        reference=line.labels[dimension],
        answer=label,
        fault="" if label is not None else fault,
        groups={"goal": line.goal},
    )
