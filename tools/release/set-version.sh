#!/bin/sh
# Sets the version of all modules, and of the guides' dependencies on them: tools/release/set-version.sh 0.3.0-SNAPSHOT
set -eu
cd "$(dirname "$0")/../.."
[ $# = 1 ] || { echo "usage: tools/release/set-version.sh VERSION" >&2; exit 2; }
case $1 in
    [0-9]*.[0-9]*.[0-9]*) ;;
    *) echo "set-version.sh: $1 is no version: give three numbers, as in 0.3.0 or 0.3.0-SNAPSHOT" >&2; exit 2 ;;
esac
old=$(tools/release/version.sh)
pattern=$(printf %s "$old" | sed 's/[.]/\\./g')
for file in pom.xml roselle-*/pom.xml examples/*/pom.xml examples/jbang/*.java docs/guide/*.md \
    deploy/helm/roselle/Chart.yaml deploy/kustomize/*/*.yaml deploy/kserve/*.yaml; do
    [ -f "$file" ] || continue
    # Only the project's own versions: behind an artifact of its group, or in the short form.
    sed -i.old \
        -e "/<artifactId>roselle/{n;s|<version>$pattern</version>|<version>$1</version>|;}" \
        -e "s|\(roselle[a-z0-9-]*\):$pattern|\1:$1|g" \
        -e "s|^\(version\|appVersion\|    newTag\): $pattern$|\1: $1|" \
        -e "s|<roselle.version>$pattern</roselle.version>|<roselle.version>$1</roselle.version>|" "$file"
    rm -f "$file.old"
done
echo "$old -> $1"
