#!/bin/sh
# Installs the clients that tests of the server drive, at the versions that src/test/clients names: JavaScript ones with npm,
# Python ones in two virtual environments; of Java ones Maven names the class path. usage: tools/test-clients.sh FOLDER; does nothing where FOLDER has them already.
set -eu
sources=$(cd "$(dirname "$0")/../roselle-server/src/test/clients" && pwd)
folder=$1
stamp=$folder/installed
if [ -e "$stamp" ] && [ -z "$(find "$sources" -newer "$stamp" \( -name package.json -o -name '*.txt' -o -name pom.xml \))" ]; then
    exit 0
fi
mkdir -p "$folder"
cp "$sources/package.json" "$folder/"

javascript() {
    cd "$folder"
    npm install --no-package-lock --no-audit --no-fund --silent
}

python() { # environment, file of what it has; what is never imported need not be compiled
    python3 -m venv "$folder/$1"
    "$folder/$1/bin/pip" install --quiet --disable-pip-version-check --no-compile -r "$sources/$2.txt"
}

java() {
    mvn=$(command -v mvn || echo "$(cd "$(dirname "$0")/.." && pwd)/mvnw")
    for libraries in spring-ai langchain4j anthropic-java ollama4j; do
        mkdir -p "$folder/$libraries"
        "$mvn" -q -B -f "$sources/$libraries/pom.xml" dependency:build-classpath -Dmdep.outputFile="$(cd "$folder" && pwd)/$libraries/classpath"
    done
}

# At the same time: each waits for the network, and works on one core.
javascript &
jobs=$!
python venv requirements &
jobs="$jobs $!"
python frameworks frameworks & # which want an older client than the newest
jobs="$jobs $!"
java &
jobs="$jobs $!"
status=0
for job in $jobs; do
    wait "$job" || status=1
done
[ $status = 0 ] || exit 1
touch "$stamp"
