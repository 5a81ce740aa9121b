"""What lies in a training set for trainers is what they read, and rows are short."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from outputs.dataset.documents import Documents
from outputs.export.export import export
from outputs.kinds.export_kind import ExportOptions
from outputs.selecting.selection import Selection
from outputs.token_lengths import _TOKENS, RowLengths, _counts, estimated_tokens
from tests.outputs.corpora import STRATEGIES, exportable_run, exported, rows_in

KINDS = {
    "label": ("sft", {}),
    "messages": ("sft", {"format": "messages"}),
    "actor": ("sft", {"task": "actor", "include_deception": True}),
    "initiator": ("sft", {"task": "initiator"}),
    "dpo": ("dpo", {"include_deception": True, "pairs": ("verdict", "revision", "vote")}),
}


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    run = exportable_run(folder / "run", scenarios=6, facts=1, strategies=STRATEGIES)
    for name, (kind, options) in KINDS.items():
        exported(folder / name, run, kind, parquet=False, fractions=(0.5, 0.5, 0), **options)
    return folder


@pytest.mark.parametrize("name", KINDS)
def test_the_configurations_read_files_that_are_there_and_learn_the_last_message(sets, name):
    folder = sets / name
    axolotl = yaml.safe_load((folder / "axolotl.yaml").read_text())
    for entry in (*axolotl["datasets"], *axolotl["test_datasets"]):
        for line in (folder / entry["path"]).read_bytes().splitlines():
            row = orjson.loads(line)
            if name == "dpo":
                assert row[entry["field_chosen"]]["role"] == "assistant"
                assert row[entry["field_rejected"]]["content"]
                assert row["messages"][-1]["role"] == "user"
            else:
                marks = [m[entry["message_field_training"]] for m in row["messages"]]
                assert marks == [False] * (len(marks) - 1) + [True]
                assert row["messages"][-1]["role"] == "assistant"
    assert axolotl["excess_length_strategy"] == "raise"
    factory = yaml.safe_load((folder / "llamafactory.yaml").read_text())
    info = orjson.loads((folder / "dataset_info.json").read_bytes())
    named = [*factory["dataset"].split(","), *factory["eval_dataset"].split(",")]
    assert set(named) <= set(info)
    assert sum(
        len((folder / info[one]["file_name"]).read_bytes().splitlines()) for one in named
    ) == len(rows_in(folder))


@pytest.mark.parametrize("name", KINDS)
def test_llama_factory_cuts_no_row_whatever_the_tokenizer(sets, name):
    """It cuts in silence, and of another language a tokenizer may make a token of every byte."""
    folder = sets / name
    limit = yaml.safe_load((folder / "llamafactory.yaml").read_text())["cutoff_len"]
    for file in (folder / "trainers").glob("*.json"):
        for row in map(orjson.loads, file.read_bytes().splitlines()):
            said = [
                *row["messages"],
                *(row[side] for side in ("chosen", "rejected") if side in row),
            ]
            assert sum(len(one["content"].encode()) + 8 for one in said) < limit


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fractions": (0, 1, 0)}, "No row fell into the split `train`"),
        ({"fractions": (1, 0, 0), "format": "axolotl"}, "these\nrows are for trainers"),
    ],
)
def test_a_card_without_a_command_to_train_says_why(sets, tmp_path, options, said):
    chosen = ExportOptions("sft", parquet=False, **options)
    export(Selection((sets / "run",)), chosen, tmp_path / "set", document=Documents())
    card = (tmp_path / "set/README.md").read_text()
    assert "## How to train with it" in card
    assert said in card
    assert "hipo train" not in card
    assert not list((tmp_path / "set").glob("train_*.py"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_axolotl_accepts_its_configuration_by_its_own_schema(sets, name):
    schemas = pytest.importorskip("axolotl.utils.schemas.config")
    given = yaml.safe_load((sets / name / "axolotl.yaml").read_text())
    known = schemas.AxolotlInputConfig(**given)
    assert known.sequence_len == given["sequence_len"]
    assert set(given) <= set(schemas.AxolotlInputConfig.model_fields)


LLAMA_FACTORY_SUBSET = {
    "model_name_or_path", "stage", "do_train", "finetuning_type", "lora_rank", "lora_alpha",
    "lora_target", "dataset_dir", "dataset", "eval_dataset", "cutoff_len", "mask_history",
    "output_dir", "per_device_train_batch_size", "gradient_accumulation_steps",
    "num_train_epochs", "learning_rate", "lr_scheduler_type", "report_to", "eval_strategy",
}  # fmt: skip
"""Of its documentation: its own parser wants older libraries than the project is tested with."""


@pytest.mark.parametrize("name", KINDS)
def test_llama_factory_knows_every_field_of_its_configuration(sets, name):
    given = yaml.safe_load((sets / name / "llamafactory.yaml").read_text())
    assert set(given) <= LLAMA_FACTORY_SUBSET
    assert given["stage"] == ("dpo" if name == "dpo" else "sft")
    found = importlib.util.find_spec("llamafactory")
    if found is None or found.origin is None:
        return
    hparams = Path(found.origin).parent / "hparams"
    declared = "\n".join(path.read_text("utf-8") for path in sorted(hparams.glob("*.py")))
    training = importlib.import_module("transformers").Seq2SeqTrainingArguments
    for field in given:
        assert f"    {field}: " in declared or hasattr(training, field), field


@pytest.mark.parametrize("name", KINDS)
def test_the_converter_of_llama_factory_reads_every_message_of_every_row(sets, name, llama_factory):
    """It drops a row that it cannot read with a warning, and leaves its prompt empty."""
    parser, converter = llama_factory
    folder = sets / name
    for dataset, entry in orjson.loads((folder / "dataset_info.json").read_bytes()).items():
        [attributes] = parser.get_dataset_list([dataset], str(folder))
        convert = converter.get_dataset_converter(attributes.formatting, attributes, None)
        for line in (folder / entry["file_name"]).read_bytes().splitlines():
            row = orjson.loads(line)
            read, said = convert(row), row["messages"]
            answers = [row["chosen"], row["rejected"]] if name == "dpo" else [said.pop()]
            system, *asked = said
            assert system["role"] == "system"
            assert read["_system"] == system["content"]
            assert asked
            for found, expected in ((read["_prompt"], asked), (read["_response"], answers)):
                told = [(one["role"], one["content"]) for one in expected]
                assert [(one["role"], one["content"]) for one in found] == told


def test_a_row_counts_with_the_longer_of_its_answers_and_long_ones_are_counted():
    lengths = RowLengths(("prompt", "chosen", "rejected"))
    row = {
        "prompt": [{"role": "user", "content": "Why?"}],
        "chosen": [{"role": "assistant", "content": "So."}],
        "rejected": [{"role": "assistant", "content": "word " * 2000}],
    }
    lengths.add("preference", row)
    [found] = lengths.table()
    assert found.rows == found.over == 1
    assert found.median == found.longest == 2 + 2000 + 2 * 4


@given(st.text(st.sampled_from("aZéß1٣.-, \t\x1c\x0b“日🙂"), max_size=60))
def test_lines_of_ascii_are_counted_as_the_pattern_counts_any_line(line):
    ascii_line = line.encode("ascii", "ignore").decode()
    for text in (ascii_line, f"wonderfully {ascii_line} extraordinary"):
        assert _counts(text)[3] == len(_TOKENS.findall(text))


# Tokens that byte-level BPE of English (GPT-2) or WordPiece (BERT) take at least for such texts.
NOT_ENGLISH = {
    "Das ist eine berechtigte Frage, und ich werde dir sagen, was ich weiß, bevor wir weitergehen.": 32,
    "Dat is een terechte vraag en ik zal je vertellen wat ik erover weet voordat we verdergaan.": 30,
    "Itu pertanyaan yang wajar, dan saya akan menceritakan apa yang saya ketahui sebelumnya.": 30,
    "为什么": 6,
    "क्या": 8,
    "🙂": 3,
}


@pytest.mark.parametrize("text", NOT_ENGLISH)
def test_texts_that_are_not_english_count_as_a_vocabulary_of_english_cuts_them(text):
    assert NOT_ENGLISH[text] <= estimated_tokens(text) <= len(text.encode())


def test_english_with_a_foreign_name_and_printers_quotes_is_english():
    said = "“I met Zoë in the café” … that is what she told you, and it is true…"
    plain = "'I met Zo in the caf' . that is what she told you, and it is true."
    assert estimated_tokens(said) == estimated_tokens(plain) + 2


def test_the_card_says_how_to_train_and_the_summary_warns_of_rows_that_would_be_cut(sets, tmp_path):
    from hipo.cli.main import run  # noqa: PLC0415

    asked = ["export", str(sets / "run"), "--to", "sft", "--no-parquet", "--splits", "100,0,0"]
    assert run([*asked, "-o", str(tmp_path / "short")]) == 0
    card = (tmp_path / "short" / "README.md").read_text()
    assert "## How to train with it" in card
    assert "axolotl train axolotl.yaml" in card
    assert "\\_" not in card.partition("```sh")[2].partition("```")[0], "commands stand as they are"
    manifest = orjson.loads((tmp_path / "short" / "manifest.json").read_bytes())
    assert {one["over_1024"] for one in manifest["tokens"].values()} == {0}
    assert "Some rows are longer" not in card
    assert run([*asked, "--prompt", "full", "-o", str(tmp_path / "full")]) == 0
    assert "**Some rows are longer than 1,024 tokens**" in (tmp_path / "full/README.md").read_text()
