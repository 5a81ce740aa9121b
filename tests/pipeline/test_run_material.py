"""What a run is made of: stored by hash, read back as it was, and named where it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.run_material import RunMaterial, load_material, material_items, named_items
from pipeline.store.materials import MaterialItem
from pipeline.store.run_store import RunStore
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.errors import UsageError
from scenarios.fingerprint import fingerprint
from scenarios.run_configuration import RunConfiguration, RunIdentity
from scenarios.schemes.model import Scheme
from scenarios.schemes.registry import load_scheme, scheme_names
from scenarios.spec import Scenario
from scenarios.variation import Axis, load_axes
from tests.factories import library, make_case, make_scenario, make_scheme

TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=80
).filter(lambda text: bool(text.strip()))


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Scenarios of the library with other words in them."""
    base = draw(st.sampled_from(sorted(library().scenarios)))
    fields = make_scenario(base).model_dump(mode="json")
    fields["title"], fields["background"] = draw(TEXT), draw(TEXT)
    for fact in fields["facts"]:
        fact["text"] = draw(TEXT)
    return Scenario.model_validate(fields)


@st.composite
def axes(draw: st.DrawFn) -> dict[str, Axis]:
    """Some of the axes that ship, with other lines."""
    chosen = {}
    for name in draw(st.sets(st.sampled_from(sorted(load_axes())), max_size=3)):
        fields = load_axes()[name].model_dump(mode="json", by_alias=True)
        for value in fields["values"]:
            value["text"] = draw(TEXT)
        chosen[name] = Axis.model_validate(fields)
    return chosen


def identity_of(items: list[MaterialItem], scheme: Scheme) -> RunIdentity:
    """Return an identity that names these items."""
    by_kind = {item.kind: item for item in items}
    return RunIdentity(
        dialogue_version=1,
        scheme=scheme.id,
        scheme_fingerprint=scheme.fingerprint,
        templates=by_kind["templates"].hash if "templates" in by_kind else "",
        tactics=by_kind["tactics"].hash if "tactics" in by_kind else "free",
        axes={item.name: item.hash for item in items if item.kind == "axis"},
        seed=0,
        real_names=False,
        arms={},
        scenarios={item.name: item.hash for item in items if item.kind == "scenario"},
    )


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.lists(scenarios(), max_size=3, unique_by=lambda scenario: scenario.id),
    axes(),
    st.sampled_from(scheme_names()),
    st.none()
    | st.dictionaries(TEXT, st.integers(-(2**63), 2**64 - 1) | TEXT, min_size=1, max_size=3),
    st.booleans(),
)
def test_material_comes_out_of_a_run_as_it_was_put_in(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: list[Scenario],
    drawn: dict[str, Axis],
    name: str,
    tactics: dict[str, object] | None,
    with_prompts: bool,
) -> None:
    scheme = load_scheme(name)
    prompts = ActorPrompts(Templates(), scheme) if with_prompts else None
    items = material_items(
        scheme=scheme, scenarios=chosen, axes=drawn, tactics=tactics, prompts=prompts
    )
    config = RunConfiguration(identity=identity_of(items, scheme))
    folder = tmp_path_factory.mktemp("runs") / "run"
    with RunStore.create(folder, config, material=items) as store:
        material = load_material(store)
        named = named_items(store.configs(), store.scenarios_used())
    assert material.scheme == scheme
    assert material.scheme.fingerprint == scheme.fingerprint
    assert material.scenarios == {s.id: s for s in chosen}
    assert material.axes == drawn
    assert {n: axis.fingerprint for n, axis in material.axes.items()} == {
        n: axis.fingerprint for n, axis in drawn.items()
    }
    assert material.tactics == tactics
    assert named - {("templates", "", "")} <= material.items.keys()
    if prompts is not None:
        assert ActorPrompts(material.templates, scheme).fingerprint == prompts.fingerprint


def material_of(*items: MaterialItem, identity: RunIdentity | None = None) -> RunMaterial:
    content = {(item.kind, item.name, item.hash): item.content for item in items}
    return RunMaterial(Path("run"), (RunConfiguration(identity=identity),), content)


def test_a_case_gets_the_version_of_its_scenario_it_was_played_with() -> None:
    old = make_scenario()
    new = old.model_copy(update={"title": "Another title"})
    items = material_items(scheme=make_scheme(), scenarios=[old, new])
    material = material_of(*items)
    assert material.scenario_of(make_case(old)) == old
    assert material.scenario_of(make_case(new)) == new
    assert material.scenarios == {new.id: new}, "the newest is what the run goes on with"


def test_what_is_lost_is_named() -> None:
    material = material_of()
    with pytest.raises(UsageError, match="run does not hold the scenario 'used_car'"):
        material.scenario_of(make_case())
    assert material.stored_scenario(make_case()) is None
    with pytest.raises(UsageError, match="run does not hold the scheme 'hipo'"):
        _ = material.scheme
    with pytest.raises(UsageError, match="run does not hold its prompt templates"):
        _ = material.templates


def test_stored_templates_that_are_not_those_that_ship_are_sandboxed(tmp_path: Path) -> None:
    hostile = "{{ ().__class__.__base__.__subclasses__() }}"
    shipped = Templates().sources(["speech.j2"])
    templates = Templates(stored={**shipped, "speech.j2": hostile})
    with pytest.raises(UsageError, match=r"stored in the run/speech\.j2.*unsafe"):
        templates.render("speech.j2", {})


def test_sources_hold_what_templates_include(tmp_path: Path) -> None:
    (tmp_path / "repair.j2").write_text("{% include 'judge_task.j2' %}")
    sources = Templates(tmp_path).sources(["repair.j2"])
    assert list(sources) == ["judge_task.j2", "repair.j2"]


def test_own_templates_are_the_newest_that_were_put_in_use(tmp_path: Path) -> None:
    def own(text: str) -> MaterialItem:
        content = f'{{"repair.j2":"{text}"}}'
        return MaterialItem("own_templates", "", fingerprint(text), content)

    with RunStore.create(tmp_path / "run", RunConfiguration(), material=[own("a")]) as store:
        store.add_materials([own("b")])
        assert load_material(store).own_templates == {"repair.j2": "b"}
        before = store.materials()
        store.add_materials([own("a")])
        assert store.materials() == before, "nothing new is nothing to write"
