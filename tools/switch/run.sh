#!/bin/sh
# How long two models take to follow each other in memory for one: tools/switch/run.sh FIRST SECOND [DEVICE [SWITCHES [HOST]]]
# DEVICE is cpu or cuda:0, HOST the GiB of memory for weights that leave a GPU. JAVA_HOME must be a JDK 25 or newer. Prints CSV.
set -eu
first=$(realpath "$1")
second=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
: "${JAVA_HOME:?set it to a JDK 25 or newer}"
mvn -B -q -Dspotless.check.skip=true compile dependency:build-classpath -Dmdep.outputFile=target/classpath \
    -pl roselle-cli -am >&2
exec "$JAVA_HOME/bin/java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
    -cp "roselle-cli/target/classes:$(cat roselle-cli/target/classpath)" \
    tools/switch/SwitchTimes.java "$first" "$second" "$@"
