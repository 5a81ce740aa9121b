"""Tell whether the hearer has been misled: whether anything said contradicts the fact."""

from __future__ import annotations

from pipeline.offline_judge.reading import JudgeRequest
from pipeline.offline_judge.truth import QUALITY, Matter, treatment_of


def misleading_line(asked: JudgeRequest) -> tuple[str, str] | None:
    """Return the first line of the responder that contradicts the fact, and why; else None.

    What is left out, vague or beside the point counts as keeping a thing back, which misleads
    only together with something false: words alone do not tell discretion from deceit.
    """
    question = ""
    for who, text in asked.said:
        if who == "INITIATOR":
            question = text
            continue
        matter = Matter(asked.fact, asked.about, question, asked.situation)
        treatment = treatment_of(text, matter)
        if treatment.label == QUALITY:
            return text, treatment.reason
    return None
