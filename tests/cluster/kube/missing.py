"""What this machine lacks for a cluster."""

from __future__ import annotations


class Missing(Exception):
    """One sentence: what is not there, and what to do. By hand it ends the script with 2; a test is skipped with it, and fails where CI is set."""
