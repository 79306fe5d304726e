"""Where an image is to be."""

from __future__ import annotations

import pytest

from cwiictl.errors import BadInput
from cwiictl.image.reference import Reference, reference
from cwiictl.image.stores.wire import Wire


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("registry.example.org/webhook", Reference("registry.example.org", "webhook", "0.1.0")),
        (
            "registry.example.org:5000/team/cwii-webhook:new",
            Reference("registry.example.org:5000", "team/cwii-webhook", "new"),
        ),
        ("localhost/webhook", Reference("localhost", "webhook", "0.1.0")),
        ("[::1]:5000/webhook:1", Reference("[::1]:5000", "webhook", "1")),
    ],
)
def test_a_reference_names_registry_repository_and_tag(text: str, meant: Reference) -> None:
    assert reference(text, "0.1.0", plain=False) == meant


@pytest.mark.parametrize("name", ["docker.io", "index.docker.io", "registry-1.docker.io"])
def test_docker_s_own_registry_is_asked_where_it_is_and_called_as_it_was_named(name: str) -> None:
    place = reference(f"{name}/team/webhook", "1", plain=False)

    assert Wire(place, None, plain=False).url == "https://registry-1.docker.io"
    assert place.at("sha256:0") == f"{name}/team/webhook@sha256:0"


@pytest.mark.parametrize(
    "text",
    [
        "webhook",
        "team/webhook",
        "registry.example.org/",
        "registry.example.org/Team/x",
        "https://example.org/x",
        "a.b/c:",
        "",
    ],
)
def test_what_names_no_registry_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as told:
        reference(text, "0.1.0", plain=False)
    assert (told.value.problem, told.value.remedy) == (
        f"{text} names no place in a registry", "write it like registry.example.org/team/cwii-webhook:1.0",
    )  # fmt: skip


def test_a_digest_is_not_chosen() -> None:
    with pytest.raises(BadInput, match="names a digest, which comes of what is pushed") as told:
        reference(f"registry.example.org/x@sha256:{'0' * 64}", "0.1.0", plain=False)
    assert told.value.remedy == "name a tag, or nothing behind the repository"


@pytest.mark.parametrize(
    "registry", ["localhost:5000", "127.0.0.1:5000", "127.1.2.3", "[::1]:5000"]
)
def test_plain_http_is_for_the_loopback(registry: str) -> None:
    assert reference(f"{registry}/x", "1", plain=True).loopback


@pytest.mark.parametrize(
    "registry",
    ["registry.example.org", "10.0.0.1:5000", "127.0.0.1.example.org", "localhost.example.org:80"],
)
def test_plain_http_to_anywhere_else_is_refused(registry: str) -> None:
    with pytest.raises(BadInput) as told:
        reference(f"{registry}/x", "1", plain=True)
    assert (
        told.value.problem
        == f"--plain-http would send passwords and images to {registry} as everybody can read them"
    )
    assert told.value.remedy == "leave it out, and have it serve https"
    assert reference(f"{registry}/x", "1", plain=False).host == registry
