"""The page of a report: what it tells of any run, and that words on it stay words."""

import base64
import hashlib
import re
import sqlite3
from contextlib import closing

from hipo.app.verification.verify import policy_material
from outputs.report.unread import unread_rules
from pipeline.store.run_store import RunStore
from quality.gates.settings import gate_settings
from quality.verification.policy import Policy, Rule
from scenarios.verdicts import Decision
from tests.outputs.html_tree import XHTML, parsed, section, words_of
from tests.outputs.report.report_page import page_of, table
from tests.outputs.sample_run import HOSTILE, reported_run

ALLOWED = frozenset(
    """
    html head meta title style body a header h1 h2 p nav ul li main section div figure figcaption
    svg text rect line polygon polyline circle details summary table caption thead tbody tr th td
    span bdi strong code footer
    """.split()  # noqa: SIM905
)


def test_every_section_is_there(tree):
    ids = [e.get("id") for e in tree.iter(f"{XHTML}section")]
    assert ids == [
        "showcase", "overview", "method", "funnel", "labels", "accepted", "scenarios", "strategies", "turns",
        "tactics", "agreement", "diversity", "effort", "samples", "flags", "absent",
    ]  # fmt: skip
    folded = [e.get("id") for e in section(tree, "absent").iter(f"{XHTML}li")]
    assert folded == ["cumulative", "audit"]
    linked = [e.get("href") for e in tree.iter(f"{XHTML}a")]
    assert linked == ["#content", *(f"#{name}" for name in ids)]


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


def test_rules_that_do_not_know_a_language_are_named_with_its_dialogues(tmp_path):
    folder = reported_run(tmp_path / "run")
    before = words_of(parsed(page_of(folder)))
    assert "know the language" not in before
    assert "pairs of signs" not in before
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        connection.execute("update cases set language = 'ja' where scenario = 'used_car'")
        connection.execute("update cases set language = 'fr' where scenario = 'texting_ex'")
        (count,) = connection.execute(
            "select count(*) from dialogues join cases on cases.seq = case_seq"
            " where language = 'ja' and status = 'generated'"
        ).fetchone()
    tree = parsed(page_of(folder))
    told = words_of(tree)
    assert (
        f"{count} dialogues in ja (Japanese): the rules goal_stated, word_count, dodge_remarks do not"
        in told
    )
    assert "in fr (French): the rule goal_stated does not know the language" in told
    assert "In ja (Japanese) no space stands between words" in words_of(section(tree, "diversity"))


def test_rules_that_were_not_asked_are_not_named():
    settings = gate_settings({"off": ["goal_stated", "dodge_remarks"]})
    (remark,) = unread_rules({"en": 3, "zh-TW": 2, "de": 5}, settings)
    assert remark.text.startswith("2 dialogues in zh-TW (Chinese): the rule word_count does")


def test_a_private_fact_has_a_direction_of_its_own(tree):
    facts = [e for e in tree.iter(f"{XHTML}p") if e.get("class") == "fact"]
    assert facts
    for fact in facts:
        assert fact.get("dir") is None
        assert [child.tag for child in fact] == [f"{XHTML}strong", f"{XHTML}bdi"]


def test_words_of_a_dialogue_have_its_language_and_words_of_the_page_that_of_the_page(tree):
    dialogues = [e for e in tree.iter(f"{XHTML}details") if e.get("class") == "dialogue"]
    assert dialogues
    for dialogue in dialogues:
        in_it = [e for e in dialogue.iter() if e.get("lang")]
        assert {e.tag for e in in_it} <= {f"{XHTML}{tag}" for tag in ("p", "span", "bdi")}
        said = [e for e in dialogue.iter(f"{XHTML}p") if e.get("class") == "said"]
        assert said
        assert {e.get("lang") for e in said} == {"en"}


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


def test_a_run_that_people_alone_decided_on_is_not_said_to_have_been_judged(tmp_path):
    folder = reported_run(tmp_path / "people", verified=False)
    with RunStore.open(folder) as store:
        dialogue = next(iter(store.dialogues(traces=False)))
        store.judgements.decide_now(Decision(*dialogue.key, "accepted", "expert", "yes"))
    by_id = {element.get("id"): element for element in parsed(page_of(folder)).iter()}
    for name in ("strategies", "turns", "agreement"):
        told = words_of(by_id[name])
        assert "No judge has read this run. hipo verify" in told
        assert "Judges were asked" not in told


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


def test_what_a_model_refuses_is_not_told_as_how_it_was_asked(tmp_path):
    folder = reported_run(tmp_path / "run")
    before = table(parsed(page_of(folder)), "Models and their parameters")
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        connection.execute("update requests set omitted = 'n seed temperature'")
        models = {model for (model,) in connection.execute("select model from requests")}
    found = table(parsed(page_of(folder)), "Models and their parameters")
    told = {name: row for name, row in found.items() if row[1] in models}
    assert told
    for name, (_, _, temperature, top_p, _, further) in told.items():
        assert (temperature, top_p) == ("the endpoint's", before[name][3])
        assert further.endswith("not taken by the model: temperature, seed")
