#!/usr/bin/env python3
"""A Python client of OpenAI's completions, to see what such a client's own share in its figures is.

    roselle bench stub --port 9733 --first-ms 20 --gap-ms 2 &
    tools/bench/plain_client.py --port 9733 --trace azure-2023-conv.csv --scale 0.4
    roselle bench online --backends stub=http://127.0.0.1:9733 --vocabulary 50257 --articles \
        --trace azure-2023-conv.csv --scales 0.4

Both send the articles' workload: the first 200 requests of the trace, prompts of ids drawn by random.Random(2) and cut to
895, answers of 2 to 128 tokens. Only Python's own library is needed; --library aiohttp sends by the one that most harnesses
use. Latency counts from the intended start; quantiles are linear between neighbours, as in the results of roselle bench.
"""
import argparse, asyncio, csv, datetime, json, random, time

LONGEST_PROMPT, LONGEST_ANSWER = 895, 128


def workload(path, count, vocabulary):
    draw = random.Random(2)
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:count]
    times = [datetime.datetime.fromisoformat(row["TIMESTAMP"][:26]) for row in rows]
    for at, row in zip(times, rows):
        size = min(int(row["ContextTokens"]), LONGEST_PROMPT)
        prompt = [draw.randrange(vocabulary - 1) for _ in range(size)]
        yield (at - times[0]).total_seconds(), prompt, max(2, min(int(row["GeneratedTokens"]), LONGEST_ANSWER))


async def by_asyncio(options, body):
    """The lines of an answer, read from a socket of its own."""
    reader, writer = await asyncio.open_connection(options.host, options.port, limit=1 << 20)
    writer.write(b"POST /v1/completions HTTP/1.1\r\nHost: %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                 b"Connection: close\r\n\r\n%b" % (options.host.encode(), len(body), body))
    while line := await reader.readline():
        if line.startswith(b"HTTP/1.1 ") and b" 200" not in line:
            raise RuntimeError(line.decode())
        yield line
    writer.close()


async def by_aiohttp(options, body):
    """The same through the library that most harnesses use, with connections that are kept."""
    url = f"http://{options.host}:{options.port}/v1/completions"
    async with options.session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
        if answer.status != 200:
            raise RuntimeError(await answer.text())
        async for line in answer.content:
            yield line


async def request(options, start, prompt, wanted, samples):
    await asyncio.sleep(max(0.0, start - time.perf_counter()))
    body = json.dumps(dict(model=options.model, prompt=prompt, max_tokens=wanted, min_tokens=wanted, ignore_eos=True,
                           temperature=0.7, top_p=0.9, top_k=50, stream=True,
                           stream_options={"include_usage": True})).encode()
    moments, tokens = [], 0
    async for line in options.lines(options, body):
        now = time.perf_counter()
        if line.startswith(b"data: [DONE]"):
            break
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            tokens = (event.get("usage") or {}).get("completion_tokens", tokens)
            if any(choice.get("text") or choice.get("finish_reason") is None for choice in event.get("choices", [])):
                moments.append(now)
    samples.append((moments[0] - start, (moments[-1] - moments[0]) / (tokens - 1), moments[-1] - start))


def quantile(values, q):
    values = sorted(values)
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


async def replay(options, work, scale):
    samples, begin = [], time.perf_counter() + 0.2
    await asyncio.gather(*(request(options, begin + at * scale, prompt, wanted, samples) for at, prompt, wanted in work))
    return samples


async def measure(options):
    work = list(workload(options.trace, options.n, options.vocabulary))
    await replay(options, work[:60], 0.05)  # to warm up
    for scale in options.scale:
        samples = await replay(options, work, scale)
        for name, values in zip(("TTFT", "TPOT", "E2E"), zip(*samples)):
            print(f"{options.library}, scale {scale:g}: {name} p50/p90/p99 ms",
                  " / ".join(f"{1e3 * quantile(values, q):.2f}" for q in (0.5, 0.9, 0.99)), f"of {len(values)}", flush=True)


async def main():
    parser = argparse.ArgumentParser(description="What a Python client measures.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model", default="bench")
    parser.add_argument("--trace", required=True)
    parser.add_argument("--vocabulary", type=int, default=50257, help="of the model; GPT-2's by default")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--scale", type=float, nargs="+", default=[0.4])
    parser.add_argument("--library", choices=["asyncio", "aiohttp"], default="asyncio")
    options = parser.parse_args()
    if options.library == "asyncio":
        options.lines = by_asyncio
        return await measure(options)
    import aiohttp

    options.lines = by_aiohttp
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0),
                                     timeout=aiohttp.ClientTimeout(total=600)) as options.session:
        await measure(options)


asyncio.run(main())
