"""A pod as it would be sent anew, before any webhook of ours has seen it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cwii_webhook.admission.admit import Mutator, Route

from cwiictl.explain.objects import TEMPLATES, Pod
from cwiictl.explain.parts import containers, listed, within

Body = Mapping[str, Any]


def templated(pod: Body, owner: Body) -> Pod | None:
    """By the template of whoever made it. None where that kind has none."""
    template = within(owner, *TEMPLATES.get(str(owner.get("kind")), ("nothing",)))
    if not template.get("spec"):
        return None
    about = {
        key: pod["metadata"][key]
        for key in ("namespace", "generateName", "ownerReferences")
        if key in pod["metadata"]
    }
    own, spec = within(template, "metadata"), template["spec"]
    if claims := [*_claims(pod, owner)]:
        spec = {**spec, "volumes": [*listed(spec, "volumes"), *claims]}
    return _pod(
        {
            "metadata": {**own, "generateName": f"{owner['metadata']['name']}-", **about},
            "spec": spec,
        }
    )


def _claims(pod: Body, owner: Body) -> Iterator[Body]:
    """Volumes that a StatefulSet's template has not, and each of its pods has."""
    for claim in listed(owner["spec"], "volumeClaimTemplates"):
        name = claim["metadata"]["name"]
        yield {
            "name": name,
            "persistentVolumeClaim": {"claimName": f"{name}-{pod['metadata'].get('name', '')}"},
        }


def stripped(pod: Body, routes: Iterable[Route]) -> Pod:
    """Without what it was given by its looks. What of that its author had written himself cannot be told apart, and goes too."""
    every = [*routes]
    mutators = [mutator for route in every for mutator in route.mutators]
    volumes = {
        volume["name"]
        for volume in listed(pod["spec"], "volumes")
        if any(_makes(mutator, volume["name"]) for mutator in mutators)
    }
    if not volumes:
        return _pod(pod)
    variables = frozenset[str]().union(*(mutator.env_names for mutator in mutators))
    cut = {id(each): _without(each, volumes, variables) for each in containers(pod)}
    spec = {
        **pod["spec"],
        "volumes": [volume for volume in pod["spec"]["volumes"] if volume["name"] not in volumes],
    }
    spec |= {
        kind: [cut[id(each)] for each in pod["spec"][kind]]
        for kind in ("initContainers", "containers")
        if kind in pod["spec"]
    }
    words = {
        key: text
        for key, text in within(pod, "metadata", "annotations").items()
        if key not in {route.marker for route in every}
    }
    return _pod({"metadata": {**pod["metadata"], "annotations": words}, "spec": spec})


def _pod(body: Body) -> Pod:
    """The API server fills in the ServiceAccount before it asks anybody."""
    spec, space = body["spec"], str(body["metadata"]["namespace"])
    account = {
        "serviceAccountName": spec.get("serviceAccountName")
        or spec.get("serviceAccount")
        or "default"
    }
    return Pod(
        space,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": body["metadata"],
            "spec": {**spec, **account},
        },
    )


def _makes(mutator: Mutator, volume: str) -> bool:
    return any(
        volume.startswith(name[:-1]) if name.endswith("*") else volume == name
        for name in mutator.volume_names
    )


def _without(container: Body, volumes: set[str], variables: frozenset[str]) -> Body:
    kept = {
        "volumeMounts": [
            mount for mount in listed(container, "volumeMounts") if mount["name"] not in volumes
        ],
        "env": [
            variable for variable in listed(container, "env") if variable["name"] not in variables
        ],
    }
    return {
        **{key: value for key, value in container.items() if key not in kept},
        **{key: value for key, value in kept.items() if value},
    }
