"""A judge that a plugin brings: what it returns is looked at before it is stored or counted."""

from __future__ import annotations

from dataclasses import dataclass

from quality.judges.protocol import Judge, JudgeIdentity
from scenarios.dialogue import Dialogue
from scenarios.foreign_records import check_labels, checked_records
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Judgement


@dataclass(frozen=True, slots=True)
class ForeignJudge:
    """Judges as a judge of a plugin does; a judgement that is none leaves the dialogue unjudged."""

    judge_of_plugin: Judge
    scheme: Scheme
    seat: JudgeIdentity

    async def judge(self, dialogue: Dialogue, scenario: Scenario, epoch: int) -> list[Judgement]:
        """Return every judgement.

        Raises:
            TypeError: a judgement is none, or a field of it is of another type.
            ValueError: one is about another dialogue or no turn of it, by somebody else, names a
                label that the scheme does not know, or is the second about the same.
        """
        returned = await self.judge_of_plugin.judge(dialogue, scenario, epoch)
        who = f"the judge {self.seat.judge}"
        judgements = checked_records(Judgement, returned, who)
        turns = {None, *(turn.index for turn in dialogue.turns)}
        seen: set[tuple[int | None, str]] = set()
        for one in judgements:
            if (one.case, one.arm) != dialogue.key:
                raise ValueError(f"{who} judged the dialogue {one.case}/{one.arm}, not this one")
            if (one.source, one.judge) != (self.seat.source, self.seat.judge):
                raise ValueError(f"{who} signed as {one.source} {one.judge}, not {self.seat.role}")
            if one.turn not in turns:
                raise ValueError(f"{who} judged turn {one.turn}, which is not there")
            check_labels(
                self.scheme,
                [(one.dimension, one.value), (one.dimension, one.second)],
                who,
                others=True,
            )
            if (one.turn, one.dimension) in seen:
                where = "the dialogue" if one.turn is None else f"turn {one.turn}"
                raise ValueError(f"{who} judged {one.dimension} of {where} twice: it has one vote")
            seen.add((one.turn, one.dimension))
        return list(judgements)
