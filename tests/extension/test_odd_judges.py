"""A judge of a plugin that returns what is none: its dialogues are not judged, and the run goes on."""

from __future__ import annotations

from pathlib import Path

from hipo import open_run
from tests.extension.conftest import Hipo

PLUGIN = """
from quality.judges.protocol import JudgeExtension, Questions

class Odd:
    def __init__(self, scheme, prompts, asker, seat):
        self.asker, self.seat = asker, seat

    async def judge(self, dialogue, scenario, epoch):
        questions = Questions(self.asker, self.seat, dialogue, epoch)
        answer = dialogue.answers()[0].index
        odd = float("nan") if dialogue.case.goal == "deception" else 0.5
        return [questions.note(answer, "warmth", odd, True, "so")]

EXTENSIONS = [JudgeExtension("odd", Odd, needs_model=False)]
"""


def test_nothing_that_is_no_judgement_is_stored(hipo: Hipo) -> None:
    Path("odd.py").write_text(PLUGIN)
    made = hipo("generate", "--model", "offline/rules", "--scenarios", "used_car", "--turns", "1",
                "-n", "2", "-q", "-o", "made")  # fmt: skip
    assert made.code == 0, made.err
    judged = hipo("verify", "made", "--plugin", "odd.py", "--judge", "odd", "--no-embeddings")
    assert judged.code == 1, judged.err
    assert "1 verified, 1 failed" in judged.out
    run = open_run("made")
    assert {one.ending.case.goal: one.verdict for one in run.verdicts()} == {
        "truthful non-disclosure": "accepted",
        "deception": None,
    }
    (failed,) = (one.id for one in run.endings() if one.case.goal == "deception")
    told = "the judge odd returned a Judgement with nan as value, not a valid string or a finite"
    assert told in " ".join(hipo("show", "made", failed).out.split())
    assert hipo("show", "made", "--flag", "external_warmth").code == 0
    assert hipo("show", "made", "--flag", "external_warmt").code == 2
