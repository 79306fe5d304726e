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

{{/* How many seconds a schedule of cron's may leave between two runs: never less than it does. */}}
{{- define "cwii.gap" -}}
{{- $named := dict "@hourly" 3600 "@daily" 86400 "@midnight" 86400 "@weekly" 604800 "@monthly" 2678400 "@yearly" 31622400 "@annually" 31622400 }}
{{- if hasKey $named . }}
{{- get $named . }}
{{- else if hasPrefix "@every " . }}
{{- include "cwii.seconds" (dict "field" "schedule" "text" (trimPrefix "@every " .)) | float64 | ceil | int | max 1 }}
{{- else }}
{{- $fields := regexSplit "\\s+" (include "cwii.numbered" . | trim) -1 }}
{{- if ne (len $fields) 5 }}
{{- include "cwii.noSchedule" . }}
{{- end }}
{{- $said := list }}
{{- range $place, $bounds := list (list 0 59) (list 0 23) (list 1 31) (list 1 12) (list 0 6) }}
{{- $said = append $said (include "cwii.numbers" (dict "schedule" $ "field" (index $fields $place) "least" (first $bounds) "most" (last $bounds)) | splitList " ") }}
{{- end }}
{{- $anyDay := regexMatch "(^|,)[*?](/0*1)?(,|$)" (index $fields 2) }}
{{- $anyWeekday := regexMatch "(^|,)[*?](/0*1)?(,|$)" (index $fields 4) }}
{{- $months := include "cwii.widest" (dict "numbers" (index $said 3) "around" 12) | int }}
{{- $week := include "cwii.widest" (dict "numbers" (index $said 4) "around" 7) | int }}
{{- $month := include "cwii.inMonth" (index $said 2) | int }}
{{- $days := ternary $week (ternary $month (min $week $month) $anyWeekday) $anyDay | int }}
{{- $hours := include "cwii.widest" (dict "numbers" (index $said 1) "around" 24) | int }}
{{- if and (gt $months 1) $anyWeekday (gt (index $said 2 | first | atoi) 28) }}
{{- 252979200 }}
{{- else if gt $months 1 }}
{{- min (mul $months 2678400) 31622400 }}
{{- else if gt $days 1 }}
{{- mul $days 86400 }}
{{- else if gt $hours 1 }}
{{- mul $hours 3600 }}
{{- else }}
{{- include "cwii.widest" (dict "numbers" (index $said 0) "around" 60) | int | mul 60 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "cwii.noSchedule" -}}
{{- fail (printf "certificates.schedule is %q, which is no schedule: write five words as cron has them, such as 23 */6 * * *, or @daily" .) }}
{{- end }}

{{/* A schedule with numbers for the names of months and of days. */}}
{{- define "cwii.numbered" -}}
{{- $text := lower . }}
{{- range $number, $name := list "jan" "feb" "mar" "apr" "may" "jun" "jul" "aug" "sep" "oct" "nov" "dec" }}
{{- $text = replace $name (add1 $number | toString) $text }}
{{- end }}
{{- range $number, $name := list "sun" "mon" "tue" "wed" "thu" "fri" "sat" }}
{{- $text = replace $name (toString $number) $text }}
{{- end }}
{{- $text }}
{{- end }}

{{/* Of a dict with schedule, field, least and most: what a field stands for, in order. One number with steps is the first of all from there. */}}
{{- define "cwii.numbers" -}}
{{- $numbers := list }}
{{- range splitList "," .field }}
{{- if not (regexMatch "^([*?]|[0-9]{1,2}(-[0-9]{1,2})?)(/0*[1-9][0-9]{0,2})?$" .) }}
{{- include "cwii.noSchedule" $.schedule }}
{{- end }}
{{- $parts := splitList "/" . }}
{{- $ends := first $parts | splitList "-" }}
{{- $all := has (first $parts) (list "*" "?") }}
{{- $low := $all | ternary $.least (first $ends | atoi) | int }}
{{- $high := last $ends | atoi }}
{{- if or $all (and (eq (len $ends) 1) (eq (len $parts) 2)) }}
{{- $high = int $.most }}
{{- end }}
{{- range untilStep $low (add1 $high | int) (index (append $parts "1") 1 | atoi) }}
{{- $numbers = append $numbers (printf "%02d" .) }}
{{- end }}
{{- end }}
{{- if not $numbers }}
{{- include "cwii.noSchedule" .schedule }}
{{- end }}
{{- $numbers | uniq | sortAlpha | join " " }}
{{- end }}

{{/* Of a dict with numbers and around: from one to the next, and from the last to the first. */}}
{{- define "cwii.widest" -}}
{{- $widest := 0 }}
{{- $before := sub (last .numbers | atoi) .around }}
{{- range .numbers }}
{{- $widest = max $widest (sub (atoi .) $before) }}
{{- $before = atoi . }}
{{- end }}
{{- $widest }}
{{- end }}

{{/* How many days of a month are apart at most, whatever its length. */}}
{{- define "cwii.inMonth" -}}
{{- if gt (first . | atoi) 28 }}
{{- 62 }}
{{- else }}
{{- $widest := 0 }}
{{- range $length := untilStep 28 32 1 }}
{{- $within := list }}
{{- range $ }}
{{- if le (atoi .) $length }}
{{- $within = append $within . }}
{{- end }}
{{- end }}
{{- $widest = include "cwii.widest" (dict "numbers" $within "around" $length) | int | max $widest }}
{{- end }}
{{- $widest }}
{{- end }}
{{- end }}

{{/* Seconds as a duration: 6h, 5m, or 90s. */}}
{{- define "cwii.duration" -}}
{{- $seconds := int . }}
{{- if not (mod $seconds 3600) }}{{ div $seconds 3600 }}h{{ else if not (mod $seconds 60) }}{{ div $seconds 60 }}m{{ else }}{{ $seconds }}s{{ end }}
{{- end }}
