"""HTML as data, dumped once: nothing that is shown can be anything but text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias
from xml.etree.ElementTree import Element, tostring

Content: TypeAlias = Element | str
_DIVIDED = re.compile(r"(?<=[:/@.])(?=\w)")


def element(tag: str, *content: Content, **attributes: str | bool) -> Element:
    """`class_` is class, and data_state is data-state; True is an attribute without a value, and what is False or empty is left out."""
    made = Element(tag)
    for key, value in attributes.items():
        if value is not False and value != "":
            made.set(key.rstrip("_").replace("_", "-"), "" if value is True else str(value))
    for each in content:
        _add(made, each)
    return made


def breakable(text: str) -> Iterator[Content]:
    """An address may be broken behind whatever divides it: where it is too long, a browser would else do so within a number."""
    first, *rest = _DIVIDED.split(text)
    yield first
    for each in rest:
        yield from (element("wbr"), each)


def _add(parent: Element, content: Content) -> None:
    if isinstance(content, Element):
        parent.append(content)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + content
    else:
        parent.text = (parent.text or "") + content


def dump(root: Element) -> bytes:
    return f"<!doctype html>\n{tostring(root, encoding='unicode', method='html')}\n".encode(
        errors="replace"
    )
