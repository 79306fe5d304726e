"""The exchange of a token for Entra's, as Azure's SDKs do it in a pod. What comes of it is forgotten at once."""

from __future__ import annotations

import re
from typing import Any

from azure.core.exceptions import ClientAuthenticationError
from azure.identity import ClientAssertionCredential

from cwiictl.clouds.azure.belief import Client
from cwiictl.clouds.azure.environments import Environment
from cwiictl.clouds.azure.stores.errors import status, told
from cwiictl.clouds.azure.stores.tokens import SAID
from cwiictl.verify.finding import Refusal

NUMBER = re.compile(rf"{SAID}(\d+)")
LETTER = "have the federated credential say the same to the letter: create-all mends it"
UNREAD = "see that Entra can read the issuer's documents: no network rule, bot filter or missing intermediate certificate may stand between"
CLOCK = "set the clocks of the cluster's machines by NTP"
TENANT = (
    "see in which tenant the identity is, and have the workload told that one: create-all writes it"
)
REMEDIES = {
    "50027": "see that the API server signs ServiceAccount tokens as JWTs",
    "70025": "give the identity its federated credentials: create-all mends it",
    "90002": TENANT,
    "501661": UNREAD,
    "700016": TENANT,
    "700024": CLOCK,
    "700027": "see that the published key is the one that the cluster signs with",
    "700211": LETTER,
    "700212": LETTER,
    "700213": LETTER,
    "7002138": LETTER,
    "7000272": "publish the cluster's key with create-all --add-key; Entra may take some minutes to hear of it",
}


class Exchanges:
    def __init__(self, where: Environment, transport: Any) -> None:
        self.where, self.transport = where, transport

    @told("Entra")
    def exchange(self, client: Client, token: str) -> Refusal | None:
        """The transport is everybody's, and so the credential is not closed."""
        credential = ClientAssertionCredential(
            client.tenant,
            client.id,
            lambda: token,
            authority=self.where.authority,
            transport=self.transport,
            retry_total=0,
            additionally_allowed_tenants=[],
        )
        try:
            credential.get_token(self.where.scope)
        except ClientAuthenticationError as e:
            text = " ".join(e.message.split())
            if status(e) == 429 or status(e) >= 500 or SAID not in text:
                raise
            found = NUMBER.search(text)
            words = f"{SAID}{text.partition(SAID)[2].partition(' Trace ID')[0]}"
            return Refusal(
                f"Entra does not take the token: {words}",
                REMEDIES.get(found[1] if found else "", "mend what it says"),
            )
        return None
