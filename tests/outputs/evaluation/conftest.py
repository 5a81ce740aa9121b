"""An evaluation in every mode and the page about it, for all tests of such pages."""

from __future__ import annotations

import pytest

from outputs.evaluation.writing import write_evaluation
from tests.outputs.evaluation.evaluation_page import QUICK
from tests.outputs.evaluation.sample_evaluation import (
    CONVERSATION,
    CUMULATIVE,
    UTTERANCE,
    record,
    write_sample,
)
from tests.outputs.html_tree import parsed

MODES = (
    UTTERANCE,
    UTTERANCE.model_copy(update={"mode": "cot"}),
    UTTERANCE.model_copy(update={"mode": "icl", "draws": 3}),
    CUMULATIVE,
    CONVERSATION,
)


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    folder = write_sample(tmp_path_factory.mktemp("evaluation") / "e", record(MODES))
    return write_evaluation(folder, "1.2.3", QUICK)


@pytest.fixture(scope="session")
def tree(written):
    return parsed(written.page.read_text(encoding="utf-8"))
