"""A run of the scheme cei, to show that nothing but the scheme's file is needed to review it."""

from __future__ import annotations

from pathlib import Path

from tests.quality.review.serving import generated_run

SCENARIO = """
id: late_report
scheme: cei
title: The report that came on Friday
category: workplace
summary: A colleague thanks another for a report that came too late.
tags: [peer]
background: >-
  Two colleagues share an office. One of them was to hand in a report on Monday and did so on
  Friday, an hour before the meeting it was for. The coffee machine stands by the desk of the other.
roles:
  initiator:
    name: colleague
    description: Handed the report in on Friday and hopes that nobody minds.
    aim: hear that the report is welcome
  responder:
    name: office mate
    description: Had to prepare the meeting without the report.
    aim: let the colleague know without saying so
opening:
  shared:
    exchanges:
      - question: Is that your desk by the coffee machine?
        answer: It is, the machine's right behind me.
        claims: [near_the_machine]
    hard_question: I put the report on your desk. Is it any use to you?
  by_goal:
    - question: I put the report on your desk. Is it any use to you?
      statements:
        any:
          text: How thoughtful of you to bring it in time for the coffee.
claims:
  - {id: near_the_machine, text: "The desk of the office mate is by the coffee machine."}
  - {id: thankful, text: "The office mate is thankful."}
facts:
  - id: alone
    about: the preparation of the meeting
    text: The office mate wrote the whole presentation alone on Thursday night.
    angle: How did the preparation go without it?
    cover: [{claim: thankful}]
    makes_false: [thankful]
    makes_true: [near_the_machine]
outcome: {text: "They share the office still.", as_of: "2025"}
sources: fictional
"""


def make_cei_run(folder: Path, *, n: int = 3) -> Path:
    """Generate dialogues of the scheme cei by rules."""
    scenarios = folder.parent / "cei-scenarios"
    scenarios.mkdir()
    (scenarios / "late_report.yaml").write_text(SCENARIO)
    return generated_run(
        folder,
        n=n,
        scheme="cei",
        scenario_dirs=[str(scenarios)],
        scenarios=["late_report"],
        goals=["sarcasm", "deflection", "mixed signals"],
        turns=[1],
    )
