"""What can be said of an installation of the webhook. Reading it, and the schema and text of the chart's values.yaml, follow from these shapes.

A new value is a field here, heeded by whoever makes the object beside it, and by the same template of the chart: a test compares the two.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from cwii_webhook.settings.flags import parse_duration
from cwii_webhook.settings.formats import IMAGE
from msgspec import Meta

from cwiictl.errors import BadInput
from cwiictl.install.schedule import gap, told
from cwiictl.model import LABEL
from cwiictl.shapes import nearest

Dialect = Literal["cwii", "eks", "azwi", "gcpwif"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)  # in the order in which they are served
ASKING: frozenset[Dialect] = frozenset(
    {"cwii", "azwi"}
)  # whose pods and namespaces say themselves that they want an identity
MARKER = "cwii.dev/injected"

NAME = re.compile(
    r"[a-z]([-a-z0-9]{0,44}[a-z0-9])?"
)  # with -serving and the like still a Service's and a CronJob's

Words: TypeAlias = dict[
    str, str | None
]  # None in a file takes a word away that is there by default, as helm has it
Amounts: TypeAlias = dict[str, str | int | None]
Body: TypeAlias = dict[str, Any]


def _says(text: str, **more: Any) -> Meta:
    return Meta(description=text, **more)


def _pattern(pattern: re.Pattern[str]) -> dict[str, str]:
    return {"pattern": f"^({pattern.pattern})$"}


def _words(**words: str) -> Any:
    return msgspec.field(default_factory=lambda: dict(words))


class Shape(msgspec.Struct, rename="camel", forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A part of what can be said."""


class Aws(Shape, frozen=True):
    region: Annotated[
        str,
        _says(
            "Region that pods for AWS are told, where neither they nor anybody for them names one."
        ),
    ] = ""
    audience: Annotated[
        str,
        _says(
            "For whom tokens for AWS are, where no annotation says so; by default sts.amazonaws.com."
        ),
    ] = ""


class Azure(Shape, frozen=True):
    tenant_id: Annotated[
        str,
        _says(
            "Tenant of pods of the dialect azwi whose ServiceAccount names none. That dialect does not start without."
        ),
    ] = ""
    environment: Annotated[
        Literal["", "AzurePublicCloud", "AzureUSGovernmentCloud", "AzureChinaCloud"],
        _says("Which cloud of Azure's; by default AzurePublicCloud."),
    ] = ""
    audience: Annotated[
        str,
        _says(
            "For whom tokens for Azure are, where no annotation says so; by default as the environment wants it."
        ),
    ] = ""


class Gcp(Shape, frozen=True):
    provider: Annotated[
        str,
        _says(
            "The provider, as projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER, of the dialect cwii's pods that name no audience."
        ),
    ] = ""
    audience: Annotated[
        str,
        _says(
            "For whom tokens of the dialect gcpwif are, where no annotation says so; by default sts.googleapis.com."
        ),
    ] = ""
    region: Annotated[
        str,
        _says("Region that pods of the dialect gcpwif are told, where their containers name none."),
    ] = ""
    delivery: Annotated[
        Literal["annotation", "config-map", "init-container"],
        _says(
            "How Google's credentials come to pods of the dialect cwii. With config-map the webhook may write ConfigMaps, else nothing."
        ),
    ] = "annotation"


class Issuer(Shape, frozen=True):
    name: Annotated[
        str,
        _says(
            "An issuer of cert-manager that is there; by default one is made, with a CA of its own."
        ),
    ] = ""
    kind: Literal["Issuer", "ClusterIssuer"] = "ClusterIssuer"
    group: str = "cert-manager.io"


class Certificates(Shape, frozen=True):
    by: Annotated[
        Literal["renewer", "cert-manager", "service-ca", "files"],
        _says(
            "Who makes them and renews them: a CronJob with a CA of its own, cert-manager, OpenShift's service CA, or you, in a Secret; never changed in place."
        ),
    ] = "renewer"
    validity: Annotated[
        str,
        _says(
            "How long a certificate lasts: twice as long as the schedule leaves between two looks, at least."
        ),
    ] = "2160h"
    ca_validity: Annotated[
        str, _says("How long a CA lasts: twice as long as a certificate, at least.")
    ] = "87600h"
    schedule: Annotated[
        str, _says("When the renewer looks whether something is to be renewed, as cron says it.")
    ] = "23 */6 * * *"
    issuer: Annotated[Issuer, _says("For cert-manager.")] = Issuer()
    secret: Annotated[str, _says("For files: the Secret with tls.crt and tls.key.")] = ""
    ca: Annotated[
        str, _says("For files: the certificates, in PEM, of the CA that tls.crt is of.")
    ] = ""


class Autoscaling(Shape, frozen=True):
    enabled: Annotated[
        bool, _says("Whether a HorizontalPodAutoscaler says how many replicas there are.")
    ] = False
    min_replicas: Annotated[int, Meta(ge=1)] = 2
    max_replicas: Annotated[int, Meta(ge=1)] = 6
    cpu: Annotated[int, _says("Percent of the requested CPU that replicas are to use.", ge=1)] = 70


class Monitoring(Shape, frozen=True):
    scrape: Annotated[bool, _says("Make a ServiceMonitor for the Prometheus operator.")] = False
    alerts: Annotated[bool, _says("Make a PrometheusRule with alerts.")] = False
    dashboard: Annotated[
        bool, _says("Make a ConfigMap with a dashboard, as Grafana's sidecar looks for it.")
    ] = False
    labels: Annotated[Words, _says("By which the operator knows what it is to heed.")] = _words()


class NetworkPolicy(Shape, frozen=True):
    enabled: Annotated[
        bool,
        _says(
            "Allow reviews from anywhere, for API servers cannot be selected, and metrics from those below alone."
        ),
    ] = False
    metrics_from: Annotated[
        tuple[Body, ...], _says("Who may ask for metrics, as a NetworkPolicy's peers.")
    ] = ()


class Resources(Shape, frozen=True):
    requests: Annotated[
        Amounts, _says("64 MiB are used in an idle cluster, and 110 with 10,000 ServiceAccounts.")
    ] = _words(cpu="50m", memory="128Mi")
    limits: Annotated[Amounts, _says("Without one for CPU: who is held back answers too late.")] = (
        _words(memory="256Mi")
    )


class Condition(Shape, frozen=True):
    name: str
    expression: str


class Arguments(Shape, frozen=True):
    cwii: tuple[str, ...] = ()
    eks: tuple[str, ...] = ()
    azwi: tuple[str, ...] = ()
    gcpwif: tuple[str, ...] = ()


class Wishes(Shape, frozen=True):
    """All that can be said, each with what most clusters want."""

    name: Annotated[
        str, _says("What all is called, or begins with.", extra_json_schema=_pattern(NAME))
    ] = "cwii-webhook"
    namespace: Annotated[
        str,
        _says(
            "Where it runs. Pods in it are not given identities.", extra_json_schema=_pattern(LABEL)
        ),
    ] = "cwii-system"
    create_namespace: Annotated[
        bool, _says("Make that namespace, closed to pods that are not restricted.")
    ] = True
    image: Annotated[
        str, _says("The image, best with its digest: `cwiictl image push` makes one. Required.")
    ] = ""
    image_pull_secrets: Annotated[
        tuple[str, ...], _says("Secrets in that namespace to pull the image with.")
    ] = ()
    replicas: Annotated[
        int,
        _says(
            "How many there are. With one, pods wait or go without while its node is drained.", ge=1
        ),
    ] = 2
    dialects: Annotated[
        tuple[Dialect, ...],
        _says(
            "Whose annotations are heard: cwii, eks, azwi, gcpwif.",
            min_length=1,
            extra_json_schema={"uniqueItems": True},
        ),
    ] = ("cwii",)
    beside: Annotated[
        bool,
        _says(
            "Install it where another webhook hears the same annotations. Heeded by cwiictl; helm does not look for others."
        ),
    ] = False
    aws: Annotated[Aws, _says("What pods for AWS are told by default.")] = Aws()
    azure: Annotated[Azure, _says("What pods for Azure are told by default.")] = Azure()
    gcp: Annotated[Gcp, _says("What pods for Google Cloud are told by default.")] = Gcp()
    arguments: Annotated[
        Arguments,
        _says(
            "More words of a dialect's command line, for each; see `cwii-webhook DIALECT --help`."
        ),
    ] = Arguments()
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], _says("How much is logged.")
    ] = "info"

    failure_policy: Annotated[
        Literal["AsShipped", "Ignore", "Fail"],
        _says(
            "What becomes of pods when the webhook cannot be asked. As shipped, azwi's labelled pods are refused, and others go without identity."
        ),
    ] = "AsShipped"
    require: Annotated[
        bool,
        _says(
            "Refuse pods that ask for an identity, or whose namespace does, and were not given a token."
        ),
    ] = False
    excluded_namespaces: Annotated[
        tuple[str, ...],
        _says("Whose pods are never looked at, beside kube-*, openshift-* and our own namespace."),
    ] = ()
    ephemeral_containers: Annotated[
        tuple[Dialect, ...],
        _says("Dialects that give identities to containers that join a running pod, too."),
    ] = ("cwii",)
    match_conditions: Annotated[
        tuple[Condition, ...],
        _says(
            "More conditions in CEL for a pod to be looked at; guard each key, as in has(object.metadata.labels)."
        ),
    ] = ()
    timeout_seconds: Annotated[
        int, _says("How long an API server waits for an answer.", ge=1, le=30)
    ] = 5

    certificates: Annotated[Certificates, _says("What the API servers know the webhook by.")] = (
        Certificates()
    )

    autoscaling: Annotated[Autoscaling, _says("More replicas where there is more to do.")] = (
        Autoscaling()
    )
    disruption_budget: Annotated[
        bool,
        _says(
            "Drain one replica at a time. Never made for a single replica; say false for one node, which cwiictl sees by itself."
        ),
    ] = True
    priority_class: Annotated[str, _says("PriorityClass of its pods; empty for none.")] = (
        "system-cluster-critical"
    )
    flow_control: Annotated[
        bool,
        _says(
            "Give its reads a small priority level of their own, so that no crowd of others holds them up."
        ),
    ] = True
    resources: Annotated[Resources, _says("What each replica has.")] = Resources()
    node_selector: Annotated[Words, _says("Nodes that it runs on.")] = _words(
        **{"kubernetes.io/os": "linux"}
    )
    tolerations: Annotated[tuple[Body, ...], _says("Taints that it does not mind.")] = ()
    topology_keys: Annotated[
        tuple[str, ...], _says("Over what replicas are spread, where that is possible.")
    ] = (
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    )
    pod_labels: Annotated[Words, _says("More labels of its pods.")] = _words()
    pod_annotations: Annotated[Words, _says("Annotations of its pods.")] = _words()
    monitoring: Annotated[Monitoring, _says("What tells people how it is.")] = Monitoring()
    network_policy: Annotated[NetworkPolicy, _says("Who may reach it.")] = NetworkPolicy()


class Values(Wishes, frozen=True):
    """Wishes that agree with each other."""

    def __post_init__(self) -> None:
        _check_names(self)
        _check_dialects(self)
        _check_sense(self)
        _check_lives(self.certificates)

    @property
    def served(self) -> tuple[Dialect, ...]:
        """The first says how all are served, and azwi has no word for every level of the log."""
        return tuple(
            dialect for dialect in ("cwii", "eks", "gcpwif", "azwi") if dialect in self.dialects
        )

    @property
    def serving_secret(self) -> str:
        return self.certificates.secret or f"{self.name}-serving"

    @property
    def renewer(self) -> str:
        return f"{self.name}-renewer"

    @property
    def replicated(self) -> bool:
        return (self.autoscaling.min_replicas if self.autoscaling.enabled else self.replicas) > 1


def _check_names(values: Values) -> None:
    if values.image and not IMAGE.pattern.fullmatch(values.image):
        raise BadInput(
            f"image is {values.image!r}, which no image is called",
            remedy=f"write it like {IMAGE.example}, best with @sha256:... behind it",
        )
    for what, name, pattern in (
        ("name", values.name, NAME),
        ("namespace", values.namespace, LABEL),
    ):
        if not pattern.fullmatch(name):
            raise BadInput(
                f"{what} is {name!r}, which Kubernetes does not take",
                remedy="use a few lower-case letters, digits and -, beginning with a letter",
            )
    for name in values.excluded_namespaces:
        if not LABEL.fullmatch(name):
            raise BadInput(
                f"excludedNamespaces has {name!r}, which no namespace is called",
                remedy="list whole names: a * or a label is not understood",
            )


def _check_dialects(values: Values) -> None:
    if len(set(values.dialects)) < len(values.dialects):
        raise BadInput("dialects has one of them twice", remedy="name each once")
    if "azwi" in values.dialects and not values.azure.tenant_id:
        raise BadInput(
            "azure.tenantId is empty, and the dialect azwi does not start without",
            remedy="say azure.tenantId, or leave azwi out of dialects",
        )
    for dialect in DIALECTS:
        if getattr(values.arguments, dialect) and dialect not in values.dialects:
            raise BadInput(
                f"arguments.{dialect} is said, and dialects has no {dialect}",
                remedy=nearest(dialect, values.dialects),
            )
    if values.served == ("azwi",) and values.log_level not in {"info", "debug"}:
        raise BadInput(
            f"logLevel is {values.log_level}, and azwi alone has no word for it",
            remedy="say info or debug, or add a dialect",
        )
    if values.require and ASKING.isdisjoint(values.dialects):
        raise BadInput(
            "require has nothing to look at: in these dialects ServiceAccounts ask, and no pods",
            remedy="leave require out, or add cwii to dialects",
        )


def _check_sense(values: Values) -> None:
    certificates, scale = values.certificates, values.autoscaling
    if certificates.by == "files" and not (certificates.ca and certificates.secret):
        raise BadInput(
            "certificates.by is files, and certificates.secret or certificates.ca is empty",
            remedy="name the Secret, and give the CA's certificates",
        )
    if certificates.by != "files" and (certificates.ca or certificates.secret):
        raise BadInput(
            f"certificates.secret and certificates.ca are for files, and certificates.by is {certificates.by}",
            remedy="say certificates.by=files",
        )
    if scale.max_replicas < scale.min_replicas:
        raise BadInput(
            "autoscaling.maxReplicas is less than autoscaling.minReplicas", remedy="turn them round"
        )
    for condition in values.match_conditions:
        if MARKER in condition.expression:
            raise BadInput(
                f"matchConditions.{condition.name} goes by {MARKER}, which anybody can write on a pod",
                remedy="go by what the webhook itself would heed",
            )


def _check_lives(certificates: Certificates) -> None:
    lives = (
        _seconds("validity", certificates.validity),
        _seconds("caValidity", certificates.ca_validity),
    )
    if lives[0] < 60 or lives[1] < 2 * lives[0]:
        raise BadInput(
            f"certificates.validity is {certificates.validity}, and certificates.caValidity {certificates.ca_validity}",
            remedy="give a certificate a minute at least, and a CA twice as long: it signs nothing that outlives it",
        )
    if certificates.by == "renewer" and lives[0] < 2 * (between := _between(certificates.schedule)):
        raise BadInput(
            f"certificates.validity is {certificates.validity}, and between two looks"
            f" certificates.schedule, {certificates.schedule}, may leave {told(between)}",
            remedy=f"let certificates last {told(2 * between)} at least, or have the renewer look more often: they would end before they are renewed",
        )


def _between(schedule: str) -> int:
    try:
        return gap(schedule)
    except ValueError as error:
        raise BadInput(
            f"certificates.schedule is {schedule!r}, which is no schedule", remedy=f"{error}"
        ) from error


def _seconds(field: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise BadInput(
            f"certificates.{field} is {text!r}, which is no time", remedy=f"{error}"
        ) from error
