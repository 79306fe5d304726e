"""Builds the init container that tries an identity before the pod's own containers start."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.admission.injection import EnvVar, Origin, PodRefused, VolumeMount
from cwii_webhook.dialects.common.helper_container import HelperSpec
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii.annotations import CloudAnnotations
from cwii_webhook.dialects.cwii.precedence import AnnotationResolver, describe
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.cwii.value_checks import checked
from cwii_webhook.settings.formats import IMAGE

# The tools write caches to their home directory, and any user can write to /tmp.
SET_HOME = "export HOME=/tmp; "
IGNORE_FAILURE = " || echo 'cwii: verification check failed (non-enforcing)' >&2"


class VerificationContainer(Struct, frozen=True):
    """How one cloud's identities are tried."""

    name: str
    cloud: CloudAnnotations
    image: str
    memory: str
    command: str

    def helpers(
        self,
        annotations: AnnotationResolver,
        settings: Settings,
        env: tuple[EnvVar, ...],
        mounts: tuple[VolumeMount, ...],
    ) -> tuple[HelperSpec, ...]:
        """Returns the container if the pod asks for verification."""
        verify = annotations.use_flag(self.cloud.verify)
        if verify is None or verify.value == "false":
            return ()
        if annotations.is_windows:
            annotations.warnings.append(
                f"{describe(verify)} asks to try the identity first, but what could try it does "
                "not run on Windows: it is not tried"
            )
            return ()
        enforce = annotations.use_flag(self.cloud.enforce)
        script = SET_HOME + self.command
        if enforce is None or enforce.value == "false":
            script += IGNORE_FAILURE
        image = self._image(annotations, settings)
        return (HelperSpec(self.name, image, script, env, mounts, "100m", self.memory),)

    def _image(self, annotations: AnnotationResolver, settings: Settings) -> str:
        origin = annotations.use_text(self.cloud.image, "verify image")
        if origin is None:
            return annotations.use_default("verify image", self.image).value
        image = checked(origin, IMAGE)
        if image in settings.own_images or _is_allowed(image, origin, settings):
            return image
        allowed = ", ".join(sorted(settings.own_images | set(settings.verify_images)))
        raise PodRefused(
            f"{describe(origin)} is {printable(image)}, which this cluster does not list: name one "
            f"of {allowed}, or have --verify-images of the webhook list it"
        )


def _is_allowed(image: str, origin: Origin, settings: Settings) -> bool:
    """Checks an image against --verify-images.

    Without that list, the author of a pod or its owner may name any image, because they could run
    it in the pod anyway. The author of a ServiceAccount or a namespace may not: the image would run
    with the identity of others.
    """
    if not settings.verify_images:
        return origin.source is not None and origin.source.scope in {"pod", "owner"}
    return any(
        image == pattern or (pattern.endswith("*") and image.startswith(pattern[:-1]))
        for pattern in settings.verify_images
    )
