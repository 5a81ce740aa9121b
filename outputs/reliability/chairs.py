"""Which judges are programs of their own, and what they are called where their figures are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from scenarios.verdicts import Source

BLIND_READING: Final = "blind reading"
"""What the figures of a program are called that sits in both chairs."""


def one_program_in_two_chairs(
    writers: Iterable[str], own: Iterable[str], external: Iterable[str]
) -> tuple[str, ...]:
    """Say which program sits in two chairs whose agreement would seem to be that of two.

    Args:
        writers: who wrote the dialogues, as ``provider/model``.
        own: who labelled them again for the self-judgement.
        external: the other judges.
    """
    others = {_model(name): name for name in external}
    notes = [
        f"{others[model]} {what} and is the external judge: one program in two chairs"
        for names, what in ((writers, "wrote the dialogues"), (own, "is the self-judge"))
        for model in sorted({_model(name) for name in names} & set(others))
    ]
    return tuple(notes)


def chairs(
    judges: Mapping[Source, Set[str]], named: Iterable[tuple[Source, str]]
) -> tuple[tuple[Source, str], ...]:
    """Return the kinds of judges whose figures are shown, and what each is called.

    Where the same programs label anew and judge from outside, their figures are one reading and
    are shown once; not where they are shown the declared labels as external judges.

    Args:
        judges: who judged, by kind.
        named: kinds of judges, each with a dimension of which they named labels without seeing
            the declared ones.
    """
    own, external = ({_model(name) for name in judges.get(s, ())} for s in ("self", "external"))
    blind = set(named)
    alike = {d for s, d in blind if s == "self"} == {d for s, d in blind if s == "external"}
    if own and own == external and alike:
        return (("external", BLIND_READING),)
    seats: tuple[tuple[Source, str], ...] = (
        ("self", "self-judgement"),
        ("external", "external judgement"),
    )
    return tuple(chair for chair in seats if judges.get(chair[0]))


def _model(name: str) -> str:
    """Return a model without the provider it is reached through, and the plugin that asks it."""
    return name.partition("=")[2].partition("/")[2] or name.partition("/")[2] or name
