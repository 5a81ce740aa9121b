"""Figures of a report are those of the store of its run."""

import asyncio
import json
import re
import sqlite3
from dataclasses import replace

import pytest

from outputs.report.effort import quantile
from pipeline.store.run_store import RunStore
from scenarios.margins import Margin
from scenarios.schemes.registry import load_scheme
from scenarios.verdicts import JudgeRun
from tests.outputs.html_tree import XHTML, parsed, section, words_of
from tests.outputs.report.report_page import page_of, table
from tests.outputs.sample_run import let_people_answer, reported_run


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
    assert found["Exported"] == ["none recorded"]
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
    (judged,) = re.findall(r"(\d+) labels judged", tiles)
    arms = table(section(found, "overview"), "Who wrote what").values()
    assert sum(int(cells[-1].rpartition(" of ")[2]) for cells in arms) == int(judged)
    for name in ("strategies", "turns"):
        charts = [words_of(e) for e in section(found, name).iter(f"{XHTML}figure")]
        assert charts
        assert not any("self-judgement" in chart.lower() for chart in charts)
    agreement = section(found, "agreement")
    assert "self-judgement" not in words_of(agreement)
    drawn = [words_of(e) for e in agreement.iter(f"{XHTML}figure")]
    assert any("labelled anew" in figure for figure in drawn)
    assert "colour shows shares of a row" in words_of(agreement)
    blind = [row for row in agreement.iter(f"{XHTML}tr") if "compatible/m" in words_of(row)]
    assert blind
    assert all("blind reading · compatible/m" in words_of(row) for row in blind)
    assert len({words_of(row) for row in blind}) == len(blind)
    samples = words_of(section(found, "samples"))
    assert "blind ✓" in samples
    assert "self ✓" not in samples


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


def test_published_numbers_stand_only_beside_the_version_they_were_printed_for(tree, tmp_path):
    scenarios, facts, dialogues, answers = map(int, table(tree, "By category")["products"])
    assert 1 <= scenarios <= facts <= dialogues <= answers
    old = parsed(page_of(reported_run(tmp_path / "old", scheme="hipo@1")))
    assert table(old, "By category")["products"][4:] == ["9", "56", "384", "1,378"]
    assert table(old, "By category")["all"][4:] == ["31", "189", "1,131", "4,088"]
    assert "published" not in words_of(section(old, "strategies"))


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
    labels = {row[1]: row[2:] for row in rows if row[-1] in {"1 of 2", "2 of 2"}}
    assert set(labels) == {"Inform", "Convince", "Affect"}
    # Of three answers Inform two agree: 2 / (2 + 1).
    assert (labels["Inform"][0], labels["Inform"][4:]) == ("0.67", ["3", "2", "2 of 2"])
    assert (labels["Affect"][0], labels["Affect"][-1]) == ("0.00", "1 of 2")


@pytest.mark.parametrize(
    ("turns", "units", "drawn"),
    [((3,), "items", "items one by one"), ((3, 5), "dialogues", "whole dialogues")],
)
def test_labels_of_people_are_counted_by_what_intervals_draw(tmp_path, turns, units, drawn):
    folder = reported_run(tmp_path / "reviewed")
    let_people_answer(folder, turns)
    found = section(parsed(page_of(folder)), "agreement")
    heads = [
        [words_of(cell) for cell in row.iter(f"{XHTML}th")] for row in found.iter(f"{XHTML}tr")
    ]
    (head,) = [head for head in heads if "specific" in head]
    assert head[-2:] == [units, "given by"]
    assert f"Intervals draw {drawn}." in words_of(found)


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


def test_quantiles_are_those_of_the_single_values():
    assert quantile([(1, 5), (2, 4), (9, 1)], 0.5) == 1
    assert quantile([(1, 5), (2, 4), (9, 1)], 0.95) == 9
    assert quantile([], 0.5) is None
