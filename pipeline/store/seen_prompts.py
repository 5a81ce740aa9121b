"""Which prompts a run has stored: nearly every look-up is for one that it has not."""

from __future__ import annotations

BITS = 2**26
"""8 MiB of them: of prompts never added one in 500 seems seen beside three million others."""
_MASK = BITS - 1


class SeenPrompts:
    """A Bloom filter of prompts by fingerprint (Bloom 1970); it forgets none that was added."""

    def __init__(self) -> None:
        """Begin with none."""
        self._bits = bytearray(BITS // 8)

    def add(self, fingerprint: bytes) -> None:
        """Remember a prompt."""
        for place in _places(fingerprint):
            self._bits[place >> 3] |= 1 << (place & 7)

    def may_hold(self, fingerprint: bytes) -> bool:
        """Return False only if the prompt was never added."""
        bits = self._bits
        one, two, three = _places(fingerprint)
        return bool(
            bits[one >> 3] >> (one & 7)
            & bits[two >> 3] >> (two & 7)
            & bits[three >> 3] >> (three & 7)
            & 1
        )


def _places(fingerprint: bytes) -> tuple[int, int, int]:
    """Return three places, independent of one another: a fingerprint is a hash already."""
    number = int.from_bytes(fingerprint[:12], "little")
    return number & _MASK, number >> 32 & _MASK, number >> 64 & _MASK
