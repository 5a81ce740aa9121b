"""The results of a batch: lines in any order from somebody else, matched to the requests sent."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Container

from pipeline.providers.body import LONGEST_BODY
from pipeline.providers.untrusted import json_object


async def placed_results(
    pieces: AsyncIterable[bytes], token: str, wanted: Container[int]
) -> AsyncIterator[tuple[int, bytes]]:
    """Yield the place of a request and the line that came of it, the first line of each.

    Lines that are no JSON object, are longer than any answer, or belong to nothing that is wanted
    are passed over.

    Args:
        pieces: of the file, of any size.
        token: of the batch.
        wanted: the places that are asked for.
    """
    seen: set[int] = set()
    async for line in lines(pieces):
        place = place_of(custom_id_of(line), token)
        if place is not None and place in wanted and place not in seen:
            seen.add(place)
            yield place, line


async def lines(pieces: AsyncIterable[bytes], longest: int = LONGEST_BODY) -> AsyncIterator[bytes]:
    """Yield the lines of a file that are neither empty nor too long, in bounded memory."""
    rest, skipping = bytearray(), False
    async for piece in pieces:
        *ended, last = piece.split(b"\n")
        for part in ended:
            if not skipping and len(rest) + len(part) <= longest and (rest or part.strip()):
                yield bytes(rest) + part
            rest.clear()
            skipping = False
        if len(rest) + len(last) > longest:
            skipping = True
            rest.clear()
        if not skipping:
            rest += last
    if rest.strip() and not skipping:
        yield bytes(rest)


def custom_id(token: str, place: int) -> str:
    """Return the id of a request in a batch: letters, digits and hyphens, 64 at most."""
    return f"{token}-{place}"


def custom_id_of(line: bytes) -> str | None:
    """Return whose result a line is; None where it does not say."""
    data = json_object(line)
    found = data.get("custom_id")
    return found if isinstance(found, str) else None


def place_of(custom: str | None, token: str) -> int | None:
    """Return the place of a request in the batch of ``token``; None where it is none of it."""
    if custom is None:
        return None
    mine, _, place = custom.rpartition("-")
    if mine != token or not (place.isascii() and place.isdecimal()) or len(place) > 9:
        return None
    return int(place) if str(int(place)) == place else None
