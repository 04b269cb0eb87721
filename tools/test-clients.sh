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
(cd "$folder" && npm install --no-package-lock --no-audit --no-fund --silent)
for environment in venv:requirements frameworks:frameworks; do # the frameworks want an older client than the newest
    python3 -m venv "$folder/${environment%:*}"
    "$folder/${environment%:*}/bin/pip" install --quiet --disable-pip-version-check -r "$sources/${environment#*:}.txt"
done
mvn=$(command -v mvn || echo "$(cd "$(dirname "$0")/.." && pwd)/mvnw")
for libraries in spring-ai langchain4j anthropic-java ollama4j; do
    mkdir -p "$folder/$libraries"
    "$mvn" -q -B -f "$sources/$libraries/pom.xml" dependency:build-classpath -Dmdep.outputFile="$(cd "$folder" && pwd)/$libraries/classpath"
done
touch "$stamp"
