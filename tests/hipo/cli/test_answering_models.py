"""A model that changed behind its endpoint is told wherever a run is shown."""

import pytest

from hipo.cli.reports.run import changes_of, state_as_json, state_as_text
from pipeline.store.call_rows import CallReport
from pipeline.store.run_store import RunStore
from scenarios.run_configuration import RunConfiguration
from tests.factories import make_request_row


async def state_of(tmp_path, *models):
    rows = [make_request_row(sent_at=float(i), reply_model=model) for i, model in enumerate(models)]
    with RunStore.create(tmp_path / "run", RunConfiguration()) as store:
        await store.calls.record(CallReport(b"key", (("user", ("hi",)),), rows, []))
        return store.state()


@pytest.mark.anyio
async def test_a_change_is_a_line_of_the_state_and_a_field_of_its_json(tmp_path):
    state = await state_of(tmp_path, "a", "b")
    line = "the model behind compatible/m (responder) changed in mid-run: a, then b"
    assert line in state_as_text(tmp_path, state).splitlines()
    answering = state_as_json(tmp_path, state)["answering_models"]
    assert [(one["reply_model"], one["changed"]) for one in answering] == [("a", True), ("b", True)]


@pytest.mark.anyio
async def test_many_names_are_cut_to_a_line_and_one_name_is_no_line(tmp_path):
    (line,) = changes_of(await state_of(tmp_path / "many", *"abcdefg"))
    assert line.endswith("a, then b, then c, then d and 3 more")
    same = await state_of(tmp_path / "same", "a", "a")
    assert changes_of(same) == []
    assert state_as_json(tmp_path, same)["answering_models"][0]["requests"] == 2
