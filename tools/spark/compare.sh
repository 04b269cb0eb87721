#!/bin/sh
# Measures Roselle in Spark beside llama-cpp-python in predict_batch_udf and calls to "roselle serve" from UDFs, on this machine's
# cores, with the same rows and the same file: tools/spark/compare.sh [MODEL.gguf [ARGUMENTS OF compare.py]]
# Without a file SmolLM2-135M (Q4_1). Needs Python 3.10 or newer, a C++ compiler and CMake (the first run builds llama.cpp, minutes),
# and JAVA_HOME at a JDK 25. Prints the load of the machine with each line: a figure counts where nothing else runs.
set -eu
cd "$(dirname "$0")/../.."
folder=${ROSELLE_COMPARE:-target/spark-compare}
mkdir -p "$folder"
model=${1:-$(tools/smollm2.sh)}
[ $# = 0 ] || shift
if [ ! -e "$folder/venv/ready" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet pyspark==4.2.0 pandas==3.1.1 pyarrow==26.0.1 setuptools >&2
    "$folder/venv/bin/pip" install --quiet --no-binary llama-cpp-python llama-cpp-python==0.3.36 >&2
    touch "$folder/venv/ready"
fi
if [ ! -e "$folder/jars/ready" ]; then
    mvn -B -q -Dquick -Dbuild.folder=target/quick -Dmaven.test.skip=true -pl roselle-spark -am package \
        org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$PWD/$folder/jars" >&2
    cp roselle-spark/target/quick/roselle-spark-*.jar "$folder/jars/"
    touch "$folder/jars/ready"
fi
port=$((20000 + $$ % 10000))
./roselle serve "$model" --port $port --context 1024 >"$folder/server.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null' EXIT
until python3 -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health')" 2>/dev/null; do
    kill -0 $server || { cat "$folder/server.log" >&2; exit 1; }
    sleep 1
done
"$folder/venv/bin/python" tools/spark/compare.py --model "$(realpath "$model")" --jars "$folder/jars" \
    --server "http://127.0.0.1:$port" "$@"
