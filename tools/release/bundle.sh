#!/bin/sh
# Makes what a Maven repository wants of a release: tools/release/bundle.sh [FOLDER]
# FOLDER (default target/bundle) becomes a repository with jars, sources, documentation, SBOMs, checksums and, where
# ROSELLE_SIGNING_KEY names a key of gpg, signatures of every file; beside it lies the same as one zip to upload. Nothing is
# sent anywhere. MAVEN_ARGUMENTS are further arguments of Maven.
set -eu
cd "$(dirname "$0")/../.."
. tools/release/common.sh
folder=$(absolute "${1:-target/bundle}")
version=$(tools/release/version.sh)
mvn=$(maven)
rm -rf "$folder" "$folder.zip"
mkdir -p "$folder"
# shellcheck disable=SC2086 # a list of arguments
"$mvn" -B -q -P release -Dmaven.test.skip=true -Dspotless.check.skip=true -Dbuild.folder=target/release \
    -Dmaven.install.skip=true "-DaltDeploymentRepository=bundle::file://$folder" ${MAVEN_ARGUMENTS-} deploy
find "$folder" -name 'maven-metadata*' -delete

# What an upload would be refused for is told here.
for pom in "$folder"/io/github/roselle/*/"$version"/*.pom; do
    module=${pom%.pom}
    grep -q '<packaging>pom</packaging>' "$pom" && continue
    for kind in .jar -sources.jar -javadoc.jar -cyclonedx.json; do
        [ -f "$module$kind" ] || fail 1 "${module##*/} has no $kind"
    done
done
[ -d roselle-cuda-cubins/target/cubins ] ||
    echo "roselle-cuda-cubins has no machine code, and kernels are compiled at the first start: tools/cubins.sh makes it" >&2
if [ -n "${ROSELLE_SIGNING_KEY-}" ]; then
    find "$folder" -type f ! -name '*.md5' ! -name '*.sha*' | sort | while read -r file; do
        gpg --batch --yes --local-user "$ROSELLE_SIGNING_KEY" --armor --detach-sign "$file" || exit 1
    done || fail 77 "gpg cannot sign with the key $ROSELLE_SIGNING_KEY"
else
    echo "not signed: ROSELLE_SIGNING_KEY names no key" >&2
fi
pack_zip "$folder" "$folder.zip"
echo "$folder.zip"
