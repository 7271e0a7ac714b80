{{/* Everything is called kubectl-gc, whatever the release is called: two collectors
in one cluster are a mistake, and two releases collide here. */}}
{{- define "kubectl-gc.labels" -}}
app.kubernetes.io/name: kubectl-gc
{{- end }}

{{- define "kubectl-gc.annotations" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "kubectl-gc.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag }}{{ end }}
{{- end }}

{{- define "kubectl-gc.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: kubectl-gc
    namespace: {{ .Release.Namespace }}
{{- end }}
