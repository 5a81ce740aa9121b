"""What can prefer one answer to another."""

from __future__ import annotations

from typing import Final, Literal, get_args

Origin = Literal["judges", "wanted", "verdict", "revision", "vote"]
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
"""What can prefer an answer, what says most first: of the same two answers the first kind counts."""
DEFAULT_ORIGINS: Final[tuple[Origin, ...]] = ("judges", "wanted", "verdict", "revision")
"""A vote elects what is most like the other candidates, which is no quality: it is asked for."""
