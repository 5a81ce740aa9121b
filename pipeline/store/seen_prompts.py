"""Which prompts were stored by this process: nearly every look-up is for one that never was."""

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
        return all(bits[place >> 3] >> (place & 7) & 1 for place in _places(fingerprint))


def _places(fingerprint: bytes) -> tuple[int, int, int]:
    """Return three places, independent of one another: a fingerprint is a hash already."""
    number = int.from_bytes(fingerprint[:12], "little")
    return number & _MASK, number >> 32 & _MASK, number >> 64 & _MASK
