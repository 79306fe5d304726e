"""How two texts differ that clouds compare to the letter, and people take for the same."""

from __future__ import annotations

from collections.abc import Iterable


def unlike(have: str, want: str) -> str:
    """In a few words, where a difference is easily overlooked; empty for others."""
    if have.rstrip("/") == want.rstrip("/"):
        return "a slash at its end is a part of it"
    if have.strip() == want.strip():
        return "a space at its beginning or end is a part of it"
    if have.lower() == want.lower():
        return "large and small letters are not the same"
    if have.replace("http://", "https://", 1) == want:
        return "http and https are not the same"
    return ""


def not_(want: str, have: Iterable[str]) -> str:
    """What is there instead, and where a difference is easily overlooked, which."""
    others = sorted(have)
    near = next((hint for other in others if (hint := unlike(other, want))), "")
    told = f"{', '.join(others[:3])}{' and others' if others[3:] else ''}" or "nobody"
    return f"{told}, and not {want}{f': {near}' if near else ''}"
