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
{{- define "cwii.elsewhere" -}}
key: kubernetes.io/metadata.name
operator: NotIn
values: {{- concat (list .Values.namespace "kube-system" "kube-public" "kube-node-lease") .Values.excludedNamespaces | uniq | toYaml | nindent 2 }}
{{- end }}

{{/* Whom we have no business with, in CEL. */}}
{{- define "cwii.conditions" -}}
- name: no-mirror-of-a-static-pod
  expression: "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)"
- name: no-namespace-of-the-system
  expression: "!has(request.namespace) || !(request.namespace.startsWith('kube-') || request.namespace.startsWith('openshift-'))"
{{- end }}
