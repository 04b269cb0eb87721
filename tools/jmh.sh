#!/bin/sh
# Builds and runs the JMH benchmarks whose names match: tools/jmh.sh TokenizerBenchmark -wi 2 -i 4
# JAVA_HOME must be a JDK 25 or newer. The arguments are those of JMH.
set -eu
cd "$(dirname "$0")/.."
: "${JAVA_HOME:?set it to a JDK 25 or newer}"
mvn -B -q -Dspotless.check.skip=true test-compile dependency:build-classpath -Dmdep.outputFile=target/classpath \
    -pl roselle-bench -am >&2
# From the repository's root, where the benchmarks look for texts.
exec "$JAVA_HOME/bin/java" --add-modules jdk.incubator.vector \
    -cp "roselle-bench/target/test-classes:roselle-bench/target/classes:$(cat roselle-bench/target/classpath)" \
    org.openjdk.jmh.Main "$@"
