"""What whoever speaks next knows: of question and answer, or of a role of a flow."""

from __future__ import annotations

from collections.abc import Sequence

from prompts.role_views import InitiatorView, ResponderView, initiator_view, responder_view
from prompts.speaker_view import SpeakerView, speaker_view
from scenarios.case import Case
from scenarios.flow import PlannedTurn
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario

AskingView = InitiatorView | SpeakerView
"""What somebody knows whose words are not labelled."""
AnsweringView = ResponderView | SpeakerView
"""What somebody knows whose words are labelled."""


def asking_view(
    scenario: Scenario, scheme: Scheme, case: Case, planned: PlannedTurn, manner: Sequence[str]
) -> AskingView:
    """Return what somebody knows whose words are not labelled.

    Raises:
        UsageError: the case does not fit the scenario.
    """
    if planned.phase:
        return speaker_view(scenario, scheme, case, planned, manner=manner)
    return initiator_view(scenario, case, manner=manner)


def answering_view(
    scenario: Scenario, scheme: Scheme, case: Case, planned: PlannedTurn, manner: Sequence[str]
) -> AnsweringView:
    """Return what somebody knows whose words are labelled.

    Raises:
        UsageError: the case does not fit the scenario.
    """
    if planned.phase:
        return speaker_view(scenario, scheme, case, planned, manner=manner)
    return responder_view(scenario, scheme, case, manner=manner)
