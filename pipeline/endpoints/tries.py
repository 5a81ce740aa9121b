"""What one request that failed means for its next try: when, for how long, or none at all."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.endpoints.run_link import Permit
from pipeline.providers.errors import (
    ContextExceeded,
    ProviderError,
    ServerFault,
    TimedOut,
    UnknownModel,
    Unreachable,
)
from pipeline.providers.failures import NotConnected, NoTls, WrongPlace
from pipeline.providers.outcome import outcome_of
from pipeline.providers.rate_limiter import ModelAddress
from pipeline.providers.retry import Backoff
from scenarios.errors import UsageError

LONGEST_PATIENCE = 4
"""How many times the usual time a request may take, having timed out before."""


@dataclass(slots=True)
class Tries:
    """What became of a request so far, as far as it decides on the next try."""

    failures: Backoff
    unserved: Backoff
    """Pauses after a refusal to serve while others are served: they use up no attempt."""
    patience: int = 1
    """How many times the usual time the next try may take."""

    def pause_after(self, error: ProviderError, permit: Permit) -> float | None:
        """Return the seconds to wait before the next try; None: there is none.

        During an outage that is 0: the gate of the endpoint says when it goes on, however often
        the request is the one that goes to see.
        """
        unavailable = outcome_of(error) == "unavailable"
        away = unavailable or isinstance(error, Unreachable | ServerFault | TimedOut)
        sees = permit.admission is not None and permit.admission.outage and away
        if sees or (permit.admission is not None and isinstance(error, NotConnected)):
            return 0.0
        if isinstance(error, TimedOut):
            self.patience = min(2 * self.patience, LONGEST_PATIENCE)
        if permit.admission is None:
            return self.failures.after(error)
        return (self.unserved if unavailable else self.failures).after(error)


def refuse_wrong_address(
    error: ProviderError, address: ModelAddress, *, answered: bool, role_answered: bool
) -> None:
    """Raise what the user has to mend where there is no model at the address, or no TLS with it.

    Once the endpoint answered, it is an outage like any other; a page, as proxies show while what is
    behind them is away, also if it answered in an earlier process of the run.

    Args:
        error: what a request ended with.
        address: where it was sent.
        answered: whether the endpoint answered anything before, in this process.
        role_answered: whether it answered the role of the request before, in this run.

    Raises:
        UsageError: it is the address.
    """
    page = isinstance(error, WrongPlace) and not role_answered
    if page and not answered:
        raise UsageError(_told_of(address, error), error.hint)
    if isinstance(error, NoTls) and not answered:
        raise UsageError(error.message, error.hint)  # it names the address


def refuse_unknown_model(error: ProviderError, address: ModelAddress) -> None:
    """Do nothing unless an endpoint has no such model, which ends the run.

    Raises:
        UnknownModel: it says so; now with the name of the endpoint, of which a run may have several.
    """
    if isinstance(error, UnknownModel):
        raise UnknownModel(
            _told_of(address, error),
            hint=error.hint,
            status=error.status,
            request_id=error.request_id,
            field=error.field,
        ) from error


def _told_of(address: ModelAddress, error: ProviderError) -> str:
    """Return what an error says, after the model and where it was asked for."""
    where = f" at {address.base_url}" if address.base_url else ""
    told = error.status is None or f"{error.status}" in error.message
    status = "" if told else f"status {error.status}: "
    return f"{address.name}{where}: {status}{error.message}"


def refuse_small_context(error: ProviderError, name: str, role: str, *, answered: bool) -> None:
    """Raise what the user has to mend where not one prompt of a role fits into the context.

    Once anything of the role was answered, it is the fault of a case that is longer than others.

    Args:
        error: what a request ended with.
        name: ``provider/model``.
        role: whose prompt it was.
        answered: whether any prompt of the role was answered before.

    Raises:
        UsageError: the context is too small.
    """
    if answered or not isinstance(error, ContextExceeded):
        return
    sizes, found = error.sizes, error.message
    if sizes is not None and sizes.available is not None:
        needed = "" if sizes.needed is None else f", and {sizes.needed:,} are needed"
        found = f"it holds {sizes.available:,} tokens{needed}"
    raise UsageError(
        f"the context of {name} is too small for the prompt of the {role}: {found}",
        "take a model with a larger context (of llama.cpp: start the server with a larger -c), or"
        " lower max_tokens",
    )
