"""The folder an author's form writes to."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from quality.authoring import desk as desk_module
from quality.authoring.desk import AuthoringDesk, ChangedMeanwhile
from scenarios.errors import UsageError
from scenarios.text_file import MAX_BYTES


def at(folder: Path) -> AuthoringDesk:
    return AuthoringDesk(folder, lambda text, name, scheme: [], "offline/rules", "")


@pytest.fixture
def desk(tmp_path: Path) -> AuthoringDesk:
    folder = tmp_path / "pack"
    folder.mkdir()
    return at(folder)


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


@pytest.mark.parametrize("servers", [1, 2])
def test_of_two_drafts_of_one_version_saved_at_once_one_is_written_and_one_refused(
    desk, monkeypatch, servers
):
    name = desk.begin("scenario", "lost")
    opened = desk.open(name)
    both = threading.Barrier(2)

    def merged_together(*arguments):
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return merged_yaml(*arguments)

    merged_yaml = desk_module.merged_yaml
    monkeypatch.setattr(desk_module, "merged_yaml", merged_together)
    desks = (desk, desk if servers == 1 else at(desk.folder))

    def saved(number):
        try:
            return desks[number].save(name, {**opened.data, "title": f"T{number}"}, opened.version)
        except ChangedMeanwhile:
            return None

    with ThreadPoolExecutor(2) as threads:
        (version,) = filter(None, threads.map(saved, range(2)))
    assert desk.open(name).version == version


def test_odd_files_are_listed_and_refused_beside_the_others(desk):
    desk.begin("scenario", "lost")
    (desk.folder / "loop.yaml").symlink_to(desk.folder / "loop.yaml")
    Path(os.fsdecode(bytes(desk.folder) + b"/\xff\xfe.yaml")).write_text("background: x")
    spelled = r"\udcff\udcfe.yaml"
    assert desk.files() == {"lost.yaml": "scenario", "loop.yaml": None, spelled: None}
    assert "lost" not in desk.schemes()
    for name in ("loop.yaml", spelled):
        with pytest.raises(UsageError, match="expected a readable file"):
            desk.open(name)
        with pytest.raises(UsageError, match="expected a readable file"):
            desk.save(name, {"background": "x"}, "x")


def test_a_draft_that_could_not_be_opened_again_is_not_saved(desk):
    name = desk.begin("scenario", "lost")
    opened = desk.open(name)
    before = (desk.folder / name).read_bytes()
    for data, said in (
        ({**opened.data, "more": ["y" * 19_000] * 60}, "more than 1 MiB"),
        ({"title": "only"}, "lost.yaml is a scenario, and this draft is not"),
        ({**opened.data, "dimensions": []}, "a scenario has 'background' and not 'dimensions'"),
    ):
        with pytest.raises(UsageError, match=said):
            desk.save(name, data, opened.version)
    assert (desk.folder / name).read_bytes() == before
    largest = {**opened.data, "more": ["y" * 19_000] * 54}
    desk.save(name, largest, opened.version)
    assert 0.9 * MAX_BYTES < (desk.folder / name).stat().st_size <= MAX_BYTES
    assert desk.open(name).data == largest


def test_a_file_that_is_no_scenario_is_not_made_one(desk):
    path = desk.folder / "notes.yaml"
    path.write_text("title: mine\n")
    with pytest.raises(UsageError, match="neither a scenario nor a scheme"):
        desk.save(path.name, {"background": "x"}, desk_module.content_id(path.read_text()))


def test_a_private_file_stays_private(desk):
    name = desk.begin("scenario", "lost")
    (desk.folder / name).chmod(0o600)
    opened = desk.open(name)
    desk.save(name, {**opened.data, "title": "Mine"}, opened.version)
    assert (desk.folder / name).stat().st_mode & 0o777 == 0o600
