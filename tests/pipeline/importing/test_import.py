"""Other people's dialogues: what is understood, what is refused, and that nothing is half there."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.importing.importer import import_dialogues
from pipeline.importing.reading import Reader
from pipeline.run_material import load_material
from pipeline.store.run_store import RunStore
from scenarios.catalogue import Catalogue
from scenarios.dialogue import Dialogue
from scenarios.errors import InputError, Problem, UsageError
from scenarios.schemes.registry import load_scheme

CAR = {"scenario": "used_car", "fact": "guardrail"}
BIKE = {"background": "A lends B a bike. It came back bent.", "fact": "B crashed the bike."}
HIPO = load_scheme("hipo")
CATALOGUE = Catalogue.load()


def talk(*texts, **more):
    roles = ("user", "assistant")
    return [{"role": roles[i % 2], "content": text, **more} for i, text in enumerate(texts)]


@pytest.fixture
def write(tmp_path):
    def lines(*rows):
        path = tmp_path / "dialogues.jsonl"
        path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows))
        return path

    return lines


def imported(path: Path, folder: Path, **more):
    import_dialogues(path, folder, **more)
    with RunStore.open(folder, readonly=True) as store:
        return list(store.dialogues())


def problems(path, folder):
    with pytest.raises(InputError) as raised:
        import_dialogues(path, folder)
    assert list(folder.parent.glob(".*importing*")) == []
    assert not folder.exists()
    return raised.value.problems


def test_a_dialogue_about_a_scenario_of_library_plus_is_refused(write, tmp_path):
    said = talk("What's become of the money?", "It's all there.")
    path = write({"messages": said, "scenario": "dog_appeal", "fact": "insurer"})
    with pytest.raises(InputError, match="'dog_appeal', of library-plus") as raised:
        import_dialogues(path, tmp_path / "run", scenario_dirs=[Path("library-plus")])
    assert "no dialogue of a corpus is about them" in raised.value.problems[0].hint
    assert not (tmp_path / "run").exists()


def test_messages_about_a_scenario_become_a_dialogue(write, tmp_path):
    said = talk("Was it hit?", "Never.", "Sure?", "As sure as can be.")
    said[3]["labels"] = {"veracity": "falsification", "intention": "Convince"}
    (one,) = imported(
        write({"messages": said, **CAR, "goal": "lying", "opening": 1, "source": "mine"}),
        tmp_path / "run",
    )
    assert (one.case.scenario, one.case.fact, one.case.goal) == (
        "used_car",
        "guardrail",
        "deception",
    )
    assert one.case.turns == 1
    assert [(t.role, t.kind, t.text) for t in one.turns] == [
        ("initiator", "opening", "Was it hit?"),
        ("responder", "opening", "Never."),
        ("initiator", "improvised", "Sure?"),
        ("responder", "improvised", "As sure as can be."),
    ]
    assert [(x.dimension, x.value, x.raw) for x in one.turns[3].tactic] == [
        ("intention", "Convince", None),
        ("veracity", "Quality", "falsification"),
    ]


def test_a_situation_of_ones_own_comes_along_as_a_scenario(write, tmp_path):
    rows = [
        {"messages": talk("Did you crash it?", "It rides fine: {yes}."), **BIKE},
        {"messages": talk("Did you?", "No."), **BIKE, "goal": "TND"},
        {"messages": [{"role": "system", "content": BIKE["background"]}, *talk("Well?", "Well.")],
         "fact": BIKE["fact"], "responder": "borrower"},
    ]  # fmt: skip
    told = import_dialogues(write(*rows), tmp_path / "run")
    assert (told.dialogues, told.situations, told.unlabelled) == (3, 2, 3)
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        material = load_material(store)
        found = [material.scenario_of(d.case) for d in store.dialogues()]
    assert {s.background for s in found} == {BIKE["background"]}
    assert {s.facts[0].text for s in found} == {BIKE["fact"]}
    assert [s.roles["responder"].name for s in found] == ["responder", "responder", "borrower"]


def test_what_hipo_shows_can_be_imported_and_is_the_same(write, tmp_path):
    shown = {
        "id": "x/y",
        "case": {"id": "x", "scheme": "hipo", **CAR, "goal": "deception", "turns": 1,
                 "language": "en", "variation": {"style": "curt"}, "repetition": 3, "seed": 9},
        "arm": {"id": "y", "strategy": "direct"},
        "turns": [
            {"index": 0, "role": "initiator", "kind": "opening", "text": "Hit?", "tactic": []},
            {"index": 1, "role": "responder", "kind": "opening", "text": "No.", "tactic": []},
            {"index": 2, "role": "initiator", "kind": "improvised", "text": "Sure?", "tactic": []},
            {"index": 3, "role": "responder", "kind": "improvised", "text": "Sure.",
             "declared_goal": "deception", "tactic": [
                 {"dimension": "veracity", "value": "Quality", "rationale": "it was", "raw": None}]},
        ],
    }  # fmt: skip
    (one,) = imported(write(shown), tmp_path / "run")
    assert one.case.variation == (("style", "curt"),)
    assert (one.case.repetition, one.case.seed) == (3, 9)
    assert one.turns[3].declared_goal == "deception"
    assert one.turns[3].tactic[0].rationale == "it was"


@pytest.mark.parametrize(
    "more", [{"case": "State v. Smith"}, {"case": 7}, {"case": None}, {"case": {"court": "High"}},
             {"case": "trial", "arm": "left"}],
)  # fmt: skip
def test_a_name_stays_whatever_others_call_a_case(write, tmp_path, more):
    (one,) = imported(write({"id": "trial/1", "messages": talk("a", "b"), **CAR, **more}),
                      tmp_path / "run")  # fmt: skip
    assert one.case.variation == (("source", "trial/1"),)


def test_a_name_that_looks_like_nothing_twice_is_a_name(write, tmp_path):
    row = {"id": "None/None", "case": None, "messages": talk("a", "b"), **CAR}
    (one,) = imported(write(row), tmp_path / "run")
    assert one.case.variation == (("source", "None/None"),)


def test_of_a_scene_with_other_roles_the_scenario_says_whose_words_are_judged(write, tmp_path):
    said = [("courier", "Let me through."), ("rival", "Why?"), ("courier", "I was first.")]
    turns = [{"role": role, "text": text, "labels": {"correct": None}} for role, text in said]
    row = {"case": "c7e61f", "scenario": "one_lane", "fact": "", "goal": "", "turns": turns}
    (one,) = imported(write(row), tmp_path / "run", scheme="payoff_reasoning")
    assert one.case.turns == 2
    assert [turn.labelled for turn in one.turns] == [True, False, True]


@pytest.mark.parametrize("other", ["bystander", "assistant"])
def test_a_scheme_of_some_roles_says_whose_words_are_labelled(write, tmp_path, other):
    said = [{"role": r, "content": r} for r in ("Persuader", other, "Persuadee")]
    (one,) = imported(write({"messages": said}), tmp_path / "run", scheme="face_acts")
    assert [turn.labelled for turn in one.turns] == [True, False, True]
    told = {"messages": said, "labelled": ["Persuadee"], "of_scheme": [other]}
    (one,) = imported(write(told), tmp_path / "other", scheme="face_acts")
    assert [turn.labelled for turn in one.turns] == [False, False, True]


def test_the_same_dialogue_twice_is_two_dialogues(write, tmp_path):
    row = {"messages": talk("a", "b"), **CAR}
    assert len({d.case.id for d in imported(write(row, row), tmp_path / "run")}) == 2


def test_who_wrote_it_is_kept_where_it_is_known(write, tmp_path):
    path = write({"messages": talk("a", "b"), **CAR})
    import_dialogues(path, tmp_path / "run", generator="openai/gpt-4o")
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        (arm,) = store.state().arms
    assert arm.arm.fields()["models"] == {"responder": {"provider": "openai", "model": "gpt-4o"}}
    with pytest.raises(UsageError, match="not a model name"):
        import_dialogues(path, tmp_path / "other", generator="gpt-4o")


@pytest.mark.parametrize(
    ("row", "field", "says"),
    [
        ("{nope", "", "no JSON"),
        ("[1]", "", "one JSON object"),
        ({"messages": talk("a"), **CAR}, "labelled",
         "found nothing, expected the names of those whose words are labelled; those who speak: initiator"),
        ({"messages": [{"role": "Anna", "content": "x"}], "background": "y", "labelled": []}, "labelled",
         "an empty list, expected the names of those whose words are labelled; those who speak: Anna"),
        ({"messages": [], **CAR}, "messages", ""),
        ({**CAR}, "messages", ""),
        ({"messages": talk("a", "b")}, "background", "a scenario, or a background and a fact"),
        ({"messages": talk("a", "b"), "background": "x"}, "fact", ""),
        ({"messages": talk("a", "b"), **BIKE, **CAR}, "background", "one of the two"),
        ({"messages": talk("a", "b"), **CAR, "scenario": "used_cra"}, "scenario", "used_car"),
        ({"messages": talk("a", "b"), **CAR, "fact": "gardrail"}, "fact", "guardrail"),
        ({"messages": talk("a", "b"), "scenario": "used_car"}, "fact", "nothing"),
        ({"messages": talk("a", "b"), **CAR, "goal": "deceptoin"}, "goal", "deception"),
        ({"messages": talk("a", "b", labels={"verac": "None"}), **CAR}, "turns[0].labels.verac",
         "veracity"),
        ({"messages": talk("a", "b", labels={"veracity": "Qality"}), **CAR},
         "turns[0].labels.veracity", "Quality"),
        ({"messages": talk("a", ""), **CAR}, "messages[1].content", ""),
        ({"messages": talk("a", "b"), **CAR, "opening": 1}, "", "nothing to judge"),
        ({"messages": [*talk("a", "b"), *talk("c", "d")[::-1]], **CAR}, "messages",
         "take turns"),
        ({"messages": [{"role": "robot", "content": "x"}, *talk("b")], **BIKE}, "labelled",
         "those who speak: robot, initiator"),
        ({"messages": [{"role": "robot", "content": "x"}, *talk("b")], **CAR}, "messages",
         "as used_car has them"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_is_named_and_nothing_is_made(write, tmp_path, row, field, says):
    good = {"messages": talk("a", "b"), **CAR}
    path = write(good, "", row, good)
    (problem,) = problems(path, tmp_path / "run")
    assert problem.line == 3
    assert problem.field == field
    assert says in str(problem)
    assert problem.file.endswith("dialogues.jsonl")


def test_every_bad_line_is_a_problem_and_what_many_share_is_told_once(write, tmp_path):
    assert [p.line for p in problems(write("x", "{}", "y"), tmp_path / "run")] == [1, 2, 3]
    path = write("{}", *["x"] * 57)
    with pytest.raises(InputError) as raised:
        import_dialogues(path, tmp_path / "run")
    empty, garbled = str(raised.value).splitlines()
    assert "lines:" not in empty
    assert f"{path.name}:2: found text that is no JSON" in garbled
    assert garbled.endswith("(the same on 57 lines: 2, 3, 4, 5, 6, ...)")


def trade(*names, **more):
    said = [{"role": name, "content": f"Line {place}."} for place, name in enumerate(names)]
    return {"messages": said, "background": "A market in town.", **more}


@pytest.mark.parametrize("name", ["Händler", "händler ", "handler", "Handler"])
def test_who_is_labelled_may_be_named_as_in_the_turns_or_by_id(write, tmp_path, name):
    path = write(trade("Kundin", "Händler", labelled=[name]))
    (one,) = imported(path, tmp_path / "run", scheme="cei")
    assert [(turn.role, turn.labelled) for turn in one.turns] == [
        ("kundin", False),
        ("handler", True),
    ]


def test_somebody_labelled_who_says_nothing_is_told_with_those_who_speak(write, tmp_path):
    path = write(*[trade("Kundin", "Händler", labelled=["Wirt"])] * 3)
    with pytest.raises(InputError) as raised:
        import_dialogues(path, tmp_path / "run", scheme="cei")
    (told,) = str(raised.value).splitlines()
    assert "labelled[0]: found 'Wirt'" in told
    assert "'Wirt' says nothing; Kundin, Händler speak" in told
    assert told.endswith("(the same on 3 lines: 1, 2, 3)")


@pytest.mark.parametrize(
    ("names", "kept"), [(("José", "Jose"), "jose"), (("A+", "A-"), None), (("a", "A+"), "a")]
)
def test_names_that_differ_in_accents_or_signs_alone_are_two_people(write, tmp_path, names, kept):
    path = write(trade(*names, labelled=[names[0]]), trade(*reversed(names), labelled=[names[0]]))
    one, two = imported(path, tmp_path / "run", scheme="cei")
    roles = [turn.role for turn in one.turns]
    assert len(set(roles)) == 2
    assert [turn.role for turn in two.turns] == roles[::-1]  # whoever speaks first
    assert [turn.labelled for turn in one.turns] == [True, False]
    assert kept is None or kept in roles
    with RunStore.open(tmp_path / "run", readonly=True) as store:
        scenario = load_material(store).scenarios[one.case.scenario]
    called = {key: role.name for key, role in scenario.roles.items()}
    assert [called[role] for role in roles] == list(names)


@pytest.mark.parametrize("names", [("Judge Smith", "judge_smith"), ("Jose\u0301", "José")])
def test_one_name_in_two_ways_of_writing_is_one_person(write, tmp_path, names):
    (one,) = imported(write(trade(*names, labelled=[names[0]])), tmp_path / "run", scheme="cei")
    assert len({turn.role for turn in one.turns}) == 1


def test_a_line_without_end_is_one_problem_and_never_in_memory_as_a_whole(tmp_path):
    path = tmp_path / "dialogues.jsonl"
    with path.open("wb") as file:
        file.truncate(100 << 20)
        file.seek(0, 2)
        file.write(b"\n\n" + json.dumps({"messages": talk("Was it hit?", "No."), **CAR}).encode())
    tracemalloc.start()
    long, dialogue = Reader(HIPO, CATALOGUE, "a").read(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(long, Problem)
    assert (long.line, long.found) == (1, "more than 4 MiB")
    assert isinstance(dialogue, Dialogue)
    assert most < 25 << 20


def test_a_run_that_is_there_is_left_alone(write, tmp_path):
    path = write({"messages": talk("a", "b"), **CAR})
    import_dialogues(path, tmp_path / "run")
    with pytest.raises(UsageError, match="there already"):
        import_dialogues(path, tmp_path / "run")


def test_an_empty_or_missing_file_is_refused(write, tmp_path):
    with pytest.raises(UsageError, match="no dialogue"):
        import_dialogues(write("", "  "), tmp_path / "run")
    with pytest.raises(UsageError, match="no such file"):
        import_dialogues(tmp_path / "nope.jsonl", tmp_path / "run")


def test_a_failure_while_writing_leaves_nothing(write, tmp_path, monkeypatch):
    path = write({"messages": talk("a", "b"), **CAR})

    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("pipeline.store.run_store.RunStore.set_state", broken)
    with pytest.raises(OSError, match="disk full"):
        import_dialogues(path, tmp_path / "run")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dialogues.jsonl"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["messages", "role", "content", "scenario", "fact", "turns", "case", "goal",
                         "labels", "from", "value", "opening", "background"]), inner, max_size=4
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_any_line_is_a_dialogue_or_a_problem(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("any") / "x.jsonl"
    path.write_text(json.dumps(value))
    for item in Reader(HIPO, CATALOGUE, "arm").read(path):
        assert isinstance(item, Dialogue | Problem)


def test_a_language_is_one_whatever_its_capitals(write, tmp_path):
    said = talk("Hit?", "Never.")
    rows = [{"messages": said, **BIKE, "language": code} for code in ("EN", "en")]
    told = [{"messages": said, "case": {**CAR, "language": code}} for code in ("en_gb", "en-GB")]
    dialogues = imported(write(*rows, *told), tmp_path / "run")
    assert [one.case.language for one in dialogues] == ["en", "en", "en-GB", "en-GB"]
    assert [one.case.repetition for one in dialogues] == [0, 1, 0, 1]


def test_more_people_than_a_scenario_has_roles_and_too_long_a_name_are_told(write, tmp_path):
    many = trade(*(f"P{number}" for number in range(13)), labelled=["P1"])
    people, name = problems(write(many, trade("a", labelled=["a"], id="i" * 201)), tmp_path / "run")
    assert "13 people speak, of whom a dialogue has at most 12" in str(people)
    assert (name.field, name.expected) == ("id", "at most 200 characters")
