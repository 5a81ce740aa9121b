"""How long an endpoint is waited for, and how often it is tried."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitRules:
    """How long an endpoint is waited for and how often it is tried; all times in seconds."""

    wait_s: float = 3600.0
    """How long nothing may come of an endpoint before the run stops; 0 does not wait."""
    confirm_s: float = 1.0
    """Pause before the second try, which tells an outage from a moment's fault."""
    probe_s: float = 15.0
    """Pause between tries."""
    unserved_s: float = 10.0
    """Time without one success after which refusals to serve count as an outage."""
    alone_s: float = 30.0
    """How long a call that was let through alone holds the others back."""
    after_refusal_s: float = 2.0
    """How long nobody follows a first call that was refused: it probably ends the run."""
    in_another_form_s: float = 0.5
    """How long nobody follows a first call that was not taken as it is: it may go again, changed."""
    at_first_s: float = 60.0
    """Time of nothing but errors after which one that never answered is given up: a request has not
    used up its attempts by then, so that no case has failed."""
    silent_at_first_s: float = 900.0
    """The same of nothing but silence: a model may have to be loaded first."""
    refused_s: float = 120.0
    """The least time of nothing but refusals for the rate after which the run stops."""
