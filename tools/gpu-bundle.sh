#!/bin/sh
# Makes one folder with all that a machine needs to run Roselle and its GPU tests: a Java run time, our jars and their tests.
# The machine needs x86-64, an NVIDIA driver, and NVRTC or machine code of kernels in its cache; no JDK, no Maven, no network.
#
#   tools/gpu-bundle.sh FOLDER
#   FOLDER/run.sh   says what it can run there
set -eu
[ $# = 1 ] || { sed -n 2,6p "$0" >&2; exit 64; }
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
zip -q -d "$bundle"/lib/roselle-hub-*.jar 'roselle/demo/*.gguf' # a checkout has it
zip -q -d "$bundle"/lib/jline-native-*.jar "org/jline/nativ/Windows/*" "org/jline/nativ/Mac/*" "org/jline/nativ/FreeBSD/*"
version=$(sed -n 's/.*<junit.version>\(.*\)<.*/\1/p' pom.xml)
mvn -B -q dependency:copy -Dartifact="org.junit.platform:junit-platform-console-standalone:$version" \
    -DoutputDirectory="$bundle/test"
assertj=$(sed -n 's/.*<assertj.version>\(.*\)<.*/\1/p' pom.xml)
mvn -B -q dependency:copy -Dartifact="org.assertj:assertj-core:$assertj" -DoutputDirectory="$bundle/test"
for module in api text engine cpu; do # without their resources
    (cd "roselle-$module/target/test-classes" && "$JAVA_HOME/bin/jar" cf "$bundle/test/$module-tests.jar" roselle)
done
mkdir "$bundle/test/cuda" && cp -r roselle-cuda/target/test-classes/. "$bundle/test/cuda/"
mkdir "$bundle/test/switch" # two models in turn: what that leaves behind, and how long it takes
(cd roselle-server/target/test-classes && cp --parents roselle/server/load/SwitchProbe*.class "$bundle/test/switch/")
"$JAVA_HOME/bin/javac" --add-modules jdk.incubator.vector -nowarn -cp "$bundle/lib/*" -d "$bundle/test/switch" tools/switch/SwitchTimes.java
rm -rf "$bundle/lab"
mkdir -p "$bundle/lab/tools" "$bundle/lab/roselle-cuda/src/main"
cp -r tools/cuda-lab "$bundle/lab/tools/"
cp -r roselle-cuda/src/main/cuda "$bundle/lab/roselle-cuda/src/main/"
cat >"$bundle/run.sh" <<'RUN'
#!/bin/sh
# Runs the bundle it lies in:
#   run.sh test [CLASS …]              the tests with the tag gpu, or those of some classes: run.sh test CudaContractTest; those of a
#                                      type of rows ('CudaContractTest$InF32') can run beside the others, in 4 minutes each
#   run.sh roselle ARGUMENTS           the command line
#   run.sh kernels [SCRIPT ARGUMENTS]  checks and times kernels (Python, PyTorch, NVRTC): run.sh kernels attention.py check
#   run.sh serving [MODEL [OPTIONS]]   128 prompts of 256 tokens and 64 new ones, through the engine and over HTTP; where no
#                                      model is named, GPT-2's shape with random weights, made by transformers
#   run.sh switches [SWITCHES [MODEL [DEVICE [HOST]]]]   1,000 switches between two names of a model in memory for one (HOST: GiB
#                                      of the machine's memory for weights, 4; 0 loads anew each time): fails where anything of the
#                                      device's memory, the process's, threads or descriptors stays behind
#   run.sh switch-times FIRST SECOND [DEVICE [SWITCHES [HOST]]]   how long each switch takes, as CSV (tools/switch)
set -eu
bundle=$(cd "$(dirname "$0")" && pwd)
[ $# != 0 ] || { sed -n 2,14p "$0" >&2; exit 64; }
jre=${ROSELLE_BUNDLE_JRE:-/tmp/roselle-jre}
java=$jre/jre/bin/java
unpacked() { [ -x "$java" ] || { mkdir -p "$jre" && tar -C "$jre" -xJf "$bundle/jre.tar.xz"; }; }
roselle() { # instead of this shell, so that signals reach it
    exec "$java" --enable-native-access=roselle.cpu,roselle.cuda ${ROSELLE_JAVA_OPTIONS-} -p "$bundle/lib" -m roselle.cli/roselle.cli.Main "$@"
}
gpt2() { # the path of a model of GPT-2's shape with random weights
    model=${TMPDIR:-/tmp}/roselle-gpt2
    [ -d "$model" ] || python3 -c "import sys, transformers as t; t.GPT2LMHeadModel(t.GPT2Config()).half().save_pretrained(sys.argv[1])" "$model" >&2
    echo "$model"
}
switching() { # instead of this shell
    unpacked
    exec "$java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED ${ROSELLE_JAVA_OPTIONS-} \
        -cp "$bundle/test/switch:$bundle/lib/*" "$@"
}
what=$1
shift
case $what in
    test)
        unpacked
        path=$(echo "$bundle"/test/cuda "$bundle"/test/*.jar "$bundle"/lib/*.jar | tr ' ' ':')
        [ $# = 0 ] && set -- --scan-classpath "$bundle/test/cuda" --include-tag gpu
        case $1 in
            -*) ;; # the launcher's own options
            *)
                for class in "$@"; do # each in turn goes, and comes again with its package
                    shift
                    case $class in *.*) ;; *) class=roselle.cuda.$class ;; esac
                    set -- "$@" "--select-class=$class"
                done
                ;;
        esac
        exec "$java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -ea ${ROSELLE_JAVA_OPTIONS-} -cp "$path" \
            org.junit.platform.console.ConsoleLauncher execute --details=summary --disable-banner "$@"
        ;;
    roselle)
        unpacked
        roselle "$@"
        ;;
    kernels)
        built=${TMPDIR:-/tmp}/roselle-kernels
        cd "$bundle/lab/tools/cuda-lab"
        [ -d "$built" ] || python3 compile.py --out "$built" ../../roselle-cuda/src/main/cuda/*/*.cu instances
        if [ $# != 0 ]; then
            script=$1
            shift
            exec python3 "$script" "$built" "$@"
        fi
        python3 linear.py "$built" check few many
        python3 attention.py "$built" check few many
        python3 latent.py "$built" check few many
        python3 step.py "$built" gpt2 llama
        ;;
    serving)
        unpacked
        model=${1-}
        [ $# = 0 ] || shift
        [ -n "$model" ] || model=$(gpt2)
        roselle bench offline --model "$model" --output-dir "${TMPDIR:-/tmp}/roselle-serving" \
            --engine-flags "--device cuda --max-sequences 128 --step-tokens 16384" "$@"
        ;;
    switches)
        model=${2-}
        [ -n "$model" ] || model=$(gpt2)
        switching -Xms512m -Xmx512m -XX:+AlwaysPreTouch -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
            roselle.server.load.SwitchProbe "${1-1000}" "$model" "${3-cuda:0}" "${4-4}"
        ;;
    switch-times) switching SwitchTimes "$@" ;;
    *) sed -n 2,14p "$0" >&2; exit 64 ;;
esac
RUN
chmod +x "$bundle/run.sh"
du -sh "$bundle"
