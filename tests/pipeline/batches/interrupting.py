"""A watcher that interrupts a run in batches at a moment, as Ctrl-C does."""

from __future__ import annotations

import signal

from hipo.app.running.watching import Silent


class Interrupting(Silent):
    """Asks the run to stop when something is told: by default, that a batch is at the provider."""

    def __init__(self, when: str = "is at the provider") -> None:
        self.when = when
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)
        if self.when in message:
            signal.raise_signal(signal.SIGINT)
