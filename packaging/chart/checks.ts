// What the chart refuses before anything is written, in one sentence each, and the parts that its templates share.
//
// Only what the installer may read in any case is looked up: a Forbidden would end the rendering. Without a cluster, as in `helm template`,
// a lookup finds nothing. Objects without an owner are left to Helm, which refuses them itself, and takes them with --take-ownership.

/** `taken`: the flags and variables that the chart sets itself, and the value by which to set each. */
export function helpers(taken: {
  readonly flags: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
}): string {
  const dictionary = (entries: Readonly<Record<string, string>>) =>
    Object.entries(entries)
      .map(([name, owner]) => `${JSON.stringify(name)} ${JSON.stringify(owner)}`)
      .join(" ");
  return `{{- define "sampledb-operator.image" -}}
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
{{- $flags := dict ${dictionary(taken.flags)} }}
{{- range .Values.extraArgs }}
{{- $flag := first (splitList "=" .) }}
{{- with get $flags $flag }}
{{- fail (printf "extraArgs has %s, which the chart sets itself: %s" $flag .) }}
{{- end }}
{{- end }}
{{- $variables := dict ${dictionary(taken.variables)} }}
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
`;
}

export const notes = `The operator {{ .Chart.AppVersion }} runs in namespace {{ .Release.Namespace }}{{ with .Values.watchNamespaces }}, for {{ join ", " . }}{{ end }}.
{{- if .Values.watchNamespaces }}

It has no rights on the cluster, so it has no webhooks and no metrics, and the StorageClass decides what becomes of a volume without its claim.
{{- end }}

    kubectl rollout status deployment sampledb-operator --namespace {{ .Release.Namespace }}
    kubectl get sampledbs --all-namespaces

An uninstall leaves every database running, and the kinds and the policies with them.
`;
