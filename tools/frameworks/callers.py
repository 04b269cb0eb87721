#!/usr/bin/env python3
"""Compares what many callers get of the engine itself, through LangChain4j, and of langchain4j-jlama: Callers.java in a JVM each, asked by turns.

usage: callers.py MODEL_FOLDER [--jlama LIB_FOLDER] [--callers 1000] [--jlama-callers 16] [--tokens 32] [--rounds 5]
       CLASS_PATH in the environment is that of roselle-langchain4j, with its own classes; JAVA_HOME a JDK 25.
LIB_FOLDER has the jars of dev.langchain4j:langchain4j-jlama and of com.github.tjake:jlama-native for this platform; jlama takes a folder
for a model of the hub, which it fetches unless its name is OWNER_NAME and it has an empty file ".finished".
"""
import argparse
import os
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx6g"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--jlama")
    p.add_argument("--callers", type=int, default=1000)
    p.add_argument("--jlama-callers", type=int, default=16, help="less, because it gives each answer a cache of its own and the rate is the same")
    p.add_argument("--tokens", type=int, default=32)
    p.add_argument("--rounds", type=int, default=5)
    a = p.parse_args()
    java, path = os.path.join(os.environ["JAVA_HOME"], "bin"), os.environ["CLASS_PATH"]
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run([os.path.join(java, "javac"), "-nowarn", "-proc:none", "-cp", path, "-d", classes, os.path.join(HERE, "Callers.java")], check=True)
        ways = {"engine": path, "langchain4j": path} | ({"jlama": os.path.join(a.jlama, "*")} if a.jlama else {})
        started = {}
        for way, libraries in ways.items():
            callers = a.jlama_callers if way == "jlama" else a.callers
            started[way] = subprocess.Popen(
                [os.path.join(java, "java"), *FLAGS, "-cp", libraries + os.pathsep + classes, "Callers", way, a.model, str(callers), str(a.tokens)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            print(way, callers, "callers:", started[way].stdout.readline().strip(), flush=True)
        rates = {way: [] for way in ways}
        for turn in range(a.rounds + 1):  # the first is for the compilers
            for way, process in started.items():
                process.stdin.write("\n")
                process.stdin.flush()
                rate = float(process.stdout.readline())
                if turn:
                    rates[way].append(rate)
            print("load", os.getloadavg()[0], {way: round(each[-1], 1) for way, each in rates.items() if each}, flush=True)
        for process in started.values():
            process.stdin.close()
            process.wait()
    middle = {way: statistics.median(each) for way, each in rates.items()}
    for way in middle:
        print(f"{way}: median {middle[way]:.1f} tokens/s, {min(rates[way]):.1f} to {max(rates[way]):.1f}")
    print(f"LangChain4j / engine {statistics.median(b / c for b, c in zip(rates['langchain4j'], rates['engine'])):.3f}")
    if a.jlama:
        print(f"LangChain4j / jlama {statistics.median(b / c for b, c in zip(rates['langchain4j'], rates['jlama'])):.1f}")


if __name__ == "__main__":
    main()
