"""The clients that act in Azure, in a program that has made nothing with them yet."""

from __future__ import annotations

import subprocess
import sys

CROWD = """
import sys, threading
from azure.mgmt.resource.resources import models as resources
from azure.mgmt.storage import models as storage
from cwiictl.clouds.azure.environments import environment
from cwiictl.clouds.azure.stores.session import Clients
from cwiictl.clouds.azure.stores.wire import wide

Clients(environment(""), object(), wide(1), "11111111-1111-4111-8111-111111111111")
models = [each for room in (resources, storage) for each in vars(room).values() if isinstance(each, type) and hasattr(each, "_calculated")]
print([each.__name__ for each in models if f"{each.__module__}.{each.__qualname__}" not in each._calculated])
sys.setswitchinterval(1e-6)

def made(model, start):
    start.wait()
    try:
        model({})
    except RuntimeError as e:
        print(model.__name__, e)

for model in models:
    start = threading.Barrier(2)
    crowd = [threading.Thread(target=made, args=(model, start)) for _ in range(2)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
print("made", len(models) > 100)
"""


def test_many_threads_may_meet_a_model_of_the_sdk_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CROWD], check=False, capture_output=True, text=True, timeout=60
    )

    assert (done.stdout, done.stderr) == ("[]\nmade True\n", ""), done.stdout + done.stderr
