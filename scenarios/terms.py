"""Plain terms that records of dialogues share: roles, and values of labels.

Apart from the models that files are read into, so that whoever only reads records does without them.
"""

from __future__ import annotations

from typing import Final, Literal

RoleKey = str
"""The id of a role; without a flow ``initiator`` or ``responder``."""
INITIATOR: Final = "initiator"
RESPONDER: Final = "responder"

LabelValue = str | float | tuple[str, ...]
"""One label (nominal, ordinal), a number (interval), or several labels (multi)."""

Openings = Literal["shared", "by-goal"]
"""Whether the two goals of a case open alike, or with a statement of their own."""

LARGEST: Final = 10**15
"""No whole number that a user gives may be larger: some thousand of them together fit into 64 bits, which
is what databases and JSON have room for."""
