"""Twenty requests as a cluster's release has them for AWS.

With all that is special about some: several ServiceAccounts, a condition, a Deny, a token's path, two in one file, JSON, a name over IAM's limit.
"""

from __future__ import annotations

import json

from tests.examples import an_entry, an_object, text, two_requests

OPERATORS = (
    (
        "aws-efs-csi-driver-operator",
        "openshift-cluster-csi-drivers",
        "elasticfilesystem:DescribeAccessPoints",
    ),
    (
        "aws-load-balancer-operator",
        "aws-load-balancer-operator",
        "elasticloadbalancing:DescribeLoadBalancers",
    ),
    ("aws-node-termination-handler", "kube-system", "autoscaling:CompleteLifecycleAction"),
    ("cert-manager", "cert-manager", "route53:GetChange"),
    ("cluster-autoscaler", "kube-system", "autoscaling:SetDesiredCapacity"),
    ("external-dns", "external-dns-operator", "route53:ChangeResourceRecordSets"),
    ("external-secrets", "external-secrets", "secretsmanager:GetSecretValue"),
    ("karpenter", "karpenter", "ec2:CreateFleet"),
    ("oadp", "openshift-adp", "s3:PutObject"),
    ("prometheus-remote-write", "monitoring", "aps:RemoteWrite"),
    ("thanos", "open-cluster-management-observability", "s3:GetObject"),
    ("velero", "velero", "ec2:CreateSnapshot"),
)
KEYS = (
    an_entry("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKeyWithoutPlainText"),
    an_entry(
        "kms:CreateGrant",
        "kms:ListGrants",
        "kms:RevokeGrant",
        condition={"Bool": {"kms:GrantIsForAWSResource": True}},
    ),
)


def twenty_requests() -> dict[str, str]:
    logging = an_object(
        "lokistack", "openshift-logging", "logging-loki-aws", "logging-loki", "logging-loki-ruler"
    )
    operators = {
        f"{name}.yaml": text(
            an_object(name, namespace, f"{name}-cloud-credentials", entries=[an_entry(action)])
        )
        for name, namespace, action in OPERATORS
    }
    return {
        **two_requests(),
        **machines(),
        **networks(),
        "logging.json": json.dumps(logging),
        **operators,
    }


def machines() -> dict[str, str]:
    ebs = an_object(
        "aws-ebs-csi-driver-operator", "openshift-cluster-csi-drivers", "ebs-cloud-credentials",
        "aws-ebs-csi-driver-operator", "aws-ebs-csi-driver-controller-sa",
        entries=[an_entry("ec2:AttachVolume", "ec2:CreateVolume", "ec2:DetachVolume"), *KEYS],
    )  # fmt: skip
    machine_api = an_object(
        "openshift-machine-api-aws", "openshift-machine-api", "aws-cloud-credentials", "machine-api-controllers",
        entries=[an_entry("ec2:RunInstances", "ec2:TerminateInstances"), an_entry("iam:PassRole", "iam:CreateServiceLinkedRole"), *KEYS],
    )  # fmt: skip
    capa = an_object(
        "openshift-cluster-api-aws", "openshift-cluster-api", "capa-manager-bootstrap-credentials-of-the-infrastructure-provider",
        "capa-controller-manager",
        entries=[
            an_entry("ec2:CreateTags", resource="arn:aws:ec2:*:*:instance/*", condition={"StringEquals": {"aws:RequestTag/owner": ["b", "a"]}}),
            {"effect": "Deny", "action": ["ec2:DeleteVpc"], "resource": "*"},
        ],
    )  # fmt: skip
    return {
        "ebs-csi.yaml": text(ebs),
        "machine-api.yml": text(machine_api),
        "capa.yaml": text(capa),
    }


def networks() -> dict[str, str]:
    config = an_object(
        "openshift-cloud-network-config-controller-aws", "openshift-cloud-network-config-controller", "cloud-credentials",
        "cloud-network-config-controller",
        entries=[an_entry("ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses", "ec2:DescribeSubnets")],
        cloudTokenPath="/var/run/secrets/tokens/cloud/token",
    )  # fmt: skip
    reader = an_object(
        "cloud-credential-operator-iam-ro", "openshift-cloud-credential-operator", "cloud-credential-operator-iam-ro-creds", "cloud-credential-operator",
        entries=[an_entry("iam:GetUser", "iam:GetUserPolicy", "iam:ListAccessKeys")],
    )  # fmt: skip
    return {"network.yaml": text(config, reader)}
