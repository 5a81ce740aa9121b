from __future__ import annotations

import os
from pathlib import Path

import pytest

from scenarios.catalogue import LIBRARY, PATH_VARIABLE, Catalogue, select_facts
from scenarios.errors import InputError, UsageError
from scenarios.spec import Scenario
from scenarios.validation import check_scenario


def load(*dirs: Path, environment: dict[str, str] | None = None, **options: bool) -> Catalogue:
    return Catalogue.load(dirs, environment=environment or {}, **options)


@pytest.fixture(scope="module")
def library() -> Catalogue:
    return load()


def test_the_library_holds_as_many_scenarios_and_facts_as_the_study(library):
    # HIPO, table 1.
    counts: dict[str, list[int]] = {}
    for scenario in library.scenarios.values():
        counts.setdefault(scenario.category, []).append(len(scenario.facts))
    assert {name: (len(facts), sum(facts)) for name, facts in counts.items()} == {
        "relationships": (3, 20),
        "products": (9, 56),
        "finance": (6, 34),
        "privacy": (6, 35),
        "integrity": (7, 44),
    }


@pytest.mark.parametrize("name", sorted(path.stem for path in LIBRARY.glob("*/*.yaml")))
def test_a_shipped_scenario_has_no_fault(library, hipo, name):
    entry = library.entries[name]
    found = check_scenario(entry.template, hipo, entry.located, shipped=True)
    assert [str(problem) for problem in found] == []


def test_an_own_directory_and_the_variable_add_to_the_library(boat, written, library):
    first = written(boat, "a/deep")
    second = written({**boat, "id": "other_boat"}, "b")
    variable = os.pathsep.join([str(second.parent), "", str(second)])
    both = load(first.parent.parent, environment={PATH_VARIABLE: variable})
    assert set(both.scenarios) == set(library.scenarios) | {"old_boat", "other_boat"}
    assert not both.entries["old_boat"].shipped
    assert both.entries["used_car"].shipped


def test_a_single_file_is_a_pack_of_one(boat, written):
    assert "old_boat" in load(written(boat)).scenarios


def test_an_id_that_stands_twice_is_refused_with_both_files(boat, written):
    boat["id"] = "used_car"
    path = written(boat)
    with pytest.raises(InputError) as error:
        load(path.parent)
    (problem,) = error.value.problems
    assert "library/products/used_car.yaml" in problem.found
    assert problem.file.endswith("pack/used_car.yaml")
    assert problem.line == 1


def test_the_problems_of_several_files_are_shown_together(boat, written):
    written({**boat, "id": "one", "title": 3})
    written({**boat, "id": "two"}, name="three.yaml")
    broken = {**boat, "id": "four"}
    broken["evidence"] = [{"id": "e", "label": "l", "reveals": ["leek"]}]
    directory = written(broken).parent
    (directory / "five.yaml").write_text("a: [")
    with pytest.raises(InputError) as error:
        load(directory)
    found = {(Path(p.file).name, p.code) for p in error.value.problems}
    assert found == {
        ("one.yaml", "wrong-value"),
        ("three.yaml", "id"),
        ("four.yaml", "unknown-reference"),
        ("five.yaml", "yaml"),
    }
    assert "did you mean 'leak'" in str(error.value)


def test_a_file_may_not_be_a_link_out_of_its_directory(boat, written, tmp_path):
    outside = written(boat, "outside")
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "old_boat.yaml").symlink_to(outside)
    with pytest.raises(InputError, match="a link to a file elsewhere"):
        load(pack)


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"no directory or file of scenarios at .*absent"):
        load(tmp_path / "absent")


def test_real_names_are_filled_in_only_on_request_and_where_there_is_one(boat, written):
    boat["title"] = "A boat of {owner} in {port}"
    boat["placeholders"] = {
        "owner": {"alias": "Halyard Hire", "real": "Acme Boats"},
        "port": {"alias": "Seaton"},
    }
    path = written(boat)
    assert load(path).scenarios["old_boat"].title == "A boat of Halyard Hire in Seaton"
    assert load(path, real_names=True).entries["old_boat"].left_out == ("leak", "radio", "paint")
    boat["facts"][0]["documented"] = True
    real = load(written(boat), real_names=True)
    assert real.scenarios["old_boat"].title == "A boat of Acme Boats in Seaton"
    assert real.entries["old_boat"].template.title == "A boat of {owner} in {port}"


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        (["used_car"], {"used_car"}),
        (["used_*", "used_car"], {"used_car"}),
        (["products/used_c?r"], {"used_car"}),
        (["tag:couple", "used_car"], None),
    ],
)
def test_patterns_choose_by_id_glob_and_tag(library, patterns, chosen):
    ids = {scenario.id for scenario in library.select(patterns)}
    couples = {s.id for s in library.scenarios.values() if "couple" in s.tags}
    assert ids == (chosen or couples | {"used_car"})


def test_a_category_chooses_all_of_it_and_nothing_chooses_all(library):
    assert {s.category for s in library.select(["finance"])} == {"finance"}
    assert len(library.select(["finance"])) == 6
    everything = library.select(None)
    assert library.select([]) == everything == list(library.scenarios.values())
    assert len(library.select(["*"])) == len(everything)


def test_what_is_chosen_keeps_the_order_of_the_catalogue(library):
    ids = [scenario.id for scenario in library.select(["wedding_ring", "used_car", "finance"])]
    assert ids == [name for name in library.scenarios if name in ids]


@pytest.mark.parametrize(
    ("pattern", "nearest"),
    [("used_cars", "used_car"), ("product", "products"), ("tag:helth", "health")],
)
def test_a_pattern_that_chooses_nothing_is_answered_with_the_nearest(library, pattern, nearest):
    with pytest.raises(UsageError, match=f"did you mean '{nearest}'"):
        library.select(["used_car", pattern])


def facts(pairs: list) -> list[str]:
    return [f"{scenario.id}/{fact.id}" for scenario, fact in pairs]


def test_facts_are_chosen_by_id_with_or_without_their_scenario(scenario, library):
    chosen = [scenario, library.scenarios["used_car"]]
    assert facts(select_facts(chosen, ["leak"])) == ["old_boat/leak"]
    assert facts(select_facts(chosen, ["old_boat/*", "used_car/air*"])) == [
        "old_boat/leak", "old_boat/radio", "old_boat/paint", "used_car/airbag",
    ]  # fmt: skip
    assert len(select_facts(chosen)) == 9


def test_a_fact_that_is_not_there_is_answered_with_the_nearest(scenario):
    with pytest.raises(UsageError, match="did you mean 'radio'"):
        select_facts([scenario], ["radyo"])
    with pytest.raises(UsageError, match="did you mean 'old_boat/leak'"):
        select_facts([scenario], ["old_boat/leek"])


def test_a_fact_of_the_initiator_is_never_chosen(boat):
    boat["facts"][1]["owner"] = "initiator"
    scenario = Scenario.model_validate(boat)
    assert facts(select_facts([scenario])) == ["old_boat/leak", "old_boat/paint"]
    with pytest.raises(UsageError, match="belong to the initiator"):
        select_facts([scenario], ["radio"])
