{{/* How long things last, as `cwiictl install-webhook` reckons it. */}}

{{/* Of a dict with field and text: the seconds of a duration such as 1h30m. */}}
{{- define "cwii.seconds" -}}
{{- if not (regexMatch "^(([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|ms|s|m|h))+$" .text) }}
{{- fail (printf "certificates.%s is %q, which is no time: say it as 30s, 1h30m or 200ms" .field .text) }}
{{- end }}
{{- $units := dict "ns" 1e-9 "us" 1e-6 "µs" 1e-6 "ms" 1e-3 "s" 1.0 "m" 60.0 "h" 3600.0 }}
{{- $seconds := 0.0 }}
{{- range regexFindAll "([0-9]+[.]?[0-9]*|[.][0-9]+)(ns|us|µs|ms|s|m|h)" .text -1 }}
{{- $unit := regexFind "[a-zµ]+$" . }}
{{- $seconds = addf $seconds (mulf (trimSuffix $unit . | float64) (get $units $unit)) }}
{{- end }}
{{- $seconds }}
{{- end }}

{{/* How many seconds a schedule of cron's may leave between two runs. Of fields in which days are said two ways, the one that comes sooner counts. */}}
{{- define "cwii.gap" -}}
{{- $named := dict "@hourly" 3600 "@daily" 86400 "@midnight" 86400 "@weekly" 604800 "@monthly" 2678400 "@yearly" 31622400 "@annually" 31622400 }}
{{- $fields := regexSplit "\\s+" (trim .) -1 }}
{{- $every := "^[*?](/1)?$" }}
{{- if hasKey $named . }}
{{- get $named . }}
{{- else if or (ne (len $fields) 5) (not (regexMatch "^[0-9A-Za-z*?/,\\s-]+$" .)) }}
{{- fail (printf "certificates.schedule is %q, which is no schedule: write five words as cron has them, such as 23 */6 * * *, or @daily" .) }}
{{- else if not (regexMatch $every (index $fields 3)) }}
{{- 252979200 }}
{{- else if not (regexMatch $every (index $fields 4)) }}
{{- 604800 }}
{{- else if not (regexMatch $every (index $fields 2)) }}
{{- 5356800 }}
{{- else if not (regexMatch $every (index $fields 1)) }}
{{- include "cwii.steps" (dict "field" (index $fields 1) "one" 3600 "all" 86400) }}
{{- else if regexMatch $every (index $fields 0) }}
{{- 60 }}
{{- else }}
{{- include "cwii.steps" (dict "field" (index $fields 0) "one" 60 "all" 3600) }}
{{- end }}
{{- end }}

{{- define "cwii.steps" -}}
{{- if regexMatch "^[*]/[1-9][0-9]?$" .field }}
{{- min (mul (trimPrefix "*/" .field | int) .one) .all }}
{{- else }}
{{- .all }}
{{- end }}
{{- end }}

{{/* Seconds as a duration: 6h, or 5m. */}}
{{- define "cwii.duration" -}}
{{- $seconds := int . }}
{{- if mod $seconds 3600 }}{{ div $seconds 60 }}m{{ else }}{{ div $seconds 3600 }}h{{ end }}
{{- end }}
