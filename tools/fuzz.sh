#!/bin/sh
# Runs a class *FuzzTarget under Jazzer: tools/fuzz.sh GgufFuzzTarget 600 [flags of Jazzer or libFuzzer]
# The second argument is the time in seconds. What was found interesting is kept in roselle-engine/target/fuzz/TARGET and
# is where the next run begins; put good files there for a better start. An input that fails is written there, too.
# JAVA_HOME must be a JDK 25 or newer.
set -eu
cd "$(dirname "$0")/.."
: "${JAVA_HOME:?set it to a JDK 25 or newer}"
target=$1 seconds=$2
shift 2
source=$(find roselle-*/src/test/java -name "$target.java")
module=${source%%/*}
class=$(printf %s "${source#*/src/test/java/}" | sed 's/\.java$//; s|/|.|g')
mvn -B -q -P fuzz -Dspotless.check.skip=true test-compile dependency:build-classpath -Dmdep.outputFile=target/fuzz.classpath \
    -pl "$module" -am >&2
corpus=$PWD/$module/target/fuzz/$target
mkdir -p "$corpus"
exec "$JAVA_HOME/bin/java" -Xmx2g -ea --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
    -cp "$module/target/test-classes:$module/target/classes:$(cat "$module/target/fuzz.classpath")" \
    com.code_intelligence.jazzer.Jazzer --target_class="$class" --instrumentation_includes='roselle.**' \
    --reproducer_path="$corpus" -artifact_prefix="$corpus/" -max_total_time="$seconds" -timeout=10 "$@" "$corpus"
