"""Every row format is what its trainer reads: TRL, LLaMA-Factory and Axolotl."""

from __future__ import annotations

import importlib
import importlib.util

import orjson
import pytest
import yaml

from outputs.formats.registry import FORMATS
from outputs.kinds.aspects import ASPECTS
from outputs.kinds.export_kind import KINDS
from scenarios.errors import UsageError
from tests.outputs.corpora import STRATEGIES, exportable_run, exported, rows_in


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return exportable_run(
        tmp_path_factory.mktemp("runs") / "run", scenarios=6, strategies=STRATEGIES
    )


def rows_of(file):
    return [orjson.loads(line) for line in file.read_bytes().splitlines()]


def made(tmp_path, run, kind, form):
    folder = tmp_path / f"{kind}-{form}"
    options = {"include_deception": True} if kind == "dpo" else {}
    return exported(folder, run, kind, format=form, parquet=False, **options)


@pytest.mark.parametrize("form", FORMATS.shipped)
@pytest.mark.parametrize("kind", ["sft", "dpo"])
def test_no_side_of_a_row_is_empty_in_any_format(tmp_path, run, kind, form):
    done = made(tmp_path, run, kind, form)
    shape = FORMATS.get(form)
    columns = shape.pair_columns if kind == "dpo" else shape.example_columns

    def texts(value):
        if isinstance(value, str):
            return [value]
        items = value.values() if isinstance(value, dict) else value
        return [text for item in items for text in texts(item)]

    for row in rows_in(done.folder):
        for column in columns:
            assert all(text.strip() for text in texts(row[column.name]))


@pytest.mark.parametrize("form", FORMATS.shipped)
@pytest.mark.parametrize("kind", ["sft", "dpo"])
def test_rows_have_exactly_the_columns_that_are_declared(tmp_path, run, kind, form):
    done = made(tmp_path, run, kind, form)
    names = [column.name for column in done.facts.files[0].columns]
    assert all(list(row) == names for row in rows_in(done.folder))


def test_every_format_says_the_same(tmp_path, run):
    """The texts of a row, in order, are the same in all formats."""

    def sft(row, form):
        if form in ("messages", "axolotl"):
            return [message["content"] for message in row["messages"]]
        if form == "prompt-completion":
            return [message["content"] for message in (*row["prompt"], *row["completion"])]
        if form == "alpaca":
            return [row["instruction"], row["input"], row["output"]]
        return [row["system"], *(turn["value"] for turn in row["conversations"])]

    said = {
        form: [sft(row, form) for row in rows_in(made(tmp_path, run, "sft", form).folder)]
        for form in FORMATS.shipped
    }
    assert all(rows == said["messages"] for rows in said.values())


class PlainTokenizer:
    """As much of a tokenizer as TRL needs to put a chat into one text."""

    bos_token = "<s>"
    eos_token = "</s>"

    def apply_chat_template(self, messages, *, tokenize=False, **options):
        text = "".join(f"<{m['role']}>{m['content']}</s>" for m in messages)
        return text + ("<assistant>" if options.get("add_generation_prompt") else "")


@pytest.mark.parametrize(
    ("kind", "form", "keys"),
    [
        ("sft", "messages", {"messages"}),
        ("sft", "prompt-completion", {"prompt", "completion"}),
        ("dpo", "messages", {"prompt", "chosen", "rejected"}),
    ],
)
def test_trl_takes_the_rows_as_conversations(tmp_path, run, kind, form, keys):
    pytest.importorskip("trl")
    data_utils = importlib.import_module("trl.data_utils")
    done = made(tmp_path, run, kind, form)
    for row in rows_in(done.folder):
        example = {key: row[key] for key in keys}
        assert data_utils.is_conversational(example)
        flat = data_utils.apply_chat_template(example, PlainTokenizer())
        assert set(flat) == ({"text"} if keys == {"messages"} else keys)
        if keys != {"messages"}:
            assert flat["prompt"].endswith("<assistant>")
        assert all(flat.values())


def test_trl_finds_the_prompt_of_a_pair_where_it_stands(tmp_path, run):
    pytest.importorskip("trl")
    data_utils = importlib.import_module("trl.data_utils")
    for row in rows_in(made(tmp_path, run, "dpo", "messages").folder):
        example = {key: row[key] for key in ("prompt", "chosen", "rejected")}
        whole = {
            "chosen": example["prompt"] + example["chosen"],
            "rejected": example["prompt"] + example["rejected"],
        }
        assert data_utils.extract_prompt(whole) == example


def read_as_llama_factory_does(entry, row):
    """Return prompt and responses as its converters make them, by its documented rules.

    Alpaca: the prompt is ``prompt`` and ``query`` joined. ShareGPT: turns alternate, human first;
    an example ends with the model, a pair's conversation with the human. Else a row is dropped.
    """
    columns = entry["columns"]
    if entry.get("formatting", "alpaca") == "alpaca":
        parts = [row[columns[name]] for name in ("prompt", "query") if row[columns[name]]]
        prompt = [{"role": "user", "content": "\n".join(parts)}]
        sides = ("chosen", "rejected") if entry.get("ranking") else ("response",)
        return prompt, [row[columns[side]] for side in sides]
    turns = row[columns["messages"]]
    assert [turn["from"] for turn in turns] == (["human", "gpt"] * len(turns))[: len(turns)]
    assert row[columns["system"]]
    if entry.get("ranking"):
        assert len(turns) % 2 == 1
        answers = [row[columns[side]] for side in ("chosen", "rejected")]
        assert {answer["from"] for answer in answers} == {"gpt"}
        return turns, [answer["value"] for answer in answers]
    assert len(turns) % 2 == 0
    return turns[:-1], [turns[-1]["value"]]


@pytest.mark.parametrize("form", ["alpaca", "sharegpt"])
@pytest.mark.parametrize("kind", ["sft", "dpo"])
def test_llama_factory_is_told_of_every_split_and_reads_every_row(tmp_path, run, kind, form):
    done = made(tmp_path, run, kind, form)
    info = orjson.loads((done.folder / "dataset_info.json").read_bytes())
    subsets = ASPECTS if kind == "sft" else ["preference"]
    assert set(info) == {f"hipo_{s}_{split}" for s in subsets for split in done.rows}
    for entry in info.values():
        rows = rows_of(done.folder / entry["file_name"])
        assert (done.folder / entry["file_name"]).is_file()
        assert rows
        for row in rows:
            prompt, answers = read_as_llama_factory_does(entry, row)
            assert all(prompt)
            assert len(answers) == (2 if kind == "dpo" else 1)
            assert all(answers)


@pytest.mark.parametrize("form", ["alpaca", "sharegpt"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("sft", {}),
        ("sft", {"rationale": True}),
        ("sft", {"task": "actor"}),
        ("sft", {"task": "initiator"}),
        ("dpo", {"include_deception": True}),
    ],
)
def test_the_converter_of_llama_factory_reads_what_the_row_says(
    tmp_path, run, kind, options, form, llama_factory
):
    parser, converter = llama_factory
    done = exported(tmp_path / "set", run, kind, format=form, parquet=False, **options)
    info = orjson.loads((done.folder / "dataset_info.json").read_bytes())
    for name, entry in info.items():
        [attributes] = parser.get_dataset_list([name], str(done.folder))
        convert = converter.get_dataset_converter(attributes.formatting, attributes, None)
        for row in rows_of(done.folder / entry["file_name"]):
            out = convert(row)
            prompt, answers = read_as_llama_factory_does(entry, row)
            assert out["_prompt"], row["id"]
            assert [m["content"] for m in out["_prompt"]] == [
                turn.get("value", turn.get("content")) for turn in prompt
            ]
            assert [m["content"] for m in out["_response"]] == answers
            assert {m["role"] for m in out["_response"]} == {"assistant"}


@pytest.mark.parametrize("kind", ["sft", "dpo"])
def test_axolotl_is_told_which_file_has_which_messages(tmp_path, run, kind):
    done = made(tmp_path, run, kind, "axolotl")
    stanza = yaml.safe_load((done.folder / "axolotl.yaml").read_text())
    assert stanza.get("rl") == ("dpo" if kind == "dpo" else None)
    train, test = stanza["datasets"][0], stanza["test_datasets"][0]
    part = "utterance/" if kind == "sft" else ""
    assert (train["path"], test["path"]) == (
        f"jsonl/{part}train.jsonl", f"jsonl/{part}validation.jsonl",
    )  # fmt: skip
    row = rows_of(done.folder / train["path"])[0]
    mapping = train["message_property_mappings"]
    assert all(set(message) == set(mapping) for message in row[train["field_messages"]])
    if kind == "sft":
        assert train["type"] == "chat_template"
        assert row["messages"][-1]["role"] == train["roles_to_train"][0] == "assistant"
    else:
        assert train["type"] == "chat_template.default"
        for side in ("field_chosen", "field_rejected"):
            assert set(row[train[side]]) == set(mapping)


def test_an_unknown_format_is_answered_with_the_nearest():
    with pytest.raises(UsageError) as caught:
        FORMATS.get("sharegtp")
    assert "did you mean 'sharegpt'?" in caught.value.hint


@pytest.mark.parametrize("point", [KINDS, FORMATS])
def test_every_kind_and_format_that_ships_is_listed_under_its_name(point):
    for name in point.shipped:
        assert point.get(name).name == name
        assert point.get(name).point == point.name
