"""Check a run that cannot be trusted, and save what can be read of it into a new one."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import orjson
from pydantic import ValidationError

from hipo.app.models.batching import left_notes
from hipo.app.runs.old_runs import bring_up_to_date
from pipeline.recipes.recipe import Recipe
from pipeline.run_material import load_material, named_items
from pipeline.store.checking import Damage, check_database
from pipeline.store.config_epochs import read_configs
from pipeline.store.locks import is_locked, refuse_network_disk
from pipeline.store.materials import SOUGHT, MaterialItem, is_incomplete, read_items
from pipeline.store.people_database import PEOPLE, refuse_foreign_people
from pipeline.store.reading import RECIPE
from pipeline.store.recipe_file import write_recipe
from pipeline.store.run_store import RunStore
from pipeline.store.salvage import Salvage, salvage
from pipeline.store.sqlite import DATABASE, StoreDamaged, StoreUnusable, connect, connect_readonly
from prompts.actors import ActorPrompts
from prompts.environment import Templates
from scenarios.arms import AnswerOrder
from scenarios.errors import HipoError, InputError, UsageError
from scenarios.fingerprint import fingerprint
from scenarios.run_configuration import RunConfiguration
from scenarios.schemes.model import Scheme
from scenarios.spec import Scenario
from scenarios.variation import Axis
from scenarios.yaml_source import read_yaml


@dataclass(frozen=True, slots=True)
class Repaired:
    """A run that was put together from what could be read of another."""

    folder: Path
    salvage: Salvage
    notes: tuple[str, ...]
    """What else the user has to know, a sentence each."""
    findings: tuple[Damage, ...]
    """What is still wrong with the new run."""


def check_run(folder: Path) -> list[Damage]:
    """Return everything that is wrong with a run; nothing is changed.

    Raises:
        UsageError: there is no run, or it is locked, may not be read, or is of another version.
    """
    if not folder.is_dir() or not (folder / DATABASE).exists():
        raise UsageError(f"there is no run in {folder}", "list them with: hipo runs")
    findings = check_database(folder)
    with suppress(StoreUnusable):  # then it is among the findings
        findings += _materials(folder)
    return findings or list(_dialogues(folder))


def _materials(folder: Path) -> Iterator[Damage]:
    """Yield what of the stored material is missing, or not what its hash says."""
    with (
        RunStore.open(folder, readonly=True) as store,
        closing(connect_readonly(folder / DATABASE)) as connection,
    ):
        for epoch in store.configs():
            if not _is_recipe(epoch.config.recipe):
                yield Damage("config_epochs", f"the recipe {epoch.epoch} cannot be read")
        items = store.materials()
        for item in _changed(items):
            what = f"{item.kind} {item.name}".strip()
            yield Damage("materials", f"the stored {what} is not what its hash says")
        missing = named_items(store.configs(), store.scenarios_used())
        missing -= {(item.kind, item.name, item.hash) for item in items}
        if not is_incomplete(connection):  # an older run is known not to hold all of it
            for kind, name, _ in sorted(missing):
                yield Damage("materials", f"the {kind} {name} is not there".replace("  ", " "))


def _dialogues(folder: Path) -> Iterator[Damage]:
    """Yield the first dialogue that does not fit scenario and scheme, as far as these are there."""
    try:
        with RunStore.open(folder, readonly=True) as store:
            material = load_material(store)
            for dialogue in store.dialogues(traces=False):
                material.refuse_odd(dialogue, material.scenario_of(dialogue.case))
    except StoreDamaged as error:
        yield Damage("dialogues", error.message)
    except UsageError:  # the material of an older run, which is known not to be there
        return


def _is_recipe(recipe: Mapping[str, object]) -> bool:
    """Whether a recipe is one of this hipo; a run that was put together by hand has none."""
    try:
        Recipe.model_validate(recipe)
    except ValidationError:
        return not recipe
    return True


def _changed(items: Sequence[MaterialItem]) -> list[MaterialItem]:
    """Return the pieces of material that are not what their hashes were made of."""
    wrong = [item for item in items if not _is_whole(item)]
    schemes = [
        Scheme.model_validate_json(item.content)
        for item in items
        if item.kind == "scheme" and item not in wrong
    ]
    for item in items:
        if item.kind == "templates" and item not in wrong and not _is_made_of(item, schemes):
            wrong.append(item)
    return wrong


def _is_made_of(item: MaterialItem, schemes: Sequence[Scheme]) -> bool:
    """Whether stored templates can be compiled, and are what their hash was made of."""
    try:
        templates = Templates(stored=orjson.loads(item.content))
        # Imported dialogues and older runs know their templates by no hash.
        if not item.hash or not schemes:
            return True
        return item.hash in {
            ActorPrompts(templates, scheme, order).fingerprint
            for scheme in schemes
            for order in get_args(AnswerOrder)
        }
    except HipoError:
        return False


def _is_whole(item: MaterialItem) -> bool:
    """Whether a piece of material can be read, and is what its hash was made of."""
    try:
        if item.kind == "scheme":
            return Scheme.model_validate_json(item.content).fingerprint == item.hash
        if item.kind == "scenario":
            scenario = Scenario.model_validate_json(item.content)
            # That of a run of hipo 0.1 is stored in the form it had then.
            return item.hash in (scenario.fingerprint, fingerprint(orjson.loads(item.content)))
        if item.kind == "axis":
            return Axis.model_validate_json(item.content).fingerprint == item.hash
        content = orjson.loads(item.content)
    except ValueError:  # ValidationError and JSONDecodeError are
        return False
    if item.kind in ("tactics", "own_templates", "juror_scheme"):
        return fingerprint(content) == item.hash
    return isinstance(content, dict)  # the hash of templates depends on the scheme as well


def repair_run(folder: Path, target: Path) -> Repaired:
    """Save what can be read of a run into a new folder; the old one is not changed.

    What was paid for counts as spent in the new run. A dialogue that is lost, or of which a part
    is, is played again by ``hipo generate``, from the answers that are stored as far as they are.

    Raises:
        UsageError: there is nothing to save, another process is writing the run, or there is
            something in the target already.
    """
    path = folder / DATABASE
    if not path.is_file():
        raise UsageError(f"there is no run in {folder}", "list them with: hipo runs")
    if not path.stat().st_size:
        raise UsageError(
            f"{path} is empty: nothing can be saved from it",
            f"put a copy of it back; to begin anew and pay again, delete {folder}",
        )
    if is_locked(folder):
        raise UsageError(f"{folder} is being written by another process", "wait for it to end")
    if target.exists():
        raise UsageError(f"{target} exists already", "choose a new folder with -o")
    refuse_network_disk(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise UsageError(
            f"{target} cannot be made: {error.strerror}", "choose another -o"
        ) from error
    try:
        return _into(folder, draft, target)
    except sqlite3.Error as error:
        raise UsageError(f"{target} cannot be written: {error}", "choose another -o") from error
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be copied: {error.strerror}", "free some space, or choose another -o"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _into(folder: Path, draft: Path, target: Path) -> Repaired:
    recipe = RunConfiguration(_recipe(folder))
    with tempfile.TemporaryDirectory(dir=draft) as scratch:
        try:
            saved = salvage(
                folder / DATABASE, Path(scratch) / DATABASE, draft / DATABASE, recipe, _is_recipe
            )
        except StoreDamaged as error:
            raise UsageError(
                f"nothing can be saved: {error.message}", "put a copy of the file back"
            ) from error
    notes = [*_people(folder, draft)]
    with closing(connect(draft / DATABASE)) as connection:
        notes += _made_whole(connection, folder, target.name, saved)
    draft.chmod(folder.stat().st_mode & 0o777)
    draft.rename(target)
    bring_up_to_date(target)
    _replace_changed(target)
    with RunStore.open(target) as store:  # charges what was lost
        write_recipe(target, store.config.config.recipe)
        notes += left_notes(store.state().batches)
    return Repaired(target, saved, tuple(notes), tuple(check_run(target)))


def _people(folder: Path, draft: Path) -> Iterator[str]:
    """Copy the file of those who review, if it is sound; else say what is missing."""
    path = folder / PEOPLE
    if not path.is_file():
        return
    try:
        with closing(connect_readonly(path)) as people:
            refuse_foreign_people(people, path)
            sound = people.execute("pragma quick_check").fetchone() == ("ok",)
            if sound:
                copy = draft / PEOPLE
                people.execute("vacuum into ?", (str(copy),))
                copy.chmod(0o600)
                return
    except StoreUnusable:
        pass
    yield (
        f"{path} is damaged and was not taken over: names, accounts and notes of those who review "
        "are missing; their labels are in the run"
    )


def _made_whole(
    connection: sqlite3.Connection, folder: Path, name: str, saved: Salvage
) -> Iterator[str]:
    """Put in what a run cannot be without; yield what had to be made up."""
    connection.execute("begin immediate")
    meta = dict(connection.execute("select key, value from meta"))
    created = meta.get("created") or _created(connection, folder)
    for key, value in {"name": name, "created": created, "state_at": created}.items():
        connection.execute("insert into meta values (?, ?) on conflict do nothing", (key, value))
    lost = {table.table: table for table in saved.tables if table.lost or table.is_cut}
    if lost.keys() & {"dialogues", "cases", "turns"} or "state" not in meta:
        # Seen as interrupted: some of it is to be played.
        connection.execute(
            "insert into meta values ('state', 'running')"
            " on conflict do update set value = excluded.value"
        )
    if _takes_changed_out(connection) or _misses_material(connection):
        connection.execute("insert into meta values (?, '') on conflict do nothing", (SOUGHT,))
        yield "some of what the dialogues are made of is lost, and looked for where hipo is installed"
    if saved.has_other_recipe:
        yield (
            "the stored configuration is lost and was taken from run.yaml: that it is the same is "
            "not checked when the run goes on"
        )
    connection.execute("commit")


def _replace_changed(target: Path) -> None:
    """Look once more for templates: whether they are changed shows when the scheme is there."""
    with closing(connect(target / DATABASE)) as connection:
        changed = _takes_changed_out(connection)
        if changed:
            connection.execute("insert into meta values (?, '') on conflict do nothing", (SOUGHT,))
    if changed:
        bring_up_to_date(target)


def _takes_changed_out(connection: sqlite3.Connection) -> bool:
    """Delete material that is not what it was; return whether there was any."""
    changed = [(item.kind, item.name, item.hash) for item in _changed(read_items(connection))]
    connection.executemany(
        "delete from materials where kind = ? and name = ? and hash = ?", changed
    )
    return bool(changed)


def _misses_material(connection: sqlite3.Connection) -> bool:
    cases = connection.execute("select distinct scenario, scenario_fingerprint from cases")
    named = named_items(read_configs(connection), cases.fetchall())
    return bool(named - {(item.kind, item.name, item.hash) for item in read_items(connection)})


def _created(connection: sqlite3.Connection, folder: Path) -> str:
    """Return when a run began that does not say so: the file of its people may."""
    with (
        suppress(StoreUnusable, sqlite3.Error),
        closing(connect_readonly(folder / PEOPLE)) as people,
    ):
        row = people.execute("select value from meta where key = 'run'").fetchone()
        if row is not None:
            return str(row[0])
    (first,) = connection.execute("select min(recorded_at) from config_epochs").fetchone()
    return repr(float(first or (folder / DATABASE).stat().st_mtime))


def _recipe(folder: Path) -> dict[str, object]:
    """Return the recipe beside the run; an empty one where it cannot be read."""
    with suppress(UsageError, InputError, OSError, ValidationError):
        data = read_yaml(folder / RECIPE).data
        if isinstance(data, dict):
            return dict(data)
    return {}
