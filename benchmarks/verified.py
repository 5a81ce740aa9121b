"""What a verifier brings: wrong reasonings before and after it, and how its verdicts stand to the truth.

The offline reasoner errs at a known rate on every kind of claim, mends what it is told at another,
lists claims with some overlooked, and says wrong things that no kind of claim covers. All of it goes
through the strategy ``verified`` as it is played: drafts, claims as objects, solver, critiques,
revisions, up to five attempts. The truth is known, so it can be counted.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from decimal import Decimal

from benchmarks.report import Goal, Row
from pipeline.calls.asking import TurnTask
from pipeline.critics.verifier import ClaimVerification
from pipeline.expected_calls import ArmParts
from pipeline.offline.dice import Dice
from pipeline.offline_reasoner.reasoner import Rates, Reasoner, Weighing, in_words
from pipeline.offline_reasoner.sentences import claims_in
from pipeline.reasoning.game import Game, shipped_games
from pipeline.reasoning.solver import correction
from pipeline.strategies.verified import VerifiedRevision
from prompts.environment import Templates
from quality.reasoning.binary_matrix import binary_matrix
from scenarios.case import make_case
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Draft
from scenarios.schemes.registry import load_scheme
from scenarios.spec import Scenario

REASONINGS = 2_000
SETTINGS = (
    ("errs 10 %, mends 75 %", Rates(error=0.1)),
    ("errs 25 %, mends 75 %", Rates(error=0.25)),
    ("errs 50 %, mends 75 %", Rates(error=0.5)),
    ("errs 25 %, mends 25 %", Rates(error=0.25, mended=0.25)),
    ("errs 25 %, 20 % of claims overlooked", Rates(error=0.25, missed=0.2)),
    ("errs 25 %, 10 % say what no claim covers", Rates(error=0.25, uncovered=0.1)),
    ("errs in pair_payoff alone, 40 %", Rates(errors={"pair_payoff": 0.4}, error=0.0)),
)
_TEMPLATES, _SCHEME = Templates(), load_scheme("payoff_reasoning")


@dataclass
class ReasonerAsker:
    """Stands for the models of one reasoning: the one who reasons, and the one who lists claims."""

    game: Game
    reasoner: Reasoner
    dice: Dice
    weighings: list[Weighing] = field(default_factory=list)
    templates = _TEMPLATES
    scheme = _SCHEME

    def responder(self, *_: object) -> str:
        """Ask for a first reasoning."""
        return "weigh"

    def revise(self, view: object, history: object, draft: object, critiques: object, *_: object):
        """Ask for another one, with what was said of the last."""
        return critiques

    async def ask(self, question, context):
        """Answer one of the questions of the strategy."""
        if context.purpose.startswith("claims"):
            said = question.messages[-1].content.partition("# What is said")[2]
            return tuple(q for q in claims_in(said) if not self.reasoner.overlooks(self.dice))
        if context.purpose == "responder":
            weighing = self.reasoner.weigh(self.game, self.dice)
        else:
            wrong = {critique.reason for critique in question if not critique.carried}
            last = self.weighings[-1]
            told = [c for c in last.claims if correction(c, self.game) in wrong]
            weighing = self.reasoner.mend(last, told, self.game, self.dice)
        self.weighings.append(weighing)
        return Draft(in_words(weighing, self.dice), "", ())


def games(count: int) -> list[Game]:
    """Return games: every fourth one of those that ship, in turn, the others with random payoffs."""
    rng = random.Random(15)
    shipped = list(shipped_games().values())
    found = []
    for number in range(count):
        if number % 4 == 0:
            found.append(Game(payoffs=shipped[number // 4 % len(shipped)].payoffs))
            continue
        paid = [Decimal(rng.randrange(10)) for _ in range(8)]
        cells = [(paid[place], paid[place + 1]) for place in range(0, 8, 2)]
        rows = {"R": {"R": cells[0], "B": cells[1]}, "B": {"R": cells[2], "B": cells[3]}}
        found.append(Game(payoffs=rows))
    return found


async def reasoned(game: Game, rates: Rates, seed: int, scenario: Scenario):
    """Return for the first and the last attempt whether the verifier passed it, and the truth."""
    matrix = {
        m: {t: [str(a) for a in cell] for t, cell in row.items()} for m, row in game.payoffs.items()
    }
    played = scenario.model_copy(update={"data": {"payoffs": {"matrix": matrix}}})
    asker = ReasonerAsker(game, Reasoner(rates), Dice(seed, 15))
    parts = ArmParts(asker, asker, None, {played.id: played})
    case = make_case(
        scheme="payoff_reasoning", scenario=played.id, scenario_fingerprint="", fact="", goal="",
        turns=1, language="en", variation={}, repetition=0, seed=seed,
    )  # fmt: skip
    strategy = VerifiedRevision(asker, asker, ClaimVerification(parts))
    spoken = await strategy.utter(TurnTask(case, 1, None, (), ()))
    attempts = spoken.trace.attempts
    passed = [attempts[place].verification.holds for place in (0, -1)]
    true = [asker.weighings[place].is_right(game) for place in (0, -1)]
    return list(zip(passed, true, strict=True)), len(attempts)


async def measured(rates: Rates, count: int):
    """Return verdicts and truths of first and last attempts, and the mean number of attempts."""
    scenario = Catalogue.load(environment={}).entries["used_car"].scenario
    ends = [
        await reasoned(game, rates, number, scenario) for number, game in enumerate(games(count))
    ]
    first, last = ([stages[place] for stages, _ in ends] for place in (0, 1))
    return first, last, sum(attempts for _, attempts in ends) / len(ends)


def run(*, quick: bool = False) -> list[Row]:
    """Let the reasoner reason; what is listed and wrong must never pass the verifier."""
    rows = []
    for name, rates in SETTINGS:
        first, last, attempts = asyncio.run(measured(rates, 200 if quick else REASONINGS))
        wrong = [sum(not true for _, true in cases) / len(cases) for cases in (first, last)]
        exact = rates.missed == 0 and rates.uncovered == 0
        before, after = binary_matrix(first), binary_matrix(last)
        nothing_passes = Goal.below(0) if exact else None
        rows += [
            Row(f"{name}: wrong at first", 100 * wrong[0], " %"),
            Row(f"{name}: wrong in the end", 100 * wrong[1], " %", Goal.below(100 * wrong[0])),
            Row(f"{name}: attempts", attempts),
            Row(f"{name}: TP first", before.tp),
            Row(f"{name}: FP first (wrong, passed)", before.fp, goal=nothing_passes),
            Row(f"{name}: TN first", before.tn),
            Row(f"{name}: FN first (right, refused)", before.fn, goal=Goal.below(0)),
            Row(f"{name}: FP in the end", after.fp, goal=nothing_passes),
        ]
    return rows
