"""The folder an author's form writes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.authoring.desk import AuthoringDesk, ChangedMeanwhile
from scenarios.errors import UsageError


@pytest.fixture
def desk(tmp_path: Path) -> AuthoringDesk:
    folder = tmp_path / "pack"
    folder.mkdir()
    return AuthoringDesk(folder, lambda text, name, scheme: [], "offline/rules", "")


def test_a_draft_is_checked_by_the_validator_and_saved_as_a_whole(desk):
    name = desk.begin("scenario", "lost")
    opened = desk.open(name)
    data = {**opened.data, "category": "boats"}
    problems, _ = desk.check(name, data)
    assert [(p.field, p.code) for p in problems if p.severity == "error"] == [
        ("category", "category")
    ]
    before = (desk.folder / name).read_text()
    assert problems[0].line == before.splitlines().index(f"title: {opened.data['title']}") + 1
    version = desk.save(name, {**opened.data, "title": "Mine"}, opened.version)
    after = (desk.folder / name).read_text()
    assert after == before.replace("title: Three weeks of watering", "title: Mine")
    assert desk.open(name).version == version
    assert [p.name for p in desk.folder.iterdir()] == ["lost.yaml"]


def test_a_file_that_changed_since_it_was_opened_is_not_written_over(desk):
    name = desk.begin("scheme", "mine")
    opened = desk.open(name)
    path = desk.folder / name
    path.write_text(path.read_text() + "# by hand\n")
    with pytest.raises(ChangedMeanwhile, match="reload the page"):
        desk.save(name, {**opened.data, "title": "Mine"}, opened.version)
    assert path.read_text().endswith("# by hand\n")


def test_nothing_outside_of_the_folder_is_listed_opened_or_written(desk, tmp_path):
    outside = tmp_path / "outside.yaml"
    desk.begin("scenario", "inside")
    outside.write_text((desk.folder / "inside.yaml").read_text())
    (desk.folder / "linked.yaml").symlink_to(outside)
    assert list(desk.files()) == ["inside.yaml"]
    data, before = desk.open("inside.yaml").data, outside.read_bytes()
    for name in ("linked.yaml", "../outside.yaml", str(outside), "new.yaml", ""):
        with pytest.raises(UsageError, match="there is no file"):
            desk.open(name)
        with pytest.raises(UsageError, match="there is no file"):
            desk.save(name, data, "x")
    for name in ("../x", "inside", "Inside", ""):
        with pytest.raises(UsageError):
            desk.begin("scenario", name)
    assert outside.read_bytes() == before


def test_only_drafts_without_errors_are_played(desk):
    name = desk.begin("scenario", "lost")
    data = desk.open(name).data
    assert desk.preview(name, data) == []
    with pytest.raises(UsageError, match="the draft has 1 error"):
        desk.preview(name, {**data, "category": "boats"})
