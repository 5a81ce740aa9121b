"""How many dialogues saturation is looked at over, for whoever only asks for it."""

from __future__ import annotations

WINDOW = 1_000
"""Dialogues over which the share of distinct ones is looked at."""
