"""What most commands read and compile first: importing this module has done it for what is forked.

It is imported last, so that no collection of garbage in a fork looks through, and copies, what all share.
"""

from __future__ import annotations

import gc
from contextlib import chdir
from tempfile import TemporaryDirectory

from prompts.environment import Templates
from quality.gates.language import _identifier
from scenarios.catalogue import Catalogue
from scenarios.pack import FAMILIES

with TemporaryDirectory() as elsewhere, chdir(elsewhere):  # paths are shown as runs there see them
    Catalogue.load([FAMILIES])
templates = Templates()
templates._compile(templates.sources(templates.names))
_identifier()
gc.collect()
gc.freeze()
