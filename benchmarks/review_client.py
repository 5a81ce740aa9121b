"""People without a screen who come in by a link: annotators answer, an expert settles."""

from __future__ import annotations

import http.client
import re
import threading
import time
from collections.abc import Callable
from html import unescape
from urllib.parse import urlencode, urlsplit

Chooser = Callable[[str, list[str]], str]
"""Which of the values that a question offers somebody chooses, by its name."""


def first_value(_: str, values: list[str]) -> str:
    """Choose what stands first."""
    return values[0]


class AnnotatorClient:
    """Answers items as fast as the server gives them, and times every request."""

    def __init__(self, link: str, name: str) -> None:
        """Prepare to come in by ``link`` as ``name``."""
        self._parts = urlsplit(link)
        self._name = name
        self._connection = http.client.HTTPConnection(self._parts.netloc, timeout=60)
        self._cookie = ""
        self.pages: list[float] = []
        """Seconds until an item was shown."""
        self.saves: list[float] = []
        """Seconds until an answer was acknowledged."""
        self.sent: list[str] = []
        """Paths of the items whose answer was acknowledged."""

    def come_in(self) -> None:
        """Go through link, consent and name."""
        page = self._get(f"{self._parts.path}?{self._parts.query}")
        self._post("/consent", [("csrf", _csrf(page)), ("agree", "yes")])
        self._post("/name", [("csrf", _csrf(page)), ("name", self._name)])
        self._connection.close()  # the server would, of one on which nothing is asked for a while

    def work(self, saved: Callable[[], None] = lambda: None, choose: Chooser = first_value) -> None:
        """Answer items until none is left; ``saved`` is called after each.

        Where the declared labels are shown afterwards, nothing is said to be wrong with them.
        """
        while True:
            started = time.perf_counter()
            path, page = self._follow("/next")
            if not path.startswith("/item/"):
                return
            self.pages.append(time.perf_counter() - started)
            fields = [("csrf", _csrf(page)), ("lead_ms", "5000")]
            if 'data-stage="opinion"' in page:
                fields += [("stage", "opinion"), ("issue", "no")]
            else:
                fields += [("stage", "labels"), *_choices(page, choose)]
            self._post(f"{path}/draft", fields)
            started = time.perf_counter()
            status = self._post(path, fields)
            self.saves.append(time.perf_counter() - started)
            if status == 200:
                self.sent.append(path)
            saved()

    def settle(self) -> int:
        """Accept all items with what most people say, else what is offered first; return how many."""
        paths = re.findall(r'href="(/adjudicate/\d+)"', self._get("/adjudicate"))
        for path in paths:
            page = self._get(path)
            fields = [("csrf", _csrf(page)), ("verdict", "accepted"), *_final(page)]
            if self._post(path, fields) != 200:
                raise RuntimeError(f"{path} was not taken")
        return len(paths)

    def _get(self, path: str) -> str:
        return self._follow(path)[1]

    def _follow(self, path: str) -> tuple[str, str]:
        while True:
            status, location, text = self._send("GET", path)
            if status != 303:
                return path, text
            path = location

    def _post(self, path: str, fields: list[tuple[str, str]]) -> int:
        return self._send("POST", path, urlencode(fields))[0]

    def _send(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        headers = {"Cookie": self._cookie}
        if body is not None:
            headers |= {
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            }
        self._connection.request(method, path, body=body, headers=headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        cookie = response.headers.get("set-cookie")
        if cookie:
            self._cookie = cookie.partition(";")[0]
        return response.status, response.headers.get("location", ""), text


def all_at_once(clients: list[AnnotatorClient]) -> None:
    """Let every client work in a thread of its own; the first error of any is raised."""
    errors: list[BaseException] = []

    def work(client: AnnotatorClient) -> None:
        try:
            client.work()
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', page)
    if found is None:
        raise RuntimeError("a page without a form: " + page[:200])
    return found[1]


def _choices(page: str, choose: Chooser) -> list[tuple[str, str]]:
    offered: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', page):
        offered.setdefault(unescape(name), []).append(unescape(value))
    return [(name, choose(name, values)) for name, values in offered.items()]


def _final(page: str) -> list[tuple[str, str]]:
    final = []
    for name, options in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        values = re.findall(r'<option value="([^"]+)"( selected)?', options)
        value = next((value for value, selected in values if selected), values[0][0])
        final.append((unescape(name), unescape(value)))
    return final
