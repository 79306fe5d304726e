"""What dialects heed besides annotations, read from real files and told on."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.dialects.common.external_config import ExternalConfig, LocalFile, Name
from cwii_webhook.dialects.common.external_config_reader import (
    MAX_FILE,
    ErrorReport,
    ExternalConfigReader,
)
from cwii_webhook.dialects.eks.external_config import AgentIdentities, ConfigMapRoles
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

SHOP = '{"identities": [{"namespace": "shop", "serviceAccount": "billing"}]}'
OTHER = '{"identities": [{"namespace": "other", "serviceAccount": "billing"}]}'
ROLES = '{"shop/billing": {"RoleARN": "one"}}'
DEEP = "[" * 100_000 + "]" * 100_000


class FakeObjects:
    def __init__(self) -> None:
        self.server = "here"
        self.objects: dict[ObjectRef, ObjectMetadata] = {}

    def get_cached(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self.objects.get(ref)

    def get_server(self, _: ObjectRef) -> str:
        return self.server


class ReaderFixture:
    """A reader, and what it told."""

    def __init__(self, folder: Path, *sources: ExternalConfig) -> None:
        self.metrics = Metrics()
        self._log = folder / "log"
        self._log.touch()
        self.known = FakeObjects()
        self._file = os.open(self._log, os.O_WRONLY | os.O_APPEND)
        self._reader = ExternalConfigReader(
            sources, self.known, ErrorReport(self.metrics, Log(self._file))
        )

    def look(self) -> Sequence[str]:
        """The levels and sentences of what is told this time."""
        before = len(self._log.read_text().splitlines())
        self._reader.refresh()
        return [
            f"{line['level']} {line['what']}"
            for line in map(json.loads, self._log.read_text().splitlines()[before:])
        ]

    def trouble(self, name: str) -> bool:
        return (
            f'cwii_external_config_error{{source="{name}"}} 1' in self.metrics.exposition().decode()
        )


def mount_config_map(folder: Path, text: str) -> Path:
    """As the kubelet mounts a ConfigMap: a link to a link, of which the second is swapped."""
    number = len(list(folder.glob("..2025*")))
    behind = folder / f"..2025_{number}"
    behind.mkdir()
    (behind / "config.json").write_text(text)
    (folder / "..new").symlink_to(behind.name)
    (folder / "..new").rename(folder / "..data")
    if not (folder / "config.json").is_symlink():
        (folder / "config.json").symlink_to("..data/config.json")
    return folder / "config.json"


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    (tmp_path / "mount").mkdir()
    return mount_config_map(tmp_path / "mount", SHOP)


def test_a_file_is_read_and_read_again_when_the_kubelet_swaps_it(
    tmp_path: Path, config_file: Path
) -> None:
    identities = AgentIdentities(str(config_file))
    read = ReaderFixture(tmp_path, identities)

    assert read.look() == ["info what is heeded besides annotations was read"]
    assert identities.pairs == {("shop", "billing")}
    assert read.look() == []

    mount_config_map(config_file.parent, OTHER)

    assert len(read.look()) == 1
    assert identities.pairs == {("other", "billing")}


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (b"{", "Input data was truncated"),
        (b'{"identities": "all"}', "Expected `array | null`, got `str`"),
        (b"\xff", "is not UTF-8"),
        (b" " * (MAX_FILE + 1), "is longer than"),
        (f'{{"more": {DEEP}}}'.encode(), "recursion"),
    ],
    ids=["no json", "no list", "no text", "too long", "too deep"],
)
def test_what_cannot_be_read_is_told_once_and_what_was_good_stays(
    tmp_path: Path, config_file: Path, broken: bytes, told: str
) -> None:
    identities = AgentIdentities(str(config_file))
    read = ReaderFixture(tmp_path, identities)
    read.look()

    config_file.write_bytes(broken)
    first, second = read.look(), read.look()

    assert len(first) == 1
    assert first[0].startswith(f"warning {config_file}")
    assert told in first[0]
    assert (second, read.trouble("identities")) == ([], True)
    assert identities.pairs == {("shop", "billing")}

    config_file.write_text(OTHER)

    assert read.look() == ["info what is heeded besides annotations was read"]
    assert not read.trouble("identities")
    assert identities.pairs == {("other", "billing")}


def test_a_folder_in_its_place_is_told_too(tmp_path: Path) -> None:
    assert "Is a directory" in ReaderFixture(tmp_path, AgentIdentities(str(tmp_path))).look()[0]


def test_without_the_file_nobody_goes_to_the_agent(tmp_path: Path, config_file: Path) -> None:
    identities = AgentIdentities(str(config_file))
    read = ReaderFixture(tmp_path, identities)
    read.look()

    config_file.unlink()

    assert read.look() == [
        f"warning there is no file {config_file}: nobody gets credentials of the agent"
    ]
    assert (identities.pairs, read.trouble("identities")) == (frozenset(), True)


def test_an_empty_file_is_nobody_without_trouble(tmp_path: Path, config_file: Path) -> None:
    identities = AgentIdentities(str(config_file))
    read = ReaderFixture(tmp_path, identities)
    config_file.write_text("")
    read.look()

    assert (identities.pairs, read.trouble("identities")) == (frozenset(), False)


def find_role(roles: ConfigMapRoles) -> str:
    found = roles.entry("shop", "billing")
    return found.rolearn if found else ""


def test_the_config_map_is_read_and_what_was_good_stays(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    read = ReaderFixture(tmp_path, roles)

    assert read.look() == [
        "warning there is no ConfigMap eks/pod-identity-webhook with a key config"
    ]
    assert read.trouble("config-map")

    read.known.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    assert read.look() == ["info what is heeded besides annotations was read"]
    assert (find_role(roles), read.trouble("config-map")) == ("one", False)

    for broken in (
        {"config": "{"},
        {"config": '{"shop/billing": {"RoleARN": 1}}'},
        {"config": f'{{"shop/billing": {{"RoleARN": {DEEP}}}}}'},
        {},
    ):
        read.known.objects[roles.ref] = ObjectMetadata(broken, (), "u")
        assert read.look()[0].endswith("what it said last is still heeded"), broken
        assert (find_role(roles), read.trouble("config-map")) == ("one", True)


def test_who_deletes_the_config_map_takes_nothing_away(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    read = ReaderFixture(tmp_path, roles)
    read.known.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    read.look()

    read.known.objects.clear()

    assert read.look() == [
        "warning there is no ConfigMap eks/pod-identity-webhook with a key config: what it said last is still heeded"
    ]
    assert find_role(roles) == "one"


def test_what_was_good_in_another_cluster_is_not_heeded_in_this_one(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    read = ReaderFixture(tmp_path, roles)
    read.known.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    read.look()

    read.known.server = "there"  # where just the same stands
    read.look()
    assert find_role(roles) == "one"

    read.known.server = "elsewhere"
    read.known.objects.clear()
    assert read.look() == [
        "warning there is no ConfigMap eks/pod-identity-webhook with a key config"
    ]
    assert find_role(roles) == ""


@pytest.mark.parametrize(
    ("text", "problem", "found"),
    [
        ('{"shop/billing": {"rolearn": "one", "ToBeInvented": 1}}', "", "one"),
        ('{"shop/billing": {"RoleARN": "one", "Audience": null}}', "", "one"),
        ('{"shop/billing": null}', "", ""),
        ("", "", ""),
        (
            '{"nobody": {}, "shop/billing": {"RoleARN": "one"}}',
            "'nobody', which is no NAMESPACE/SERVICEACCOUNT",
            "one",
        ),
    ],
)
def test_the_config_map_is_read_as_go_reads_it(text: str, problem: str, found: str) -> None:
    roles = ConfigMapRoles("eks")

    told = roles.update(text)

    assert problem in told if problem else not told
    assert find_role(roles) == found


def test_of_two_dialects_sources_one_trouble_is_trouble(tmp_path: Path, config_file: Path) -> None:
    read = ReaderFixture(
        tmp_path, AgentIdentities("/nowhere/config.json"), AgentIdentities(str(config_file))
    )
    read.look()

    assert read.trouble("identities")


class FailingConfig:
    """A source that fails as nobody thought of."""

    name: Name = "identities"
    location = LocalFile("strange")

    def update(self, text: str | None) -> str:
        raise LookupError(f"there is none for {text}")


def test_a_source_that_fails_as_nobody_thought_of_stops_no_other(
    tmp_path: Path, config_file: Path
) -> None:
    identities = AgentIdentities(str(config_file))
    read = ReaderFixture(tmp_path, FailingConfig(), identities)

    told = read.look()

    assert "LookupError: there is none for None" in told[0]
    assert (read.trouble("identities"), identities.pairs) == (True, {("shop", "billing")})
