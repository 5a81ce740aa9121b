"""A server that a benchmark starts is asked when it is ready, and ends with it."""

from __future__ import annotations

import http.client
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from benchmarks.llama_server import served

LIKE_LLAMA_SERVER = f"""#!{sys.executable}
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        Handler.asked += 1
        self.send_response(503 if Handler.asked < 3 else 200)  # it is loading its model
        self.end_headers()
        self.wfile.write(" ".join(sys.argv[1:]).encode())
    def log_message(self, *_):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


def binary(folder: Path, text: str) -> Path:
    file = folder / "llama-server"
    file.write_text(text, "utf-8")
    file.chmod(0o755)
    return file


def asked(url: str) -> http.client.HTTPResponse:
    answer: http.client.HTTPResponse = urllib.request.urlopen(f"{url}/models", timeout=30)
    return answer


def test_a_server_is_ready_when_it_is_given_and_gone_afterwards(tmp_path: Path) -> None:
    file = binary(tmp_path, LIKE_LLAMA_SERVER)
    with served(file, Path("m.gguf"), slots=3) as url, asked(url) as answer:
        assert answer.status == 200
        options = answer.read().decode()
    assert options.startswith("-m m.gguf --alias smol -c 16384 -np 3")
    with pytest.raises(urllib.error.URLError):
        asked(url)


def test_a_server_that_ends_by_itself_is_told_with_the_last_it_said(tmp_path: Path) -> None:
    file = binary(tmp_path, "#!/bin/sh\necho loading\necho no such model\nexit 1\n")
    with (
        pytest.raises(
            SystemExit, match=r"does not serve m.gguf, it ended with 1:\nloading\nno such model"
        ),
        served(file, Path("m.gguf")),
    ):
        pass
