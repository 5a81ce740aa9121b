"""Another scheme, with numbers for labels, leaves by the same ways."""

from __future__ import annotations

import datasets
import mlcroissant
import pytest

from hipo.cli.main import run as hipo
from outputs.dataset.documents import Documents
from outputs.export.export import export
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.wish import Selection
from outputs.value_names import value_names
from scenarios.schemes.registry import load_scheme
from tests.outputs.corpora import rows_in
from tests.quality.review.cei_run import make_cei_run

CEI = load_scheme("cei")
NUMBERS = {d.id: d for d in CEI.utterance_dimensions if d.range is not None}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_cei_run(tmp_path_factory.mktemp("runs") / "cei", n=9)


@pytest.fixture(params=["label", "rationale", "actor", "initiator", "benchmark"])
def options(request):
    whole = {"fractions": (1.0, 0.0, 0.0)}
    match request.param:
        case "benchmark":
            return ExportOptions("benchmark", **whole)
        case "rationale":
            return ExportOptions("sft", rationale=True, format="alpaca", **whole)
        case "actor":
            return ExportOptions("sft", task="actor", include_deception=True, **whole)
        case task:
            return ExportOptions("sft", task=task, **whole)


@pytest.mark.filterwarnings("ignore")
def test_every_set_is_loaded_with_numbers_as_numbers(tmp_path, run, options):
    done = export(Selection((run,), verdict="any"), options, tmp_path / "out", document=Documents())
    rows = {row["id"]: row for row in rows_in(done.folder)}
    loaded: list[object] = []
    for name in dict.fromkeys(file.subset for file in done.facts.primary):
        cache = str(tmp_path / "cache")
        loaded += datasets.load_dataset(str(done.folder), name, cache_dir=cache)["train"]
    assert {row["id"]: row for row in loaded} == rows
    described = mlcroissant.Dataset(str(done.folder / "croissant.json"))
    sets = [described.records(records.uuid) for records in described.metadata.record_sets]
    assert sum(len(list(records)) for records in sets) == len(rows) > 0
    labelled = [row for row in rows.values() if row["label_emotion"] is not None]
    assert labelled or options.task == "initiator"
    for row in labelled:
        for name, dimension in NUMBERS.items():
            low, high = dimension.range
            assert low <= row[f"label_{name}"] <= high


def test_the_card_tells_how_numbers_are_distributed_from_low_to_high(tmp_path, run):
    options = ExportOptions("benchmark", fractions=(1.0, 0.0, 0.0))
    chosen = Selection((run,), verdict="any")
    done = export(chosen, options, tmp_path / "out", document=Documents())
    items = [row for row in rows_in(done.folder) if row["aspect"] == "utterance"]
    card = (done.folder / "README.md").read_text()
    for name, dimension in NUMBERS.items():
        counts = done.facts.by_label[name]
        assert tuple(counts) == value_names(dimension)
        assert sum(counts.values()) == len(items)
        table = card.partition(f"| {dimension.title} | Count | Share |")[2].split("\n\n")[0]
        told = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
        assert [line.replace("\\", "") for line in told] == list(counts)


def test_the_report_shows_every_dimension_that_is_declared(tmp_path, run):
    target = tmp_path / "report.html"
    assert hipo(["report", str(run), "-o", str(target), "--no-embeddings", "-q"]) == 0
    page = target.read_text()
    for dimension in CEI.declared:
        assert dimension.title in page
