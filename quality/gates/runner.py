"""All gates of a verification: they go through the dialogues page by page, in order of the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pipeline.voting import Encoder
from quality.gates.foreign import checked_flags
from quality.gates.protocol import Embedded, Gate, GatedDialogue, RunGate, SparingGate
from quality.gates.registry import GATES
from quality.gates.settings import GateSettings
from scenarios.dialogue import Dialogue
from scenarios.extensions import told_of_plugin
from scenarios.fingerprint import fingerprint
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.verdicts import Flag

CHECKS_VERSION = 7
"""Raised whenever the gates would find otherwise with the same settings."""

Page = Sequence[tuple[Dialogue, Scenario]]


@dataclass(frozen=True, slots=True)
class GateChecks:
    """Asks every gate about each dialogue; some compare it with those before it."""

    scheme: Scheme
    settings: GateSettings
    gates: tuple[Gate, ...]
    run_gates: tuple[RunGate, ...]
    encoder: Encoder | None
    """Embeds dialogues for the gates that compare meanings; without it words alone decide."""
    sparing: SparingGate | None = None
    """The only gate that compares meanings, where it says which; None: every one is embedded."""

    @classmethod
    def of(
        cls, settings: GateSettings, scheme: Scheme, encoder: Encoder | None = None
    ) -> GateChecks:
        """Return the gates with the given thresholds, remembering no dialogue yet."""
        gates, run_gates = build_gates(settings)
        comparing = [name for name in settings.names if GATES.get(name).embeds]
        by_code = {gate.code: gate for gate in run_gates}
        only = by_code.get(comparing[0]) if len(comparing) == 1 else None
        sparing = only if isinstance(only, SparingGate) else None
        return cls(scheme, settings, gates, run_gates, encoder, sparing)

    @property
    def fingerprint(self) -> str:
        """The content hash of rules and thresholds, and of the plugins that supplied rules."""
        settings = self.settings
        identity = [CHECKS_VERSION, settings.model_dump(mode="json"), settings.names, self.embeds]
        if plugins := GATES.identity(settings.names):
            identity.append(plugins)
        return fingerprint(identity)

    async def embed(self, page: Page) -> Sequence[Embedded]:
        """Return what is embedded for each dialogue; pages come in order, and may run ahead.

        What a page needs is found out before anything is awaited.
        """
        if self.encoder is None or not self.embeds:
            return [Embedded()] * len(page)
        wanted = [self._to_embed(subject) for subject in self._subjects(page)]
        texts = [text for one in wanted for _, text in one]
        rows = iter(await self.encoder.encode(texts) if texts else ())
        found = [[(case, next(rows)) for case, _ in one] for one in wanted]
        return [Embedded(one[-1][1], tuple(one[:-1])) if one else Embedded() for one in found]

    def _to_embed(self, subject: GatedDialogue) -> Sequence[tuple[str, str]]:
        if self.sparing is not None:
            return self.sparing.to_embed(subject)
        return [(subject.dialogue.case.id, subject.improvised_text)]

    def check(self, page: Page, embedded: Sequence[Embedded]) -> list[tuple[Flag, ...] | Exception]:
        """Return the flags of each dialogue, remembering all of them for those that follow.

        Where a gate raises, its exception stands in the place of the flags: one dialogue that a
        gate cannot cope with does not keep the others from being checked.

        Args:
            page: the next dialogues of the run, in its order.
            embedded: what :meth:`embed` returned for them.
        """
        return [
            self._flags(subject, known)
            for subject, known in zip(self._subjects(page), embedded, strict=True)
        ]

    def _subjects(self, page: Page) -> list[GatedDialogue]:
        return [GatedDialogue(dialogue, scenario, self.scheme) for dialogue, scenario in page]

    def _flags(self, subject: GatedDialogue, known: Embedded) -> tuple[Flag, ...] | Exception:
        """Return the flags of one dialogue, or the exception of the last gate that raised one.

        A gate that raises does not keep the gates that compare dialogues from remembering it.
        """
        if self.sparing is not None:
            for case, vector in known.earlier:
                self.sparing.remember_meaning(case, vector)
        flags: list[Flag] = []
        failure: Exception | None = None
        checks: list[tuple[str, Callable[[], Sequence[Flag]]]] = [
            *((one.code, partial(one.check, subject)) for one in self.gates),
            *(
                (one.code, partial(one.add_and_check, subject, known.vector))
                for one in self.run_gates
            ),
        ]
        for name, check in checks:
            try:
                flags += checked_flags(check(), name, subject.dialogue)
            except Exception as error:  # noqa: BLE001 - recorded as the dialogue's failure
                failure = error
            except SystemExit as error:
                failure = RuntimeError(f"the gate {name!r} called sys.exit({error.code!r})")
                failure.__cause__ = error
        return tuple(_in_order(flags)) if failure is None else failure

    @property
    def embeds(self) -> bool:
        """Whether meanings are compared."""
        return self.encoder is not None and self.settings.embeds


def build_gates(settings: GateSettings) -> tuple[tuple[Gate, ...], tuple[RunGate, ...]]:
    """Return the gates that see one dialogue at a time, and those that compare dialogues."""
    built = []
    for name in settings.names:
        with told_of_plugin(GATES, name):
            gate = GATES.get(name).build(settings.of(name))
            if gate.code != name or not (isinstance(gate, RunGate) or callable(gate.check)):
                raise ValueError(f"it was built with the code {gate.code!r}, expected its name")
            built.append(gate)
    return (
        tuple(gate for gate in built if not isinstance(gate, RunGate)),
        tuple(gate for gate in built if isinstance(gate, RunGate)),
    )


def check_all(gates: Sequence[Gate], subject: GatedDialogue) -> list[Flag]:
    """Return the flags of all gates, those of a turn in the order of the turns, then the rest."""
    return _in_order([flag for gate in gates for flag in gate.check(subject)])


def _in_order(flags: Sequence[Flag]) -> list[Flag]:
    return sorted(flags, key=lambda flag: (flag.turn is None, flag.turn or 0))
