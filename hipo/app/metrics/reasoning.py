"""Figures about reasonings in games, from logs and the forms of raters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hipo.app.metrics.reasoning_run import forms_of_run, samples_of_run
from hipo.app.runs.folders import find_run, names_run
from pipeline.reasoning.game import Game, games_as_yaml, games_of, shipped_games
from pipeline.reasoning.log import ReasoningLog, is_log, read_log, write_log
from quality.reasoning.completing import completed, merged, new_form
from quality.reasoning.figures import ReasoningFigures, reasoning_figures
from quality.reasoning.form import GAME, RaterForm, log_name, read_form
from quality.reasoning.gold import RaterGold, gold, rater_forms
from quality.reasoning.samples import ReasoningSample, make_sample
from quality.tables.oddities import Oddity, Place, shown
from scenarios.atomic_files import check_place, write_text
from scenarios.errors import UsageError
from scenarios.spelling import suggestion
from scenarios.text_file import read_bytes, shown_path

GAMES: Final = "games.yaml"
"""Beside the logs of a run, the file of their games."""
_LARGEST = 16 << 20
_IN_FOLDERS = (".txt", ".log", ".csv", ".tsv")


@dataclass(slots=True)
class ReasoningSet:
    """Logs and forms, what follows from them, and what was odd."""

    samples: list[ReasoningSample]
    forms: list[RaterForm]
    truth: RaterGold
    oddities: list[Oddity] = field(default_factory=list)

    def figures(self) -> ReasoningFigures:
        """Count everything.

        Raises:
            UsageError: agreement needs packages that are not installed.
        """
        return reasoning_figures(self.samples, self.forms)

    def write_logs(self, folder: Path) -> list[Path]:
        """Write every log, under its name in a folder, and a file of the games beside them.

        Raises:
            UsageError: there is such a file, or it cannot be written.
        """
        games = {s.game_id: s.game for s in self.samples if s.game_id and s.game is not None}
        _write_new(folder / GAMES, games_as_yaml(games))
        written = []
        for sample in self.samples:
            written.append(folder / sample.log.name)
            _write_new(written[-1], write_log(sample.log.attempts))
        return written

    def make_form(self, path: Path) -> None:
        """Write a form about the logs for raters to fill in.

        Raises:
            UsageError: there is such a file, or it cannot be written.
        """
        _write_new(path, new_form(self.samples))

    def complete(self, folder: Path) -> list[Path]:
        """Write every rater's form with its automatic columns, under its name in a folder.

        Raises:
            UsageError: there is no form, there is such a file, or it cannot be written.
        """
        forms = rater_forms(self.forms)
        if not forms:
            raise UsageError("there is no form of a rater to complete", "name the forms, too")
        by_name = {sample.key: sample for sample in self.samples}
        written = []
        for form in forms:
            written.append(folder / f"{form.name.replace('/', '_')}.csv")
            _write_new(written[-1], completed(form, by_name, self.truth))
        return written

    def merge(self, path: Path) -> None:
        """Write one table of what all raters say, and what they agree on.

        Raises:
            UsageError: there is no form, there is such a file, or it cannot be written.
        """
        if not rater_forms(self.forms):
            raise UsageError("there is no form of a rater to merge", "name the forms, too")
        _write_new(path, merged(self.samples, self.forms, self.truth))


def read_reasoning(
    sources: Sequence[Path], *, games_file: Path | None = None, game: str | None = None
) -> ReasoningSet:
    """Read logs and forms, which file is what follows from what is in it; or a run.

    Args:
        sources: logs, forms, and folders of both; or one run, with forms about its logs.
        games_file: a YAML file of games that logs and forms name, besides those that ship; None:
            ``games.yaml`` of every folder that is named, where there is one.
        game: the id of the game of every log; None: forms and names of logs say it.

    Raises:
        UsageError: a file cannot be read, is neither log nor form, or there is no log at all.
    """
    runs = [source for source in sources if names_run(source)]
    if runs:
        return _of_run(runs, [source for source in sources if source not in runs])
    games: dict[str, Game] = dict(shipped_games())
    for file in _beside(sources) if games_file is None else [games_file]:
        games.update(games_of(file))
    if game is not None and game not in games:
        raise UsageError(f"there is no game {game!r}", suggestion(game, games, listing="games"))
    logs, forms, oddities = _read(sources)
    told = _told_games(forms)
    samples = [
        sample
        for log in logs
        if (
            sample := make_sample(
                log,
                games,
                told=told.get(log_name(log.name), ()),
                only=None if game is None else (game, games[game]),
            )
        )
    ]
    if not samples:
        raise UsageError(
            "there is no log of reasoning in what was named",
            "a log begins its attempts with a line ###ATTEMPT##0~",
        )
    return _reasoning_set(samples, forms, oddities)


def _of_run(runs: Sequence[Path], others: Sequence[Path]) -> ReasoningSet:
    """Read the reasonings of one run, what people said of them, and forms about its logs."""
    if len(runs) > 1:
        raise UsageError(f"{runs[1]} is a second run", "give one run")
    folder = find_run(str(runs[0]))
    samples = samples_of_run(folder)
    logs, forms, oddities = _read(others)
    if logs:
        raise UsageError(f"{logs[0].name} is a log, and stands beside a run", "give one of both")
    return _reasoning_set(samples, [*forms_of_run(folder, samples), *forms], oddities)


def _reasoning_set(
    samples: list[ReasoningSample], forms: list[RaterForm], oddities: list[Oddity]
) -> ReasoningSet:
    """Return samples and forms with what raters agree on, and what is odd about files and them."""
    of_forms = [oddity for form in forms for oddity in form.oddities]
    of_samples = [oddity for sample in samples for oddity in sample.oddities]
    every = [*oddities, *of_forms, *of_samples, *_unmatched(samples, forms)]
    return ReasoningSet(samples, forms, gold(forms), every)


def _read(sources: Sequence[Path]) -> tuple[list[ReasoningLog], list[RaterForm], list[Oddity]]:
    logs: dict[str, ReasoningLog] = {}
    forms: dict[str, RaterForm] = {}
    oddities: list[Oddity] = []
    for path, named in _files(sources):
        text = _text(path, oddities)
        if is_log(text):
            log = read_log(text, path.name)
            if log_name(log.name) in logs:
                found = "a second log of this name"
                oddities.append(Oddity(Place(shown_path(path)), "second_log", found, "left out"))
            else:
                logs[log_name(log.name)] = log
            continue
        try:
            form = read_form(path)
        except UsageError:
            if named:
                raise
            found = "neither a log nor a form"
            oddities.append(Oddity(Place(shown_path(path)), "other_file", found, "left out"))
            continue
        if form.name in forms:
            form.name = f"{path.parent.name}/{form.name}"
        forms[form.name] = form
    return list(logs.values()), list(forms.values()), oddities


def _files(sources: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Return every file, and whether it was named itself, not its folder."""
    files: dict[Path, bool] = {}
    for source in sources:
        if not source.is_dir():
            files[source] = True
            continue
        inside = (path for path in sorted(source.rglob("*")) if path.is_file())
        for path in inside:
            if path.suffix.lower() in _IN_FOLDERS:
                files.setdefault(path, False)
    return list(files.items())


def _beside(folders: Iterable[Path]) -> list[Path]:
    """Return the files of games that lie in folders, as :meth:`ReasoningSet.write_logs` has them."""
    return [file for folder in folders if (file := folder / GAMES).is_file()]


def _text(path: Path, oddities: list[Oddity]) -> str:
    data = read_bytes(path, _LARGEST)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data.decode("cp1252", errors="replace")
        if is_log(text):
            found = f"a byte that is not UTF-8: {shown(data[error.start : error.start + 1])}"
            oddities.append(Oddity(Place(shown_path(path)), "encoding", found, "read as cp1252"))
        return text


def _told_games(forms: Iterable[RaterForm]) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for form in forms:
        for name, row in form.rows.items():
            if game := row.cells.get(GAME, "").strip():
                told.setdefault(name, []).append(game)
    return told


def _unmatched(samples: Sequence[ReasoningSample], forms: Sequence[RaterForm]) -> list[Oddity]:
    """Say which rows have no log, which logs have no row, and where a form differs from a log."""
    oddities: list[Oddity] = []
    by_name = {sample.key: sample for sample in samples}
    for form in forms:
        for name, row in form.rows.items():
            if name not in by_name:
                found = f"a row for {shown(name)}, and no such log"
                done = "it counts for the agreement of raters alone"
                oddities.append(Oddity(row.place, "no_such_log", found, done))
                continue
            for column, value in by_name[name].cells().items():
                said = row.cells.get(column, "").strip()
                if column == "file" or not said or not value or said == value:
                    continue
                place = Place(row.place.file, row.place.row, row.place.line, column)
                done = f"the log says {shown(value)}"
                oddities.append(Oddity(place, "other_than_log", shown(said), done))
    if forms:
        for sample in samples:
            without = [form.name for form in forms if sample.key not in form.rows]
            if without:
                found = f"no row in {', '.join(without)}"
                oddities.append(
                    Oddity(Place(sample.log.name), "no_row", found, "not counted there")
                )
    return oddities


def check_new(path: Path) -> None:
    """Do nothing where a new file can be written.

    Raises:
        UsageError: something is there, or nothing can be.
    """
    if path.is_file():
        raise UsageError(f"{path}: is there already", "give another name")
    check_place(path)


def _write_new(path: Path, text: str) -> None:
    check_new(path)
    write_text(path, text)
