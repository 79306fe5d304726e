"""For whom an identity was made, as far as it still says so: whoever looks at it has not asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cwiictl.errors import BadInput
from cwiictl.model import LABEL, SUBDOMAIN, Workload

_SUBJECT = re.compile(
    rf"system:serviceaccount:(?P<namespace>{LABEL.pattern}):(?P<account>{SUBDOMAIN.pattern})"
)  # a pattern names nobody


def whose(subjects: Iterable[str], title: str = "") -> Workload | None:
    """Of the title's namespace, those who are let in; without a title, all of them, if they are of one namespace. None if that is nobody.

    Where a title's namespace has nobody who is let in, it is whoever is named in it: create-identity calls an identity so, if nothing else is said.
    """
    pairs = [
        (found["namespace"], found["account"])
        for each in sorted(subjects)
        if (found := _SUBJECT.fullmatch(each))
    ]
    namespaces = {namespace for namespace, _ in pairs}
    namespace, _, name = (
        title.partition("/")
        if title
        else (namespaces.pop() if len(namespaces) == 1 else "", "", "")
    )
    accounts = [account for space, account in pairs if space == namespace] or [name]
    try:
        return Workload(namespace, name or accounts[0], tuple(accounts), asker="webhook")
    except BadInput:
        return None
