#!/bin/sh
# Installs the programs that some tests drive, from the distribution's packages: a browser with its driver (the web page),
# promtool (the metrics), what other clients run on, a C compiler (stubs of libraries),
# gpg (signatures of a release), shells that complete commands. Needs a Debian-like system and root; without them those tests
# are skipped and say so.
set -eu
missing=
for pair in chromium:chromium chromedriver:chromium-driver promtool:prometheus curl:curl node:nodejs npm:npm \
    script:bsdutils setsid:util-linux gcc:gcc gpg:gnupg zsh:zsh fish:fish; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
[ -n "$missing" ] || exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get -o Acquire::Retries=3 update -qq
# shellcheck disable=SC2086 # a list of packages
apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends $missing >/dev/null
