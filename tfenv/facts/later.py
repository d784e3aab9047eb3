"""Work that goes on while other facts are read."""

from __future__ import annotations

import threading
from typing import Callable, Generic, Optional, TypeVar

T = TypeVar("T")


class Later(Generic[T]):
    """Runs ``work`` in a thread from now on; ``result`` waits for it."""

    def __init__(self, work: Callable[[], T]) -> None:
        """Start ``work``, which must end by itself (the readers' children have time limits)."""
        self._work = work
        self._value: Optional[tuple[T]] = None
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._value = (self._work(),)
        except BaseException as error:  # handed to the caller by result()
            self._error = error

    def result(self) -> T:
        """What ``work`` returned; raises what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._value is not None
        return self._value[0]
