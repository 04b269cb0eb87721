#!/bin/sh
# Rates of an encoder beside ONNX Runtime's, in one JVM: tools/encoders/rates.sh FOLDER MODEL.onnx [THREADS [ROUNDS [PATH]]]
# FOLDER is what tools/models/onnx_encoder.py makes of MODEL.onnx. JAVA_HOME must be a JDK 25 or newer. Prints CSV.
set -eu
folder=$(realpath "$1")
model=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
: "${JAVA_HOME:?set it to a JDK 25 or newer}"
mvn -B -q -Dspotless.check.skip=true compile dependency:build-classpath -Dmdep.outputFile=target/classpath \
    -pl roselle-cpu -am >&2
mvn -B -q -N dependency:copy -Dartifact=com.microsoft.onnxruntime:onnxruntime:1.29.0 -DoutputDirectory=target/peers >&2
# a variable, because ONNX Runtime 1.29 crashes where a command is long
export CLASSPATH="roselle-cpu/target/classes:$(cat roselle-cpu/target/classpath):target/peers/onnxruntime-1.29.0.jar"
exec "$JAVA_HOME/bin/java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
    tools/encoders/EncoderRates.java "$folder" "$model" "$@"
