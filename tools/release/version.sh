#!/bin/sh
# Prints the version that this checkout builds.
set -eu
cd "$(dirname "$0")/../.."
sed -n '/<artifactId>roselle-parent</{n;s|.*<version>\(.*\)</version>.*|\1|p;}' pom.xml
