{{- define "roselle.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{- define "roselle.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "roselle.labels" -}}
{{ include "roselle.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "roselle.args" -}}
- serve
- {{ .Values.model }}
- --host=0.0.0.0
- --port={{ .Values.port }}
{{- with .Values.modelName }}
- --model-name={{ . }}
{{- end }}
{{- if .Values.auth.keySecret }}
- --api-keys=/etc/roselle/{{ .Values.auth.keySecretKey }}
- --open-metrics
{{- else if .Values.auth.allowAnyone }}
- --allow-anyone
{{- else }}
{{- fail "auth: name a keySecret, or say allowAnyone: true" }}
{{- end }}
{{- $hosts := concat .Values.allowedHosts .Values.httpRoute.hostnames }}
{{- if .Values.service.enabled }}
{{- $service := include "roselle.name" . }}
{{- $hosts = concat $hosts (list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace)) }}
{{- end }}
{{- with $hosts }}
- --allowed-hosts={{ join "," . }}
{{- end }}
{{- if .Values.trustGateway }}
- --trust-gateway
{{- $priorities := list }}
{{- range $name, $priority := .Values.objectives }}
{{- $priorities = append $priorities (printf "%s=%d" $name (int $priority)) }}
{{- end }}
{{- with $priorities }}
- --objectives={{ join "," . }}
{{- end }}
{{- else if .Values.objectives }}
{{- fail "objectives are named by the gateway's headers: say trustGateway: true" }}
{{- end }}
{{- if .Values.kvEvents.enabled }}
- --kv-events=tcp://*:{{ .Values.kvEvents.port }}
- --kv-events-replay=tcp://*:{{ .Values.kvEvents.replayPort }}
- --kv-events-name=$(POD_IP):{{ .Values.port }}
{{- end }}
- --metrics-names={{ .Values.metricsNames }}
- --drain-grace={{ .Values.drain.graceSeconds }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{- define "roselle.pod" -}}
metadata:
  labels:
    {{- include "roselle.selector" . | nindent 4 }}
    llm-d.ai/engine-type: {{ .Values.engineType }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "roselle.name" . }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ add .Values.drain.delaySeconds .Values.drain.graceSeconds 10 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: roselle
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        {{- include "roselle.args" . | nindent 8 }}
      env:
        - name: POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
        {{- with .Values.javaOptions }}
        - name: JAVA_TOOL_OPTIONS
          value: {{ . | quote }}
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - name: http
          containerPort: {{ .Values.port }}
        {{- if .Values.kvEvents.enabled }}
        - name: kv-events
          containerPort: {{ .Values.kvEvents.port }}
        - name: kv-replay
          containerPort: {{ .Values.kvEvents.replayPort }}
        {{- end }}
      startupProbe: # a model may have to be fetched
        httpGet: { path: /health, port: http }
        periodSeconds: 2
        failureThreshold: 900
      readinessProbe:
        httpGet: { path: /ready, port: http }
        periodSeconds: 2
        failureThreshold: 1
      livenessProbe:
        httpGet: { path: /health, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      {{- if .Values.drain.delaySeconds }}
      lifecycle:
        preStop: # until the pod has left the lists of those who send requests
          sleep:
            seconds: {{ .Values.drain.delaySeconds }}
      {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: temporary
          mountPath: /tmp
        - name: cache
          mountPath: /var/lib/roselle/.cache
        {{- if .Values.auth.keySecret }}
        - name: keys
          mountPath: /etc/roselle
          readOnly: true
        {{- end }}
  volumes:
    - name: temporary
      emptyDir:
        sizeLimit: {{ .Values.temporarySize }}
    - name: cache
      {{- if .Values.cache.enabled }}
      persistentVolumeClaim:
        claimName: {{ .Values.cache.existingClaim | default (include "roselle.name" .) }}
      {{- else }}
      emptyDir:
        sizeLimit: {{ .Values.cache.size }}
      {{- end }}
    {{- if .Values.auth.keySecret }}
    - name: keys
      secret:
        secretName: {{ .Values.auth.keySecret }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
