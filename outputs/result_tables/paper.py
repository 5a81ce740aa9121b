"""What the main paper printed of models and people on its own benchmark."""

from __future__ import annotations

from pathlib import Path

from outputs.result_tables.model import ResultBlock
from scenarios.yaml_source import read_yaml

_FILE = Path(__file__).parent / "data" / "hipo.yaml"


def paper_results() -> ResultBlock:
    """Return the printed Tables 2, 3 and 5, and the figures in the text of appendix E.

    Source: HIPO, sections 5.1 and 5.3, appendix E.
    """
    return ResultBlock.model_validate(read_yaml(_FILE).data)
