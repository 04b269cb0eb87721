#!/bin/sh
# Compiles all kernels for all architectures (two processors: ten minutes; later only what changed), with NVRTC and without a GPU,
# and lays the machine code where the next build packs it into roselle-cuda-cubins, so that no start needs a compiler.
#
#   tools/cubins.sh [ARCHITECTURE,… [SOURCE,…]]      sm_80,sm_90a    rows,sample
set -eu
cd "$(dirname "$0")/.."
: "${JAVA_HOME:?JAVA_HOME has to name a JDK 25}"
libraries=$(tools/nvrtc.sh roselle-cuda/target/nvrtc)
mvn -B -q -Dmaven.test.skip=true -pl roselle-cuda -am compile # which also brings the kernels as they are now
"$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -Droselle.cuda.libraries="$libraries" \
    -cp "$(printf %s: roselle-*/target/classes)" roselle.cuda.kernel.CubinBuild roselle-cuda-cubins/target/cubins "$@"
du -sh roselle-cuda-cubins/target/cubins
