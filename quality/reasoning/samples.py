"""What logs say by themselves: attempts, choices, and which claims the solver refuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pipeline.reasoning.game import Game, symmetric_game
from pipeline.reasoning.log import LoggedAttempt, ReasoningLog, chosen
from quality.reasoning.form import (
    ATTEMPTS,
    CHOICES,
    FAILED_QUERIES,
    FILE,
    GAME,
    PREDICTED,
    STAGES,
    Stage,
    log_name,
)
from quality.tables.oddities import Oddity, Place, shown

_NUMBERS = re.compile(r"_p[12]_(\d+)_(\d+)_(\d+)_(\d+)(?=_|$)")
"""In the name of a log: which player reasons, and its payoffs for RR, RB, BR, BB."""
_CHOICES = ("R", "B")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the solver says of one attempt."""

    checked: int
    """How many claims could be read and checked."""
    malformed: int
    failing: tuple[str, ...]
    """The claims that do not hold, as they are written."""
    supported: bool | None
    """Whether no claim failed; None where that could not be told."""
    differs: bool = False
    """Whether the log calls other claims failed than the solver does."""


@dataclass(slots=True)
class ReasoningSample:
    """One log, and what follows from it."""

    log: ReasoningLog
    game_id: str
    game: Game | None
    verdicts: tuple[Verdict, ...]
    oddities: list[Oddity] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The name to find it by in forms."""
        return log_name(self.log.name)

    def attempt(self, stage: Stage) -> LoggedAttempt:
        """Return the first attempt or the last one."""
        return self.log.attempts[0 if stage == "original" else -1]

    def choice(self, stage: Stage) -> str:
        """Return the choice of an attempt; empty where it makes none."""
        choices = _CHOICES if self.game is None else self.game.choices
        return chosen(self.attempt(stage).response, choices) or ""

    def predicted(self, stage: Stage) -> bool | None:
        """Tell whether no claim of an attempt failed; None where that is not known."""
        return self.verdicts[0 if stage == "original" else -1].supported

    def failed_kinds(self, stage: Stage) -> list[str]:
        """Return the kind of mistake of every claim of an attempt that failed."""
        kinds = {c.text: c.claim.mistake for c in self.attempt(stage).predicates or () if c.claim}
        failing = self.verdicts[0 if stage == "original" else -1].failing
        return [kinds[text] for text in failing if text in kinds]

    def failed_queries(self) -> str:
        """Return the failed claims of all attempts in the notation of forms: ``0#a.b.:1#c.``."""
        return ":".join(
            f"{attempt.number}#{''.join(verdict.failing)}"
            for attempt, verdict in zip(self.log.attempts, self.verdicts, strict=True)
            if verdict.failing
        )

    def cells(self) -> dict[str, str]:
        """Return what a form says of a log without a rater."""
        cells = {FILE: self.log.name, GAME: self.game_id, ATTEMPTS: str(len(self.verdicts))}
        for stage in CHOICES:
            cells[CHOICES[stage]] = self.choice(stage)
            supported = self.predicted(stage)
            cells[PREDICTED[stage]] = "" if supported is None else str(int(supported))
        return {**cells, FAILED_QUERIES: self.failed_queries()}


def make_sample(
    log: ReasoningLog,
    games: Mapping[str, Game],
    *,
    told: Iterable[str] = (),
    only: tuple[str, Game] | None = None,
) -> ReasoningSample | None:
    """Solve the claims of a log; None where there is no attempt in it.

    Args:
        log: what was read.
        games: games by their id.
        told: ids of games that forms name for the log.
        only: id and game of every log, where the user names one.
    """
    if not log.attempts:
        return None
    place = Place(log.name)
    oddities = [Oddity(place, "log", problem, "the rest is read") for problem in log.problems]
    game_id, game = only or _game(log.name, games, list(told), oddities)
    if game is None:
        found = f"no game for {shown(game_id) if game_id else 'this log'}"
        done = "its claims are not solved again; the log's own verdicts count"
        oddities.append(Oddity(place, "unknown_game", found, done))
    verdicts = tuple(_verdict(attempt, game, place, oddities) for attempt in log.attempts)
    sample = ReasoningSample(log, game_id, game, verdicts, oddities)
    for stage in STAGES if len(verdicts) > 1 else STAGES[:1]:
        number = sample.attempt(stage).number
        if not sample.choice(stage):
            found = f"no choice in braces in attempt {number}"
            oddities.append(Oddity(place, "no_choice", found, "left empty"))
        if sample.predicted(stage) is None:
            found = f"nothing tells whether a claim of attempt {number} failed"
            oddities.append(Oddity(place, "no_verdict", found, "it is not counted"))
    return sample


def _game(
    name: str, games: Mapping[str, Game], told: list[str], oddities: list[Oddity]
) -> tuple[str, Game | None]:
    """Find the game of a log: what forms say, else its name; and the payoffs in the name."""
    folded = {game_id.casefold(): game_id for game_id in games}
    in_name = next(
        (folded[found] for found in sorted(folded, key=len, reverse=True) if _has(name, found)), ""
    )
    named = list(dict.fromkeys(folded.get(told_id.casefold(), told_id) for told_id in told))
    game_id = next(iter(named), in_name)
    if len(named) > 1:
        found = f"forms name the games {', '.join(named)}"
        oddities.append(Oddity(Place(name), "several_games", found, f"taken as {game_id}"))
    game = games.get(game_id)
    numbers = _NUMBERS.search(log_name(name))
    if numbers is None:
        return game_id, game
    own = [Decimal(number) for number in numbers.groups()]
    if game is not None and own == [game.own(*pair) for pair in game.pairs()]:
        return game_id, game
    found = f"the payoffs {', '.join(numbers.groups())} in its name"
    done = "taken as a game that is the same for both"
    oddities.append(Oddity(Place(name), "own_payoffs", found, done))
    return game_id, symmetric_game(own, _CHOICES)


def _has(name: str, game_id: str) -> bool:
    """Tell whether the name of a log has the id of a game as a part of its own."""
    part = rf"(?<![A-Za-z0-9]){re.escape(game_id)}(?![A-Za-z0-9])"
    return re.search(part, log_name(name)) is not None


def _verdict(
    attempt: LoggedAttempt, game: Game | None, place: Place, oddities: list[Oddity]
) -> Verdict:
    claims = attempt.predicates or ()
    read = [claim.text for claim in claims if claim.claim is not None]
    malformed = len(claims) - len(read)
    solved = None if game is None else tuple(claim.text for claim in attempt.failing(game))
    logged = attempt.failed
    differs = False
    if logged is not None and solved is not None:
        differs = Counter(t for t in logged if t in set(read)) != Counter(solved)
        if differs:
            found = f"attempt {attempt.number} logs other failed claims than the solver finds"
            oddities.append(Oddity(place, "other_verdict", found, "those of the log count"))
    failing = logged if logged is not None else solved or ()
    return Verdict(
        checked=0 if solved is None else len(read),
        malformed=malformed,
        failing=failing,
        supported=_supported(attempt, solved, malformed),
        differs=differs,
    )


def _supported(
    attempt: LoggedAttempt, solved: tuple[str, ...] | None, malformed: int
) -> bool | None:
    """Tell whether no claim failed: the log's word counts first, then what was solved again."""
    if attempt.failed is not None:
        return not attempt.failed
    if attempt.predicates is None:
        return None
    if not attempt.predicates:
        return True
    if solved:
        return False
    return None if solved is None or malformed else True
