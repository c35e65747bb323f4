{{/* Name of what belongs to a release: its own where that says so already, else with the chart's. */}}
{{- define "chronoscope.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{/* Labels of a part: dict "root" $ "part" NAME. Pods are selected by them. */}}
{{- define "chronoscope.labels" -}}
{ app.kubernetes.io/name: chronoscope, app.kubernetes.io/instance: {{ .root.Release.Name | quote }}, app.kubernetes.io/component: {{ .part }} }
{{- end }}

{{/* Folder of the rings on each node. Its parent is mounted, which must not be the node's root. */}}
{{- define "chronoscope.rings" -}}
{{- $rings := .Values.rings | default (printf "/dev/shm/%s" (include "chronoscope.name" .)) }}
{{- if not (regexMatch "^(/[A-Za-z0-9_][A-Za-z0-9._-]*){2,}$" $rings) }}
{{- fail (printf "rings=%s: the agent's pod gets the folder above it, so that it has to be a plain absolute path at least two folders deep, such as /dev/shm/chronoscope" $rings) }}
{{- end }}
{{- $rings }}
{{- end }}

{{/* Folder of the spool on each node. */}}
{{- define "chronoscope.spool" -}}
{{- $spool := .Values.agent.spool | default (printf "/var/lib/%s-agent" (include "chronoscope.name" .)) }}
{{- if not (regexMatch "^(/[A-Za-z0-9_][A-Za-z0-9._-]*){2,}$" $spool) }}
{{- fail (printf "agent.spool=%s: it is given to the agent's user, so that it has to be a folder of its own, such as /var/lib/chronoscope-agent" $spool) }}
{{- end }}
{{- $spool }}
{{- end }}

{{/* Where pods run and how they get their images: dict "root" $ "part" VALUES. */}}
{{- define "chronoscope.placement" -}}
nodeSelector: {{ .part.nodeSelector | toJson }}
tolerations: {{ .part.tolerations | toJson }}
imagePullSecrets: {{ .root.Values.imagePullSecrets | toJson }}
{{- end }}
