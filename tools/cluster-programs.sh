#!/bin/sh
# Builds what the tests of deploy/ drive, from the Go proxy, into the cache, with the schemas of what they compare; prints the folder
# that has them. It takes an hour where nothing is there yet. Needs Go 1.26, and Python's yaml; etcd is Debian's (etcd-server).
# usage: tools/cluster-programs.sh [ROUTER]; ROUTER is a checkout of llm-d/llm-d-router, whose endpoint picker is built first.
set -eu
folder=${ROSELLE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/roselle}/cluster-programs
kubernetes=1.36.3
here=$(cd "$(dirname "$0")" && pwd)
bin=$folder/bin
mkdir -p "$bin"
exec 9>"$folder/lock"
flock 9
export GOFLAGS='-p=2 -buildvcs=false'

install() { # NAME PACKAGE@VERSION
    [ -x "$bin/$1" ] || GOBIN=$bin nice -n 2 go install "$2" >&2
}

# The server's own module replaces its parts by folders, which a proxy has as modules.
build_api_server() {
    [ ! -x "$bin/kube-apiserver" ] || return 0
    rm -rf "$folder/kubernetes"
    mkdir "$folder/kubernetes"
    cd "$folder/kubernetes"
    module=$(module "k8s.io/kubernetes@v$kubernetes")
    sed -e 's/^module .*/module roselle\/apiserver/' -e '/=> \.\/staging/d' "$module/go.mod" >go.mod
    sed -n 's/^\t*\(k8s\.io\/[a-z-]*\) v0\.0\.0\( .*\)\{0,1\}$/\1/p' "$module/go.mod" | sort -u | while read -r part; do
        go mod edit -replace "$part=$part@v0${kubernetes#1}"
    done
    go mod edit -require "k8s.io/kubernetes@v$kubernetes"
    cp "$module/go.sum" go.sum
    chmod u+w go.mod go.sum
    nice -n 2 go build -mod=mod -ldflags "-X k8s.io/component-base/version.gitVersion=v$kubernetes" \
        -o "$bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver >&2 # the chart asks which version it is
}

module() { # PATH@VERSION; prints its folder
    go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

write_schemas() {
    [ ! -e "$folder/schemas/crds.yaml" ] || return 0
    "$here/cluster-schemas.py" "$folder/schemas" "$(module k8s.io/kubernetes@v$kubernetes)/api/openapi-spec/swagger.json" \
        "$(module sigs.k8s.io/gateway-api@v1.5.1)/config/crd/standard/gateway.networking.k8s.io_httproutes.yaml" \
        "$(module sigs.k8s.io/gateway-api-inference-extension@v1.5.0)/config/crd/bases/inference.networking.k8s.io_inferencepools.yaml" \
        "$(module github.com/prometheus-operator/prometheus-operator@v0.85.0)"/example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml \
        "$(module github.com/prometheus-operator/prometheus-operator@v0.85.0)"/example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml \
        "$(module github.com/kedacore/keda/v2@v2.21.0)/config/crd/bases/keda.sh_scaledobjects.yaml" \
        "$(module sigs.k8s.io/lws@v0.7.0)/config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml" \
        "$(module github.com/kserve/kserve@v0.17.0)/config/crd/full/llmisvc/serving.kserve.io_llminferenceserviceconfigs.yaml"
}

if [ $# = 1 ] && [ ! -x "$bin/epp" ]; then
    (cd "$1" && nice -n 2 go build -o "$bin/epp" ./cmd/epp) >&2
fi
install kubeconform github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
install helm helm.sh/helm/v3/cmd/helm@v3.22.0
write_schemas
(build_api_server)
echo "$bin"
