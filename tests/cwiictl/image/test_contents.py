"""What an image holds, and what it does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from cwiictl.image import contents
from cwiictl.image.packages import Unpacked
from cwiictl.image.tree import File, Link

CONTAINERFILE = Path(__file__).parents[3] / "webhook" / "Containerfile"


def test_documentation_is_left_out_but_licences_and_what_scanners_read_stay() -> None:
    files = {
        path: File(b"") for path in ("usr/lib/libc.so", "usr/share/doc/libc6/copyright", "usr/share/doc/libc6/changelog.gz", "etc/profile", "root/.bashrc")
    }

    system = contents.system({"libc6": Unpacked("Package: libc6\n", files)})

    assert {"usr/lib/libc.so", "usr/share/doc/libc6/copyright", "etc/passwd"} <= set(system)
    assert not {"usr/share/doc/libc6/changelog", "etc/profile", "root/.bashrc"} & set(system)
    assert system["var/lib/dpkg/status.d/libc6"] == File(b"Package: libc6\n")


def test_the_webhook_answers_to_the_names_of_what_it_stands_in_for() -> None:
    tree = contents.program({}, "3.13", ["amazon-eks-pod-identity-webhook"])

    assert tree["usr/local/bin/amazon-eks-pod-identity-webhook"] == Link("cwii-webhook")
    start = tree["usr/local/bin/cwii-webhook"]
    assert isinstance(start, File)
    assert start.data.startswith(b"#!/usr/bin/python3.13 -IB\n")
    assert start.mode == 0o755


def test_the_containerfile_says_of_how_it_runs_what_we_say() -> None:
    words = dict(re.findall(r"^(ENV|USER|WORKDIR|ENTRYPOINT) (.*)$", CONTAINERFILE.read_text(), re.MULTILINE))
    config = contents.config("1")
    environment, entrypoint = (cast("list[str]", config[key]) for key in ("Env", "Entrypoint"))

    assert words == {"ENV": " ".join(environment), "USER": config["User"], "WORKDIR": config["WorkingDir"], "ENTRYPOINT": f'["{entrypoint[0]}"]'}
