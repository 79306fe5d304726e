{{/* What the objects have in common. All of them are what `cwiictl install-webhook` makes of the same values. */}}

{{/* By these two pods are selected. */}}
{{- define "cwii.labels" -}}
app.kubernetes.io/name: cwii-webhook
app.kubernetes.io/instance: {{ .Values.name | quote }}
{{- end }}

{{/* Of the renewer's pods, so that no Service takes them for replicas. */}}
{{- define "cwii.renewerLabels" -}}
app.kubernetes.io/name: cwii-webhook-renewer
app.kubernetes.io/instance: {{ .Values.name | quote }}
{{- end }}

{{- define "cwii.servingSecret" -}}
{{ .Values.certificates.secret | default (printf "%s-serving" .Values.name) }}
{{- end }}

{{/* Namespaces whose pods are never looked at; those of which only the beginning is known are a condition. */}}
{{- define "cwii.excluded" -}}
{{- concat (list .Values.namespace "kube-system" "kube-public" "kube-node-lease") .Values.excludedNamespaces | uniq | toYaml }}
{{- end }}

{{- define "cwii.elsewhere" -}}
key: kubernetes.io/metadata.name
operator: NotIn
values: {{- include "cwii.excluded" . | nindent 2 }}
{{- end }}

{{/* Whether it has anything to write: the ConfigMaps with Google's credentials. */}}
{{- define "cwii.writes" -}}
{{- if and (has "cwii" .Values.dialects) (eq .Values.gcp.delivery "config-map") }}true{{ end }}
{{- end }}

{{/* What the cluster serves. Where helm is told of no kinds, as by `helm template`, the version has to do. */}}
{{- define "cwii.policies" -}}
{{- $served := .Capabilities.APIVersions }}
{{- if $served.Has "v1/Pod" }}
{{- if $served.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" }}true{{ end }}
{{- else if semverCompare ">=1.30-0" .Capabilities.KubeVersion.Version }}true{{ end }}
{{- end }}

{{/* The version of flow control; empty for none. */}}
{{- define "cwii.flow" -}}
{{- $served := .Capabilities.APIVersions }}
{{- if not ($served.Has "v1/Pod") }}
{{- semverCompare ">=1.29-0" .Capabilities.KubeVersion.Version | ternary "v1" "v1beta3" }}
{{- else if $served.Has "flowcontrol.apiserver.k8s.io/v1/FlowSchema" }}v1
{{- else if $served.Has "flowcontrol.apiserver.k8s.io/v1beta3/FlowSchema" }}v1beta3
{{- end }}
{{- end }}

{{/* Whom we have no business with, in CEL. */}}
{{- define "cwii.conditions" -}}
- name: no-mirror-of-a-static-pod
  expression: "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)"
- name: no-namespace-of-the-system
  expression: "!has(request.namespace) || !(request.namespace.startsWith('kube-') || request.namespace.startsWith('openshift-'))"
{{- end }}
