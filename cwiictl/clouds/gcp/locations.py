"""Where Google has buckets: regions, pairs of regions that have a name, and continents. In other universes they are called otherwise."""

from __future__ import annotations

import difflib

from cwiictl.errors import BadInput

NAMES = """
us eu asia nam4 eur4 eur5 eur7 eur8 asia1
africa-south1
asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2 asia-southeast1 asia-southeast2 asia-southeast3
australia-southeast1 australia-southeast2
europe-central2 europe-north1 europe-north2 europe-southwest1
europe-west1 europe-west2 europe-west3 europe-west4 europe-west6 europe-west8 europe-west9 europe-west10 europe-west12
me-central1 me-central2 me-west1
northamerica-northeast1 northamerica-northeast2 northamerica-south1
southamerica-east1 southamerica-west1
us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4
"""
LOCATIONS = frozenset(NAMES.split())


def located(location: str) -> None:
    """A slip of the pen is found here. Google would say so when half of the rest is made."""
    if location in LOCATIONS:
        return
    near = difflib.get_close_matches(location, sorted(LOCATIONS), 1, 0.7)
    meant = (
        f"did you mean --region {near[0]}?"
        if near
        else "give one such as us, eu or europe-west1 with --region."
    )
    raise BadInput(
        f"Google Cloud Storage has no location {location!r}",
        remedy=f"{meant} If it is newer than this version, make the bucket there yourself, and name it with --gcs-bucket",
    )
