"""Words that Azure takes in no name of what it serves to the world, for they are its own or somebody's trademark."""

from __future__ import annotations

import re

from cwiictl.sandbox.azure.answers import Refusal

_INSIDE = re.compile(r"microsoft|windows|^login")
_WHOLE = {
    "access", "azure", "bing", "bizspark", "biztalk", "cortana", "directx", "dotnet", "dynamics", "excel", "exchange", "forefront", "groove", "hololens",
    "hyperv", "kinect", "lync", "msdn", "o365", "office", "office365", "onedrive", "onenote", "outlook", "powerpoint", "sharepoint", "skype", "visio",
    "visualstudio", "xbox",
}  # fmt: skip


def check(name: str) -> None:
    if name.lower() in _WHOLE or _INSIDE.search(name.lower()):
        raise Refusal(
            400,
            "ReservedResourceName",
            f"The resource name '{name}' or a part of the name is a trademarked or reserved word.",
        )
