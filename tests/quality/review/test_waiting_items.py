"""How many items wait is counted as answers come and go, so that a page need not look at them all."""

from __future__ import annotations

import random
import sqlite3
from collections import deque
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from pipeline.store import assignments
from pipeline.store.migrations import MIGRATIONS, migrate
from pipeline.store.sqlite import DATABASE, connect
from scenarios.reviews import ReviewStudy

STUDY = ReviewStudy(1, "quiz", "quiz", 2, 1, {})
PEOPLE = (1, 2, 3, 4)
REASONS = ('["odd"]', '["odd","long"]', "[]")
FREE = """
    select count(*) from review_items i where study = 1
        and seq not in (select item from assignments where annotator = :who)
        and seq not in (select item from adjudications)
        and (select count(*) from assignments o where o.item = i.seq and o.annotator <> :who
            and (o.state = 'done' or o.leased_until > :now)) < 2
        and (:category = '' or category = :category)
        and (:reason = '' or exists (select 1 from json_each(reasons) where value = :reason))"""


def study_of(path: Path, items: int) -> sqlite3.Connection:
    """Return a run with a study of two answers each, whose dialogues are of no interest."""
    connection = connect(path)
    migrate(connection, path, MIGRATIONS[:13])
    connection.execute("pragma foreign_keys = off")
    connection.execute("insert into studies values (1, 'quiz', 'quiz', 2, 1, '{}', 1.0)")
    for who in PEOPLE:
        connection.execute(
            "insert into annotators (seq, code, role, created_at) values (?, ?, 'annotator', 1)",
            (who, f"A0{who}"),
        )
    add_items(connection, items)
    return connection


def add_items(connection: sqlite3.Connection, items: int) -> None:
    connection.executemany(
        "insert into review_items (study, dialogue, rank, category, reasons, added_at)"
        " values (1, ?, ?, ?, ?, 1)",
        [(n, 7919 * n + 1, "ab"[n % 2], REASONS[n % 3]) for n in range(1, items + 1)],
    )


def given(connection: sqlite3.Connection, item: int, who: int, state: str, until: float) -> None:
    connection.execute(
        "insert into assignments (item, annotator, state, leased_until, opened_at, origin)"
        " values (?, ?, ?, ?, 1, 'page')",
        (item, who, state, until),
    )


def decided(connection: sqlite3.Connection, item: int) -> None:
    connection.execute(
        "insert into adjudications (item, expert, adjudicated_at) values (?, 4, 1)", (item,)
    )


def counts_are_those_of_the_rows(connection: sqlite3.Connection, now: float) -> None:
    for who in PEOPLE:
        for category, reason in (("", ""), ("a", ""), ("", "odd"), ("b", "long")):
            asked = {"who": who, "now": now, "category": category, "reason": reason}
            (free,) = connection.execute(FREE, asked).fetchone()
            counted = assignments.count_free(
                connection, STUDY, who, now=now, category=category, reason=reason
            )
            assert counted == free, asked


def test_a_run_from_before_is_counted_when_it_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    with closing(study_of(path, 9)) as connection:
        given(connection, 1, 1, "done", 0)
        given(connection, 1, 2, "done", 0)
        given(connection, 2, 1, "done", 0)
        given(connection, 2, 2, "open", 50)
        given(connection, 3, 1, "given_back", 0)
        decided(connection, 4)
        migrate(connection, path)
        waiting = "select seq from review_items where waiting order by seq"
        assert [seq for (seq,) in connection.execute(waiting)] == [2, 3, 5, 6, 7, 8, 9]
        for now in (49.0, 51.0):
            counts_are_those_of_the_rows(connection, now)


def test_whatever_people_do_the_count_is_that_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    draw = random.Random(1)
    with closing(study_of(path, 12)) as connection:
        migrate(connection, path)
        for now in range(10, 130):
            rows = connection.execute(
                "select seq from assignments where state <> 'done'"
            ).fetchall()
            action = draw.choice(("take", "take", "answer", "answer", "back", "decide", "erase"))
            if action == "take":
                who = draw.choice(PEOPLE)
                assignments.take(
                    connection, STUDY, who, multiplier=3 + who, ahead=deque(), now=now, lease_s=20
                )
            elif action == "decide" and now % 5 == 0:
                decided(connection, draw.randint(1, 12))
            elif action == "erase" and now % 7 == 0:
                connection.execute("delete from assignments where annotator = ?", (now % 4 + 1,))
                connection.execute("delete from adjudications where item = ?", (now % 12 + 1,))
            elif rows and action in ("answer", "back"):
                changed = ("done", draw.choice(rows)[0])
                if action == "back":
                    changed = ("given_back", changed[1])
                try:
                    connection.execute(
                        "update assignments set state = ?, leased_until = 0 where seq = ?", changed
                    )
                except sqlite3.IntegrityError:
                    assert action == "answer"  # others had answered meanwhile
            counts_are_those_of_the_rows(connection, now)


def answer_next(connection: sqlite3.Connection, ahead: deque[int], now: float = 10) -> int:
    """Give the third person an item, answered at once; return which."""
    number = assignments.take(connection, STUDY, 3, multiplier=5, ahead=ahead, now=now, lease_s=60)
    connection.execute("update assignments set state = 'done' where seq = ?", (number,))
    asked = connection.execute("select item from assignments where seq = ?", (number,))
    return int(asked.fetchone()[0])


def steps(connection: sqlite3.Connection, work: Callable[[], object]) -> int:
    """Return how many hundreds of its own instructions SQLite needs for some work."""
    count = 0

    def one_more() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(one_more, 100)
    work()
    connection.set_progress_handler(None, 0)
    return count


def test_a_page_takes_as_much_of_a_large_study_as_of_a_small_one(tmp_path: Path) -> None:
    found = []
    for items in (100, 4_000):
        path = tmp_path / str(items)
        with closing(study_of(path, items)) as connection:
            migrate(connection, path)
            for item in range(1, items // 2):  # half the study is answered
                given(connection, item, 1, "done", 0)
                given(connection, item, 2, "done", 0)
            ahead: deque[int] = deque()

            answer_next(connection, ahead)
            assert len(ahead) == assignments.LISTED - 1
            found.append(
                (
                    steps(connection, partial(answer_next, connection, ahead)),
                    steps(
                        connection, partial(assignments.count_free, connection, STUDY, 3, now=10)
                    ),
                )
            )
    assert found[1][0] <= found[0][0] + 1
    assert found[1][1] <= found[0][1] + 1


def test_what_others_let_go_of_is_given_out_when_the_list_is_used_up(tmp_path: Path) -> None:
    path = tmp_path / DATABASE
    with closing(study_of(path, 3)) as connection:
        migrate(connection, path)
        ahead: deque[int] = deque()
        for who in (1, 2):
            given(connection, 1, who, "open", 50)
        for item in (2, 3):
            given(connection, item, 4, "done", 0)
        taken = []
        for now in (40.0, 60.0):
            taken.append(answer_next(connection, ahead, now))
            if now == 40.0:
                given(connection, 3, 2, "done", 0)  # it stood on the list, and is full now
        assert taken == [2, 1]
