"""Good files of the library, damaged in one way at a time: each damage is found where it was done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.embeddings.embeddings import load_sentence_model, meaning_similarity
from scenarios.catalogue import Catalogue
from scenarios.errors import InputError, Problem
from scenarios.inspection import Inspection, inspect_files
from scenarios.pack import LIBRARY
from scenarios.scheme_inspection import inspect_schemes
from tests.factories import retold_car

CAR = Path("products/used_car.yaml")
TOUR = Path("integrity/tour_doping.yaml")
BIKE = Path("privacy/bike_tracking.yaml")
GOOD = (CAR, TOUR, BIKE)
TRUTHFUL = "opening.by_goal[{}].statements['truthful non-disclosure']"


class Damage(NamedTuple):
    """One edit of one file, and the problem it must give."""

    name: str
    file: Path
    old: str
    new: str
    at: str
    """Text on the line that must be named; it stands nowhere before that line."""
    field: str
    code: str
    severity: str = "error"


DAMAGES = [
    # fields
    Damage("a field is missing", CAR, "title: A used car with a past\n", "", "id: used_car", "title", "missing-field"),
    Damage("a field of a fact is missing", TOUR, "    about: the way inspectors arrive\n", "", "- id: advance_warning", "facts[3].about", "missing-field"),
    Damage("a key is misspelt", CAR, "tags: [every", "tgas: [every", "tgas:", "tgas", "unknown-field"),
    Damage("a key of a fact is misspelt", TOUR, "    leaves_open:\n      [never_doped, quiet_rest_days, cream_before_sample, nobody_else_follows, testers_surprise_us,\n       no_offers]\nevidence", "    leaves_opne: [never_doped]\nevidence", "leaves_opne", "facts[5].leaves_opne", "unknown-field"),
    Damage("a text is a list", CAR, "title: A used car with a past", "title: [A used car, with a past]", "title:", "title", "wrong-value"),
    Damage("a text is a number", TOUR, "{alias: Cole Brandt", "{alias: 2016", "rider: {", "placeholders.rider.alias", "wrong-value"),
    Damage("a text with a colon is a mapping", CAR, "    about: the mileage in the papers", "    about:\n      the mileage: in the papers", "about:\n      the mileage", "facts[3].about", "wrong-value"),
    Damage("a list stands where a mapping belongs", BIKE, "  service: {alias: Pedalo}", "  - service: {alias: Pedalo}", "placeholders:", "placeholders", "wrong-value"),
    Damage("a mapping stands where a list belongs", CAR, "felicitous: [Representatives,", "felicitous: {Representatives: true}  # [", "felicitous:", "felicitous", "wrong-value"),
    Damage("a text stands where a list of facts belongs", CAR, "reveals: [written_off]", "reveals: written_off", "salvage_listing", "evidence[0].reveals", "wrong-value"),
    Damage("a text is empty", CAR, "    aim: sell the car at the agreed price without losing the buyer's goodwill", '    aim: ""', 'aim: ""', "roles.responder.aim", "wrong-value"),
    Damage("a text is blank", TOUR, "title: A champion and his blood values", 'title: "   "', "title:", "title", "wrong-value"),
    Damage("a list of wordings is empty", BIKE, "      - I took your app off my phone half a year ago. Do you still get to know where I am?\n      - The app's been gone since spring. Are you people still tracking me?\n      - Let me ask you straight. Is your company still keeping track of where I go?\n", "      []\n", "hard_question:", "opening.shared.hard_question", "wrong-value"),
    Damage("a value is nothing", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary:", "summary:", "summary", "wrong-value"),
    Damage("a gain is none of the three", CAR, "{claim: first_owner, gain: self}", "{claim: first_owner, gain: selves}", "gain: selves", "facts[1].cover[0].gain", "wrong-value"),
    Damage("an id has a capital", CAR, "  - id: odometer", "  - id: Odometer", "- id: Odometer", "facts[3].id", "wrong-value"),
    # roles
    Damage("a role key is unknown", CAR, "  responder:\n    name: seller", "  answerer:\n    name: seller", "roles:", "roles", "inconsistent"),
    Damage("a role is missing", BIKE, "  initiator:\n    name: former user\n    description: >-\n      A locksmith who moved across town in spring, told hardly anyone the address, and has good\n      reason to want it that way.\n    aim: find out whether the company still knows where he goes\n    voice: Wary and plain, a tradesman's short questions, one small thing at a time.\n", "", "roles:", "roles", "inconsistent"),
    Damage("the owner of a fact is nobody", CAR, "    about: a week when the river rose", "    about: a week when the river rose\n    owner: buyer", "owner: buyer", "facts[5].owner", "unknown-reference"),
    Damage("a fact is the initiator's", CAR, "    about: a week when the river rose", "    about: a week when the river rose\n    owner: initiator", "owner: initiator", "facts[5].owner", "owner", "warning"),
    # references
    Damage("a key stands twice", CAR, "    name: seller\n", "    name: seller\n    name: dealer\n", "name: dealer", "roles.responder.name", "duplicate-key"),
    Damage("an id of a fact stands twice", CAR, "- id: odometer", "- id: airbag  # again", "airbag  # again", "facts[3].id", "duplicate-id"),
    Damage("an id of a claim stands twice", CAR, "  - {id: price_agreed, text: Buyer and", "  - {id: kept_three_years, text: She had it for three years.}\n  - {id: price_agreed, text: Buyer and", "She had it for three", "claims[2].id", "duplicate-id"),
    Damage("a fact makes an unknown claim false", CAR, "makes_false: [never_damaged, interior_original]", "makes_false: [never_damaged, interior_original, interior_new]", "interior_new]", "facts[5].makes_false[2]", "unknown-reference"),
    Damage("a statement makes an unknown claim", TOUR, "claims: [nothing_kept_from_press, never_doped]", "claims: [nothing_kept_from, nothing_kept_from_press, never_doped]", "[nothing_kept_from,", "opening.by_goal[0].statements.deception.claims[0]", "unknown-reference"),
    Damage("evidence reveals an unknown fact", CAR, "reveals: [airbag, odometer]", "reveals: [airbag, odometre]", "odometre", "evidence[1].reveals[1]", "unknown-reference"),
    Damage("evidence reveals a fact twice", CAR, "reveals: [airbag, odometer]", "reveals: [airbag, airbag]", "[airbag, airbag]", "evidence[1].reveals[1]", "duplicate-reference"),
    # vocabulary
    Damage("a goal is unknown", CAR, "        deception:\n", "        any:\n          text: It has been looked after.\n        decepton:\n", "decepton:", "opening.by_goal[0].statements.decepton", "unknown-goal"),
    Damage("a goal has no statement", BIKE, "        deception:\n          text: >-\n            Right, I can't really go into how our messages get made, sorry. That one went out to\n            everybody in the city, though, and it's odd to get, I know, but it wasn't just you.\n          claims: [message_to_everybody]\n", "", "      statements:\n        truthful", "opening.by_goal[1].statements", "missing-goal"),
    Damage("a tag is unknown", CAR, "product-defect, money]", "product-defects, money]", "tags:", "tags[2]", "unknown-tag"),
    Damage("a tag stands twice", CAR, "product-defect, money]", "product-defect, everyday]", "tags:", "tags[3]", "duplicate-tag"),
    Damage("an act is unknown", TOUR, "felicitous: [Representatives, Directives", "felicitous: [Representatives, Questions", "felicitous:", "felicitous[1]", "unknown-label"),
    Damage("the scheme is unknown", BIKE, "scheme: hipo", "scheme: hippo", "scheme:", "scheme", "scheme"),
    Damage("the scheme is another one, with other categories", CAR, "scheme: hipo", "scheme: cei", "category:", "category", "category"),
    # truth
    Damage("a fact belies the truthful statement", TOUR, "claims: [signs_releases]", "claims: [signs_releases, never_doped]", "claims: [signs_releases", f"{TRUTHFUL.format(2)}.claims[1]", "false-statement"),
    Damage("a fact is said to let what a shared answer claims mislead", CAR, "    makes_false: [mileage_real]\n    makes_true: [kept_three_years, eight_years_old,", "    makes_false: [mileage_real]\n    misleads: [eight_years_old]\n    makes_true: [kept_three_years,", "claims: [eight_years_old]", "opening.shared.exchanges[1].claims[0]", "false-statement"),
    Damage("a pair is not decided", CAR, "    leaves_open: [never_in_accident, mileage_real, first_owner,", "    leaves_open: [mileage_real, first_owner,", "- id: flooded", "facts[5]", "undecided"),
    Damage("a cover is not false", CAR, "    makes_false: [never_damaged, interior_original]", "    makes_false: [never_damaged]", "{claim: interior_original, gain: self}", "facts[5].cover[0]", "cover-not-false"),
    Damage("nobody gains by a lie", CAR, "{claim: first_owner, gain: self}", "{claim: first_owner, gain: protects}", "    cover:\n      - {claim: first_owner, gain: protects", "facts[1].cover", "gain", "warning"),
    Damage("a claim is made by nobody", CAR, "claims:\n  - {id: kept_three_years", "claims:\n  - {id: never_sold, text: The car was never sold before.}\n  - {id: kept_three_years", "never_sold", "claims[0]", "unused-claim"),
    # leaks
    Damage("the background gives a fact away", CAR, "The buyer drives long distances for work and needs a car that holds together.", "Two winters ago it slid into a guardrail on an icy road, and the wing and headlamp were replaced.", "background:", "background", "leak"),
    Damage("the question gives a fact away", BIKE, "      - Let me ask you straight. Is your company still keeping track of where I go?", "      - Is there a component of yours in my weather program that adds my position to my record twice an hour?", "Is there a component", "opening.shared.hard_question[2]", "leak"),
    Damage("the initiator's description gives a fact away", TOUR, "A former amateur racer who writes for a Sunday paper and has a notebook full of hearsay that\n      no editor would print.", "Has heard that through a lawyer the team has offered a driver who left a year's wages for saying nothing.", "    description: >-\n      Has heard", "roles.initiator.description", "leak"),
    Damage("a statement gives a fact away", CAR, "            Honestly, I'd rather not go through its whole life out here. You're right that the wing's\n            lighter, and I'm not going to say it isn't.", "            I bought the car at a salvage auction, where it had been listed as an economic write-off.", "text: >-\n            I bought the car at", f"{TRUTHFUL.format(0)}.text", "leak"),
    Damage("the title gives a fact away", TOUR, "title: A champion and his blood values", "title: A driver is offered a year's wages through a lawyer for saying nothing", "title:", "title", "leak"),
    Damage("the summary gives a fact away", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary: A seller bought the car at a salvage auction, where it was listed as a write-off.", "summary:", "summary", "leak"),
    Damage("the aim of a role gives a fact away", TOUR, "aim: protect the rider's name and the sponsors' confidence", "aim: hide that a driver who left has been offered a year's wages through a lawyer for saying nothing", "aim: hide", "roles.responder.aim", "leak"),
    Damage("a subject gives its fact away", CAR, "about: how the front left wing came to be painted", "about: the guardrail, the icy slip road and the headlamp", "about: the guardrail", "facts[0].about", "about-leak"),
    Damage("a subject holds a figure of its fact", CAR, "about: the mileage in the papers", "about: sixty thousand on paper", "about: sixty", "facts[3].about", "about-leak"),
    Damage("a subject is a sentence", CAR, "about: the mileage in the papers", "about: how many miles the papers say it has been driven so far", "about: how many", "facts[3].about", "about-length"),
    Damage("two facts say the same", TOUR, "      The team gave the sport's governing body a large sum for laboratory equipment, which both\n      sides have agreed to keep to themselves.", "      Through a lawyer the team offered a driver who had left it one year's wages for saying nothing\n      of his time there.", "text: >-\n      Through a lawyer the team offered", "facts[5].text", "near-duplicate"),
    # form
    Damage("the background is too short", CAR, " The two have agreed on a price\n  but nothing is signed. The advertisement says that the papers of the car can be seen on request.\n  The buyer drives long distances for work and needs a car that holds together.", "", "background:", "background", "length"),
    Damage("the background is too long", TOUR, "the room knows that a lawsuit against a newspaper is pending.", "the room knows that a lawsuit is pending. It is June. It is raining.", "background:", "background", "length"),
    Damage("a fact has three sentences", CAR, "      does today.", "      does. That is odd. It is more.", "text: >-\n      The inspection report", "facts[3].text", "length"),
    Damage("a question goes on and on", BIKE, "      - Let me ask you straight. Is your company still keeping track of where I go?", "      - Hello. It is me. What do you hold on me?", "Hello. It is me", "opening.shared.hard_question[2]", "length"),
    Damage("a statement goes on and on", BIKE, "            Okay, so that's your request, we've got it down here word for word. And you've got to\n            have the answer in writing within a month, all of it.", "            Okay, so that's your request. It's all got to be answered. In writing. Inside a month.", "text: >-\n            Okay, so that's your request. It's", f"{TRUTHFUL.format(0)}.text", "length"),
    Damage("a text is still to be written", CAR, "label: workshop diagnostic scan", "label: TODO", "diagnostic_scan", "evidence[1].label", "unfinished"),
    Damage("a text is lorem ipsum", BIKE, "title: The app that was deleted", "title: Lorem ipsum dolor", "title:", "title", "unfinished"),
    Damage("a text has a gap", TOUR, "about: the way inspectors arrive", "about: the way <inspectors> arrive", "<inspectors>", "facts[3].about", "unfinished"),
    Damage("a text holds a sign that turns the line around", CAR, "title: A used car with a past", 'title: "A used car \\u202Ewith a past"', "title:", "title", "control"),
    Damage("a date is in the wrong form", CAR, 'as_of: "2026-06"', 'as_of: "June 2026"', "as_of:", "outcome.as_of", "wrong-value"),
    Damage("a date is not in the calendar", TOUR, 'date: "2012-10-22"', 'date: "2012-13-22"', "2012-13-22", "sources[1].date", "date"),
    Damage("a language code is none", BIKE, "category: privacy", "category: privacy\nlanguages: [english]", "languages:", "languages[0]", "language"),
    Damage("a text is in another script", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary: \u041f\u043e\u043a\u0443\u043f\u0430\u0442\u0435\u043b\u044c \u043d\u0430\u0448\u0451\u043b \u0441\u043b\u0435\u0434\u044b.", "summary:", "summary", "script"),
    # names
    Damage("a placeholder is not declared", TOUR, "summary: A cycling team's spokesperson", "summary: The spokesperson of {taem}", "summary:", "summary", "placeholder"),
    Damage("a brace is left over", CAR, "title: A used car with a past", 'title: "A used car with a past}"', "title:", "title", "placeholder"),
    Damage("a placeholder is never used", TOUR, "placeholders:\n", "placeholders:\n  rival: {alias: Northwind}\n", "rival:", "placeholders.rival", "unused-placeholder", "warning"),
    Damage("a real name stands in the open", TOUR, "title: A champion and his blood values", "title: Lance Armstrong and his blood values", "title:", "title", "real-name"),
    Damage("an alias is the real name", TOUR, "alias: Cole Brandt", "alias: Lance Armstrong", "rider: {", "placeholders.rider.alias", "real-name"),
    # place
    Damage("the id is not the name of the file", CAR, "id: used_car\n", "id: used_cars\n", "id:", "id", "id"),
    Damage("the category is not the name of the folder", CAR, "category: products", "category: finance", "category:", "category", "category"),
    Damage("the category is unknown", TOUR, "category: integrity", "category: integrities", "category:", "category", "category"),
    # YAML
    Damage("an alias bomb", CAR, "tags: [everyday, contract, product-defect, money]", "tags: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]", "f: &f", "", "yaml"),
    Damage("a tag of another language", TOUR, "title: A champion and his blood values", "title: !!python/object/apply:os.system [true]", "title:", "", "yaml"),
    Damage("a merge key", CAR, "  responder:\n", "  responder:\n    <<: {name: x}\n", "<<:", "", "yaml"),
    Damage("two documents", BIKE, "facts:\n", "---\nfacts:\n", "---\nfacts", "", "yaml"),
    Damage("a tab for indentation", CAR, "    name: buyer", "\tname: buyer", "\tname", "", "yaml"),
    Damage("a quote that is never closed", TOUR, 'date: "2012-10-10"', 'date: "2012-10-10', "2012-10-22", "", "yaml"),
    Damage("a line indented too little", CAR, "    description: >-\n      A sales", "   description: >-\n      A sales", "   description: >-\n      A sales", "", "yaml"),
    Damage("nested too deep", CAR, "tags: [everyday, contract, product-defect, money]", "tags: " + "[" * 60 + "]" * 60, "tags:", "", "yaml"),
    Damage("a number without end", CAR, "title: A used car with a past", "title: " + "9" * 390, "title:", "", "yaml"),
]  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder with good files of the library, safe to damage."""
    for name in GOOD:
        (tmp_path / "library" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(LIBRARY / name, tmp_path / "library" / name)
    return tmp_path / "library"


def inspected(library: Path, *more: Path) -> Inspection:
    return inspect_files([library, *more], library=library)


def place(problem: Problem) -> tuple[str, int | None, str, str]:
    return problem.file, problem.line, problem.field, problem.code


def test_the_files_that_are_damaged_below_have_no_problem(library):
    inspection = inspected(library)
    assert (inspection.files, inspection.problems) == (len(GOOD), ())


def test_the_damages_are_many_and_each_is_another():
    assert len({damage.name for damage in DAMAGES}) == len(DAMAGES) >= 60
    assert len({damage.code for damage in DAMAGES}) >= 25


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_damage_is_found_where_it_was_done(library, damage):
    path = library / damage.file
    text = path.read_text(encoding="utf-8")
    assert damage.old in text
    text = text.replace(damage.old, damage.new, 1)
    path.write_text(text, encoding="utf-8")
    line = text[: text.index(damage.at)].count("\n") + 1
    inspection = inspected(library)
    first = (inspection.errors if damage.severity == "error" else inspection.problems)[0]
    assert place(first) == (str(path), line, damage.field, damage.code), inspection.problems
    assert first.severity == damage.severity
    assert first.found
    assert first.expected
    assert {problem.file for problem in inspection.problems} == {str(path)}


CODES_THAT_COME_ALONE = {"leak", "length", "near-duplicate", "about-leak", "unfinished", "date"}


@pytest.mark.parametrize(
    "damage",
    [damage for damage in DAMAGES if damage.code in CODES_THAT_COME_ALONE],
    ids=lambda damage: damage.name,
)
def test_damage_to_one_text_is_one_problem(library, damage):
    path = library / damage.file
    path.write_text(path.read_text().replace(damage.old, damage.new, 1))
    assert [problem.code for problem in inspected(library).problems] == [damage.code]


def _with_nul(raw: bytes) -> bytes:
    return raw.replace(b"title: A", b"title: \x00A", 1)


def _in_latin_1(raw: bytes) -> bytes:
    return raw.replace(b"title: A used car", "title: Ein alter K\u00e4fer".encode("latin-1"), 1)


def _in_utf_16(raw: bytes) -> bytes:
    return raw.decode().encode("utf-16")


def _too_large(raw: bytes) -> bytes:
    return raw + b"# more\n" * 200_000


BYTES: list[tuple[Callable[[bytes], bytes], int | None, str]] = [
    (_with_nul, 3, "encoding"),
    (_in_latin_1, 3, "encoding"),
    (_in_utf_16, 1, "encoding"),
    (_too_large, None, "size"),
    (lambda _: b"", None, "yaml"),
    (lambda _: b"- a\n- list\n", 1, "wrong-value"),
]


@pytest.mark.parametrize(("damage", "line", "code"), BYTES, ids=lambda v: getattr(v, "__name__", v))
def test_damage_to_the_bytes_of_a_file_is_one_problem(library, damage, line, code):
    path = library / CAR
    path.write_bytes(damage(path.read_bytes()))
    assert [place(p) for p in inspected(library).problems] == [(str(path), line, "", code)]


def test_a_link_that_leads_out_of_the_folder_is_refused(library, tmp_path):
    outside = tmp_path / "outside.yaml"
    path = library / CAR
    path.rename(outside)
    path.symlink_to(outside)
    assert [place(p) for p in inspected(library).problems] == [(str(path), None, "", "path")]


def test_a_file_that_cannot_be_opened_is_one_problem_beside_those_of_the_others(library):
    path = library / "products" / "gone.yaml"
    path.symlink_to(library / "products" / "nowhere.yaml")
    (library / BIKE).write_text((library / BIKE).read_text().replace("hipo", "hippo", 1))
    assert {place(p)[0] for p in inspected(library).problems} == {str(path), str(library / BIKE)}


def test_a_link_that_leads_to_itself_is_one_problem_beside_those_of_the_others(library):
    path = library / "products" / "loop.yaml"
    path.symlink_to(path)
    (library / BIKE).write_text((library / BIKE).read_text().replace("hipo", "hippo", 1))
    assert {place(p)[0] for p in inspected(library).problems} == {str(path), str(library / BIKE)}
    with pytest.raises(InputError, match=r"loop\.yaml: found .*, expected a readable file"):
        Catalogue.own([library], environment={})
    schemes = inspect_schemes([library])
    assert [p.file for p in schemes.problems if p.code == "path"] == [str(path)]


def _facts(count: int) -> str:
    nouns = [
        "lamp",
        "rope",
        "kettle",
        "ladder",
        "piano",
        "carpet",
        "violin",
        "compass",
        "anvil",
        "blanket",
    ]
    return "".join(
        f"  - {{id: {noun}, about: something in the garage,"
        f" text: The {noun} is hidden {place} by a cousin of {noun} dealers.}}\n"
        for noun, place in zip(nouns[:count], ["indoors", "upstairs"] * 5, strict=False)
    )


@pytest.mark.parametrize("count", [2, 10])
def test_the_library_holds_three_to_nine_facts_a_scenario_and_others_are_warned(library, count):
    path = library / CAR
    text = path.read_text()
    before, after = text.split("facts:\n")[0], text.split("felicitous:")[1]
    path.write_text(f"{before}facts:\n{_facts(count)}felicitous:{after}")
    line = before.count("\n") + 1
    (problem,) = (p for p in inspected(library).problems if p.code == "number-of-facts")
    assert place(problem) == (str(path), line, "facts", "number-of-facts")
    assert (problem.found, problem.severity) == (f"{count} facts", "error")
    empty = library.parent / "empty"
    empty.mkdir()
    own = inspect_files([library], library=empty)
    assert [p.severity for p in own.problems if p.code == "number-of-facts"] == ["warning"]


@pytest.fixture
def pack(tmp_path: Path, library: Path) -> Path:
    """A folder of one's own with a good scenario of another id."""
    folder = tmp_path / "pack"
    folder.mkdir()
    text = (library / CAR).read_text().replace("id: used_car", "id: my_car", 1)
    (folder / "my_car.yaml").write_text(retold_car(text))
    return folder


def test_an_id_that_stands_in_another_folder_is_found_in_the_later_one(library, pack):
    assert inspected(library, pack).problems == ()
    (pack / "my_car.yaml").unlink()
    shutil.copy(library / CAR, pack / "used_car.yaml")
    (problem,) = inspected(library, pack).problems
    assert place(problem) == (str(pack / "used_car.yaml"), 1, "id", "id-clash")
    assert str(library / CAR) in problem.found
    (alone,) = inspect_files([pack], library=library).problems
    assert place(alone) == place(problem)


def test_an_id_that_stands_in_a_folder_in_use_beside_it_is_found(library, pack, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(pack / "my_car.yaml", other)
    assert inspect_files([pack], library=library).problems == ()
    (problem,) = inspect_files([pack], beside=[other], library=library).problems
    assert place(problem) == (str(pack / "my_car.yaml"), 1, "id", "id-clash")
    assert inspect_files([pack], beside=[pack], library=library).problems == ()


def test_all_problems_of_all_files_come_at_once(library):
    for name, old, new in [
        (CAR, "tags: [everyday", "tags: [everday"),
        (CAR, 'as_of: "2026-06"', 'as_of: "2026-16"'),
        (TOUR, "{claim: no_gifts, gain: self}", "{claim: no_gifts, gain: selves}"),
        (TOUR, "title: A champion", "titel: A champion"),
        (BIKE, "title:", "title: 'never closed\nx:"),
    ]:
        path = library / name
        path.write_text(path.read_text().replace(old, new, 1))
    found = {(Path(p.file).name, p.field) for p in inspected(library).errors}
    assert found == {
        ("used_car.yaml", "tags[0]"),
        ("used_car.yaml", "outcome.as_of"),
        ("tour_doping.yaml", "facts[5].cover[0].gain"),
        ("tour_doping.yaml", "title"),
        ("tour_doping.yaml", "titel"),
        ("bike_tracking.yaml", ""),
    }


PARAPHRASES = [
    (
        "The buyer drives long distances for work and needs a car that holds together.",
        (
            "At a salvage sale the owner purchased the vehicle, listed as economically totalled"
            " following an impact to its side."
        ),
        ("background", "leak", "facts[1] (written_off)"),
    ),
    (
        (
            "Last summer the car stood in flood water up to the seats, which ruined carpets and"
            " wiring; the\n      seller dried it with heaters and had both replaced."
        ),
        "Four years ago its inspection recorded an odometer far higher than today's, by 60,000 km.",
        ("facts[5].text", "near-duplicate", "facts[3] (odometer)"),
    ),
]


@pytest.mark.slow
def test_what_says_the_same_in_other_words_is_found_by_its_meaning(library):
    pytest.importorskip("sentence_transformers", reason="the extra embeddings is not installed")
    similarity = meaning_similarity(lambda: load_sentence_model(None))
    path = library / CAR
    text = path.read_text()
    assert inspect_files([path], library=library, similarity=similarity).problems == ()
    for old, new, (field, code, fact) in PARAPHRASES:
        assert old in text
        path.write_text(text.replace(old, new))
        assert inspect_files([path], library=library).problems == ()
        (problem,) = inspect_files([path], library=library, similarity=similarity).problems
        assert (problem.field, problem.code) == (field, code)
        assert fact in problem.found + problem.expected
