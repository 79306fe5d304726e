{{/* What all our pods have in common: nothing that a restricted namespace would refuse, and no user of their own, for OpenShift chooses one. */}}

{{/* Of a dict with root, and labels as YAML. */}}
{{- define "cwii.podMetadata" -}}
labels: {{- merge (fromYaml .labels) .root.Values.podLabels | toYaml | nindent 2 }}
{{- with .root.Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "cwii.podSpec" -}}
automountServiceAccountToken: true
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.priorityClass }}
priorityClassName: {{ quote . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ quote . }}
{{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "cwii.container" -}}
image: {{ required "image is not said: `cwiictl image push REGISTRY/cwii-webhook:VERSION` makes one" .Values.image | quote }}
terminationMessagePolicy: FallbackToLogsOnError
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop:
      - ALL
{{- end }}

{{/* One run of the renewer. */}}
{{- define "cwii.job" -}}
backoffLimit: 4
activeDeadlineSeconds: 1800
template:
  metadata: {{- include "cwii.podMetadata" (dict "root" . "labels" (include "cwii.renewerLabels" .)) | nindent 4 }}
  spec:
    serviceAccountName: {{ .Values.name }}-renewer
    {{- include "cwii.podSpec" . | nindent 4 }}
    restartPolicy: Never
    containers:
      - name: renew
        {{- include "cwii.container" . | nindent 8 }}
        args:
          - renew
          - --namespace={{ .Values.namespace }}
          - --service={{ .Values.name }}
          - --serving-secret={{ include "cwii.servingSecret" . }}
          - --ca-secret={{ .Values.name }}-ca
          - --configuration={{ .Values.name }}
          - --validity={{ .Values.certificates.validity }}
          - --ca-validity={{ .Values.certificates.caValidity }}
          - --every={{ include "cwii.gap" .Values.certificates.schedule | include "cwii.duration" }}
          - --log-level={{ .Values.logLevel }}
        resources:
          requests:
            cpu: 10m
            memory: 64Mi
          limits:
            memory: 256Mi
{{- end }}
