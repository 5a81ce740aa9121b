"""Previews of drafts: in which language, by which model at which address, and at what price."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipo.app.authoring import open_desk
from hipo.cli.main import run as hipo
from hipo.cli.terminal.console import dollars
from scenarios.errors import UsageError
from tests.factories import write_new_scenario

ENDPOINT = {"models.default.base_url": "http://127.0.0.1:9/v1"}


def test_a_draft_is_played_in_the_language_that_it_is_written_in(tmp_path: Path) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    desk = open_desk(path.parent, "offline/rules", dollars)
    data = {**desk.open(path.name).data, "languages": ["es"]}
    with pytest.raises(UsageError, match="offline/rules has no language 'es'"):
        desk.preview(path.name, data)


def test_a_model_of_ones_own_is_asked_at_its_address_and_an_unknown_price_is_called_so(
    tmp_path: Path,
) -> None:
    path = write_new_scenario(tmp_path / "pack", "mine")
    desk = open_desk(path.parent, "compatible/mine", dollars, ENDPOINT)
    assert desk.price == "unknown cost"
    played = desk.preview(path.name, desk.open(path.name).data)
    assert all("127.0.0.1:9" in str(one["error"]) for one in played)


def test_an_address_that_the_model_has_no_use_for_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hipo(["author", str(tmp_path), "--base-url", "http://127.0.0.1:9/v1"]) == 2
    assert "offline/rules runs on this machine and takes no --base-url" in capsys.readouterr().err
