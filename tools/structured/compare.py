"""Roselle and others on the same schemas, tokens and machine, one after the other; prints a table.

usage: compare.py FOLDER COUNT CLASSPATH [ENGINE ...]
FOLDER was made by fetch.sh; COUNT schemas in the order of their names' SHA-256; CLASSPATH has roselle-grammar's classes, those of its
tests, and what they need. Engines: roselle, llguidance, xgrammar, outlines; all of them without any named.
"""

import hashlib
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ALL = ["roselle", "llguidance", "xgrammar", "outlines"]
OUTLINES_SECONDS = "10"


def run(engine, folder, files, class_path):
    if engine == "roselle":
        java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
        command = [java, "-Xmx4g", "-cp", class_path, "roselle.grammar.bench.MaskBench"]
        command += [os.path.join(folder, "data"), os.path.join(folder, "qwen.tiktoken"), files]
    else:
        command = [sys.executable, os.path.join(HERE, "peers.py"), engine, folder, files]
        command += [OUTLINES_SECONDS] if engine == "outlines" else []
    path = os.pathsep.join([os.path.join(folder, "peers"), os.path.join(HERE, "stub")])
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | {"PYTHONPATH": path})
    return json.loads(done.stdout.strip().splitlines()[-1])


def row(found):
    mask, compiled, variants = found["maskMicros"], found["compileMillis"], found["variants"]
    share = f"{found['right']} of {found['withTests']} = {100 * found['right'] / max(1, found['withTests']):.1f} %"
    times = lambda of, names: " / ".join(str(of.get(name, "-")) for name in names)
    return [
        found["engine"],
        share,
        str(found["refused"]),
        f"{found['tooNarrow']} / {found['tooWide']}",
        f"{found['invalidAccepted']} of {found['invalid']}",
        times(mask, ["mean", "p50", "p99", "p99.9", "max"]),
        times(compiled, ["mean", "p50", "p99", "max"]),
        ", ".join(f"{name} {some} of {tried}" for name, (some, tried) in variants.items()),
    ]


def main():
    folder, count, class_path, *engines = sys.argv[1:]
    names = sorted(os.listdir(os.path.join(folder, "data")), key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    files = os.path.join(folder, f"first-{count}.txt")
    with open(files, "w") as out:
        out.write("\n".join(names[: int(count)]))
    print("| engine | right | refused | too narrow / wide | invalid accepted | mask µs mean / p50 / p99 / p99.9 / max "
          "| compile ms mean / p50 / p99 / max | other spellings accepted |")
    print("|" + "---|" * 8)
    for engine in engines or ALL:
        print("| " + " | ".join(row(run(engine, folder, files, class_path))) + " |", flush=True)


if __name__ == "__main__":
    main()
