"""``dataset_info.json``: tells LLaMA-Factory which files there are and what their columns mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from outputs.dataset.manifest import ExportedFile
from outputs.formats.shape import lines_files

DATASET_INFO = "dataset_info.json"


def dataset_info(files: Sequence[ExportedFile], entry: Mapping[str, object]) -> dict[str, str]:
    """Return the file, with one data set per split; ``dataset_dir`` is the folder of the export.

    Args:
        files: the files of rows.
        entry: what is the same for every split: formatting, columns, tags, ranking.
    """
    info = {
        f"hipo_{file.subset}_{file.split}": {"file_name": file.path, **entry}
        for file in lines_files(files)
    }
    return {DATASET_INFO: orjson.dumps(info, option=orjson.OPT_INDENT_2).decode() + "\n"}
