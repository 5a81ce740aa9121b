"""What every run reads and compiles first: importing this module has done it for what is forked."""

from __future__ import annotations

from contextlib import chdir
from tempfile import TemporaryDirectory

from prompts.environment import Templates
from scenarios.catalogue import Catalogue

with TemporaryDirectory() as elsewhere, chdir(elsewhere):  # paths are shown as runs there see them
    Catalogue.load()
Templates()
