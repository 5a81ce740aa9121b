"""Connections that never become requests keep nobody else out."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from pipeline.store.reviews import ReviewStore
from quality.review.passwords import hashed
from quality.web.bounded_listener import BoundedListener
from quality.web.client_address import trusted_networks
from tests.quality.review.serving import proxied, served
from tests.quality.review.visitor import BY_PROXY, Visitor, csrf_of, first_choices, log_in

HEAD = b"GET /consent HTTP/1.1\r\nHost: x\r\nX-Slow: "


@contextmanager
def half_open(url: str, count: int, sent: bytes = HEAD) -> Iterator[list[socket.socket]]:
    """Hold connections that have begun a request."""
    parts = urlsplit(url)
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=20)
            opened.append(stack.enter_context(connection))
            with suppress(OSError):  # closed already: one too many
                connection.sendall(sent)
        yield opened


def is_ended(connection: socket.socket) -> bool:
    """Wait until the other side ends a connection; False if something was answered."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def test_520_connections_of_one_address_leave_room_for_others(run: Path) -> None:
    with served(run, mode="quiz") as site, half_open(site.url, 520):
        other = Visitor(site.url, address="127.0.0.2")
        assert other.send("GET", "/consent").status == 401


def test_an_address_has_its_places_back_once_its_connections_are_over(run: Path) -> None:
    with served(run, mode="quiz", header_s=0.5, most_of_an_address=5) as site:
        with half_open(site.url, 5) as connections:
            assert all(is_ended(connection) for connection in connections)
        assert Visitor(site.url).send("GET", "/consent").status == 401


@pytest.mark.parametrize("sent", [b"", b"G", HEAD])
def test_a_request_whose_head_does_not_end_is_ended(run: Path, sent: bytes) -> None:
    with (
        served(run, mode="quiz", header_s=0.5) as site,
        half_open(site.url, 1, sent) as (connection,),
    ):
        assert is_ended(connection)


def test_a_byte_now_and_then_does_not_prolong_the_head(run: Path) -> None:
    with (
        served(run, mode="quiz", header_s=0.5) as site,
        half_open(site.url, 1) as (connection,),
    ):
        connection.settimeout(0.02)
        ended = False
        for _ in range(1000):
            try:
                connection.sendall(b"x")
                ended = connection.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                ended = True
            break
        assert ended


def test_the_second_request_of_a_connection_has_a_deadline_too(run: Path) -> None:
    with served(run, mode="quiz", header_s=0.5) as site:
        host = urlsplit(site.url).netloc
        whole = f"GET /static/review.css HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        with half_open(site.url, 1, whole) as (connection,):
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.sendall(b"GET /static")
            with suppress(ConnectionError):
                while connection.recv(65536):
                    pass


def test_the_deadline_is_over_with_the_head(run: Path) -> None:
    with served(run, mode="quiz", header_s=0.5) as site:
        host = urlsplit(site.url).netloc
        head = f"POST /finish HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n".encode()
        with half_open(site.url, 1, head) as (connection,), half_open(site.url, 1) as (later,):
            assert is_ended(later)  # its deadline was after the one of the first
            connection.sendall(b"a=")
            assert connection.recv(12) == b"HTTP/1.1 401"


def test_a_proxy_may_hold_any_number_of_connections(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "x")
    with (
        served(run, proxied(), mode="quiz", most_of_an_address=3) as site,
        half_open(site.url, 20),
    ):
        assert Visitor(site.url, **BY_PROXY).send("GET", "/login").status == 200


def test_a_connection_counts_from_when_it_is_accepted_until_it_is_closed() -> None:
    with BoundedListener(socket.AF_INET, most=2) as listener, ExitStack() as stack:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def accepted() -> socket.socket:
            stack.enter_context(socket.create_connection(listener.getsockname()))
            connection, _ = listener.accept()
            return stack.enter_context(connection)

        first = accepted()
        accepted()
        for _ in range(3):
            with pytest.raises(ConnectionAbortedError):
                accepted()
        first.close()
        first.close()
        accepted()
        with pytest.raises(ConnectionAbortedError):
            accepted()


def test_proxies_are_not_counted() -> None:
    proxies = trusted_networks(["127.0.0.0/8"])
    with (
        BoundedListener(socket.AF_INET, most=1, proxies=proxies) as listener,
        ExitStack() as stack,
    ):
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        for _ in range(5):
            stack.enter_context(socket.create_connection(listener.getsockname()))
            stack.enter_context(listener.accept()[0])


def test_one_client_of_a_proxy_has_a_bounded_number_of_requests_at_once(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "x")
    with served(run, proxied(), mode="quiz") as site:
        host = urlsplit(site.url).netloc
        head = (
            f"POST /login HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Proto: https\r\n"
            "X-Forwarded-For: 203.0.113.5\r\nContent-Length: 9\r\n\r\nslow"
        ).encode()
        with half_open(site.url, 40, head) as connections:
            for connection in connections[32:]:
                assert connection.recv(12) == b"HTTP/1.1 429"
            other = {**BY_PROXY, "X_Forwarded_For": "198.51.100.1"}
            assert Visitor(site.url, **other).send("GET", "/login").status == 200
            assert Visitor(site.url, **BY_PROXY).send("GET", "/login").status == 429


def test_of_120_passwords_sent_at_once_eight_are_looked_at(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", hashed("correct horse battery"))
    with served(run, proxied(), mode="quiz") as site:

        def guess(number: int) -> int:
            return log_in(Visitor(site.url, **BY_PROXY), "Ada", f"wrong {number}").status

        with ThreadPoolExecutor(30) as pool:
            found = list(pool.map(guess, range(120)))
        assert (found.count(403), found.count(429)) == (8, 112)


def test_a_stranger_who_guesses_keeps_nobody_else_out(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", hashed("correct horse battery"))
        store.people.add_account("Bea", "annotator", hashed("staple battery horse"))
    with served(run, proxied(), mode="quiz") as site:
        for i in range(9):
            # What stands left of the proxy's own word is the stranger's: it changes nothing.
            made_up = {**BY_PROXY, "X_Forwarded_For": f"198.51.100.{i}, 203.0.113.5"}
            last = log_in(Visitor(site.url, **made_up), "  ADA", "wrong").status
        assert last == 429
        ada = {**BY_PROXY, "X_Forwarded_For": "198.51.100.1"}
        assert log_in(Visitor(site.url, **ada), "Ada", "correct horse battery").status == 303
        beside = Visitor(site.url, **BY_PROXY)
        assert log_in(beside, "Bea", "staple battery horse").status == 303


def test_a_proxy_that_does_not_tell_who_asks_is_refused_in_words(run: Path) -> None:
    with ReviewStore.open(run) as store:
        store.people.add_account("Ada", "annotator", "x")
    with served(run, proxied(), mode="quiz") as site:
        answer = Visitor(site.url, X_Forwarded_Proto="https").send("GET", "/login")
        assert answer.status == 403
        assert "X-Forwarded-For" in answer.text


def test_a_form_that_is_cut_off_by_a_lost_connection_is_no_answer(run: Path) -> None:
    with served(run, mode="quiz") as site:
        ada = Visitor(site.url)
        item = ada.come_in(site.link(), "Ada")
        _, page = ada.get(item)
        fields = {"csrf": csrf_of(page.text), "stage": "labels", **first_choices(page.text)}
        body = urlencode({**fields, "note": "It is fine, except that it is a lie."})
        whole = (
            f"POST {item} HTTP/1.1\r\nHost: {ada.netloc}\r\n"
            f"Cookie: {'; '.join(f'{k}={v}' for k, v in ada.cookies.items())}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
        store, study = site.service.store, site.service.study
        with half_open(site.url, 1, whole[: whole.index(b"%2C+except")]) as (connection,):
            connection.shutdown(socket.SHUT_WR)
            assert is_ended(connection)
        with half_open(site.url, 1, whole) as (connection,):
            assert connection.recv(12) == b"HTTP/1.1 303"
        (sheet,) = store.sheets.sheets(study)
        assert sheet.opinion is not None
        assert sheet.opinion.note == "It is fine, except that it is a lie."
        assert store._reader.execute("select count(*) from reviews").fetchone() == (1,)


class Closed(logging.Handler):
    """A handler that tells whether somebody has closed it."""

    closed = False

    def close(self) -> None:
        self.closed = True
        super().close()


def test_a_program_that_serves_the_page_keeps_its_log_handlers(run: Path) -> None:
    handler = Closed()
    with served(run, everything=True):
        assert not handler.closed
