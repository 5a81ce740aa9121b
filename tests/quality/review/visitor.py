"""A browser without a screen for tests: cookies, forms and raw requests over HTTP."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode, urlsplit


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def location(self) -> str:
        return self.headers.get("location", "")


class Visitor:
    """Keeps cookies and follows redirects, as a browser would."""

    def __init__(self, url: str, *, address: str = "127.0.0.1", **headers: str) -> None:
        """Come from an address of this machine; ``headers`` (``_`` for ``-``) go with everything."""
        self.netloc = urlsplit(url).netloc
        self.address = address
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.cookies: dict[str, str] = {}

    def send(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: dict[str, str] | None = None,
        *,
        cookies: bool = True,
    ) -> Answer:
        """Send one request exactly as told."""
        sent = {**self.headers, **(headers or {})}
        if cookies and self.cookies:
            sent["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        connection = http.client.HTTPConnection(
            self.netloc, timeout=20, source_address=(self.address, 0)
        )
        try:
            connection.request(method, path, body=body, headers=sent)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        finally:
            connection.close()
        for line in response.headers.get_all("set-cookie") or []:
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
        return Answer(response.status, response.headers, text)

    def get(self, path: str) -> tuple[str, Answer]:
        """Go to a page; returns where that led to."""
        answer = self.send("GET", path)
        while answer.status == 303:
            path = answer.location
            answer = self.send("GET", path)
        return path, answer

    def post(self, path: str, csrf: str, **fields: str) -> Answer:
        """Send a form."""
        body = urlencode([("csrf", csrf), *((k.replace("__", "."), v) for k, v in fields.items())])
        return self.submit(path, body)

    def submit(self, path: str, body: str, **headers: str) -> Answer:
        """Send an encoded form."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.send("POST", path, body, sent)

    def agree(self, link: str) -> str:
        """Go from a link to the page that asks for a name; returns the token of its form."""
        parts = urlsplit(link)
        _, page = self.get(f"{parts.path}?{parts.query}")
        self.post("/consent", csrf_of(page.text), agree="yes")
        _, page = self.get("/name")
        return csrf_of(page.text)

    def come_in(self, link: str, name: str) -> str:
        """Go from a link to the first page after consent and name; returns its path."""
        self.post("/name", self.agree(link), name=name)
        path, _ = self.get("/")
        return path


BY_PROXY = {"X_Forwarded_Proto": "https", "X_Forwarded_For": "203.0.113.5"}
"""What a proxy adds for a visitor who comes from 203.0.113.5."""


def log_in(visitor: Visitor, name: str, password: str) -> Answer:
    """Send name and password."""
    return visitor.submit("/login", urlencode({"name": name, "password": password}))


def csrf_of(html: str) -> str:
    """Return the token of the forms of a page."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', html)
    return found[1] if found else ""


def first_choices(html: str) -> dict[str, str]:
    """Return the first answer of every question of an item's page."""
    chosen: dict[str, str] = {}
    for name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', html):
        chosen.setdefault(unescape(name), unescape(value))
    return chosen


def answer_item(visitor: Visitor, path: str, **extra: str) -> Answer:
    """Fill in and send the first answer to every question of an item."""
    _, page = visitor.get(path)
    stage = "opinion" if 'data-stage="opinion"' in page.text else "labels"
    choices = first_choices(page.text)
    if stage == "opinion":
        choices = {"issue": "no"}
    fields = {"csrf": csrf_of(page.text), "stage": stage, **choices, **extra}
    return visitor.submit(path, urlencode(fields))
