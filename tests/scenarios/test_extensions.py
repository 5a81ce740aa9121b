"""Looking up extensions by name: what ships, plugin files, installed packages."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from scenarios.errors import UsageError
from scenarios.extensions import ExtensionPoint
from scenarios.plugins import PLUGINS, PointName, load_plugins, note_stored_plugins


@dataclass(frozen=True)
class Greeting:
    """A point of its own, so that no room above is needed."""

    name: str
    text: str = ""
    point: ClassVar[PointName] = "gate"


SHIPPED = Greeting("shipped", "hello")
PLUGIN = """
from tests.scenarios.test_extensions import Greeting

EXTENSIONS = [Greeting("{name}", "{text}")]
"""


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PLUGINS, "files", {})
    monkeypatch.setattr(PLUGINS, "packages", ())
    monkeypatch.setattr(PLUGINS, "stored", [])


@pytest.fixture
def point() -> ExtensionPoint[Greeting]:
    return ExtensionPoint(
        "gate",
        Greeting,
        {"shipped": "tests.scenarios.test_extensions:SHIPPED", "broken": "nowhere:x"},
    )


def plugin(folder: Path, file: str, name: str, text: str = "") -> Path:
    path = folder / file
    path.write_text(PLUGIN.format(name=name, text=text))
    return path


def package(folder: Path, name: str, source: str, version: str = "1.0") -> None:
    """Lay down what pip leaves of an installed package with an entry point."""
    (folder / f"{name}.py").write_text(source)
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[hipo.plugins]\n{name} = {name}\n")


def test_what_ships_is_imported_only_when_it_is_used(point: ExtensionPoint[Greeting]) -> None:
    assert point.shipped == ("shipped", "broken")
    assert point.get("shipped").text == "hello"
    with pytest.raises(ModuleNotFoundError):
        point.get("broken")


def test_a_plugin_file_adds_a_name(point: ExtensionPoint[Greeting], tmp_path: Path) -> None:
    load_plugins([plugin(tmp_path, "mine.py", "loud", "HELLO")])
    assert point.get("loud").text == "HELLO"
    assert point.names() == ("shipped", "broken", "loud")


def test_only_what_does_not_ship_has_an_identity(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    load_plugins([plugin(tmp_path, "mine.py", "loud"), plugin(tmp_path, "other.py", "soft")])
    identity = point.identity(["shipped", "loud"])
    assert list(identity) == ["loud"]
    assert identity["loud"]["origin"] == "mine.py"
    assert len(identity["loud"]["fingerprint"]) == 64


def test_the_identity_follows_the_content_and_not_the_folder(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    load_plugins([plugin(one, "mine.py", "loud")])
    before = point.identity(["loud"])
    PLUGINS.files.clear()
    load_plugins([plugin(two, "mine.py", "loud")])
    assert point.identity(["loud"]) == before
    PLUGINS.files.clear()
    load_plugins([plugin(two, "mine.py", "loud", "other text")])
    assert point.identity(["loud"]) != before


def test_a_file_runs_once_however_often_it_is_named(tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    path = plugin(tmp_path, "mine.py", "loud")
    path.write_text(
        path.read_text() + f"with open({str(counted)!r}, 'a') as f:\n    f.write('run ')\n"
    )
    load_plugins([path, path])
    load_plugins([tmp_path / "." / "mine.py"])
    assert counted.read_text() == "run "


def test_a_file_that_changed_replaces_itself(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    load_plugins([plugin(tmp_path, "mine.py", "loud", "HELLO")])
    load_plugins([plugin(tmp_path, "mine.py", "loud", "HELLO!")])
    assert point.get("loud").text == "HELLO!"


def test_a_plugin_is_not_put_on_the_path(tmp_path: Path) -> None:
    before = list(sys.path)
    load_plugins([plugin(tmp_path, "prompts.py", "loud")])
    assert sys.path == before
    assert not hasattr(sys.modules.get("prompts"), "EXTENSIONS")


def test_an_unknown_name_is_an_error_that_suggests_the_nearest(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    load_plugins([plugin(tmp_path, "mine.py", "loudly")])
    with pytest.raises(UsageError, match="there is no gate 'loudli'") as caught:
        point.get("loudli")
    assert "did you mean 'loudly'?" in caught.value.hint
    assert "shipped" in caught.value.hint


def test_a_name_in_two_plugins_is_an_error_that_names_both_files(tmp_path: Path) -> None:
    one, two = plugin(tmp_path, "one.py", "loud"), plugin(tmp_path, "two.py", "loud", "too")
    with pytest.raises(UsageError, match="the gate 'loud' is in") as caught:
        load_plugins([one, two])
    assert str(one) in caught.value.message
    assert str(two) in caught.value.message


def test_a_name_given_twice_in_one_file_is_an_error(tmp_path: Path) -> None:
    path = plugin(tmp_path, "mine.py", "loud")
    path.write_text(path.read_text() + "EXTENSIONS.append(Greeting('loud', 'again'))\n")
    with pytest.raises(UsageError, match="the gate 'loud' is in"):
        load_plugins([path])


def test_a_name_that_ships_cannot_be_taken(point: ExtensionPoint[Greeting], tmp_path: Path) -> None:
    load_plugins([plugin(tmp_path, "mine.py", "shipped")])
    with pytest.raises(UsageError, match=r"mine\.py adds the gate 'shipped', and hipo has one"):
        point.get("shipped")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\nimport nothing_of_that_name\n", ":2: ModuleNotFoundError"),
        ("x = 1\n\nx = = 2\n", ":3: SyntaxError"),
        ("def f():\n    return 1 / 0\n\nf()\n", ":2: ZeroDivisionError"),
        ("import sys\nsys.exit('set MY_KEY first')\n", ":2: SystemExit: set MY_KEY first"),
        ("x = 1\n", "declares nothing"),
        ("EXTENSIONS = []\n", "declares nothing"),
        ("EXTENSIONS = ['loud']\n", r"EXTENSIONS\[0\] is no extension"),
    ],
)
def test_a_plugin_that_does_not_load_names_its_file_and_line(
    tmp_path: Path, source: str, said: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(UsageError, match=said) as caught:
        load_plugins([path])
    assert str(path) in caught.value.message


def test_a_plugin_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the plugin"):
        load_plugins([tmp_path / "absent.py"])


def test_an_extension_of_another_class_is_an_error(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Odd:\n    point = 'gate'\n    name = 'odd'\n\nEXTENSIONS = [Odd()]\n")
    load_plugins([path])
    with pytest.raises(UsageError, match=r"of the class Odd\n  it must be a .*Greeting"):
        point.get("odd")


def test_objects_of_a_plugin_can_be_read_by_a_process_that_loaded_the_same_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.py"
    path.write_text("class Loud:\n    point = 'gate'\n    name = 'loud'\n\nEXTENSIONS = [Loud()]\n")
    load_plugins([path])
    stored = tmp_path / "stored"
    stored.write_bytes(pickle.dumps(PLUGINS.files[path].extensions[0]))
    script = (
        "import pathlib, pickle, sys; from scenarios.plugins import load_plugins;"
        "load_plugins([sys.argv[1]]);"
        "print(pickle.loads(pathlib.Path(sys.argv[2]).read_bytes()).name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path), str(stored)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "loud\n"


def test_an_installed_package_is_imported_when_a_name_does_not_ship(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "greetings_one", PLUGIN.format(name="warm", text="hi"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PLUGINS, "packages", None)
    point.get("shipped")
    assert "greetings_one" not in sys.modules
    assert point.get("warm").text == "hi"
    assert point.identity(["warm"])["warm"]["origin"] == "greetings_one 1.0"


def test_an_installed_package_that_does_not_import_is_an_error_that_names_it(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "greetings_two", "x = 1\nraise ValueError('no')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PLUGINS, "packages", None)
    with pytest.raises(UsageError, match=r"greetings_two\.py:2: ValueError: no"):
        point.get("warm")


def entry_points_of(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}-1.0.dist-info/entry_points.txt").write_text(f"[hipo.plugins]\n{text}\n")


def test_a_module_that_two_entry_points_name_is_read_once(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "greetings_four", PLUGIN.format(name="warm", text="hi"))
    entry_points_of(tmp_path, "greetings_four", "a = greetings_four\nb = greetings_four")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PLUGINS, "packages", None)
    assert point.get("warm").text == "hi"


def test_an_entry_point_that_names_another_object_is_refused(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "greetings_five", PLUGIN.format(name="warm", text="hi"))
    entry_points_of(tmp_path, "greetings_five", "a = greetings_five:GATES")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PLUGINS, "packages", None)
    with pytest.raises(UsageError, match="'a' is greetings_five:GATES") as caught:
        point.get("warm")
    assert "name the module alone, greetings_five" in str(caught.value.hint)
    entry_points_of(tmp_path, "greetings_five", "a = greetings_five:EXTENSIONS")
    assert point.get("warm").text == "hi"


def test_a_field_of_another_type_is_refused_with_what_is_expected(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    path = plugin(tmp_path, "mine.py", "loud")
    path.write_text(path.read_text().replace('"loud", ""', '"loud", 3'))
    load_plugins([path])
    with pytest.raises(
        UsageError, match=r"mine\.py: the gate 'loud': found 3 as text, expected str"
    ):
        point.get("loud")


def test_a_file_and_a_package_with_one_name_are_an_error_that_names_both(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, "greetings_three", PLUGIN.format(name="loud", text="hi"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(PLUGINS, "packages", None)
    load_plugins([plugin(tmp_path, "mine.py", "loud")])
    with pytest.raises(UsageError, match=r"mine\.py and in greetings_three 1\.0"):
        point.names()


def test_a_file_that_a_run_names_is_not_run_and_told_to_whoever_needs_it(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    file = plugin(tmp_path, "mine.py", "loud", "HELLO")
    note_stored_plugins([file])
    assert point.get("shipped").text == "hello"
    with pytest.raises(
        UsageError, match=rf"names the plugin {file}: if you trust it, --plugin {file}"
    ):
        point.get("loud")
    assert PLUGINS.files == {}
    load_plugins([file])
    assert point.get("loud").text == "HELLO"


def test_a_file_that_is_loaded_is_not_named_again_where_the_run_has_it_by_another_path(
    point: ExtensionPoint[Greeting], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = plugin(tmp_path, "mine.py", "loud", "HELLO")
    monkeypatch.chdir(tmp_path)
    load_plugins([file])
    note_stored_plugins(["mine.py"])
    with pytest.raises(UsageError) as unknown:
        point.get("lowd")
    assert "the run names" not in str(unknown.value.hint)


def test_the_same_content_in_another_place_is_the_same_plugin(
    point: ExtensionPoint[Greeting], tmp_path: Path
) -> None:
    load_plugins([plugin(tmp_path, "here.py", "loud"), plugin(tmp_path, "there.py", "loud")])
    assert point.names() == ("shipped", "broken", "loud")
