"""``hipo`` for scripts of a shell: each start of it is a fork of a process that has imported it.

A small program named ``hipo`` stands for it. It hands folder, environment and arguments to this
process, which forks the command; what is sent to the one (signals, its end by ``kill -9``) reaches
the other.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.forked import Forked, command

_CLIENT = """import json, os, signal, socket, sys
end = socket.socket(socket.AF_UNIX)
end.connect({address!r})
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: end.send(bytes([number])))
told = [os.getpid(), os.getcwd(), dict(os.environ), sys.argv[1:]]
end.sendall(json.dumps(told).encode() + b"\\n")
os._exit(int(end.recv(16)))
"""


def attached(arguments: Sequence[str]) -> None:
    """Run ``hipo`` with the standard error of another process, which the first argument names."""
    theirs = os.open(arguments[0], os.O_WRONLY | os.O_APPEND)
    os.dup2(theirs, 2)
    os.close(theirs)
    command(arguments[1:])


@contextmanager
def hipo_on_path(folder: Path) -> Iterator[Path]:
    """Write ``hipo`` and ``python`` into a new folder and yield it; commands live until the end."""
    folder.mkdir()
    address = str(folder / "socket")
    (folder / "hipo.py").write_text(_CLIENT.format(address=address), encoding="utf-8")
    for name, options in (("hipo", f'-IS "{folder}/hipo.py" '), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {options}"$@"\n', encoding="utf-8")
        program.chmod(0o755)
    running: list[Forked] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        threading.Thread(target=_accept, args=(listener, running), daemon=True).start()
        try:
            yield folder
        finally:
            for process in running:
                process.send_signal(signal.SIGKILL)
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, running: list[Forked]) -> None:
    with suppress(OSError):  # it is closed
        while True:
            end, _ = listener.accept()
            threading.Thread(target=_serve, args=(end, running), daemon=True).start()


def _serve(end: socket.socket, running: list[Forked]) -> None:
    with end, end.makefile("rb") as sent:
        number, folder, environment, arguments = json.loads(sent.readline())
        out, err = (f"/proc/{number}/fd/{stream}" for stream in (1, 2))
        process = Forked(attached, [err, *arguments], Path(folder), environment, out)
        running.append(process)
        process.stderr.close()
        threading.Thread(target=_hand_on, args=(end.dup(), process), daemon=True).start()
        code = process.wait()
        with suppress(OSError):  # whoever was killed reads nothing
            end.sendall(str(code if code is not None and code >= 0 else 1).encode())


def _hand_on(end: socket.socket, process: Forked) -> None:
    """Send a command the signals of the program that stands for it, and SIGKILL when that is gone."""
    with end:
        while number := end.recv(1):
            process.send_signal(number[0])
        process.send_signal(signal.SIGKILL)
