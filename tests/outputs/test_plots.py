import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outputs.plots.bars import Bar, BarRow, FunnelStage, bar_chart, funnel_chart
from outputs.plots.canvas import (
    SIZE,
    WIDTH,
    Canvas,
    fitted,
    legend_lines,
    plot_styles,
    standalone,
    text_width,
)
from outputs.plots.forest import PlottedDifference, forest_plot
from outputs.plots.heatmap import heatmap
from outputs.plots.lines import Series, Spot, line_chart

SVG = "{http://www.w3.org/2000/svg}"
texts = st.text(max_size=60)
shares = st.floats(0, 1)


def parsed(svg):
    return ElementTree.fromstring(svg)


def boxes(root):
    """Yield (left, top, right, bottom, text) of every text, as wide as it may be at most."""
    for element in root.iter(f"{SVG}text"):
        x, y = float(element.get("x")), float(element.get("y"))
        width = text_width(element.text or "")
        left = {"start": x, "middle": x - width / 2, "end": x - width}[
            element.get("text-anchor", "start")
        ]
        if "transform" in element.attrib:
            yield (
                x,
                y - width * math.sin(math.pi / 4),
                x + width * math.cos(math.pi / 4),
                y,
                element.text,
            )
        else:
            yield left, y - 0.78 * SIZE, left + width, y + 0.25 * SIZE, element.text


def check(svg):
    """Return the root of a sound drawing: no nan, no text beyond the edge."""
    assert not re.search(r"\b(nan|inf)\b", re.sub(r">[^<]*<|aria-label=\"[^\"]*\"", "><", svg))
    root = parsed(svg)
    x, y, width, height = map(float, root.get("viewBox").split())
    assert root.get("role") == "img"
    for left, top, right, bottom, text in boxes(root):
        assert left >= x - 1, text
        assert right <= x + width + 1, text
        assert top >= y - 1, text
        assert bottom <= y + height + 4, text
    return root


def overlapping(root):
    """Return pairs of level texts whose boxes meet."""
    found = [box for box in boxes(root) if box[4]]
    return [
        (one[4], other[4])
        for i, one in enumerate(found)
        for other in found[i + 1 :]
        if min(one[2], other[2]) - max(one[0], other[0]) > 0.5
        and min(one[3], other[3]) - max(one[1], other[1]) > 1.5
    ]


@st.composite
def bars(draw):
    low, value, high = sorted(draw(st.tuples(shares, shares, shares)))
    mark = draw(st.none() | shares)
    return Bar(value, draw(st.text(max_size=20)), low, high, mark)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), series=st.integers(1, 4), mark=texts)
def test_bars_stay_inside_and_their_labels_apart(data, series, mark):
    rows = data.draw(st.lists(st.builds(BarRow, texts, st.tuples(*[bars()] * series)), max_size=6))
    names = data.draw(st.lists(texts, min_size=series, max_size=series))
    root = check(bar_chart(rows, label="bars", series=names, mark=mark, top=1.0))
    labels = [e for e in root.iter(f"{SVG}text") if (e.get("class") or "") == "text"]
    assert len(labels) >= len(rows)
    assert not overlapping(root)


@st.composite
def contrasts(draw):
    ends = st.floats(-1, 1)
    low, value, high = sorted(draw(st.tuples(ends, ends, ends)))
    return PlottedDifference(draw(st.text(max_size=20)), value, f"{100 * value:+.1f}", low, high)


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(contrasts(), max_size=6))
def test_forests_stay_inside_and_fill_the_boxes_that_leave_zero_out(rows):
    root = check(forest_plot(rows, label="forest", axis="less, more"))
    boxes = [e.get("class") for e in root.iter(f"{SVG}rect")]
    assert len(boxes) == len(rows)
    for row, drawn in zip(rows, boxes, strict=True):
        assert drawn.startswith("spot" if row.low > 0 or row.high < 0 else "hollow")


@settings(max_examples=30, deadline=None)
@given(data=st.data(), names=st.lists(texts, max_size=7, unique=True))
def test_lines_stay_inside_whatever_they_are_called(data, names):
    series = []
    for name in names:
        xs = data.draw(st.lists(st.integers(0, 200), max_size=5, unique=True))
        spots = []
        for x in xs:
            low, value, high = sorted(data.draw(st.tuples(shares, shares, shares)))
            spots.append(Spot(x, value, "about", low, high))
        series.append(Series(name, tuple(spots)))
    root = check(line_chart(series, label="lines", axis="exchanges"))
    assert not overlapping(root)


@settings(max_examples=30, deadline=None)
@given(
    data=st.data(),
    rows=st.lists(texts, max_size=6, unique=True),
    columns=st.lists(texts, min_size=1, max_size=12, unique=True),
)
def test_heat_maps_stay_inside_and_show_every_count(data, rows, columns):
    counts = [
        data.draw(st.lists(st.integers(0, 10**8), min_size=len(columns), max_size=len(columns)))
        for _ in rows
    ]
    root = check(heatmap(rows, columns, counts, axes=("right", "given"), label="heat"))
    shown = [e.text for e in root.iter(f"{SVG}text")]
    assert {"given →", "right ↓", "100% of its row"} <= set(shown)
    tooltips = [e.text for e in root.iter(f"{SVG}title")]
    for row in counts:
        for count in row:
            assert any(f": {count:,} (" in (text or "") for text in tooltips)


@settings(deadline=None)
@given(st.lists(st.tuples(texts, st.none() | st.integers(0, 10**9)), max_size=7))
def test_funnels_stay_inside_and_an_unknown_stage_is_empty(stages):
    drawn = funnel_chart([FunnelStage(name, n, str(n)) for name, n in stages], label="funnel")
    root = check(drawn)
    known = [e for e in root.iter(f"{SVG}rect") if (e.get("class") or "").startswith("bar")]
    assert len(known) == sum(1 for _, n in stages if n)


@settings(deadline=None)
@given(texts)
def test_text_in_a_drawing_is_text_whatever_it_says(text):
    drawn = bar_chart([BarRow(text, (Bar(0.5, text),))], label=text)
    tags = {element.tag.removeprefix(SVG) for element in parsed(drawn).iter()}
    assert tags <= {"svg", "text", "title", "rect", "line"}


@settings(deadline=None)
@given(texts, st.floats(0, 400))
def test_fitted_text_is_never_wider_than_asked(text, width):
    shown = fitted(text, width)
    assert text_width(shown) <= max(width, text_width("…"))
    assert shown == " ".join(shown.split())


def test_shortened_text_keeps_all_of_it_as_a_tooltip():
    long = "a label that is far too long for the place it has been given in this small drawing"
    root = parsed(bar_chart([BarRow(long, (Bar(0.5, "half"),))], label="x"))
    shown = next(e for e in root.iter(f"{SVG}text") if (e.text or "").startswith("a label"))
    assert shown.text.endswith("…")
    assert shown.find(f"{SVG}title").text == long


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.5])
def test_what_is_no_length_is_refused(value):
    with pytest.raises(ValueError):
        bar_chart([BarRow("a", (Bar(value, "?"),))], label="x", top=1.0)


@pytest.mark.parametrize("point", [(-5, 1), (1, 11), (math.nan, 1)])
def test_a_point_off_the_surface_is_refused(point):
    with pytest.raises(ValueError, match="outside"):
        Canvas(10, 10, "x").circle(point, 1, "spot")


def test_a_share_above_one_is_refused():
    with pytest.raises(ValueError, match="no share"):
        line_chart([Series("a", (Spot(1, 1.5, "?"),))], label="x", axis="n")


def test_bars_are_as_long_as_their_values():
    rows = [BarRow("a", (Bar(1.0, "x"),)), BarRow("b", (Bar(0.25, "x"),))]
    root = parsed(bar_chart(rows, label="x"))
    found = [float(e.get("width")) for e in root.iter(f"{SVG}rect") if "bar" in e.get("class")]
    assert found[1] == pytest.approx(found[0] / 4, abs=0.02)


def test_a_legend_breaks_into_lines_before_it_leaves_the_drawing():
    lines = legend_lines(["Communicative intention", "Veracity strategy", "Illocutionary act"])
    assert len(lines) == 2
    assert [number for line in lines for number, _, _ in line] == [0, 1, 2]


def test_a_file_of_its_own_brings_its_colours_for_light_and_dark():
    svg = standalone(bar_chart([BarRow("a", (Bar(0.5, "half"),))], label="x"))
    assert "prefers-color-scheme: dark" in svg
    styles = parsed(svg).find(f"{SVG}style").text
    assert styles.startswith(plot_styles())
    assert "background: var(--paper)" in styles.removeprefix(plot_styles())


def test_a_file_of_its_own_says_what_it_shows_with_room_around_it():
    label = "Accuracy on <goal> against the labels that an expert decided on: offline/judge 50.0%"
    plot = bar_chart([BarRow("a", (Bar(0.5, "half"),))], label=label)
    root = parsed(standalone(plot))
    above = [text for text in root.iter(f"{SVG}text") if float(text.get("y")) < 0]
    said = " ".join(text.text for text in above)
    assert said == "Accuracy on <goal> against the labels that an expert decided on"
    assert all(text_width(text.text) <= WIDTH for text in above)
    x, y, width, height = map(float, root.get("viewBox").split())
    inner = [float(number) for number in parsed(plot).get("viewBox").split()]
    assert x < 0 < inner[2] < x + width
    assert y < min(float(text.get("y")) for text in above) - 12
    assert inner[3] < y + height


def test_every_class_that_is_drawn_has_a_colour():
    drawn = [
        bar_chart([BarRow("a", (Bar(0.5, "x", 0.1, 0.6, 0.3),) * 7)], label="x", mark="m",
                  series=list("abcdefg")),
        line_chart([Series(str(i), (Spot(1, 0.5, "x", 0.1, 0.9), Spot(2, 0.5, "x"))) for i in range(7)],
                   label="x", axis="n"),
        heatmap(["a"], ["a", "b"], [[3, 0]], axes=("right", "given"), label="x"),
        funnel_chart([FunnelStage(str(i), 5, "x") for i in range(7)], label="x"),
    ]  # fmt: skip
    used = {
        name
        for svg in drawn
        for element in parsed(svg).iter()
        for name in (element.get("class") or "").split()
    }
    styled = set(re.findall(r"\.([a-z]\w*)", plot_styles()))
    assert used - styled <= {"f0", "d0"}  # the first of each kind is the plain one
