#!/bin/sh
# Builds the last commit twice, in two clones of different paths, and compares every byte that would be released:
# tools/release/reproducible.sh [MAVEN_ARGUMENT...], for instance -Dquick or "-pl roselle-api -am".
set -eu
cd "$(dirname "$0")/../.."
. tools/release/common.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for build in one another/one; do
    git clone -q --no-hardlinks . "$scratch/$build"
    (cd "$scratch/$build" && ROSELLE_SIGNING_KEY='' MAVEN_ARGUMENTS="$*" tools/release/bundle.sh "$scratch/$build/bundle") \
        >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail 70 "the build failed; the lines above say why"; }
    (cd "$scratch/$build/bundle" && find . -type f ! -name '*.md5' ! -name '*.sha*' -exec sha256sum {} + | sort -k 2) >"$scratch/${build%%/*}.sums"
done
cmp -s "$scratch/one/bundle.zip" "$scratch/another/one/bundle.zip" || echo "bundle.zip" >"$scratch/differ"
diff "$scratch/one.sums" "$scratch/another.sums" >&2 || echo "files" >"$scratch/differ"
[ ! -f "$scratch/differ" ] || fail 1 "two builds of one commit differ: $(cat "$scratch/differ")"
echo "$(wc -l <"$scratch/one.sums") files, the same bytes twice"
