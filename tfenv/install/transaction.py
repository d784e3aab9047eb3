"""All or nothing: what an installation replaces is moved aside first and comes back if anything fails."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from packaging.utils import canonicalize_name

from tfenv.errors import InstallError
from tfenv.facts.model import Distribution
from tfenv.install.failure import not_written
from tfenv.install.journal import Entries, Journal
from tfenv.install.site import Site
from tfenv.install.state import STATE_FILE

_TRASH, _DONE = "trash", "trash.done"
#: Of tfenv's own folder, what a transaction restores too.
_OWN_FILES = (STATE_FILE,)


class Transaction:
    """Use as a context manager: leaving it without :meth:`commit` puts the environment back as it was.

    Distributions are moved aside by rename within the same filesystem, file by file as their RECORD says
    (folders such as ``nvidia/`` are shared). What an installer adds is found by comparing with a snapshot.
    A journal on disk lets the next run put back what a killed one left (:func:`recover`).
    """

    def __init__(self, site: Site) -> None:
        """``site`` is the environment; nothing is touched yet."""
        self._site = site
        self._trash = site.folder / _TRASH
        self._journal = Journal(self._trash)
        self._count = 0
        self._committed = False

    def __enter__(self) -> Transaction:
        """Recover from a killed run, then take the snapshot.

        Raises:
            InstallError: the environment cannot be written.
        """
        recover(self._site)
        try:
            before = list(_listing(self._site))
            self._trash.mkdir(parents=True)
            for name in _OWN_FILES:
                if (self._site.folder / name).exists():
                    shutil.copy2(self._site.folder / name, self._trash / name)
            self._journal.begin(before)
        except BaseException as error:  # Ctrl-C too: nothing has been moved yet
            _drop(self._trash)
            if isinstance(error, OSError):
                raise not_written(self._site.prefix, error) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put everything back unless committed."""
        if not self._committed:
            recover(self._site)

    def set_aside(self, distributions: Iterable[Distribution]) -> None:
        """Move ``distributions`` out of the environment.

        Raises:
            InstallError: a distribution has no RECORD, so its files are not known.
        """
        files = [path for distribution in distributions for path in self._files_of(distribution)]
        moves = [(str(self._count + index), str(path)) for index, path in enumerate(files)]
        self._count += len(moves)
        try:
            self._journal.intend(moves)
            for aside, path in moves:
                with contextlib.suppress(FileNotFoundError):  # in RECORD, but gone: nothing to bring back
                    Path(path).rename(self._trash / aside)
        except OSError as error:
            raise not_written(self._site.prefix, error) from error
        # An empty folder left behind would still import, as a namespace package.
        _remove_empty_parents(files, self._site.roots)

    def commit(self) -> None:
        """Keep the new state; what was moved aside is deleted."""
        self._committed = True
        # One rename decides: a trash that is half deleted must never be put back.
        done = self._trash.with_name(_DONE)
        self._trash.rename(done)
        shutil.rmtree(done, ignore_errors=True)

    def _files_of(self, distribution: Distribution) -> list[Path]:
        base = Path(distribution.location)
        record = _record_file(base, distribution)
        if record is None:
            raise InstallError(
                "no-record",
                f"{distribution.name} {distribution.version} does not say which files it installed "
                "(no RECORD), so it cannot be replaced safely.",
                hint="Make a separate environment: tfenv bootstrap --venv .venv",
            )
        roots = [root.resolve() for root in (*self._site.roots, self._site.prefix)]
        files = []
        for row in csv.reader(io.StringIO(record.read_text(encoding="utf-8", errors="replace"))):
            if not row or not row[0]:
                continue
            # The folder is resolved, the file is not: a link is moved itself, and ".." must stay inside.
            path = (base / row[0]).parent.resolve() / (base / row[0]).name
            if _is_inside(path, roots):
                files.append(path)
        return _with_bytecode(files)


def is_unfinished(site: Site) -> bool:
    """Whether a killed run left something to put back."""
    return (site.folder / _TRASH).is_dir()


def recover(site: Site) -> bool:
    """Put back what an unfinished transaction left; whether there was anything to put back."""
    shutil.rmtree(site.folder / _DONE, ignore_errors=True)
    trash = site.folder / _TRASH
    if not trash.is_dir():
        return False
    entries = Journal(trash).read()
    if entries is not None:
        _restore(site, trash, entries)
    _drop(trash)
    return entries is not None


def _restore(site: Site, trash: Path, entries: Entries) -> None:
    for path in list(_listing(site)):
        if path not in entries.before:
            with contextlib.suppress(OSError):  # folders go below, once they are empty
                Path(path).unlink()
    inside = tuple(root.resolve() for root in (*site.roots, site.prefix))
    for aside, path in entries.moves:
        source, place = trash / aside, Path(path)
        # A journal is a file that others may have written: it moves nothing to anywhere else.
        if source.parent == trash and source.exists() and _is_inside(place, inside):
            place.parent.mkdir(parents=True, exist_ok=True)
            source.replace(place)
    for name in _OWN_FILES:
        with contextlib.suppress(OSError):
            (site.folder / name).unlink()
        with contextlib.suppress(OSError):
            (trash / name).replace(site.folder / name)
    for root in site.roots:
        _remove_empty_folders(root, entries.before)


def _is_inside(path: Path, roots: Sequence[Path]) -> bool:
    return any(root in (path.parent.resolve() / path.name).parents for root in roots)


def _drop(trash: Path) -> None:
    shutil.rmtree(trash, ignore_errors=True)
    with contextlib.suppress(OSError):
        trash.parent.rmdir()  # tfenv's folder, if it was made for this trash only


def _listing(site: Site) -> Iterator[str]:
    """Every file and folder of the environment's roots except tfenv's own."""
    own = str(site.folder)
    for root in site.roots:
        for path in _walk(str(root)):
            if path != own and not path.startswith(own + os.sep):
                yield path


def _record_file(base: Path, distribution: Distribution) -> Path | None:
    suffix = f"-{distribution.version}.dist-info"
    for folder in base.glob("*.dist-info"):
        if (
            folder.name.endswith(suffix)
            and canonicalize_name(folder.name[: -len(suffix)]) == distribution.name
        ):
            record = folder / "RECORD"
            return record if record.is_file() else None
    return None


def _with_bytecode(files: list[Path]) -> list[Path]:
    """``files`` and the compiled files beside their sources (uv leaves those out of RECORD)."""
    known = set(files)
    found = list(files)
    for folder in {path.parent for path in files if path.suffix == ".py"}:
        with contextlib.suppress(OSError):
            for compiled in (folder / "__pycache__").iterdir():
                source = folder / (compiled.name.split(".", 1)[0] + ".py")
                if source in known and compiled not in known:
                    found.append(compiled)
    return found


def _walk(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        yield entry.path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path)


def _remove_empty_parents(files: list[Path], roots: tuple[Path, ...]) -> None:
    stop = {root.resolve() for root in roots}
    for folder in sorted({path.parent for path in files}, key=lambda path: -len(path.parts)):
        while folder not in stop:
            try:
                folder.rmdir()
            except OSError:
                break  # not empty: shared with another distribution
            folder = folder.parent


def _remove_empty_folders(root: Path, before: frozenset[str]) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        if folder not in before and folder != str(root):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
