"""A run, the page about it, and its store, for all tests of reports."""

import sqlite3

import pytest

from tests.outputs.html_tree import parsed
from tests.outputs.report.report_page import page_of
from tests.outputs.sample_run import reported_run


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    return reported_run(tmp_path_factory.mktemp("runs") / "sample")


@pytest.fixture(scope="session")
def page(run):
    return page_of(run)


@pytest.fixture(scope="session")
def tree(page):
    return parsed(page)


@pytest.fixture(scope="session")
def sql(run):
    connection = sqlite3.connect(run / "run.sqlite")

    def query(statement, *values):
        return connection.execute(statement, values).fetchall()

    yield query
    connection.close()
