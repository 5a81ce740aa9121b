import asyncio
import base64
import hashlib
import json
import re
import sqlite3
from dataclasses import replace
from itertools import pairwise

import pytest
import tinyhtml5.parser

from hipo.app.verification import policy_material
from hipo.cli.main import run as hipo
from outputs.report.build import build_report
from outputs.report.cumulative import CumulativeScore, read_scores
from outputs.report.effort import quantile
from outputs.report.exported import exported_dialogues
from outputs.report.gathered import ReportOptions, chosen
from pipeline.store.queries.report import open_figures
from pipeline.store.queries.report_rows import Sample
from pipeline.store.run_store import RunStore
from quality.gates.settings import gate_settings
from quality.policy import Policy, Rule
from scenarios.catalogue import Catalogue
from scenarios.errors import InputError, UsageError
from scenarios.margins import Margin
from scenarios.schemes.registry import load_scheme
from scenarios.verdicts import JudgeRun
from tests.outputs.sample_run import HOSTILE, let_people_answer, reported_run

ALLOWED = frozenset(
    """
    html head meta title style body a header h1 h2 p nav ul li main section div figure figcaption
    svg text rect line polygon polyline circle details summary table caption thead tbody tr th td
    span strong code footer
    """.split()  # noqa: SIM905
)
XHTML = "{http://www.w3.org/1999/xhtml}"


def page_of(run, **options):
    return asyncio.run(build_report(run, ReportOptions(**options), name=str(run), version="1.2.3"))


def parsed(html):
    """Return the tree of a page that has no parse error."""
    parser = tinyhtml5.parser.HTMLParser()
    tree = parser.parse(html)
    assert parser.errors == []
    return tree


def words_of(element):
    return " ".join("".join(element.itertext()).split())


def table(tree, caption):
    """Return the rows of a table by their first cell."""
    for found in tree.iter(f"{XHTML}table"):
        if words_of(found.find(f"{XHTML}caption")).startswith(caption):
            body = found.find(f"{XHTML}tbody")
            rows = [[words_of(cell) for cell in row] for row in body]
            return {row[0]: row[1:] for row in rows}
    raise AssertionError(f"no table {caption!r}")


def section(tree, name):
    return next(e for e in tree.iter(f"{XHTML}section") if e.get("id") == name)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return reported_run(tmp_path_factory.mktemp("runs") / "sample")


@pytest.fixture(scope="module")
def page(run):
    return page_of(run)


@pytest.fixture(scope="module")
def tree(page):
    return parsed(page)


@pytest.fixture(scope="module")
def sql(run):
    connection = sqlite3.connect(run / "run.sqlite")

    def query(statement, *values):
        return connection.execute(statement, values).fetchall()

    yield query
    connection.close()


def test_every_section_is_there(tree):
    ids = [e.get("id") for e in tree.iter(f"{XHTML}section")]
    assert ids == [
        "showcase", "overview", "funnel", "labels", "accepted", "scenarios", "strategies", "turns",
        "tactics", "agreement", "diversity", "effort", "samples", "flags", "absent",
    ]  # fmt: skip
    folded = [e.get("id") for e in section(tree, "absent").iter(f"{XHTML}li")]
    assert folded == ["cumulative", "audit"]
    linked = [e.get("href") for e in tree.iter(f"{XHTML}a")]
    assert linked == ["#content", *(f"#{name}" for name in ids)]


def test_the_funnel_counts_what_the_store_counts(tree, sql):
    found = table(tree, "Dialogues by stage")
    planned = sql("select (select count(*) from cases) * (select count(*) from arms)")[0][0]
    generated = sql("select count(*) from dialogues where status = 'generated'")[0][0]
    verdicts = dict(sql("select verdict, count(*) from newest_decisions group by 1"))

    def said(n):
        return [f"{n} ({100 * n / planned:.1f}%)"]

    assert found["Planned"] == said(planned)
    assert found["Generated"] == said(generated)
    assert found["Verified"] == said(sum(verdicts.values()))
    assert found["Reviewed or cleared"] == said(verdicts["accepted"] + verdicts["discarded"])
    assert found["Accepted"] == said(verdicts["accepted"])
    assert found["Exported"] == ["not known"]
    losses = table(tree, "Where dialogues were lost")
    assert losses["planned → generated"] == ["1", "timeout 1"]
    assert losses["verified → reviewed"][0] == str(verdicts["pending"])
    assert "self_veracity" in losses["verified → reviewed"][1]
    assert losses["reviewed → accepted"][0] == str(verdicts["discarded"])


@pytest.mark.parametrize(
    ("dimension", "title"),
    [
        ("intention", "Communicative intention"),
        ("veracity", "Veracity strategy"),
        ("illocutionary", "Illocutionary act"),
    ],
)
def test_label_counts_are_those_of_the_store(tree, sql, dimension, title):
    rows = dict(
        sql(
            "select value, count(*) from labels where kind = 'declared' and dimension = ?"
            " group by 1",
            dimension,
        )
    )
    found = table(section(tree, "labels"), title)
    assert {name: int(cells[0]) for name, cells in found.items() if cells[0] != "0"} == rows
    assert set(found) == set(load_scheme("hipo").dimension(dimension).values)


def test_consistency_is_that_of_the_store(tree, sql):
    for arm, name in (("direct-compatible-m", "direct · compatible/m"),):
        for source, place in (("self", 0), ("external", 1)):
            yes, judged = sql(
                "select sum(carried), count(carried) from labels"
                " where arm = ? and kind = ? and dimension = 'veracity'",
                arm, source,
            )[0]  # fmt: skip
            cell = table(section(tree, "strategies"), "Veracity strategy")[name][place]
            assert cell.startswith(f"{100 * yes / judged:.1f}% [")
            assert cell.endswith(f"] of {judged}")


def test_what_only_readers_label_is_found_where_it_is_expected_under_the_goal(tree, sql):
    for dimension, title in (("goal", "Conversation goal"), ("misled", "Hearer misled")):
        right, judged = sql(
            "select sum(carried), count(*) from labels where kind = 'external'"
            " and arm = 'direct-compatible-m' and dimension = ?", dimension,
        )[0]  # fmt: skip
        cell = table(section(tree, "strategies"), title)["direct · compatible/m"][-1]
        assert cell.startswith(f"{100 * right / judged:.1f}%")


def test_agreement_stands_beside_what_chance_and_the_scene_bring_about(tree, sql):
    words = words_of(section(tree, "agreement"))
    assert "Declared labels against labels that judges name blind" in words
    assert "shuffled 100 times" in words


def test_wanted_and_declared_labels_meet_as_often_as_in_the_store(tree, sql):
    rows = sql(
        "select w.value, l.value, count(*) from labels w join labels l using (dialogue, turn,"
        " dimension) where w.kind = 'wanted' and l.kind = 'declared'"
        " and dimension = 'intention' group by 1, 2"
    )
    found = table(section(tree, "tactics"), "Communicative intention")
    columns = ["Inform", "Convince", "Motivate", "Affect"]
    for first, second, n in rows:
        assert found[first][columns.index(second)] == str(n)
    assert sum(int(cell) for row in found.values() for cell in row) == sum(r[2] for r in rows)


def test_requests_tokens_and_cost_are_those_of_the_store(tree, sql):
    n, failed, tokens, cost = sql(
        "select count(*), sum(code <> 'ok'), sum(prompt_tokens), sum(cost_usd) from requests"
    )[0]
    row = table(tree, "Requests by role and model")["responder"]
    assert row[:4] == ["compatible/m", str(n), str(failed), f"{tokens:,}"]
    assert row[5] == f"${cost:.4f}"
    times = sorted(t for (t,) in sql("select latency_s from requests where code = 'ok'"))
    median = times[-(-len(times) // 2) - 1]
    assert row[6] == (f"{1000 * median:.0f} ms" if median < 1 else f"{median:.1f} s")
    trouble = table(tree, "Retries and failures")
    assert trouble["requests that failed"] == [str(failed), f"rate_limited {failed}"]
    unusable = sql("select count(*) from choices where status = 'invalid'")[0][0]
    assert trouble["answers that could not be used"] == [str(unusable), f"invalid {unusable}"]


def test_flags_are_counted_by_verdict(tree, sql):
    rows = sql(
        "select e.verdict, count(distinct s.dialogue) from newest_assessments s join flags f"
        " on f.assessment = s.seq join newest_decisions e on e.dialogue = s.dialogue"
        " where f.code = 'self_veracity' group by 1"
    )
    found = table(section(tree, "flags"), "Dialogues with each flag")["self_veracity"]
    assert found[0] == str(sum(n for _, n in rows))
    assert dict(zip(("accepted", "discarded", "pending"), map(int, found[1:4]), strict=True)) == {
        "accepted": 0, **dict(rows),
    }  # fmt: skip


def test_a_report_opens_with_one_dialogue_of_each_strategy_and_how_it_came_to_be(tree, sql):
    strategies = {json.loads(text)["strategy"] for (text,) in sql("select description from arms")}
    shown = list(section(tree, "showcase").iter(f"{XHTML}details"))
    assert len(shown) == len(strategies)
    assert all("open" in one.attrib for one in shown)
    told = words_of(section(tree, "showcase"))
    for strategy, sign in (("reflective", "draft"), ("consistency", "candidate 1")):
        assert strategy not in strategies or sign in told


def test_the_verdicts_are_told_with_the_policy_that_gave_them(tree):
    told = words_of(section(tree, "overview"))
    assert "verified by the policy test" in told
    assert "the policy on the others (test)" in words_of(section(tree, "funnel"))


def test_the_rules_and_thresholds_of_the_policy_stand_under_the_funnel(tmp_path):
    folder = reported_run(tmp_path / "run")
    policy = Policy(name="test", rules=(Rule(flags="self_*", at_least=0.4, then="discard"),))
    gates = gate_settings({"max_sentences": 7})
    with RunStore.open(folder) as store:
        store.add_materials([policy_material(policy, gates)])
    found = section(parsed(page_of(folder)), "funnel")
    assert table(found, "The policy test") == {
        "self_*": ["0.4 or more", "is discarded"],
        "any other flag": ["any", "waits for people"],
        "no flag": ["", "is accepted"],
    }
    assert "max sentences 7" in words_of(found)


def test_an_accepted_share_says_how_much_of_it_is_flagged(tmp_path):
    folder = reported_run(tmp_path / "run")
    connection = sqlite3.connect(folder / "run.sqlite")
    connection.execute("update decisions set verdict = 'accepted'")
    connection.commit()
    (flagged,) = connection.execute("select sum(flagged) from newest_assessments").fetchone()
    connection.close()
    told = words_of(section(parsed(page_of(folder)), "overview"))
    assert f"{flagged} of the accepted are flagged, which lets these flags pass" in told


def test_one_program_in_both_chairs_has_one_figure(tmp_path):
    folder = reported_run(tmp_path / "run")
    connection = sqlite3.connect(folder / "run.sqlite")
    connection.execute("update label_sources set who = 'compatible/m' where kind = 'external'")
    connection.commit()
    connection.close()
    found = parsed(page_of(folder))
    tiles = words_of(section(found, "overview"))
    assert "labels found again" in tiles
    assert "self-consistency" not in tiles
    for name in ("strategies", "turns"):
        charts = [words_of(e) for e in section(found, name).iter(f"{XHTML}figure")]
        assert charts
        assert not any("self-judgement" in chart.lower() for chart in charts)


def test_scenarios_and_facts_are_counted_the_worst_first(tree, sql):
    rows = sql(
        "select c.scenario, count(*), sum(e.verdict = 'accepted') from dialogues d"
        " join cases c on c.seq = d.case_seq join newest_decisions e on e.dialogue = d.seq"
        " where d.status = 'generated' group by 1"
    )
    found = table(section(tree, "scenarios"), "By scenario")
    for scenario, n, accepted in rows:
        assert found[scenario][2] == str(n)
        assert found[scenario][4] == f"{100 * accepted / n:.1f}% of {n}"
    shares = [float(cells[4].partition("%")[0]) for cells in found.values()]
    assert shares == sorted(shares)
    facts = table(section(tree, "scenarios"), "By fact")
    assert sum(int(cells[0]) for cells in facts.values()) == sum(n for _, n, _ in rows)


def test_what_was_accepted_stands_beside_all_of_it(tree, sql):
    rows = dict(
        sql(
            "select l.value, count(*) from labels l join newest_decisions e using (dialogue)"
            " where kind = 'declared' and dimension = 'intention' and e.verdict = 'accepted'"
            " group by 1"
        )
    )
    found = table(section(tree, "accepted"), "Communicative intention")
    assert {name: int(cells[2]) for name, cells in found.items() if cells[2] != "0"} == rows
    assert "accepted" in words_of(section(tree, "accepted"))


def test_shares_out_of_reach_are_told_beside_what_took_their_place(tmp_path):
    folder = reported_run(tmp_path / "run")
    unmet = (
        Margin(("intention",), ("Affect",), 1.0, 0.5),
        Margin(("intention",), ("Inform",), 0.0, 0.5),
    )
    connection = sqlite3.connect(folder / "run.sqlite")
    (config,) = connection.execute("select config from config_epochs").fetchone()
    stored = json.loads(config) | {"unmet_tactics": [margin.fields() for margin in unmet]}
    connection.execute("update config_epochs set config = ?", (json.dumps(stored),))
    connection.commit()
    connection.close()
    found = section(parsed(page_of(folder)), "tactics")
    rows = table(found, "Wanted shares that are out of reach")
    assert rows["Affect"][1:3] == ["100.0%", "50.0%"]
    assert rows["Inform"][1:3] == ["0.0%", "50.0%"]
    told = words_of(found)
    assert "asked for in their place: Inform 0.0% wanted and 50.0% to expect" in told
    assert "wanted and declared are the same" not in told.lower()


def test_ten_dialogues_are_shown_that_differ_and_the_worst_come_with_their_flags(tree):
    shown = list(section(tree, "samples").iter(f"{XHTML}details"))
    assert len(shown) == 10
    told = words_of(section(tree, "samples"))
    assert "Private fact:" in told
    assert "fixed opening" in told
    worst = section(tree, "flags")
    assert "self_veracity: declared otherwise" in words_of(worst)
    tags = [words_of(e) for e in worst.iter(f"{XHTML}span") if e.get("class") == "tag"]
    assert tags[3] == "discarded"


def test_published_numbers_stand_only_beside_the_version_they_were_printed_for(tree, tmp_path):
    assert len(table(tree, "By category")["products"]) == 3
    old = parsed(page_of(reported_run(tmp_path / "old", scheme="hipo@1")))
    assert table(old, "By category")["products"][3:] == ["9", "384", "1,378"]
    assert "published" not in words_of(section(old, "strategies"))


def test_nothing_is_loaded_from_elsewhere_and_nothing_runs(page, tree):
    tags = {re.sub(r"\{.*\}", "", str(e.tag)) for e in tree.iter()}
    assert tags <= ALLOWED
    for element in tree.iter():
        assert "style" not in element.attrib
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name in ("href", "src", "action", "data", "xlink:href"):
                assert value.startswith("#")
    styles = next(tree.iter(f"{XHTML}style")).text
    assert "url(" not in styles
    assert "@import" not in styles
    digest = base64.b64encode(hashlib.sha256(styles.encode()).digest()).decode()
    policy = next(
        e.get("content") for e in tree.iter(f"{XHTML}meta")
        if e.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_pictures_tell_what_they_show_to_those_who_cannot_see_them(tree):
    drawings = list(tree.iter("{http://www.w3.org/2000/svg}svg"))
    assert len(drawings) > 10
    for drawing in drawings:
        assert drawing.get("role") == "img"
        assert len(drawing.get("aria-label")) > 20
    headings = [
        e.tag.removeprefix(XHTML) for e in tree.iter() if e.tag in (XHTML + "h1", XHTML + "h2")
    ]
    assert headings[0] == "h1"
    assert set(headings[1:]) == {"h2"}


def test_the_same_run_gives_the_same_bytes(run, page):
    assert page_of(run) == page


def test_hostile_words_stay_words(tmp_path):
    folder = reported_run(tmp_path / "hostile", words=HOSTILE, name=HOSTILE, model=f"x/{HOSTILE}")
    html = page_of(folder)
    found = parsed(html)
    tags = {re.sub(r"\{.*\}", "", str(e.tag)) for e in found.iter()}
    assert tags <= ALLOWED
    assert "<script" not in html
    assert "{{ 7 * 7 }}" in html
    said = next(
        words_of(e) for e in found.iter(f"{XHTML}p")
        if e.get("class") == "said" and "Answer" in words_of(e)
    )  # fmt: skip
    assert "<script>alert('x')</script>" in said
    for element in found.iter():
        assert not any(name.startswith("on") for name in element.attrib)


def test_control_signs_are_replaced(tmp_path):
    folder = reported_run(tmp_path / "signs", words="a\x00b\x1b[31mc\ufffe")
    html = page_of(folder)
    parsed(html)
    assert "a\ufffdb\ufffd[31mc\ufffd" in html


def test_a_run_that_was_only_generated_says_what_is_missing(tmp_path):
    folder = reported_run(tmp_path / "raw", verified=False)
    found = parsed(page_of(folder))
    by_id = {element.get("id"): element for element in found.iter()}
    for name in ("accepted", "strategies", "turns", "agreement", "flags"):
        told = words_of(by_id[name])
        assert "This run has not been verified yet." in told
        assert f"hipo verify {folder}" in told
    stages = table(found, "Dialogues by stage")
    assert stages["Verified"] == ["0 (0.0%)"]
    assert stages["Accepted"] == ["not known"]
    assert "not verified yet" in words_of(section(found, "overview"))


def test_people_agree_as_they_answered_last_and_are_not_named(tmp_path):
    folder = reported_run(tmp_path / "reviewed")
    let_people_answer(folder)
    html = page_of(folder)
    assert "Secret Name" not in html
    rows = [
        [words_of(cell) for cell in row]
        for row in section(parsed(html), "agreement").iter(f"{XHTML}tr")
    ]
    (found,) = [row for row in rows if row[2] == "percent agreement"]
    assert found[:2] == ["review", "Communicative intention"]
    assert found[3] == "0.67"
    assert found[5:] == ["3", "2"]


async def second_opinion(folder):
    with RunStore.open(folder) as store:
        for dialogue in list(store.dialogues()):
            key = (dialogue.case.id, dialogue.arm)
            judged = [
                replace(j, judge="compatible/third", carried=j.carried ^ (j.turn == 3))
                for j in store.judgements.judgements([key])[key]
                if j.source == "external" and j.turn is not None
            ]
            await store.judgements.record(
                JudgeRun(*key, "external", "compatible/third", "c", 0, True), judged
            )


def test_members_of_a_panel_are_compared(tmp_path, sql):
    folder = reported_run(tmp_path / "panel")
    asyncio.run(second_opinion(folder))
    rows = [
        [words_of(cell) for cell in row]
        for row in section(parsed(page_of(folder)), "agreement").iter(f"{XHTML}tr")
    ]
    (found,) = [
        r for r in rows if r[0] == "compatible/other · compatible/third" and r[1].startswith("Ver")
    ]
    same, every = sql("select sum(turn <> 3), count(*) from labels"
                      " where kind = 'external' and dimension = 'veracity'")[0]  # fmt: skip
    assert found[2] == f"{100 * same / every:.1f}%"
    assert found[4] == str(every)


def test_a_run_with_nothing_in_it_has_a_page_too(tmp_path):
    folder = reported_run(tmp_path / "empty", verified=False, failed=12, strategies=("direct",))
    found = parsed(page_of(folder))
    assert "No dialogue has been generated yet." in words_of(found)
    assert table(found, "Dialogues by stage")["Generated"] == ["0 (0.0%)"]


def test_dialogues_made_by_rules_are_called_a_baseline(tmp_path):
    folder = reported_run(tmp_path / "rules", model="offline/rules", verified=False)
    assert "Demonstration baseline" in words_of(parsed(page_of(folder)))


def test_dialogues_of_a_model_are_not(tree):
    assert "Demonstration baseline" not in words_of(tree)


def test_a_scenario_that_has_changed_leaves_its_dialogue_readable(tmp_path, monkeypatch):
    folder = reported_run(tmp_path / "changed", verified=False)
    connection = sqlite3.connect(folder / "run.sqlite")
    connection.execute("update cases set scenario_fingerprint = 'other'")
    connection.commit()
    connection.close()
    told = words_of(section(parsed(page_of(folder)), "samples"))
    assert "Answer" in told
    assert "Private fact" not in told


def test_results_of_a_benchmark_are_drawn(run):
    scores = tuple(
        CumulativeScore(model, "veracity", turns, turns + hit, 10)
        for model, hit in (("a/one", 1), ("b/two", 4))
        for turns in (1, 2, 3)
    )
    found = parsed(page_of(run, cumulative=scores))
    unfolding = section(found, "cumulative")
    rows = [[words_of(cell) for cell in row] for row in unfolding.iter(f"{XHTML}tr")]
    assert ["b/two", "3", "70.0%", "10"] in rows
    assert "No benchmark results" not in words_of(unfolding)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("m,veracity,0,1,2", "turns"),
        ("m,veracity,1,3,2", "correct"),
        ("m,truth,1,1,2", "dimension"),
        ("m,veracity,1,x,2", "correct"),
        ("m,veracity,1", "correct"),
    ],
)
def test_a_bad_line_of_results_is_named(tmp_path, line, field):
    file = tmp_path / "scores.csv"
    file.write_text(f"model,dimension,turns,correct,items\nm,veracity,1,1,2\n{line}\n")
    with pytest.raises(InputError, match=f"scores.csv:3: {field}:"):
        read_scores(file, load_scheme("hipo"))


def test_results_without_a_column_are_refused(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("model,turns\n")
    with pytest.raises(InputError, match="dimension"):
        read_scores(file, load_scheme("hipo"))


def test_samples_are_as_different_as_they_can_be():
    known = Catalogue.load().scenarios
    names = list(known)[:6]
    samples = [
        Sample(f"{name}/{arm}/{goal}", arm, name, goal, 1, None)
        for name in names for arm in ("a", "b") for goal in ("x", "y")
    ]  # fmt: skip
    picked = chosen(samples, 6, known)
    assert len({sample.scenario for sample in picked}) == 6
    assert {sample.arm for sample in picked} == {"a", "b"}
    assert {sample.goal for sample in picked} == {"x", "y"}
    assert chosen(samples, 100, known) != []
    assert len(chosen(samples, 100, known)) == len(samples)


def test_quantiles_are_those_of_the_single_values():
    assert quantile([(1, 5), (2, 4), (9, 1)], 0.5) == 1
    assert quantile([(1, 5), (2, 4), (9, 1)], 0.95) == 9
    assert quantile([], 0.5) is None


def test_texts_of_an_arm_are_spread_evenly_over_it(run):
    with open_figures(run) as figures:
        every = figures.texts("direct-compatible-m", 1000)
        some = figures.texts("direct-compatible-m", 6)
    assert len(every) == 18
    assert len(some) == 6
    places = [every.index(text) for text in some]
    assert places == sorted(places)
    assert max(b - a for a, b in pairwise(places)) <= 3


def test_the_command_writes_the_page_and_says_where(run, tmp_path, capsys):
    target = tmp_path / "deep" / "report.html"
    assert hipo(["report", str(run), "-o", str(target), "--no-embeddings"]) == 0
    assert capsys.readouterr().out == f"report: {target}\n"
    parsed(target.read_text(encoding="utf-8"))
    assert [child.name for child in target.parent.iterdir()] == ["report.html"]
    assert hipo(["report", str(run), "-o", str(target), "--no-embeddings", "-q"]) == 0


def test_the_command_overwrites_nothing_of_others(run, tmp_path, capsys):
    mine = tmp_path / "notes.html"
    mine.write_text("my notes")
    assert hipo(["report", str(run), "-o", str(mine), "--no-embeddings"]) == 2
    assert mine.read_text() == "my notes"
    assert "no file of hipo's" in capsys.readouterr().err


def written_export(folder, rows):
    folder.mkdir()
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = [{"path": "train.jsonl", "rows": len(rows)}, {"path": "README.md"}]
    (folder / "manifest.json").write_text(json.dumps({"files": listed}))
    return folder


def test_exported_dialogues_are_counted_once_whatever_their_rows(run, tmp_path):
    mine = [{"run": "sample", "case": case, "arm": "a", "turn": n} for case in "xy" for n in (1, 3)]
    one = written_export(tmp_path / "one", [*mine, {"run": "other", "case": "z", "arm": "a"}])
    two = written_export(tmp_path / "two", [{"run": "sample", "case": "w", "arm": "a"}, mine[0]])
    assert exported_dialogues([one], "sample") == 2
    assert exported_dialogues([one, two], "sample") == 3
    with pytest.raises(UsageError, match="no dialogue of the run 'third'"):
        exported_dialogues([one], "third")


def test_the_funnel_ends_with_what_was_exported(run):
    found = parsed(page_of(run, exported=5))
    assert table(found, "Dialogues by stage")["Exported"] == ["5 (20.8%)"]
    assert "accepted → exported" in table(found, "Where dialogues were lost")


def test_an_export_that_is_none_is_refused(run, tmp_path, capsys):
    assert hipo(["report", str(run), "--export", str(tmp_path), "--no-embeddings"]) == 2
    assert "is not the folder of an export" in capsys.readouterr().err
