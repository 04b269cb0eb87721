#!/bin/sh
# Makes one folder with all that a machine needs to run Roselle and its GPU tests: a Java run time, our jars and their tests.
# The machine needs x86-64, an NVIDIA driver, and NVRTC or machine code of kernels in its cache; no JDK, no Maven, no network.
#
#   tools/gpu-bundle.sh FOLDER
#   FOLDER/run.sh test [CLASS …]      the tests with the tag gpu
#   FOLDER/run.sh roselle ARGUMENTS   the command line
set -eu
[ $# = 1 ] || { sed -n 2,7p "$0" >&2; exit 64; }
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
bundle=$(cd "$1" && pwd)
: "${JAVA_HOME:?JAVA_HOME has to name a JDK 25}"
modules=java.base,java.desktop,java.logging,java.management,java.naming,java.net.http,java.security.jgss,java.sql,java.xml
modules=$modules,jdk.crypto.ec,jdk.incubator.vector,jdk.jfr,jdk.management,jdk.unsupported,jdk.zipfs

cd "$root"
mvn -B -q -o -DskipTests -Dspotless.check.skip=true package
if [ ! -f "$bundle/jre.tar.xz" ]; then # the slowest part, and always the same
    rm -rf "$bundle/jre"
    "$JAVA_HOME/bin/jlink" --add-modules "$modules" --strip-debug --no-header-files --no-man-pages --compress zip-0 \
        --output "$bundle/jre"
    tar -C "$bundle" -cJf "$bundle/jre.tar.xz" jre
    rm -rf "$bundle/jre"
fi
rm -rf "$bundle/lib" "$bundle/test"
mkdir -p "$bundle/lib" "$bundle/test"
cp roselle-cli/target/roselle-cli-*.jar roselle-cli/target/lib/*.jar "$bundle/lib/"
zip -q -d "$bundle"/lib/roselle-engine-*.jar 'roselle/demo/*.gguf' # a checkout has it
zip -q -d "$bundle"/lib/jline-native-*.jar "org/jline/nativ/Windows/*" "org/jline/nativ/Mac/*" "org/jline/nativ/FreeBSD/*"
version=$(sed -n 's/.*<junit.version>\(.*\)<.*/\1/p' pom.xml)
mvn -B -q dependency:copy -Dartifact="org.junit.platform:junit-platform-console-standalone:$version" \
    -DoutputDirectory="$bundle/test"
assertj=$(sed -n 's/.*<assertj.version>\(.*\)<.*/\1/p' pom.xml)
mvn -B -q dependency:copy -Dartifact="org.assertj:assertj-core:$assertj" -DoutputDirectory="$bundle/test"
(cd roselle-engine/target/test-classes && "$JAVA_HOME/bin/jar" cf "$bundle/test/engine-tests.jar" roselle)
mkdir "$bundle/test/cuda" && cp -r roselle-cuda/target/test-classes/. "$bundle/test/cuda/"
cat >"$bundle/run.sh" <<'RUN'
#!/bin/sh
# Runs the bundle it lies in: run.sh test [CLASS …] | run.sh roselle ARGUMENTS
set -eu
bundle=$(cd "$(dirname "$0")" && pwd)
jre=${ROSELLE_BUNDLE_JRE:-/tmp/roselle-jre}
[ -x "$jre/jre/bin/java" ] || { mkdir -p "$jre" && tar -C "$jre" -xJf "$bundle/jre.tar.xz"; }
java=$jre/jre/bin/java
what=$1
shift
case $what in
    test)
        path=$(echo "$bundle"/test/cuda "$bundle"/test/*.jar "$bundle"/lib/*.jar | tr ' ' ':')
        [ $# = 0 ] && set -- --scan-classpath "$bundle/test/cuda" --include-tag gpu
        exec "$java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -ea ${ROSELLE_JAVA_OPTIONS-} -cp "$path" \
            org.junit.platform.console.ConsoleLauncher execute --details=summary --disable-banner "$@"
        ;;
    roselle)
        exec "$java" --enable-native-access=roselle.engine,roselle.cuda ${ROSELLE_JAVA_OPTIONS-} -p "$bundle/lib" \
            -m roselle.cli/roselle.cli.Main "$@"
        ;;
    *) sed -n 2p "$0" >&2; exit 64 ;;
esac
RUN
chmod +x "$bundle/run.sh"
du -sh "$bundle"
