"""Gates of plugins: asked when they are named, with settings of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from quality.gates.runner import GateChecks, build_gates, check_all
from quality.gates.settings import gate_settings
from scenarios.errors import UsageError
from scenarios.plugins import PLUGINS, load_plugins
from scenarios.schemes.registry import load_scheme

PLUGIN = """
from quality.gates.protocol import GateExtension, NoSettings, Share
from scenarios.strict import Strict


class ShoutingSettings(Strict):
    share: Share = 0.5


class Shouting:
    code = "shouting"

    def __init__(self, share):
        self.share = share

    def check(self, subject):
        return [
            subject.flag(self.code, "is shouted", turn)
            for turn in subject.improvised
            if sum(map(str.isupper, turn.text)) >= self.share * len(turn.text)
        ]


class Same:
    code = "same_length"

    def __init__(self):
        self.seen = set()

    def add_and_check(self, subject, vector):
        length = len(subject.dialogue.turns)
        again = length in self.seen
        self.seen.add(length)
        return [subject.flag(self.code, f"{length} turns again")] if again else []


EXTENSIONS = [
    GateExtension("shouting", ShoutingSettings, lambda its: Shouting(its.share)),
    GateExtension("same_length", NoSettings, lambda its: Same()),
]
"""


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(PLUGINS, "files", {})
    monkeypatch.setattr(PLUGINS, "packages", ())
    path = tmp_path / "loud.py"
    path.write_text(PLUGIN)
    load_plugins([path])
    return path


def codes(stage, text: str, **values: object) -> list[str]:
    gates, _ = build_gates(gate_settings(values))
    return [flag.code for flag in check_all(gates, stage.answer(text))]


def test_a_plugin_gate_is_asked_only_when_it_is_named(stage):
    assert codes(stage, "IT RUNS AND RUNS.") == []
    assert codes(stage, "IT RUNS AND RUNS.", shouting={}) == ["shouting"]
    assert codes(stage, "IT RUNS AND RUNS.", shouting={}, off=["shouting"]) == []


def test_its_settings_reach_it_and_are_checked(stage):
    assert codes(stage, "IT Runs and runs.", shouting={"share": 0.1}) == ["shouting"]
    assert codes(stage, "IT Runs and runs.", shouting={"share": 0.9}) == []
    with pytest.raises(UsageError, match=r"verification\.gates\.shouting\.share: found 2"):
        gate_settings({"shouting": {"share": 2}})
    with pytest.raises(UsageError, match=r"verification\.gates\.shouting\.shore"):
        gate_settings({"shouting": {"shore": 0.2}})


def test_a_misspelt_plugin_gate_brings_its_neighbour():
    with pytest.raises(UsageError) as caught:
        gate_settings({"shooting": {}})
    assert "did you mean 'shouting'?" in caught.value.hint


@pytest.mark.anyio
async def test_a_gate_that_compares_dialogues_sees_them_in_order(stage):
    settings = gate_settings({"same_length": {}, "off": ["near_duplicate"]})
    checks = GateChecks.of(settings, load_scheme("hipo"))
    page = [(stage.answer("It runs.").dialogue, stage.scenario) for _ in range(3)]
    first = [
        [flag.code for flag in flags] for flags in checks.check(page, await checks.embed(page))
    ]
    assert [("same_length" in flags) for flags in first] == [False, True, True]


def test_the_fingerprint_names_the_plugins_that_are_used(plugin: Path, monkeypatch):
    def fingerprint(**values: object) -> str:
        return GateChecks.of(gate_settings(values), load_scheme("hipo")).fingerprint

    shipped, used = fingerprint(), fingerprint(shouting={})
    assert shipped != used
    assert used != fingerprint(shouting={"share": 0.9})
    plugin.write_text(PLUGIN + "\nEDITED = True\n")
    load_plugins([plugin])
    assert fingerprint() == shipped
    assert fingerprint(shouting={}) != used


@pytest.mark.anyio
async def test_what_is_no_flag_keeps_its_dialogue_alone_from_being_verified(
    stage, plugin: Path, monkeypatch
):
    odd = PLUGIN.replace('"is shouted", turn)', '"is shouted", turn, float("nan"))')
    plugin.write_text(odd)
    load_plugins([plugin])
    checks = GateChecks.of(gate_settings({"shouting": {}}), load_scheme("hipo"))
    page = [(stage.answer(text).dialogue, stage.scenario) for text in ("IT RUNS.", "It runs.")]
    loud, quiet = checks.check(page, await checks.embed(page))
    assert str(loud) == (
        "the gate 'shouting' returned a Flag with nan as severity, not a finite number"
    )
    assert isinstance(quiet, tuple)


CHECK = "return [\n            subject.flag(self.code, "
ODD_CHECKS = {
    "return 3 or [subject.flag(self.code, ": "the gate 'shouting' returned 3: not a list of Flag",
    "return [\n            subject.flag('loud', ": "a flag 'loud': the code is the gate's name",
    "import dataclasses\n        return [dataclasses.replace(f, turn=99) for f in [subject.flag("
    "self.code, 'x')]] or [subject.flag(self.code, ": "flagged turn 99, which is not there",
    "import dataclasses\n        return [dataclasses.replace(f, arm='b') for f in [subject.flag("
    "self.code, 'x')]] or [subject.flag(self.code, ": "the gate 'shouting' flagged the dialogue",
    "raise SystemExit(4)\n        return [subject.flag(self.code, ": "called sys.exit(4)",
}


@pytest.mark.anyio
@pytest.mark.parametrize("odd", ODD_CHECKS)
async def test_a_gate_that_returns_what_it_must_not_is_named_and_no_flag_is_taken(
    stage, plugin: Path, odd: str
):
    assert CHECK in PLUGIN
    plugin.write_text(PLUGIN.replace(CHECK, odd, 1))
    load_plugins([plugin])
    checks = GateChecks.of(gate_settings({"shouting": {}}), load_scheme("hipo"))
    page = [(stage.answer("IT RUNS.").dialogue, stage.scenario)]
    (found,) = checks.check(page, await checks.embed(page))
    assert isinstance(found, Exception)
    assert ODD_CHECKS[odd] in str(found)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('code = "shouting"', 'code = "shout"', "with the code 'shout', expected its name"),
        ("lambda its: Shouting(its.share)", "lambda its: None", "no attribute 'code'"),
        ('GateExtension("shouting", ShoutingSettings', 'GateExtension("shouting", dict',
         "expected a class derived from scenarios.strict.Strict"),
    ],
)  # fmt: skip
def test_a_gate_that_is_declared_otherwise_than_it_is_built_is_refused(
    plugin: Path, old: str, new: str, message: str
):
    plugin.write_text(PLUGIN.replace(old, new))
    load_plugins([plugin])
    with pytest.raises(UsageError, match=message) as caught:
        build_gates(gate_settings({"shouting": {}}))
    assert "loud.py" in str(caught.value)
