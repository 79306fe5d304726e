"""One cloud's token: its volume, and where it is mounted. Clouds never share one, for each wants its own audience."""

from __future__ import annotations

from cwii_webhook.admission.injection import Mount, Volume

FILE = "token"


class TokenVolume:
    def __init__(self, gives: str, root: str) -> None:
        self.name = f"cwii-{gives}-token"
        self.mount = Mount(self.name, f"{root}/{gives}", read_only=True)
        self.path = f"{root}/{gives}/{FILE}"

    def volume(self, audience: str, seconds: int) -> Volume:
        token = {"audience": audience, "expirationSeconds": seconds, "path": FILE}
        return Volume(self.name, {"projected": {"sources": [{"serviceAccountToken": token}]}})


def container_path(path: str, *, windows: bool) -> str:
    """As the pod's containers find it."""
    return "C:" + path.replace("/", "\\") if windows else path
