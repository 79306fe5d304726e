"""The container that tries an identity before the pod's own start."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.admission.injection import Mount, Origin, PodRefused, Variable
from cwii_webhook.dialects.common.helper_container import HelperSpec
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii.annotations import CloudAnnotations
from cwii_webhook.dialects.cwii.precedence import ResolvedAnnotations, where
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.cwii.value_checks import checked
from cwii_webhook.settings.formats import IMAGE

# The tools keep what they learn at home, and whoever the pod runs as can write there.
AT_HOME = "export HOME=/tmp; "
UNENFORCED = " || echo 'cwii: verification check failed (non-enforcing)' >&2"


class VerificationContainer(Struct, frozen=True):
    """How an identity is tried: by what command, in what image, with how much memory."""

    name: str
    common: CloudAnnotations
    image: str
    memory: str
    command: str

    def guests(
        self,
        wishes: ResolvedAnnotations,
        settings: Settings,
        variables: tuple[Variable, ...],
        mounts: tuple[Mount, ...],
    ) -> tuple[HelperSpec, ...]:
        wanted = wishes.flag(self.common.verify)
        if wanted is None or wanted.value == "false":
            return ()
        if wishes.hearing.windows:
            wishes.warnings.append(
                f"{where(wanted)} asks to try the identity first, but what could try it does not run on Windows: it is not tried"
            )
            return ()
        enforced = wishes.flag(self.common.enforce)
        script = (
            AT_HOME + self.command + ("" if enforced and enforced.value == "true" else UNENFORCED)
        )
        return (
            HelperSpec(
                self.name,
                self._image(wishes, settings),
                script,
                variables,
                mounts,
                "100m",
                self.memory,
            ),
        )

    def _image(self, wishes: ResolvedAnnotations, settings: Settings) -> str:
        named = wishes.text(self.common.image, "verify image")
        if named is None:
            return wishes.otherwise("verify image", self.image).value
        image = checked(named, IMAGE)
        if image in settings.own_images or _listed(image, named, settings):
            return image
        may = ", ".join(sorted(settings.own_images | set(settings.verify_images)))
        raise PodRefused(
            f"{where(named)} is {printable(image)}, which this cluster does not list: name one of {may}, or have --verify-images of the webhook list it"
        )


def _listed(image: str, named: Origin, settings: Settings) -> bool:
    """Where nothing is listed, whoever writes the pod may name any, for he might run it as a container of his own.

    Who may edit its ServiceAccount or its namespace may not: he would run it as somebody whom he cannot run pods as.
    """
    if not settings.verify_images:
        return named.source is not None and named.source.scope in {"pod", "owner"}
    return any(
        image == listed or (listed.endswith("*") and image.startswith(listed[:-1]))
        for listed in settings.verify_images
    )
