#!/bin/sh
# Installs the programs that some tests drive, from the distribution's packages: a browser with its driver (the web page) and
# promtool (the metrics). Needs a Debian-like system and root; without them those tests are skipped and say so.
set -eu
missing=
for pair in chromium:chromium chromedriver:chromium-driver promtool:prometheus curl:curl; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
[ -n "$missing" ] || exit 0
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
apt-get install -y -qq --no-install-recommends $missing >/dev/null
