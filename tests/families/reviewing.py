"""People of tests who label every page of a review over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import unescape
from urllib.parse import urlencode

from tests.quality.review.serving import Served
from tests.quality.review.visitor import Visitor, csrf_of

Pick = Callable[[str, Sequence[str]], str]
"""From the name of a field (``t3.manner``) and the values on offer to one of them; empty: left blank."""


def review(site: Served, name: str, pick: Pick) -> int:
    """Label all there is as one person; returns how many pages of labels that were.

    What a box can be ticked for is ticked where it is the value picked; ``when`` is the page's to
    judge, as for a browser without script.
    """
    visitor = Visitor(site.url)
    path, labelled = visitor.come_in(site.link(), name), 0
    while path.startswith("/item/"):
        _, page = visitor.get(path)
        fields = {"stage": "opinion", "issue": "no"}
        if 'data-stage="opinion"' not in page.text:
            labelled += 1
            fields = {"stage": "labels", **_chosen(page.text, pick)}
        sent = visitor.submit(path, urlencode({"csrf": csrf_of(page.text), **fields}))
        assert sent.status == 303, sent.text
        path, _ = visitor.get(sent.location)
    return labelled


def _chosen(page: str, pick: Pick) -> dict[str, str]:
    offered: dict[str, list[str]] = {}
    boxes = r'type="(?:radio|checkbox)" name="([^"]+)" value="([^"]*)"'
    for field, value in re.findall(boxes, page):
        offered.setdefault(unescape(field), []).append(unescape(value))
    for field, options in re.findall(r'(?s)<select name="([^"]+)"[^>]*>(.*?)</select>', page):
        values = re.findall(r'<option value="([^"]+)"', options)
        offered[unescape(field)] = [unescape(value) for value in values]
    picked = {field: pick(field, values) for field, values in offered.items()}
    return {field: value for field, value in picked.items() if value}


def settle(site: Served, name: str, pick: Pick) -> int:
    """Settle all that people answered as one expert; returns how many items that were."""
    expert, settled = Visitor(site.url), 0
    expert.come_in(site.link("expert"), name)
    _, listing = expert.get("/adjudicate")
    for path in dict.fromkeys(re.findall(r'href="(/adjudicate/\d+)"', listing.text)):
        _, page = expert.get(path)
        fields = {**_chosen(page.text, pick), "verdict": "accepted", "note": ""}
        sent = expert.submit(path, urlencode({"csrf": csrf_of(page.text), **fields}))
        assert sent.status == 303, sent.text
        settled += 1
    return settled
