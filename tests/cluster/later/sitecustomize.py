"""Who has this folder on PYTHONPATH lives that many seconds later: so that a test need not wait for tokens of a day to expire."""

import os
import time

_now = time.time
time.time = lambda: _now() + float(os.environ["LATER"])
