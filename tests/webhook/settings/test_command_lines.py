"""Command lines with which other software starts the peer webhooks also start this one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from cwii_webhook.__main__ import PROGRAMS
from cwii_webhook.dialects.dialect import Service, build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server.tls import parse_tls_settings
from cwii_webhook.settings.flags import parse

KUBECONFIG, CERTS = "--kubeconfig=/var/run/app/kubeconfig/kubeconfig", "/var/run/app/certs"
SUITES = ",".join(
    f"TLS_ECDHE_{key}_WITH_{cipher}"
    for key in ("ECDSA", "RSA")
    for cipher in ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")
)
PROFILE = f"--tls-cipher-suites={SUITES} --tls-min-version=VersionTLS12"
AZURE = {"AZURE_TENANT_ID": "t", "AZURE_ENVIRONMENT": "AzurePublicCloud"}
IN_CLUSTER = "--in-cluster"

# Source: command line, environment, expected port, and flags that only cause a warning.
COMMAND_LINES: Mapping[str, tuple[str, Mapping[str, str], int, tuple[str, ...]]] = {
    "EKS, by hand": (
        (
            "cwii-webhook eks --in-cluster=false --kubeconfig K --tls-cert C --tls-key T --port "
            "1 --metrics-port 2 --aws-default-region=eu-west-1"
        ),
        {},
        1,
        (IN_CLUSTER,),
    ),
    "Azure, by hand": (
        (
            "cwii-webhook azwi --disable-cert-rotation --webhook-cert-dir D --health-addr "
            "127.0.0.1:3 --metrics-addr 127.0.0.1:2 --port 1"
        ),
        {**AZURE, "KUBECONFIG": "K"},
        1,
        ("--disable-cert-rotation",),
    ),
    "Google, by hand": (
        (
            "cwii-webhook gcpwif --webhook-cert-dir D --health-probe-bind-address 127.0.0.1:3 "
            "--metrics-bind-address 127.0.0.1:2 --port 1 --gcp-default-region=r"
        ),
        {"KUBECONFIG": "K"},
        1,
        (),
    ),
    "cwii, by hand": (
        "cwii-webhook cwii --addr 127.0.0.1:1 --tls-cert C --tls-key T --native-annotations=true",
        {"KUBECONFIG": "K"},
        1,
        (),
    ),
    "a hosted control plane in AWS": (
        (
            "/usr/bin/aws-pod-identity-webhook --annotation-prefix=eks.amazonaws.com "
            f"--in-cluster=false {KUBECONFIG} --logtostderr --port=4443 "
            f"--aws-default-region=us-east-1 --tls-cert={CERTS}/tls.crt "
            f"--tls-key={CERTS}/tls.key --token-audience=openshift {PROFILE}"
        ),
        {},
        4443,
        (IN_CLUSTER, "--logtostderr"),
    ),
    "a hosted control plane in Azure": (
        (
            f"/usr/bin/azure-workload-identity-webhook --webhook-cert-dir={CERTS} "
            f"--health-addr=:9440 --audience=api://AzureADTokenExchange {KUBECONFIG} "
            f"--metrics-addr=:9441 --log-level=info {PROFILE} --disable-cert-rotation"
        ),
        AZURE,
        9443,
        ("--disable-cert-rotation",),
    ),
    "OpenShift's operator in AWS": (
        (
            "/usr/bin/aws-pod-identity-webhook --in-cluster=false "
            "--tls-cert=/var/run/app/certs/tls.crt --tls-key=/var/run/app/certs/tls.key "
            "--port=9443 "
            f"--aws-default-region=us-east-1 {PROFILE}"
        ),
        {},
        9443,
        (IN_CLUSTER,),
    ),
    "OpenShift's operator in Azure": (
        (
            "/usr/bin/azure-workload-identity-webhook --log-level=info "
            f"--disable-cert-rotation=true {PROFILE}"
        ),
        {"AZURE_TENANT_ID": "t"},
        9443,
        ("--disable-cert-rotation",),
    ),
    "OpenShift's operator in Google Cloud": (
        f"/usr/bin/gcp-workload-identity-federation-webhook {PROFILE}",
        {},
        9443,
        (),
    ),
    "EKS's manifests": (
        (
            "amazon-eks-pod-identity-webhook --in-cluster=false --namespace=default "
            "--service-name=pod-identity-webhook --annotation-prefix=eks.amazonaws.com "
            "--token-audience=sts.amazonaws.com --logtostderr"
        ),
        {},
        443,
        (IN_CLUSTER, "--service-name", "--logtostderr"),
    ),
}


def service_for(line: str, environ: Mapping[str, str]) -> Service:
    path, *arguments = line.split()
    program = Path(path).name
    dialect = PROGRAMS.get(program) or ALL[arguments.pop(0)]
    return build_service(dialect, arguments, environ, program=program)


@pytest.mark.parametrize("source", COMMAND_LINES)
def test_command_line_of_other_software_is_accepted(source: str) -> None:
    line, environ, port, ignored = COMMAND_LINES[source]

    built = service_for(line, environ)

    assert built.serving.listen_address[1] == port
    assert {warning.split()[0] for warning in built.flags.warnings} == set(ignored)
    assert parse_tls_settings(built.serving.tls_min, built.serving.tls_ciphers)


# All flags of each peer webhook.
FLAGS: Mapping[str, str] = {
    "eks": (
        "port=1 metrics-port=1 kubeconfig=K kube-api=https://k tls-key=T tls-cert=C "
        "tls-cipher-suites=TLS_AES_128_GCM_SHA256 tls-min-version=1.2 "
        "in-cluster=true service-name=s namespace=n tls-secret=s annotation-prefix=a.b "
        "token-audience=a token-mount-path=/p token-expiration=600 "
        "aws-default-region=r sts-regional-endpoint watch-config-map compose-role-arn "
        "watch-container-credentials-config=/f container-credentials-audience=a "
        "container-credentials-token-mount-path=/p container-credentials-token-volume-name=v "
        "container-credentials-token-path=t "
        "container-credentials-full-uri=http://u service-account-lookup-grace-period=100ms "
        "resync-period=60s enable-debugging-handlers v=4 logtostderr "
        "alsologtostderr vmodule=a=1 log_dir=/l log_file=/l log_file_max_size=1 "
        "log_backtrace_at=:0 stderrthreshold=2 skip_headers skip_log_headers "
        "add_dir_header one_output"
    ),
    "azwi": (
        "audience=a webhook-cert-dir=/d disable-cert-rotation tls-min-version=1.3 "
        "health-addr=:1 metrics-addr=:1 metrics-backend=prometheus log-level=debug "
        "custom-token-endpoint-annotation-suffix=s custom-token-endpoint-audience=a "
        "kubeconfig=K tls-cipher-suites=TLS_AES_128_GCM_SHA256"
    ),
    "gcpwif": (
        "metrics-bind-address=:1 health-probe-bind-address=:1 annotation-prefix=a.b "
        "token-audience=a token-expiration=24h gcp-default-region=r gcloud-image=i "
        "token-default-mode=0440 setup-container-resources={} "
        "tls-cipher-suites=TLS_AES_128_GCM_SHA256 tls-min-version=VersionTLS12 kubeconfig=K "
        "zap-devel "
        "zap-encoder=json zap-log-level=debug zap-stacktrace-level=error zap-time-encoding=iso8601"
    ),
    "cwii": (
        "addr=:1 tls-cert=C tls-key=T mount-root=/r token-expiration=600 "
        "native-annotations=true otel-enabled=true otel-endpoint=http://o gcp-enabled=true "
        "aws-enabled=true az-enabled=true gcp-default-audience=a gcp-delivery=config-map "
        "gcp-init-image=i gcp-verify-image=i aws-default-audience=a "
        "aws-verify-image=i az-default-audience=a az-verify-image=i"
    ),
}


@pytest.mark.parametrize(
    ("dialect", "flag"),
    [(dialect, flag) for dialect, flags in FLAGS.items() for flag in flags.split()],
)
def test_flag_of_a_peer_is_accepted(dialect: str, flag: str) -> None:
    flags = parse(ALL[dialect].flags, [f"--{flag}"], {})

    assert len(flags.values) + len(flags.warnings) == 1


@pytest.mark.parametrize("version", ["VersionTLS12", "TLSv1.2", "1.2"])
def test_tls_version_is_accepted_in_each_spelling(version: str) -> None:
    assert parse_tls_settings(
        service_for(
            f"azure-workload-identity-webhook --tls-min-version={version}", AZURE
        ).serving.tls_min
    ) == parse_tls_settings("1.2")
