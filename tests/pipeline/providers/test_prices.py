from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.providers.prices import Price, PriceTable
from pipeline.providers.protocol import Usage
from scenarios.errors import InputError
from scenarios.plugins import PLUGINS


def test_the_shipped_list_knows_models_by_name_and_pattern():
    table = PriceTable.load()
    assert table.price("openai", "gpt-4o") == Price(2.5, 10, 1.25)
    assert table.price("anthropic", "claude-3-7-sonnet-20250219").output == 15
    assert table.price("offline", "rules").cost(Usage(10**6, 10**6)) == 0


def test_what_nobody_priced_has_no_price():
    table = PriceTable.load()
    assert table.price("compatible", "gpt-4o") is None
    assert table.price("openai", "gpt-4o-audio-preview") is None


def test_the_users_file_goes_before_the_shipped_list(tmp_path: Path):
    file = tmp_path / "prices.yaml"
    file.write_text(
        "prices:\n  compatible/*: {input: 1, output: 2}\n"
        "  compatible/qwen*: {input: 3, output: 4}\n  openai/gpt-4o: {input: 5, output: 6}\n"
    )
    table = PriceTable.load(file)
    assert table.price("compatible", "llama") == Price(1, 2)
    assert table.price("compatible", "qwen3-32b") == Price(3, 4)
    assert table.price("openai", "gpt-4o") == Price(5, 6)
    assert table.price("openai", "gpt-4o-mini") == Price(0.15, 0.6, 0.075)


@pytest.mark.parametrize(
    "row",
    [
        "{input: -1, output: 2}", "{input: 1}", "{input: 1, output: 2, inptu: 3}", "free",
        "{input: true, output: 2}", "{input: 1, output: 2, cached_input: false}",
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_its_line(tmp_path: Path, row: str):
    file = tmp_path / "prices.yaml"
    file.write_text(f"prices:\n  compatible/m: {row}\n")
    with pytest.raises(InputError) as caught:
        PriceTable.load(file)
    assert caught.value.problems[0].line == 2


def test_cached_tokens_cost_their_own_price_and_reasoning_counts_as_completion():
    price = Price(input=2.0, output=8.0, cached_input=0.5)
    usage = Usage(prompt=1000, completion=100, cached=600, reasoning=40)
    assert price.cost(usage) == pytest.approx((400 * 2 + 600 * 0.5 + 100 * 8) / 1e6)
    assert Price(2.0, 8.0).cost(usage) == pytest.approx((1000 * 2 + 100 * 8) / 1e6)


def test_writing_to_the_cache_costs_its_own_price_or_a_quarter_more_than_the_prompt():
    price = Price(input=2.0, output=8.0, cached_input=0.5, cache_write=2.5)
    usage = Usage(prompt=1000, completion=100, cached=600, cache_written=300)
    assert price.cost(usage) == pytest.approx((100 * 2 + 600 * 0.5 + 300 * 2.5 + 100 * 8) / 1e6)
    for same in (Price(2.0, 8.0, 0.5), Price(2.0, 8.0, 0.5, 2.5)):
        assert same.cost(usage) == pytest.approx((100 * 2 + 600 * 0.5 + 300 * 2.5 + 800) / 1e6)
    assert Price(2.0, 8.0, 0.5, 2.0).cost(usage) == pytest.approx((400 * 2 + 300 + 800) / 1e6)


def test_a_request_with_a_long_prompt_costs_more_as_a_whole(tmp_path: Path):
    file = tmp_path / "prices.yaml"
    row = "input: 1.25, cached_input: 0.125, output: 10"
    long = "long_above: 200000, long_input: 2.5, long_output: 15"
    file.write_text(f"batch: {{openai: 0.5}}\nprices:\n  openai/m: {{{row}, {long}}}\n")
    price = PriceTable.load(file).price("openai", "m")
    for prompt, sent, cached, output in [(200_000, 1.25, 0.125, 10), (200_001, 2.5, 0.25, 15)]:
        usage = Usage(prompt, 100, cached=50_000)
        expected = ((prompt - 50_000) * sent + 50_000 * cached + 100 * output) / 1e6
        assert price.of_request(prompt).cost(usage) == pytest.approx(expected)
        worst = (prompt * 1.25 * sent + 100 * output) / 1e6
        assert price.worst(prompt, 100) == pytest.approx(worst)
    halved = PriceTable.load(file, batch=True).price("openai", "m")
    assert halved.worst(300_000, 100) == pytest.approx(price.worst(300_000, 100) / 2)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            "prices:\n  gpt-4o: {input: 1, output: 2}\n",
            2,
            "found 'gpt-4o', expected provider/model",
        ),
        (
            "prices:\n  opneai/gpt-4o: {input: 1, output: 2}\n",
            2,
            "found the provider 'opneai'.*did you mean 'openai'",
        ),
        ("prices: {}\nbatch: {antropic: 0.5}\n", 2, "did you mean 'anthropic'"),
        ("prices: {}\nbatch: {'open*': 0.5}\n", 2, "found the provider 'open"),
        ("prices:\n  gpt*: {input: 1, output: 2}\n", 2, r"found 'gpt\*', expected provider/model"),
    ],
)
def test_a_row_that_no_model_can_have_is_refused(tmp_path: Path, text: str, line: int, says: str):
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        PriceTable.load(file)
    assert caught.value.problems[0].line == line


def test_a_row_of_a_plugin_that_the_run_names_says_which_one_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(PLUGINS, "stored", [Path("/sent/mine.py")])
    file = tmp_path / "prices.yaml"
    file.write_text("prices:\n  mine/x: {input: 1, output: 2}\n")
    with pytest.raises(InputError, match=r"if you trust it, --plugin /sent/mine\.py"):
        PriceTable.load(file)


def test_a_pattern_may_stand_for_providers_too(tmp_path: Path):
    file = tmp_path / "prices.yaml"
    file.write_text(
        "prices:\n  '*/small': {input: 1, output: 2}\n  '*': {input: 3, output: 4}\n"
        "  'anthropic*': {input: 5, output: 6}\n  '[hc]f/m': {input: 7, output: 8}\n"
    )
    table = PriceTable.load(file)
    assert table.price("compatible", "small") == Price(1, 2)
    assert table.price("openai", "gpt-4o") == Price(3, 4)
    assert table.price("anthropic", "m") == Price(5, 6)


def test_what_long_prompts_cost_is_named_as_a_whole(tmp_path: Path):
    file = tmp_path / "prices.yaml"
    file.write_text("prices:\n  openai/m: {input: 1, output: 2, long_above: 200000}\n")
    with pytest.raises(InputError, match="found no long_input and long_output, expected") as caught:
        PriceTable.load(file)
    assert caught.value.problems[0].line == 2


rates = st.floats(0, 100)


@given(
    st.builds(
        Price,
        rates,
        rates,
        st.none() | rates,
        st.none() | rates,
        st.none() | st.integers(1, 5000),
        rates,
        rates,
    ),
    st.integers(0, 5000),
    st.integers(0, 5000),
    st.integers(1, 8),
    st.data(),
)
def test_no_reply_within_its_bounds_costs_more_than_the_worst_case(price, prompt, length, n, data):
    cached = data.draw(st.integers(0, prompt))
    completion = data.draw(st.integers(0, n * length))
    written = data.draw(st.integers(0, prompt - cached))
    used = Usage(prompt, completion, cached, cache_written=written)
    cost = price.of_request(prompt).cost(used)
    assert cost <= price.worst(prompt, length, n) * (1 + 1e-9)
