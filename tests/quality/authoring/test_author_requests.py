"""What is sent to the author's form is answered, however odd it or the folder is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from benchmarks.machine import free_port
from quality.web.server import Address
from tests.factories import write_new_scenario
from tests.quality.authoring.serving import served
from tests.quality.review.visitor import Visitor, csrf_of


@contextmanager
def come_in(folder: Path) -> Iterator[tuple[Visitor, str]]:
    """Serve the form of a folder; yields who has come in, and the token of their forms."""
    with served(Address(port=free_port()), folder) as (url, token):
        visitor = Visitor(url)
        _, page = visitor.get(f"/enter?token={token}")
        yield visitor, csrf_of(page.text)


@pytest.mark.parametrize("action", ["check", "save", "draw", "preview"])
def test_half_a_character_is_refused_in_one_sentence(tmp_path: Path, action: str) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    before = path.read_bytes()
    with come_in(path.parent) as (author, csrf):
        for data in ({"title": "\ud800x"}, {"\ud800": "x"}):
            answer = author.post(f"/{action}/mine.yaml", csrf, data=json.dumps(data), version="x")
            assert answer.status == 400
            assert "half a character" in answer.text
    assert path.read_bytes() == before


def test_a_draft_that_names_a_claim_it_has_no_more_is_drawn_once_it_is_mended(
    tmp_path: Path,
) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    draft = yaml.safe_load(path.read_text(encoding="utf-8"))
    gone = draft["facts"][0]["makes_false"][0]
    for claim in draft["claims"]:
        claim["id"] = claim["id"].replace(gone, "renamed")
    with come_in(path.parent) as (author, csrf):
        answer = author.post("/draw/mine.yaml", csrf, data=json.dumps(draft))
    assert answer.status == 422
    assert f"the draft has no claim &#39;{gone}&#39;, and names it" in answer.text


def test_a_folder_with_odd_files_is_shown(tmp_path: Path) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    folder, text = path.parent, path.read_text(encoding="utf-8")
    (folder / "loop.yaml").symlink_to(folder / "loop.yaml")
    # It tells what another one tells, and is named where that one is checked.
    odd = Path(os.fsdecode(bytes(folder) + b"/\xff\xfe.yaml"))
    odd.write_text(text.replace("id: mine", "id: other", 1), encoding="utf-8")
    with come_in(folder) as (author, csrf):
        _, page = author.get("/")
        assert page.status == 200
        assert r"\udcff\udcfe.yaml <span" in page.text
        assert "loop.yaml <span" in page.text
        assert author.get("/edit/loop.yaml")[1].status == 404
        assert author.get(r"/edit/%5Cudcff%5Cudcfe.yaml")[1].status == 404
        assert author.get("/edit/mine.yaml")[1].status == 200
        answer = author.post("/check/mine.yaml", csrf, data=json.dumps(yaml.safe_load(text)))
        assert answer.status == 200
        assert any("\udcff\udcfe.yaml" in p["found"] for p in json.loads(answer.text)["problems"])


def test_a_folder_whose_name_is_not_in_utf_8_is_shown(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/p\xff"))
    write_new_scenario(folder, "mine")
    with come_in(folder) as (author, _):
        assert r"p\udcff" in author.get("/")[1].text
        assert author.get("/edit/mine.yaml")[1].status == 200
