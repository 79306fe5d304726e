{{/* The webhook's command line: where it listens, in the words of its first dialect, and what each dialect is told. */}}

{{/* The dialects in the order in which they are served. */}}
{{- define "cwii.served" -}}
{{- $served := list }}
{{- range list "cwii" "eks" "gcpwif" "azwi" }}
{{- if has . $.Values.dialects }}{{ $served = append $served . }}{{ end }}
{{- end }}
{{- toJson $served }}
{{- end }}

{{/* Where reviews of a dialect are posted to. */}}
{{- define "cwii.path" -}}
/{{ . }}{{ or (eq . "cwii") (eq . "eks") | ternary "/mutate" "/mutate-v1-pod" }}
{{- end }}

{{- define "cwii.args" -}}
{{- $words := list }}
{{- range $number, $dialect := include "cwii.served" . | fromJsonArray }}
{{- if $number }}{{ $words = append $words "+" }}{{ end }}
{{- $words = append $words $dialect }}
{{- if not $number }}{{ $words = concat $words (include "cwii.serving" (dict "root" $ "dialect" $dialect) | fromYamlArray) }}{{ end }}
{{- $words = concat $words (include "cwii.told" (dict "root" $ "dialect" $dialect) | fromYamlArray) (get $.Values.arguments $dialect) }}
{{- end }}
{{- toYaml $words }}
{{- end }}

{{- define "cwii.serving" -}}
{{- if eq .dialect "cwii" -}}
- --addr=:8443
- --tls-cert=/tls/tls.crt
- --tls-key=/tls/tls.key
- --health-addr=:8080
{{- else if eq .dialect "eks" -}}
- --port=8443
- --tls-cert=/tls/tls.crt
- --tls-key=/tls/tls.key
- --metrics-port=8080
{{- else if eq .dialect "gcpwif" -}}
- --port=8443
- --webhook-cert-dir=/tls
- --health-probe-bind-address=:8080
- --metrics-bind-address=:8080
{{- else -}}
- --port=8443
- --webhook-cert-dir=/tls
- --health-addr=:8080
- --metrics-addr=:8080
{{- end }}
{{- if or (ne .dialect "azwi") (ne .root.Values.logLevel "info") }}
- --log-level={{ .root.Values.logLevel }}
{{- end }}
{{- end }}

{{/* A flag of which nothing is said is left out. */}}
{{- define "cwii.told" -}}
{{- $aws := .root.Values.aws }}
{{- $azure := .root.Values.azure }}
{{- $gcp := .root.Values.gcp }}
{{- $audiences := dict "" "" "AzurePublicCloud" "api://AzureADTokenExchange" "AzureUSGovernmentCloud" "api://AzureADTokenExchangeUSGov" "AzureChinaCloud" "api://AzureADTokenExchangeChina" }}
{{- $audience := $azure.audience | default (get $audiences $azure.environment) }}
{{- $flags := list }}
{{- if eq .dialect "cwii" }}
{{- $provider := $gcp.provider | empty | ternary "" (printf "//iam.googleapis.com/%s" $gcp.provider) }}
{{- $flags = list (list "aws-default-audience" $aws.audience) (list "aws-default-region" $aws.region) (list "az-default-audience" $audience) (list "gcp-default-audience" $provider) (list "gcp-delivery" $gcp.delivery) }}
{{- else if eq .dialect "eks" }}
{{- $flags = list (list "token-audience" $aws.audience) (list "aws-default-region" $aws.region) }}
{{- else if eq .dialect "azwi" }}
{{- $flags = list (list "audience" $audience) (list "tenant-id" $azure.tenantId) (list "azure-environment" $azure.environment) }}
{{- else }}
{{- $flags = list (list "token-audience" $gcp.audience) (list "gcp-default-region" $gcp.region) }}
{{- end }}
{{- $words := list }}
{{- range $flags }}
{{- if last . }}{{ $words = append $words (printf "--%s=%s" (first .) (last .)) }}{{ end }}
{{- end }}
{{- toYaml $words }}
{{- end }}
