"""Good files of the library, damaged in one way at a time: each damage is found where it was done."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.embeddings import load_sentence_model, meaning_similarity
from scenarios.errors import Problem
from scenarios.inspection import Inspection, inspect_files
from scenarios.pack import LIBRARY

CAR = Path("products/used_car.yaml")
PHONE = Path("products/note7_battery.yaml")
BIKE = Path("privacy/bike_tracking.yaml")
GOOD = (CAR, PHONE, BIKE)
TRUTHFUL = "opening.statements['truthful non-disclosure']"


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
    Damage("a field of a fact is missing", PHONE, "    about: the test certificate\n", "", "- id: own_laboratory", "facts[3].about", "missing-field"),
    Damage("a key is misspelt", CAR, "tags: [every", "tgas: [every", "tgas:", "tgas", "unknown-field"),
    Damage("a key of a fact is misspelt", PHONE, "    bearing: explains", "    bearing: explains\n    contradict: []", "contradict: []\n", "facts[5].contradict", "unknown-field"),
    Damage("a text is a list", CAR, "title: A used car with a past", "title: [A used car, with a past]", "title:", "title", "wrong-value"),
    Damage("a text is a number", PHONE, "{alias: Solmaru Electronics", "{alias: 2016", "maker: {", "placeholders.maker.alias", "wrong-value"),
    Damage("a text with a colon is a mapping", CAR, "    about: the mileage in the papers", "    about:\n      the mileage: in the papers", "about:\n      the mileage", "facts[3].about", "wrong-value"),
    Damage("a list stands where a mapping belongs", BIKE, "  service: {alias: Pedalo}", "  - service: {alias: Pedalo}", "placeholders:", "placeholders", "wrong-value"),
    Damage("a mapping stands where a list belongs", CAR, "felicitous: [Representatives,", "felicitous: {Representatives: true}  # [", "felicitous:", "felicitous", "wrong-value"),
    Damage("a text stands where a list of facts belongs", CAR, "reveals: [written_off]", "reveals: written_off", "salvage_listing", "evidence[0].reveals", "wrong-value"),
    Damage("a text is empty", CAR, "    aim: sell the car at the agreed price without losing the buyer's goodwill", '    aim: ""', 'aim: ""', "roles.responder.aim", "wrong-value"),
    Damage("a text is blank", PHONE, "title: Phones that catch fire", 'title: "   "', "title:", "title", "wrong-value"),
    Damage("a list of wordings is empty", BIKE, "    - I erased your app in spring. Do you still collect where I am?\n    - How can you know where I live now, if the app has been gone for half a year?\n    - What location data do you hold on me, and since when?\n", "    []\n", "question:", "opening.question", "wrong-value"),
    Damage("a value is nothing", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary:", "summary:", "summary", "wrong-value"),
    Damage("a bearing is none of the three", CAR, "bearing: explains", "bearing: explain", "bearing: explain\n", "facts[5].bearing", "wrong-value"),
    Damage("an id has a capital", CAR, "  - id: odometer", "  - id: Odometer", "- id: Odometer", "facts[3].id", "wrong-value"),
    # roles
    Damage("a role key is unknown", CAR, "  responder:\n    name: seller", "  answerer:\n    name: seller", "  answerer:", "roles.answerer", "wrong-value"),
    Damage("a role is missing", BIKE, "  initiator:\n    name: former user\n    description: >-\n      A locksmith who moved across town in spring, told hardly anyone the address, and has good\n      reason to want it that way.\n    aim: find out whether the company still knows where he goes\n", "", "roles:", "roles", "inconsistent"),
    Damage("the owner of a fact is nobody", CAR, "    bearing: explains", "    owner: buyer\n    bearing: explains", "owner: buyer", "facts[5].owner", "wrong-value"),
    Damage("a fact is the initiator's", CAR, "    bearing: explains", "    owner: initiator\n    bearing: explains", "owner: initiator", "facts[5].owner", "owner", "warning"),
    # references
    Damage("a key stands twice", CAR, "    name: seller\n", "    name: seller\n    name: dealer\n", "name: dealer", "roles.responder.name", "duplicate-key"),
    Damage("an id of a fact stands twice", CAR, "- id: odometer", "- id: airbag  # again", "airbag  # again", "facts[3].id", "duplicate-id"),
    Damage("an id of a claim stands twice", CAR, "  - {id: cared_for, text: The seller has", "  - {id: never_hit, text: Nobody ever hit it.}\n  - {id: cared_for, text: The seller has", "Nobody ever hit it", "claims[2].id", "duplicate-id"),
    Damage("a fact contradicts an unknown claim", PHONE, "contradicts: [exchange_safe]", "contradicts: [exchange_safe, exchanged]", "contradicts: [exchange_safe, exchanged]", "facts[2].contradicts[1]", "unknown-reference"),
    Damage("a statement makes an unknown claim", PHONE, "claims: [single_lot, exchange_safe]", "claims: [single_lots, single_lot, exchange_safe]", "single_lots", "opening.statements.deception.claims[0]", "unknown-reference"),
    Damage("evidence reveals an unknown fact", CAR, "reveals: [airbag, odometer]", "reveals: [airbag, odometre]", "odometre", "evidence[1].reveals[1]", "unknown-reference"),
    Damage("evidence reveals a fact twice", CAR, "reveals: [airbag, odometer]", "reveals: [airbag, airbag]", "[airbag, airbag]", "evidence[1].reveals[1]", "duplicate-reference"),
    # vocabulary
    Damage("a goal is unknown", CAR, "    deception:\n", "    any:\n      text: It has been looked after.\n    decepton:\n", "decepton:", "opening.statements.decepton", "unknown-goal"),
    Damage("a goal has no statement", BIKE, "    deception:\n      text:\n        - Once the app is gone we collect nothing at all, and your old data went with it. That message was a coincidence.\n        - We have nothing on you any more, everything ended the day you removed the app. The suggestion went out to the whole city.\n      claims: [collection_ended, data_erased]\n", "", "statements:", "opening.statements", "missing-goal"),
    Damage("a tag is unknown", CAR, "product-defect, money]", "product-defects, money]", "tags:", "tags[2]", "unknown-tag"),
    Damage("a tag stands twice", CAR, "product-defect, money]", "product-defect, everyday]", "tags:", "tags[3]", "duplicate-tag"),
    Damage("an act is unknown", PHONE, "felicitous: [Representatives, Directives", "felicitous: [Representatives, Questions", "felicitous:", "felicitous[1]", "unknown-label"),
    Damage("the scheme is unknown", BIKE, "scheme: hipo", "scheme: hippo", "scheme:", "scheme", "scheme"),
    Damage("the scheme is another one, with other categories", CAR, "scheme: hipo", "scheme: cei", "category:", "category", "category"),
    # truth
    Damage("a fact belies the truthful statement", PHONE, "claims: [refund_open, findings_internal]", "claims: [refund_open, findings_internal, exchange_safe]", "claims: [refund_open", f"{TRUTHFUL}.claims[2]", "false-statement"),
    Damage("a fact is said to belie what the truthful statement claims", CAR, "    bearing: explains\n    contradicts: []", "    bearing: explains\n    contradicts: [cared_for]", "claims: [cared_for", f"{TRUTHFUL}.claims[0]", "false-statement"),
    Damage("a fact that contradicts belies nothing that was said", PHONE, "contradicts: [exchange_safe]", "contradicts: []  # nothing", "[]  # nothing", "facts[2].contradicts", "bearing"),
    Damage("a claim is made by nobody", CAR, "claims:\n  - {id: never_hit", "claims:\n  - {id: never_sold, text: The car was never sold before.}\n  - {id: never_hit", "never_sold", "claims[0]", "unused-claim", "warning"),
    # leaks
    Damage("the background gives a fact away", CAR, "The buyer drives long distances for work and needs a car that holds together.", "Two winters ago it slid into a guardrail on an icy road, and the wing and headlamp were replaced.", "background:", "background", "leak"),
    Damage("the question gives a fact away", BIKE, "    - What location data do you hold on me, and since when?", "    - Is there a component of yours in my weather program that reports my position twice an hour?", "Is there a component", "opening.question[2]", "leak"),
    Damage("the initiator's description gives a fact away", PHONE, "Practical, insistent, and not impressed by press releases.", "Has seen X-ray images that show sharp welding spurs inside cells of the second manufacturer.", "    description: >-\n      The electronics adviser", "roles.initiator.description", "leak"),
    Damage("a statement gives a fact away", CAR, "        - Since it came to me it has been cared for, and you may have any garage look it over first.", "        - The wing was resprayed because a shopping trolley left a long scratch on it.", "a shopping trolley left a long scratch on it.\n", f"{TRUTHFUL}.text[1]", "leak"),
    Damage("the title gives a fact away", PHONE, "title: Phones that catch fire", "title: The board cut the endurance trials from ten weeks to four", "title:", "title", "leak"),
    Damage("the summary gives a fact away", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary: A seller bought the car at a salvage auction, where it was listed as a write-off.", "summary:", "summary", "leak"),
    Damage("the aim of a role gives a fact away", PHONE, "aim: keep owners loyal to the brand while the exchange is under way", "aim: hide that the laboratory which issued the launch certificate is one the company owns", "aim: hide", "roles.responder.aim", "leak"),
    Damage("a subject gives its fact away", CAR, "about: how the front left wing came to be painted", "about: the guardrail, the icy slip road and the headlamp", "about: the guardrail", "facts[0].about", "about-leak"),
    Damage("a subject holds a figure of its fact", PHONE, "about: the entries from the telephone line", "about: forty-one calls on the help line", "about: forty", "facts[2].about", "about-leak"),
    Damage("a subject is a sentence", CAR, "about: the mileage in the papers", "about: how many miles the papers say it has been driven so far", "about: how many", "facts[3].about", "about-length"),
    Damage("two facts say the same", CAR, "    text: The wing was resprayed because a shopping trolley left a long scratch on it in a car park; no panel was bent.", "    text: The seller's cousin filled and sprayed the wing in his backyard garage for cash and without any bill.", "in his backyard garage", "facts[5].text", "near-duplicate"),
    # form
    Damage("the background is too short", CAR, " The two have agreed on a price\n  but nothing is signed. The advertisement says that the papers of the car can be seen on request.\n  The buyer drives long distances for work and needs a car that holds together.", "", "background:", "background", "length"),
    Damage("the background is too long", PHONE, "  swapped phone that overheated too.", "  swapped phone that overheated too. It is autumn. It is raining.", "background:", "background", "length"),
    Damage("a fact has three sentences", CAR, "more than the odometer does today.", "more. That is odd. It is more than it says today.", "That is odd", "facts[3].text", "length"),
    Damage("a question goes on and on", BIKE, "    - What location data do you hold on me, and since when?", "    - Hello. It is me. What do you hold on me?", "Hello. It is me", "opening.question[2]", "length"),
    Damage("a statement goes on and on", BIKE, "and the answer will come by letter in a month at the latest. Over", "and it will be answered. By letter. In a month. Over", "By letter. In a month", f"{TRUTHFUL}.text[1]", "length"),
    Damage("a text is still to be written", CAR, "label: workshop diagnostic scan", "label: TODO", "diagnostic_scan", "evidence[1].label", "unfinished"),
    Damage("a text is lorem ipsum", BIKE, "title: The app that was deleted", "title: Lorem ipsum dolor", "title:", "title", "unfinished"),
    Damage("a text has a gap", PHONE, "about: the test certificate", "about: the certificate of <laboratory>", "<laboratory>", "facts[3].about", "unfinished"),
    Damage("a text holds a sign that turns the line around", CAR, "title: A used car with a past", 'title: "A used car \\u202Ewith a past"', "title:", "title", "control"),
    Damage("a date is in the wrong form", CAR, 'as_of: "2026-06"', 'as_of: "June 2026"', "as_of:", "outcome.as_of", "wrong-value"),
    Damage("a date is not in the calendar", PHONE, 'date: "2016-10-13"', 'date: "2016-13-10"', "2016-13-10", "sources[1].date", "date"),
    Damage("a language code is none", BIKE, "category: privacy", "category: privacy\nlanguages: [english]", "languages:", "languages[0]", "language"),
    Damage("a text is in another script", CAR, "summary: A buyer has found traces of repair on a car that is being sold as well kept.", "summary: \u041f\u043e\u043a\u0443\u043f\u0430\u0442\u0435\u043b\u044c \u043d\u0430\u0448\u0451\u043b \u0441\u043b\u0435\u0434\u044b.", "summary:", "summary", "script"),
    # names
    Damage("a placeholder is not declared", PHONE, "summary: A consumer advocate", "summary: A customer of {makr}", "summary:", "summary", "placeholder"),
    Damage("a brace is left over", CAR, "title: A used car with a past", 'title: "A used car with a past}"', "title:", "title", "placeholder"),
    Damage("a placeholder is never used", PHONE, "placeholders:\n", "placeholders:\n  rival: {alias: Northwind}\n", "rival:", "placeholders.rival", "unused-placeholder", "warning"),
    Damage("a real name stands in the open", PHONE, "title: Phones that catch fire", "title: Samsung Electronics and its phones", "title:", "title", "real-name"),
    Damage("an alias is the real name", PHONE, "alias: Vela Seven", "alias: Galaxy Note7", "phone: {", "placeholders.phone.alias", "real-name"),
    # place
    Damage("the id is not the name of the file", CAR, "id: used_car\n", "id: used_cars\n", "id:", "id", "id"),
    Damage("the category is not the name of the folder", CAR, "category: products", "category: finance", "category:", "category", "category"),
    Damage("the category is unknown", PHONE, "category: products", "category: product", "category:", "category", "category"),
    # YAML
    Damage("an alias bomb", CAR, "tags: [everyday, contract, product-defect, money]", "tags: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]", "f: &f", "", "yaml"),
    Damage("a tag of another language", PHONE, "title: Phones that catch fire", "title: !!python/object/apply:os.system [true]", "title:", "", "yaml"),
    Damage("a merge key", CAR, "  responder:\n", "  responder:\n    <<: {name: x}\n", "<<:", "", "yaml"),
    Damage("two documents", BIKE, "facts:\n", "---\nfacts:\n", "---\nfacts", "", "yaml"),
    Damage("a tab for indentation", CAR, "    name: buyer", "\tname: buyer", "\tname", "", "yaml"),
    Damage("a quote that is never closed", PHONE, '"The phones handed out in exchange are safe."', '"The phones handed out in exchange are safe.', "refund_open, text", "", "yaml"),
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
        f"  - {{id: {noun}, about: something in the garage, bearing: embarrasses,"
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
    (folder / "my_car.yaml").write_text(text)
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
        (PHONE, "bearing: explains", "bearing: explain"),
        (PHONE, "title: Phones that catch fire", "titel: Phones that catch fire"),
        (BIKE, "title:", "title: 'never closed\nx:"),
    ]:
        path = library / name
        path.write_text(path.read_text().replace(old, new, 1))
    found = {(Path(p.file).name, p.field) for p in inspected(library).errors}
    assert found == {
        ("used_car.yaml", "tags[0]"),
        ("used_car.yaml", "outcome.as_of"),
        ("note7_battery.yaml", "facts[5].bearing"),
        ("note7_battery.yaml", "title"),
        ("note7_battery.yaml", "titel"),
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
            "The wing was resprayed because a shopping trolley left a long scratch on it in a car"
            " park; no panel was bent."
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
