"""Version 12 of the tables of a run: turns of roles that are neither initiator nor responder.

``labelled`` says of a turn whether its role is one whose words are labelled. It is null in dialogues
of question and answer, and in all of older runs: there the responder is that role. The view
``labelled_turns`` holds the turns that are labelled and judged.
"""

from __future__ import annotations

import sqlite3

_STATEMENTS = (
    "alter table turns add column labelled integer",
    """create view labelled_turns as select * from turns
        where kind = 'improvised' and coalesce(labelled, role = 'responder')""",
)


def add_flow(connection: sqlite3.Connection) -> None:
    """Add what dialogues of a flow need, inside the caller's transaction."""
    for statement in _STATEMENTS:
        connection.execute(statement)
