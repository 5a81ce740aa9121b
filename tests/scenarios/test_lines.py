"""Lines written or labelled by hand: what is wrong with a file is found, and the sets stay apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.catalogue import Catalogue
from scenarios.errors import InputError
from scenarios.lines import library
from scenarios.lines.checks import problems_of
from scenarios.lines.library import scenarios_with, spoken_stage_lines, stage_lines
from scenarios.lines.model import LINE_USES

LINE = {
    "answers": "hard_question",
    "fact": "guardrail",
    "goal": "deception",
    "intention": "Convince",
    "veracity": "Quality",
    "illocutionary": "Representatives",
    "claims": "[scratch_only]",
    "text": "That is where a trolley caught it, one scratch and no more.",
}


DETAIL = {"answers": "[hard_question, pressed]", "text": "the papers are in the glove box"}


def _file(
    folder: Path, detail: dict[str, str] = DETAIL, claimed: str = "first_owner", **changed: str
) -> list[str]:
    """Write a stage file of which one line differs from a good one; return what is found."""
    lines = ["scenario: used_car", "initiator:"]
    for number in range(3):
        text = f"Is there anything else, a thing number {number}?"
        lines.append(f"  - {{id: press_{number}, when: first, text: '{text}'}}")
    lines.append("responder:")
    for number in range(6):
        text = LINE["text"] if number == 0 else f"Number {number}, it is only a scratch."
        line = LINE | {"text": text} | (changed if number == 0 else {})
        start = "  - "
        for key, value in line.items():
            lines.append(f"{start}{key}: {value}")
            start = "    "
    detail_of = ", ".join(f"{key}: {value}" for key, value in detail.items())
    lines += ["details:", f"  - {{{detail_of}}}"]
    lines += ["in_own_words:", f"  {claimed}: I bought it from its first owner"]
    (folder / "stage").mkdir()
    (folder / "stage" / "used_car.yaml").write_text("\n".join(lines), encoding="utf-8")
    return [
        f"{p.field}: {p.found}; {p.expected} [{p.code}]" for p in problems_of("stage", "used_car")
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    return tmp_path


def test_a_good_file_has_no_problem(folder: Path) -> None:
    assert _file(folder) == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"veracity": "Manner"}, "truth"),
        ({"claims": "[wing_lighter]"}, "truth"),
        ({"goal": "truthful non-disclosure"}, "truth"),
        ({"claims": "[airbags_in_place]"}, "reference"),
        ({"fact": "rust"}, "reference"),
        ({"answers": "the_weather"}, "reference"),
        ({"fact": "any"}, "truth"),
        ({"intention": "Persuade"}, "label"),
        ({"illocutionary": "Vows"}, "label"),
        ({"mood": "sad"}, "label"),
        ({"text": "It slid into a guardrail on an icy slip road."}, "leak"),
        ({"text": "Number 1, it is only a scratch."}, "repeated"),
        ({"text": "A scratch."}, "length"),
    ],
)
def test_what_is_wrong_with_a_line_is_found(
    folder: Path, changed: dict[str, str], code: str
) -> None:
    found = _file(folder, **changed)
    assert any(f"[{code}]" in problem for problem in found)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"answers": "the_weather"}, "reference"),
        ({"facts": "[guardrail, rust]"}, "reference"),
        ({"goal": "honesty"}, "reference"),
        ({"text": "it slid into a guardrail on ice"}, "leak"),
    ],
)
def test_what_is_wrong_with_a_detail_is_found(
    folder: Path, changed: dict[str, str], code: str
) -> None:
    [found] = _file(folder, detail=DETAIL | changed)
    assert found.startswith("details[0]")
    assert f"[{code}]" in found


def test_a_lie_in_own_words_that_is_no_claim_of_the_scenario_is_found(folder: Path) -> None:
    [found] = _file(folder, claimed="second_owner")
    assert found.startswith("in_own_words.second_owner: 'second_owner'; one of")


def test_a_line_without_spaces_is_as_long_as_its_signs_say(folder: Path) -> None:
    said = {
        "text": "\u304a\u8377\u7269\u306f\u3082\u3046\u53d7\u3051\u53d6\u308a\u307e\u3057\u305f\u3088\u3002"
    }
    assert _file(folder, **said) == []


def test_a_broken_file_is_one_message_with_its_line(folder: Path) -> None:
    with pytest.raises(InputError, match=r"used_car.yaml:\d+: responder\[0\].text"):
        _file(folder, text="")


@pytest.mark.parametrize("use", LINE_USES)
def test_the_lines_that_ship_have_no_problem(use: str) -> None:
    found = [
        problem
        for name in scenarios_with(use)  # type: ignore[arg-type]
        for problem in problems_of(use, name)  # type: ignore[arg-type]
    ]
    assert found == []


def test_a_scenario_without_lines_has_none() -> None:
    assert stage_lines("no_such_scenario") is None


def test_lines_are_said_with_the_fictional_names(folder: Path) -> None:
    template = Catalogue.load(environment={}).entry("autopilot_crash").template
    name, placeholder = next(iter(template.placeholders.items()))
    rows = ["scenario: autopilot_crash", "initiator:"]
    rows += [f"  - {{id: press_{n}, when: first, text: 'And {{{name}}} too?'}}" for n in range(3)]
    rows.append("responder:")
    for number in range(6):
        rows += [
            "  - answers: pressed",
            "    fact: any",
            "    goal: deception",
            f"    text: '{{{name}}} has nothing to add, number {number}.'",
        ]
    (folder / "stage").mkdir()
    (folder / "stage" / "autopilot_crash.yaml").write_text("\n".join(rows), encoding="utf-8")
    library._stage.cache_clear()
    spoken = spoken_stage_lines(template)
    library._stage.cache_clear()
    assert spoken is not None
    assert spoken.responder[0].text.startswith(placeholder.alias)
    assert "{" not in spoken.initiator[0].text
