"""Standard output and error that nothing outside can turn into a crash of a run.

A closed stream, a full disk behind it and an encoding without the letter that is printed are none of
the business of a run that has played for a night.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from hipo.cli.terminal.wrapping import harmless


class ForgivingStream(io.TextIOWrapper):
    """A text stream that drops what cannot be written, and remembers why."""

    failure: OSError | None = None
    """The first error; None as long as everything could be written."""

    def write(self, text: str) -> int:
        """Write, or drop the text."""
        try:
            return super().write(text)
        except OSError as error:
            self._dropped(error)
            return len(text)

    def flush(self) -> None:
        """Write what is buffered, or drop it."""
        try:
            super().flush()
        except OSError as error:
            self._dropped(error)

    def _dropped(self, error: OSError) -> None:
        """Remember the error; another stream may be written to again later, e.g. a log."""
        self.failure = self.failure or error


class ForgivingOutput(ForgivingStream):
    """Standard output: after one error nothing more is written, so that no part is missing.

    Nothing that is printed drives a terminal: no command has to know where its texts come from.
    """

    def write(self, text: str) -> int:
        """Write text with its control characters made visible."""
        return super().write(harmless(text))

    def _dropped(self, error: OSError) -> None:
        super()._dropped(error)
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
        if isinstance(error, BrokenPipeError):  # whoever reads has had enough
            raise error


def make_forgiving() -> None:
    """Replace the standard streams of this process by forgiving ones.

    Characters that the encoding of a stream does not have are written as escapes of Python.
    """
    _fill_closed()
    sys.stdout = _forgiving(sys.stdout, ForgivingOutput, 1)
    sys.stderr = _forgiving(sys.stderr, ForgivingStream, 2)


def _fill_closed() -> None:
    """Put the null device in the place of closed streams: no file of ours shall get their number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def _forgiving(stream: TextIO | None, kind: type[ForgivingStream], number: int) -> TextIO:
    if stream is None:  # it was closed when the process began
        return open(number, "w", encoding="utf-8", closefd=False)
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return kind(
        stream.buffer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
