"""Rows of prompts through one model in Spark, by Roselle within the executor and by what else there is, one after the other, in turns.

Started by compare.sh, which makes what it needs. Prints a line for each run, then the medians.
"""

import argparse
import concurrent.futures
import json
import os
import re
import statistics
import sys
import time
import urllib.request

import numpy
import pandas
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession, functions
from pyspark.sql.types import LongType

QUESTION = "Write one sentence about the number "


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--jars", required=True, help="the folder of Roselle's jars")
    parser.add_argument("--server", required=True, help="http://… of roselle serve with the same model")
    parser.add_argument("--rows", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="names of ways, separated by commas")
    return parser.parse_args()


def session(jars):
    files = [os.path.join(jars, each) for each in os.listdir(jars) if re.search(r"\.jar$", each)]
    return (
        SparkSession.builder.master(f"local[{os.cpu_count()}]")
        .config("spark.jars", ",".join(files))
        .config("spark.driver.extraClassPath", ":".join(files))
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.extensions", "roselle.spark.RoselleExtensions")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )


class Ways:
    """Each takes a table with a column prompt and returns the tokens of all answers."""

    def __init__(self, spark, options):
        self.spark = spark
        self.options = options

    def roselle(self, rows):
        rows.createOrReplaceTempView("rows")
        model, tokens = self.options.model, self.options.tokens
        return self.spark.sql(
            "SELECT sum(usage.completionTokens) AS tokens FROM roselle_generate(TABLE(SELECT prompt FROM rows), "
            f"map('model', '{model}', 'context', '1024', 'temperature', '0', 'maxTokens', '{tokens}', 'onError', 'fail'))"
        ).first()["tokens"]

    def llama_cpp(self, rows):
        """llama-cpp-python in predict_batch_udf: a Python process and a copy of the model for each core."""
        model, tokens = self.options.model, self.options.tokens

        def make():
            from llama_cpp import Llama

            llama = Llama(model_path=model, n_ctx=1024, n_threads=1, n_threads_batch=1, verbose=False)

            def predict(prompts):
                counts = []
                for prompt in prompts:
                    answer = llama.create_chat_completion(
                        [{"role": "user", "content": str(prompt)}], max_tokens=tokens, temperature=0
                    )
                    counts.append(answer["usage"]["completion_tokens"])
                return numpy.array(counts, dtype=numpy.int64)

            return predict

        count = predict_batch_udf(make, return_type=LongType(), batch_size=64)
        return rows.select(functions.sum(count("prompt"))).first()[0]

    def http_one_by_one(self, rows):
        """A call to roselle serve for each row, one at a time in each task."""
        ask = asker(self.options.server, self.options.tokens)
        count = functions.udf(ask, LongType())
        return rows.select(functions.sum(count("prompt"))).first()[0]

    def http_64_threads(self, rows):
        """As many calls at a time as the server runs, from 64 threads in each task's Python."""
        ask = asker(self.options.server, self.options.tokens)

        def count(prompts: pandas.Series) -> pandas.Series:
            with concurrent.futures.ThreadPoolExecutor(64) as threads:
                return pandas.Series(list(threads.map(ask, prompts)))

        return rows.select(functions.sum(functions.pandas_udf(count, LongType())("prompt"))).first()[0]


def asker(server, tokens):
    def ask(prompt):
        body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": tokens, "temperature": 0}
        request = urllib.request.Request(
            server + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["usage"]["completion_tokens"]

    return ask


def main():
    options = arguments()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = session(options.jars)
    spark.sparkContext.setLogLevel("ERROR")
    ways = Ways(spark, options)
    names = options.only.split(",") if options.only else ["roselle", "llama_cpp", "http_one_by_one", "http_64_threads"]
    rates = {name: [] for name in names}
    first = 0
    for repeat in range(-1, options.repeats):
        for name in names:
            count = options.rows if repeat >= 0 else max(4, options.rows // 8)
            rows = spark.range(first, first + count, 1, os.cpu_count()).select(
                functions.concat(functions.lit(QUESTION), functions.col("id")).alias("prompt")
            )
            first += count
            begin = time.monotonic()
            tokens = getattr(ways, name)(rows)
            seconds = time.monotonic() - begin
            load = os.getloadavg()[0]
            print(f"{name} repeat={repeat} rows={count} tokens={tokens} seconds={seconds:.2f} "
                  f"rows_per_second={count / seconds:.2f} tokens_per_second={tokens / seconds:.1f} load={load:.1f}", flush=True)
            if repeat >= 0:
                rates[name].append(tokens / seconds)
    for name in names:
        print(f"median {name} {statistics.median(rates[name]):.1f} tokens/s")


if __name__ == "__main__":
    main()
