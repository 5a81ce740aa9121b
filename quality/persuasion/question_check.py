"""Check questions with options against the rules by which wrong options are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prompts.tasks.model import Options
from prompts.tasks.option_order import broken_rules
from scenarios.schemes.dimension import Dimension, Label

DUPLICATE = "duplicate"
RIGHT_OPTION = "right option"
RIGHT_LABEL = "right label"
UNKNOWN = "unknown option"


@dataclass(frozen=True, slots=True)
class OptionQuestion:
    """A question with options, whoever made it."""

    id: str
    """What findings call it, e.g. the file and line it stands in."""
    role: str
    """Whose words it is about."""
    options: tuple[str, ...]
    """As they are shown."""
    labels: tuple[str | None, ...]
    """The label behind each option; None: it is not known."""
    right: int
    """The place of the right option, from 0."""
    label: str | None = None
    """The label that the words have, where it is known apart from the options."""
    face_act: str | None = None


@dataclass(frozen=True, slots=True)
class FlawedQuestion:
    """One rule that one option of a question breaks."""

    question: str
    rule: str
    """``duplicate``, ``unknown option``, ``right option`` (it is not the label of the words),
    ``right label`` (it cannot be chosen for words of that speaker and face act), or a rule of the
    task, e.g. ``same role``."""
    option: str


def rules_of(options: Options) -> tuple[str, ...]:
    """Return the names of all rules that questions are checked against, in order."""
    own = [f"same {name}" for name in options.same_for]
    own += [f"other {name}" for name in options.other_for]
    own += ["group"] if options.scheme_groups else []
    own += ["within"] if options.within else []
    own += ["apart"] if options.apart else []
    return (*own, DUPLICATE, RIGHT_OPTION, RIGHT_LABEL, UNKNOWN)


def broken(
    dimension: Dimension, options: Options, questions: Iterable[OptionQuestion]
) -> Iterator[FlawedQuestion]:
    """Yield every rule that an option of a question breaks.

    Args:
        dimension: the options are labels of it.
        options: the rules.
        questions: to check; an option whose label is not known breaks only that rule, and is
            otherwise compared by its words alone.

    Source: Evaluating Intention Understanding in Persuasive Dialogues, appendix D.
    """
    by_id = {label.id: label for label in dimension.labels}
    for question in questions:
        labels = [by_id.get(name or "") for name in question.labels]
        for place, option in enumerate(question.options):
            for rule in _against(question, labels, options, place):
                yield FlawedQuestion(question.id, rule, option)


def _against(
    question: OptionQuestion, labels: Sequence[Label | None], options: Options, place: int
) -> Iterator[str]:
    label, right = labels[place], labels[question.right]
    if _repeats(question, place):
        yield DUPLICATE
    if label is None:
        yield UNKNOWN
    if place == question.right:
        if label is not None and question.label not in (None, label.id):
            yield RIGHT_OPTION
        face_act = {} if question.face_act is None else {"face_act": question.face_act}
        if label is not None and not label.fits(question.role, face_act):
            yield RIGHT_LABEL
    elif label is not None and right is not None and label.id != right.id:
        yield from broken_rules(options, right, label)


def _repeats(question: OptionQuestion, place: int) -> bool:
    """Return whether an option, by its words or its label, stands before already."""
    words = [" ".join(option.casefold().split()) for option in question.options[: place + 1]]
    label = question.labels[place]
    return words[-1] in words[:-1] or (label is not None and label in question.labels[:place])
