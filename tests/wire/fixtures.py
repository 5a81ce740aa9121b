"""The fixture that tests of other rooms import into their conftest or module.

``from tests.wire.fixtures import wire_server`` gives ``wire_server``: a started, well-behaved
:class:`WireServer`; set ``wire_server.faults`` or ``wire_server.answer`` to make it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.wire.server import WireServer


@pytest.fixture
def wire_server() -> Iterator[WireServer]:
    """Serve for one test."""
    with WireServer() as server:
        yield server
