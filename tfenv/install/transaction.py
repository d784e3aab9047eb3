"""All or nothing: what an installation replaces is moved aside first and comes back if anything fails."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType

from packaging.utils import canonicalize_name

from tfenv.errors import InstallError
from tfenv.facts.model import Distribution
from tfenv.install.site import Site


class Transaction:
    """Use as a context manager: leaving it without :meth:`commit` puts the environment back as it was.

    Distributions are moved aside by rename within the same filesystem, file by file as their RECORD says
    (folders such as ``nvidia/`` are shared). What an installer adds is found by comparing with a snapshot.
    """

    def __init__(self, site: Site) -> None:
        """``site`` is the environment; nothing is touched yet."""
        self._site = site
        self._trash = site.folder / "trash"
        self._moved: list[tuple[Path, Path]] = []
        self._before: set[str] = set()
        self._made_folder = not site.folder.exists()
        self._committed = False

    def __enter__(self) -> Transaction:
        """Take the snapshot."""
        try:
            if self._trash.exists():
                shutil.rmtree(self._trash)
            self._trash.mkdir(parents=True)
        except OSError as error:
            self._remove_folder()
            raise InstallError(
                "read-only",
                f"The environment at {self._site.prefix} cannot be written: {error.strerror or error}.",
                hint="Use an environment you may write to, for example: tfenv bootstrap --venv .venv",
            ) from error
        self._before = set(self._listing())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put everything back unless committed."""
        if not self._committed:
            self._restore()

    def set_aside(self, distributions: Iterable[Distribution]) -> None:
        """Move ``distributions`` out of the environment.

        Raises:
            InstallError: a distribution has no RECORD, so its files are not known.
        """
        for distribution in distributions:
            files = self._files_of(distribution)
            for path in files:
                self._move(path)
            # An empty folder left behind would still import, as a namespace package.
            _remove_empty_parents(files, self._site.roots)

    def commit(self) -> None:
        """Keep the new state; what was moved aside is deleted."""
        self._committed = True
        shutil.rmtree(self._trash, ignore_errors=True)

    def _move(self, path: Path) -> None:
        aside = self._trash / str(len(self._moved))
        try:
            path.rename(aside)
        except FileNotFoundError:
            return  # listed in RECORD, but gone: nothing to bring back
        self._moved.append((aside, path))

    def _restore(self) -> None:
        added = [path for path in self._listing() if path not in self._before]
        for name in added:
            with contextlib.suppress(OSError):  # folders go below, once they are empty
                Path(name).unlink()
        for aside, path in reversed(self._moved):
            path.parent.mkdir(parents=True, exist_ok=True)
            aside.replace(path)
        for root in self._site.roots:
            _remove_empty_folders(root, self._before)
        self._remove_folder()

    def _remove_folder(self) -> None:
        with contextlib.suppress(OSError):
            shutil.rmtree(self._trash, ignore_errors=True)
            if self._made_folder:
                self._site.folder.rmdir()

    def _listing(self) -> Iterator[str]:
        """Every file and folder of the environment's roots except tfenv's own."""
        own = str(self._site.folder)
        for root in self._site.roots:
            for path in _walk(str(root)):
                if not path.startswith(own):
                    yield path

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
        roots = {root.resolve() for root in (*self._site.roots, self._site.prefix)}
        files = []
        for row in csv.reader(io.StringIO(record.read_text(encoding="utf-8", errors="replace"))):
            if not row or not row[0]:
                continue
            path = base / row[0]
            # The folder is resolved, the file is not: a link is moved itself, and ".." must stay inside.
            inside = path.parent.resolve() / path.name
            if any(root in inside.parents for root in roots):
                files.append(inside)
        return _with_bytecode(files)


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


def _remove_empty_folders(root: Path, before: set[str]) -> None:
    for folder, _, _ in os.walk(root, topdown=False):
        if folder not in before and folder != str(root):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
