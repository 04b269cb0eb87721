#!/bin/sh
# Prints a Python that has huggingface_hub, from a virtual environment in the cache that is made on first use.
set -eu
version=2.4.0
cache=${ROSELLE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/roselle}
folder=$cache/python/huggingface-hub-$version
if [ ! -x "$folder/ready" ]; then
    mkdir -p "$cache/python"
    if ! python3 -m venv "$folder" >&2; then # Debian keeps it in a package of its own
        apt-get update >&2 && apt-get install -y --no-install-recommends python3-venv >&2
        python3 -m venv "$folder" >&2
    fi
    "$folder/bin/pip" install --quiet --disable-pip-version-check "huggingface_hub==$version" >&2
    printf '#!/bin/sh\nexec "%s/bin/python" "$@"\n' "$folder" >"$folder/ready"
    chmod +x "$folder/ready"
fi
printf '%s\n' "$folder/ready"
