{{- define "sampledb-operator.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "sampledb-operator.podMonitorLabels" -}}
--pod-monitor-labels={{ range $index, $name := keys . | sortAlpha }}{{ if $index }},{{ end }}{{ $name }}={{ get $ $name }}{{ end }}
{{- end }}

{{- define "sampledb-operator.checks" -}}
{{- if and .Values.image.tag .Values.image.digest }}
{{- fail "image.tag and image.digest both say which image it is: set one of them, and the other to nothing" }}
{{- end }}
{{- $flags := dict "--leader-elect" "leave it out" "--metrics-bind-address" "leave it out" "--watch-namespaces" "set watchNamespaces" "--pod-monitor-labels" "set podMonitorLabels" }}
{{- range .Values.extraArgs }}
{{- $flag := first (splitList "=" .) }}
{{- with get $flags $flag }}
{{- fail (printf "extraArgs has %s, which the chart sets itself: %s" $flag .) }}
{{- end }}
{{- end }}
{{- $variables := dict "POD_NAMESPACE" "leave it out" "POD_NAME" "leave it out" "RELATED_IMAGE_POSTGRES_15" "set postgresImages" "RELATED_IMAGE_POSTGRES_17" "set postgresImages" "WATCH_NAMESPACE" "set watchNamespaces" "ENABLE_WEBHOOKS" "set webhooks.enabled" }}
{{- range .Values.extraEnv }}
{{- $name := .name }}
{{- with get $variables $name }}
{{- fail (printf "extraEnv has %s, which the chart sets itself: %s" $name .) }}
{{- end }}
{{- end }}
{{- if .Values.watchNamespaces }}
{{- if .Values.metrics.serviceMonitor.enabled }}
{{- fail "metrics.serviceMonitor.enabled needs the whole cluster: with watchNamespaces the operator may not ask who reads its metrics, and serves none" }}
{{- end }}
{{- range .Values.watchNamespaces }}
{{- $accounts := lookup "v1" "ServiceAccount" . "" }}
{{- if and (hasKey $accounts "items") (not $accounts.items) }}
{{- fail (printf "watchNamespaces has %s, and there is no such namespace: create it first" .) }}
{{- end }}
{{- end }}
{{- else }}
{{- include "sampledb-operator.alone" . }}
{{- end }}
{{- if .Values.crds.enabled }}
{{- include "sampledb-operator.ownCrds" . }}
{{- end }}
{{- end }}

{{- define "sampledb-operator.alone" -}}
{{- $binding := lookup "rbac.authorization.k8s.io/v1" "ClusterRoleBinding" "" "sampledb-operator" }}
{{- if $binding }}
{{- $annotations := $binding.metadata.annotations | default dict }}
{{- $release := get $annotations "meta.helm.sh/release-name" }}
{{- $namespace := (first $binding.subjects).namespace }}
{{- if and $release (or (ne $release .Release.Name) (ne $namespace .Release.Namespace)) }}
{{- fail (printf "release %s in namespace %s looks after all namespaces of this cluster: upgrade that one, or set watchNamespaces" $release $namespace) }}
{{- end }}
{{- if and (not $release) (ne $namespace .Release.Namespace) }}
{{- fail (printf "an operator in namespace %s looks after all namespaces of this cluster: install into that namespace with --take-ownership, or remove that operator first, or set watchNamespaces" $namespace) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "sampledb-operator.ownCrds" -}}
{{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "sampledbs.sampledb.io" }}
{{- if $crd }}
{{- if eq (get ($crd.metadata.labels | default dict) "olm.managed") "true" }}
{{- fail "the CRDs of sampledb.io belong to OLM (label olm.managed): remove its Subscription and that label first, or set crds.enabled=false and policies.enabled=false" }}
{{- end }}
{{- end }}
{{- end }}
