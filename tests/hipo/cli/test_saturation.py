"""Generating until dialogues repeat each other, and the curve of a report."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml

from hipo.app.models import endpoints
from pipeline.offline.engine import answer as rules
from pipeline.providers.errors import ProviderError
from pipeline.providers.registry import ModelName
from pipeline.store.queries.report import open_figures
from pipeline.store.run_store import RunStore
from quality.judges.protocol import JudgeIdentity
from quality.saturation import SaturationCurve, YieldPoint
from quality.verification.unverified import VerificationTask
from quality.verification.verify import Verification
from scenarios.verdicts import Judgement
from tests.factories import make_case, make_dialogue, make_scenario, make_scheme
from tests.hipo.cli.conftest import Hipo
from tests.wire.server import WireServer

RECIPE = {"scenarios": "used_car", "turns": [1], "models": {"default": "offline/rules"}}


def said(number: int) -> tuple[str, str]:
    """Return a question and an answer that share no three words with those of another number."""
    words = [f"w{number}x{place}" for place in range(12)]
    return " ".join(words[:6]) + "?", " ".join(words[6:]) + "."


def curve_of(texts: list[int], window: int, **changes: object) -> SaturationCurve:
    """Return the curve of dialogues that are equal where their number is."""
    curve = SaturationCurve(make_scheme(), window)
    for place, number in enumerate(texts):
        case = make_case(repetition=place, **changes)
        curve.add(make_dialogue(*said(number), case=case))
    return curve


def test_a_dialogue_is_distinct_unless_one_before_it_has_its_words() -> None:
    curve = curve_of([0, 1, 0, 2, 1, 1], window=3)
    assert curve.points() == tuple(
        YieldPoint(*point) for point in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (6, 3)]
    )
    assert (curve.generated, curve.distinct, curve.duplicates) == (6, 3, 3)
    assert curve.late_share == pytest.approx(1 / 3)
    assert curve.is_saturated(0.4)
    assert not curve.is_saturated(0.3)


def test_a_curve_of_less_than_a_window_is_not_saturated() -> None:
    assert not curve_of([0, 0, 0], window=4).is_saturated(0.9)


def test_a_long_curve_has_about_twenty_points_and_ends_at_the_last_dialogue() -> None:
    points = curve_of(list(range(73)), window=10).points()
    assert points[-1] == YieldPoint(73, 73)
    assert 15 <= len(points) <= 22


def test_the_advice_follows_from_what_near_duplicates_share() -> None:
    repeated = curve_of([0, 0, 0], window=2)
    assert repeated.shared()["combination"] == 1.0
    told = " ".join(repeated.advice([]))
    assert "repeat scenario, fact, goal and length" in told
    assert "--vary persona,register,style,opening" in told
    assert "--vary persona,register,style,opening" not in " ".join(repeated.advice(
        ["persona", "register", "style", "opening"]))  # fmt: skip
    across = SaturationCurve(make_scheme(), 2)
    for scenario in ("used_car", "quit_smoking"):
        case = make_case(make_scenario(scenario))
        across.add(make_dialogue(*said(1), case=case, opening=()))
    assert "different scenarios" in " ".join(across.advice([]))
    goals = SaturationCurve(make_scheme(), 2)
    for goal in ("deception", "truthful non-disclosure"):
        goals.add(make_dialogue(*said(1), case=make_case(goal=goal)))
    assert "goals sound alike" in " ".join(goals.advice([]))


def test_arms_of_one_case_are_one_dialogue_only_where_every_word_is_the_same() -> None:
    curve = SaturationCurve(make_scheme(), 2)
    question, answer = said(1)
    texts = {
        "direct": (question, answer),
        "reflective": (question, answer),
        "consistency": (question, f"Well, {answer}"),
    }
    new = [
        curve.add(make_dialogue(*text, case=make_case(), arm=arm)) for arm, text in texts.items()
    ]
    assert new == [True, False, True]
    assert curve.shared()["case"] == 1.0
    assert "another strategy" in " ".join(curve.advice(["persona"]))


def test_a_report_of_two_strategies_counts_what_both_say_word_for_word(
    hipo: Hipo, tmp_path: Path
) -> None:
    recipe = {**RECIPE, "scenarios": ["used_car", "quit_smoking"]}
    (tmp_path / "two.yaml").write_text(
        yaml.safe_dump({**recipe, "strategies": ["direct", "reflective"]})
    )
    assert hipo("generate", "two.yaml", "-n", "30", "-o", "run").code == 0
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        played = list(store.dialogues(traces=False))
        arms = [arm.id for arm in store.state().arms]
    said_in = Counter((d.case.id, *(turn.text for turn in d.turns)) for d in played)
    answered = [{(d.case.id, d.turns[-1].text) for d in played if d.arm == arm} for arm in arms]
    with open_figures(tmp_path / "run") as figures:
        also = [sum(elsewhere for _, elsewhere in figures.texts(arm, 100)) for arm in arms]
    assert also == [len(answered[0] & answered[1])] * 2
    repeats = said_in.total() - len(said_in)
    written = hipo("report", "run", "--no-embeddings", "--format", "json").data
    curve = written["saturation"]
    assert repeats > 10
    assert curve["generated"] - curve["distinct"] >= repeats
    page = " ".join(Path(written["report"]).read_text(encoding="utf-8").split())
    assert "said by another arm in the same case" in page
    assert "repeats word for word" in page


def test_a_run_ends_when_a_window_adds_too_few_distinct_dialogues(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    command = ("generate", "one.yaml", "--until-saturated", "0.6", "--saturation-window", "60",
               "-o", "run")  # fmt: skip
    result = hipo(*command)
    assert result.code == 0
    assert "\nsaturated: " in result.out
    assert "--vary persona" in result.out
    state = hipo("runs", "show", "run", "--format", "json").data
    assert state["state"] == "finished"
    assert state["generated"] % 60 == 0
    again = hipo(*command, "--format", "json").data
    assert again["calls"] == state["calls"]
    curve = again["saturation"]
    assert curve["late_share"] < 0.6
    assert curve["points"][-1] == {k: curve[k] for k in ("generated", "distinct")}
    written = hipo("report", "run", "--no-embeddings", "--format", "json").data
    assert written["saturation"]["distinct"] == curve["distinct"]
    page = Path(written["report"]).read_text(encoding="utf-8")
    assert "Distinct dialogues" in page
    assert "What near-duplicates have in common" in page


def test_a_window_that_was_broken_off_is_played_to_its_end_before_it_is_looked_at(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    command = ("generate", "one.yaml", "--until-saturated", "0.9", "--saturation-window", "40",
               "-o", "run")  # fmt: skip
    # What a run has that was interrupted in its second window; it is taken for saturated as it is.
    assert hipo("generate", "one.yaml", "-n", "50", "-o", "run").code == 0
    assert hipo(*command, "--dry-run", "--format", "json").data["dialogues"] == 30
    first = hipo(*command)
    assert (first.code, "\nsaturated: " in first.out) == (0, True)
    assert hipo("runs", "show", "run", "--format", "json").data["generated"] == 80
    ahead = hipo(*command, "--dry-run", "--format", "json").data
    assert ahead["dialogues"] == 0
    hipo(*command)
    assert hipo("runs", "show", "run", "--format", "json").data["pending"] == 0


def test_a_limit_of_cases_ends_a_run_that_is_not_saturated(hipo: Hipo, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    result = hipo("generate", "one.yaml", "--until-saturated", "0.01", "--saturation-window", "10",
                  "-n", "12", "-o", "run")  # fmt: skip
    assert (result.code, "not saturated: " in result.out) == (0, True)
    both = hipo("generate", "one.yaml", "--until-saturated", "0.1", "--accepted", "3", "-o", "two")
    assert both.code == 2
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize("verified", [(), ("--verify", "--judge", "offline/judge")])
def test_all_windows_share_what_is_open_and_what_was_learned(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verified: tuple[str, ...]
) -> None:
    made = Counter[str]()
    for module, name in ((endpoints, "build_provider"), (endpoints, "RateLimiters")):
        make = getattr(module, name)

        def counted(*given: object, make: Any = make, name: str = name, **more: object) -> object:
            made[" ".join([name, *(str(one) for one in given if isinstance(one, ModelName))])] += 1
            return make(*given, **more)

        monkeypatch.setattr(module, name, counted)
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    command = ("generate", "one.yaml", "--until-saturated", "0", "--saturation-window", "10",
               "-n", "40", "-o", "run")  # fmt: skip
    assert hipo(*command, *verified).code == 0
    assert hipo("runs", "show", "run", "--format", "json").data["generated"] == 40
    assert "build_provider offline/rules" in made
    assert set(made.values()) == {1}, made


def test_failures_are_played_again_once_and_not_once_a_window(hipo: Hipo, tmp_path: Path) -> None:
    def answer(messages: Sequence[tuple[str, str]], seed: int) -> str:
        return "No." if "Goal: deception" in messages[1][1] else rules(messages, seed)

    command = ("generate", "one.yaml", "--until-saturated", "0", "--saturation-window", "10",
               "-n", "40", "-o", "run")  # fmt: skip
    with WireServer(answer=answer) as server:
        model = {"model": "compatible/m", "base_url": server.openai_url}
        (tmp_path / "one.yaml").write_text(yaml.safe_dump({**RECIPE, "models": {"default": model}}))
        assert hipo(*command).code == 1
        again = hipo(*command, "--retry-failed")
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database:
        epochs = database.execute(
            "select retry_epoch from dialogues where code is not null"
        ).fetchall()
    assert set(epochs) == {(1,)}
    failed = len(epochs)
    assert failed > 4
    assert f"0 generated, {failed} failed, {40 - failed} there already" in again.out


def test_what_could_not_be_judged_is_tried_again_by_the_next_command_and_not_by_every_window(
    hipo: Hipo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: Counter[str] = Counter()
    judge = Verification._judge

    async def now_and_then(
        self: Verification, seat: JudgeIdentity, task: VerificationTask, epoch: int
    ) -> list[Judgement]:
        if crc32(task.dialogue.case.id.encode()) % 4:
            return await judge(self, seat, task, epoch)
        tries[task.dialogue.case.id] += 1
        raise ProviderError("unavailable")

    monkeypatch.setattr(Verification, "_judge", now_and_then)
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    command = ("generate", "one.yaml", "--until-saturated", "0", "--saturation-window", "10", "-n",
               "40", "-o", "run", "--verify", "--judge", "offline/judge", "--no-self")  # fmt: skip
    first = hipo(*command)
    assert len(tries) > 4
    assert set(tries.values()) == {1}
    assert first.code == 1
    assert first.out.startswith("40 generated, 0 failed, ")
    assert f"not judged: {len(tries)} provider_error; " in first.out
    hipo(*command)
    assert set(tries.values()) == {2}


def test_the_estimate_of_a_run_that_goes_on_is_of_the_next_window(
    hipo: Hipo, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(RECIPE))
    command = ("generate", "one.yaml", "--until-saturated", "0", "--saturation-window", "10",
               "-o", "run")  # fmt: skip
    assert hipo(*command, "-n", "24").code == 0
    ahead = hipo(*command, "-n", "60", "--dry-run", "--format", "json").data
    assert ahead["dialogues"] == 6
    assert hipo(*command, "-n", "24", "--dry-run", "--format", "json").data["dialogues"] == 0
