"""Numbers as people read them."""

from __future__ import annotations


def megabytes(size: int) -> str:
    """``size`` bytes as "12 MB" or "2.3 GB" (decimal, as download pages count)."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:.1f} GB"
    if size >= 10_000_000:
        return f"{size / 1e6:.0f} MB"
    if size >= 1_000_000:
        return f"{size / 1e6:.1f} MB"
    return f"{size / 1e3:.0f} kB"


def seconds(duration: float) -> str:
    """``duration`` in seconds as "0.3 s", "12 s" or "3 min 5 s"."""
    if duration < 10:
        return f"{duration:.1f} s"
    if duration < 100:
        return f"{duration:.0f} s"
    return f"{duration // 60:.0f} min {duration % 60:.0f} s"
