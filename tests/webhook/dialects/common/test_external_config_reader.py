"""Tests the reader of external configuration with real files and fake objects."""

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
    """Runs a reader on fake objects, and collects its log and metrics."""

    def __init__(self, folder: Path, *sources: ExternalConfig) -> None:
        self.metrics = Metrics()
        self._log = folder / "log"
        self._log.touch()
        self.objects = FakeObjects()
        self._file = os.open(self._log, os.O_WRONLY | os.O_APPEND)
        self._reader = ExternalConfigReader(
            sources, self.objects, ErrorReport(self.metrics, Log(self._file))
        )

    def refresh(self) -> Sequence[str]:
        """Refreshes once, and returns the levels and texts of the new log lines."""
        before = len(self._log.read_text().splitlines())
        self._reader.refresh()
        return [
            f"{line['level']} {line['what']}"
            for line in map(json.loads, self._log.read_text().splitlines()[before:])
        ]

    def has_error(self, name: str) -> bool:
        line = f'cwii_external_config_error{{source="{name}"}} 1'
        return line in self.metrics.exposition().decode()


def mount_config_map(folder: Path, text: str) -> Path:
    """Writes a file as the kubelet does: a link to a link, and the second link is replaced."""
    number = len(list(folder.glob("..2025*")))
    version = folder / f"..2025_{number}"
    version.mkdir()
    (version / "config.json").write_text(text)
    (folder / "..new").symlink_to(version.name)
    (folder / "..new").rename(folder / "..data")
    if not (folder / "config.json").is_symlink():
        (folder / "config.json").symlink_to("..data/config.json")
    return folder / "config.json"


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    (tmp_path / "mount").mkdir()
    return mount_config_map(tmp_path / "mount", SHOP)


def test_file_is_read_again_after_the_kubelet_replaces_it(
    tmp_path: Path, config_file: Path
) -> None:
    identities = AgentIdentities(str(config_file))
    reader = ReaderFixture(tmp_path, identities)

    assert reader.refresh() == ["info what is heeded besides annotations was read"]
    assert identities.pairs == {("shop", "billing")}
    assert reader.refresh() == []

    mount_config_map(config_file.parent, OTHER)

    assert len(reader.refresh()) == 1
    assert identities.pairs == {("other", "billing")}


@pytest.mark.parametrize(
    ("invalid", "problem"),
    [
        (b"{", "Input data was truncated"),
        (b'{"identities": "all"}', "Expected `array | null`, got `str`"),
        (b"\xff", "is not UTF-8"),
        (b" " * (MAX_FILE + 1), "is longer than"),
        (f'{{"more": {DEEP}}}'.encode(), "recursion"),
    ],
    ids=["no json", "no list", "no text", "too long", "too deep"],
)
def test_error_is_logged_once_and_the_last_valid_content_stays(
    tmp_path: Path, config_file: Path, invalid: bytes, problem: str
) -> None:
    identities = AgentIdentities(str(config_file))
    reader = ReaderFixture(tmp_path, identities)
    reader.refresh()

    config_file.write_bytes(invalid)
    first, second = reader.refresh(), reader.refresh()

    assert len(first) == 1
    assert first[0].startswith(f"warning {config_file}")
    assert problem in first[0]
    assert (second, reader.has_error("identities")) == ([], True)
    assert identities.pairs == {("shop", "billing")}

    config_file.write_text(OTHER)

    assert reader.refresh() == ["info what is heeded besides annotations was read"]
    assert not reader.has_error("identities")
    assert identities.pairs == {("other", "billing")}


def test_folder_instead_of_a_file_is_reported(tmp_path: Path) -> None:
    assert "Is a directory" in ReaderFixture(tmp_path, AgentIdentities(str(tmp_path))).refresh()[0]


def test_missing_file_means_no_identities_of_the_agent(tmp_path: Path, config_file: Path) -> None:
    identities = AgentIdentities(str(config_file))
    reader = ReaderFixture(tmp_path, identities)
    reader.refresh()

    config_file.unlink()

    assert reader.refresh() == [
        f"warning there is no file {config_file}: nobody gets credentials of the agent"
    ]
    assert (identities.pairs, reader.has_error("identities")) == (frozenset(), True)


def test_empty_file_means_no_identities_and_no_error(tmp_path: Path, config_file: Path) -> None:
    identities = AgentIdentities(str(config_file))
    reader = ReaderFixture(tmp_path, identities)
    config_file.write_text("")
    reader.refresh()

    assert (identities.pairs, reader.has_error("identities")) == (frozenset(), False)


def find_role(roles: ConfigMapRoles) -> str:
    entry = roles.entry("shop", "billing")
    return entry.rolearn if entry else ""


def test_config_map_is_read_and_its_last_valid_content_stays(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    reader = ReaderFixture(tmp_path, roles)

    assert reader.refresh() == [
        "warning there is no ConfigMap eks/pod-identity-webhook with a key config"
    ]
    assert reader.has_error("config-map")

    reader.objects.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    assert reader.refresh() == ["info what is heeded besides annotations was read"]
    assert (find_role(roles), reader.has_error("config-map")) == ("one", False)

    for invalid in (
        {"config": "{"},
        {"config": '{"shop/billing": {"RoleARN": 1}}'},
        {"config": f'{{"shop/billing": {{"RoleARN": {DEEP}}}}}'},
        {},
    ):
        reader.objects.objects[roles.ref] = ObjectMetadata(invalid, (), "u")
        assert reader.refresh()[0].endswith("what it said last is still heeded"), invalid
        assert (find_role(roles), reader.has_error("config-map")) == ("one", True)


def test_roles_stay_after_the_config_map_is_deleted(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    reader = ReaderFixture(tmp_path, roles)
    reader.objects.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    reader.refresh()

    reader.objects.objects.clear()

    assert reader.refresh() == [
        (
            "warning there is no ConfigMap eks/pod-identity-webhook with a key config: "
            "what it said last is still heeded"
        )
    ]
    assert find_role(roles) == "one"


def test_content_from_another_cluster_is_dropped(tmp_path: Path) -> None:
    roles = ConfigMapRoles("eks")
    reader = ReaderFixture(tmp_path, roles)
    reader.objects.objects[roles.ref] = ObjectMetadata({"config": ROLES}, (), "u")
    reader.refresh()

    reader.objects.server = "there"  # a cluster with an equal ConfigMap
    reader.refresh()
    assert find_role(roles) == "one"

    reader.objects.server = "elsewhere"
    reader.objects.objects.clear()
    assert reader.refresh() == [
        "warning there is no ConfigMap eks/pod-identity-webhook with a key config"
    ]
    assert find_role(roles) == ""


@pytest.mark.parametrize(
    ("text", "problem", "role"),
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
def test_config_map_is_parsed_as_in_go(text: str, problem: str, role: str) -> None:
    roles = ConfigMapRoles("eks")

    error = roles.update(text)

    assert problem in error if problem else not error
    assert find_role(roles) == role


def test_metric_shows_the_error_of_one_of_two_sources(tmp_path: Path, config_file: Path) -> None:
    reader = ReaderFixture(
        tmp_path, AgentIdentities("/nowhere/config.json"), AgentIdentities(str(config_file))
    )
    reader.refresh()

    assert reader.has_error("identities")


class FailingConfig:
    """Raises an error that the reader does not expect."""

    name: Name = "identities"
    location = LocalFile("strange")

    def update(self, text: str | None) -> str:
        raise LookupError(f"there is none for {text}")


def test_unexpected_error_of_one_source_does_not_stop_others(
    tmp_path: Path, config_file: Path
) -> None:
    identities = AgentIdentities(str(config_file))
    reader = ReaderFixture(tmp_path, FailingConfig(), identities)

    messages = reader.refresh()

    assert "LookupError: there is none for None" in messages[0]
    assert (reader.has_error("identities"), identities.pairs) == (True, {("shop", "billing")})
