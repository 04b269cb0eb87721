#!/bin/sh
# Installs the clients that tests of the server drive, at the versions that src/test/clients names: JavaScript ones with npm,
# Python ones in a virtual environment. usage: tools/test-clients.sh FOLDER; does nothing where FOLDER has them already.
set -eu
sources=$(cd "$(dirname "$0")/../roselle-server/src/test/clients" && pwd)
folder=$1
stamp=$folder/installed
if [ -e "$stamp" ] && [ -z "$(find "$sources" -newer "$stamp" \( -name package.json -o -name requirements.txt \))" ]; then
    exit 0
fi
mkdir -p "$folder"
cp "$sources/package.json" "$folder/"
(cd "$folder" && npm install --no-package-lock --no-audit --no-fund --silent)
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check -r "$sources/requirements.txt"
touch "$stamp"
