"""Hugging Face transformers behind a minimal endpoint of OpenAI's completions: hf_server.py --model DIR --port N

Only what the benchmark sends is understood: a prompt of token ids, a stream with usage. Text says which token came.
Requests share batches in one of two ways, and /version says which:
  continuous  transformers' own manager of continuous batching (paged cache, requests join and leave between steps)
  static      generate() on all requests that wait, padded on the left; newcomers wait until the batch has ended
With --batching auto, continuous is tried with a request of two tokens first; where this version of transformers cannot
do it for this model, the batches are static. Where PROFILE_FOLDER is set, POST /start_profile and /stop_profile begin and end
a recording of PyTorch's profiler, which goes there as a Chrome trace.
"""
import argparse, asyncio, collections, itertools, json, os, threading

import torch, transformers

CPU_CACHE_BYTES = 1 << 30
PAGE_TOKENS, MOST_PAGES, STEP_TOKENS = 256, 256, 512  # on a CPU, where its defaults take most of the memory
START_SECONDS = 300
DEFAULTS = dict(temperature=0.7, top_p=0.9, top_k=50)


class Continuous:
    """transformers' continuous batching; a request's tokens come from a queue that its manager fills."""

    def __init__(self, model, shares_prefixes):
        from transformers import ContinuousBatchingConfig

        options = dict(allow_block_sharing=shares_prefixes, per_request_processors=True)
        if model.device.type == "cpu":
            c = model.config.get_text_config()
            heads = getattr(c, "num_key_value_heads", None) or c.num_attention_heads
            size = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
            token = 2 * c.num_hidden_layers * heads * size * model.dtype.itemsize
            pages = CPU_CACHE_BYTES // (PAGE_TOKENS * token)
            options |= dict(page_size=PAGE_TOKENS, num_blocks=min(MOST_PAGES, max(16, pages)), max_batch_tokens=STEP_TOKENS)
        self.vocabulary = model.config.get_text_config().vocab_size
        self.eos = model.generation_config.eos_token_id
        # A processor exists, for each request to set its value, only where the default is not neutral.
        self.manager = model.init_continuous_batching(
            generation_config=transformers.GenerationConfig(do_sample=True, eos_token_id=-1, pad_token_id=0, **DEFAULTS),
            continuous_batching_config=ContinuousBatchingConfig(**options))
        self.name = f"continuous batching, attention {model.config._attn_implementation}"
        self.numbers = itertools.count()
        self.manager.start()

    async def tokens(self, prompt, wanted, sampling, ignores_eos):
        name, queue = f"r{next(self.numbers)}", asyncio.Queue()
        self.manager.register_result_handler(name, queue.put_nowait)
        if sampling["temperature"] == 0:
            sampling = dict(temperature=1.0, top_p=1.0, top_k=1)
        top_k = sampling["top_k"] or self.vocabulary
        eos = -1 if ignores_eos or self.eos is None else self.eos
        self.manager.add_request(prompt, request_id=name, max_new_tokens=wanted, streaming=True, eos_token_id=eos,
                                 **(sampling | dict(top_k=top_k)))
        sent, done = 0, False
        try:
            while not done:
                answer = await queue.get()
                if answer.error is not None:
                    done = True
                    raise RuntimeError(answer.error)
                for token in answer.generated_tokens[sent:]:
                    yield token
                sent, done = len(answer.generated_tokens), answer.is_finished()
        finally:
            if not done:
                self.manager.cancel_request(name)


class Static:
    """generate() on whatever waits, in a thread of its own."""

    def __init__(self, model, most):
        self.model, self.most, self.name = model, most, f"static batches of at most {most}"
        self.waiting, self.arrived = collections.deque(), threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    async def tokens(self, prompt, wanted, sampling, ignores_eos):
        queue, loop = asyncio.Queue(), asyncio.get_running_loop()
        say = lambda item: loop.call_soon_threadsafe(queue.put_nowait, item)
        with self.arrived:
            self.waiting.append((prompt, wanted, (tuple(sampling.items()), ignores_eos), say))
            self.arrived.notify()
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield item

    def work(self):
        while True:
            with self.arrived:
                self.arrived.wait_for(lambda: self.waiting)
                kind, batch = self.waiting[0][2], []
                while self.waiting and self.waiting[0][2] == kind and len(batch) < self.most:
                    batch.append(self.waiting.popleft())
            rows = Rows(batch, None if kind[1] else self.model.generation_config.eos_token_id)
            try:
                self.generate(batch, rows, dict(kind[0]), kind[1])
                end = None
            except Exception as failure:
                end = failure
            for is_over, (_, _, _, say) in zip(rows.over, batch):
                if not is_over:
                    say(end)

    def generate(self, batch, rows, sampling, ignores_eos):
        device, width = self.model.device, max(len(row[0]) for row in batch)
        ids = torch.tensor([[0] * (width - len(row[0])) + row[0] for row in batch], device=device)
        mask = torch.tensor([[0] * (width - len(row[0])) + [1] * len(row[0]) for row in batch], device=device)
        options = dict(do_sample=False) if sampling["temperature"] == 0 else dict(do_sample=True, **sampling)
        if ignores_eos:
            options["eos_token_id"] = None
        with torch.inference_mode():
            self.model.generate(ids, attention_mask=mask, max_new_tokens=max(row[1] for row in batch), pad_token_id=0,
                                streamer=rows, **options)


class Rows:
    """What generate() streams to: the prompt first, then one token of each row."""

    def __init__(self, batch, eos):
        self.batch, self.sent = batch, -1
        self.ends = set() if eos is None else {eos} if isinstance(eos, int) else set(eos)
        self.over = [False] * len(batch)

    def put(self, values):
        self.sent += 1
        if self.sent == 0:
            return
        for i, token in enumerate(values.flatten().tolist()):
            if not self.over[i]:
                self.batch[i][3](token)
                self.over[i] = token in self.ends or self.sent == self.batch[i][1]
                if self.over[i]:
                    self.batch[i][3](None)

    def end(self):
        pass


class Recorder:
    """PyTorch's profiler over what all threads do, the engine's too."""

    def __init__(self, folder):
        self.folder, self.profiler, self.count = folder, None, 0

    def start(self):
        if self.profiler is not None:
            raise RuntimeError("a recording has begun already")
        kinds = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_available():
            kinds.append(torch.profiler.ProfilerActivity.CUDA)
        try:
            options = dict(experimental_config=torch._C._profiler._ExperimentalConfig(profile_all_threads=True))
        except TypeError:  # a version that records its own thread, and the GPU, only
            options = {}
        self.profiler = torch.profiler.profile(activities=kinds, **options)
        self.profiler.start()

    def stop(self):
        if self.profiler is None:
            raise RuntimeError("no recording has begun")
        profiler, self.profiler = self.profiler, None
        profiler.stop()
        os.makedirs(self.folder, exist_ok=True)
        self.count += 1
        profiler.export_chrome_trace(os.path.join(self.folder, f"hf-{self.count}.trace.json"))


class Server:
    def __init__(self, engine, version, recorder=None):
        self.engine, self.version, self.recorder = engine, version, recorder

    async def connection(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                if head[0].split()[1:2] in (["/start_profile"], ["/stop_profile"]):
                    await self.record(head[0], writer)
                elif head[0].startswith("POST"):
                    await self.complete(json.loads(body), writer)
                else:
                    await self.plain(200, {"version": self.version}, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has gone
        finally:
            writer.close()

    async def plain(self, status, body, writer):
        data = json.dumps(body).encode()
        writer.write(b"HTTP/1.1 %d .\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
                     % (status, len(data), data))
        await writer.drain()

    async def record(self, line, writer):
        if self.recorder is None:
            return await self.plain(404, {"error": {"message": "PROFILE_FOLDER names no folder for recordings"}}, writer)
        try:
            (self.recorder.start if "start" in line else self.recorder.stop)()
        except RuntimeError as failure:
            return await self.plain(409, {"error": {"message": str(failure)}}, writer)
        await self.plain(200, {}, writer)

    async def complete(self, request, writer):
        prompt, wanted = request.get("prompt"), request.get("max_tokens", 16)
        if not isinstance(prompt, list) or not prompt or not request.get("stream"):
            message = "the prompt has to be token ids, and the answer a stream"
            return await self.plain(400, {"error": {"message": message}}, writer)
        sampling = dict(temperature=float(request.get("temperature", 1)), top_p=float(request.get("top_p", 1)),
                        top_k=int(request.get("top_k", 0)))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        count = 0
        try:
            async for token in self.engine.tokens(prompt, wanted, sampling, bool(request.get("ignore_eos"))):
                count += 1
                await event(writer, {"choices": [{"index": 0, "text": f" {token}", "finish_reason": None}]})
            reason = "length" if count == wanted else "stop"
            await event(writer, {"choices": [{"index": 0, "text": "", "finish_reason": reason}]})
            await event(writer, {"choices": [], "usage": {"prompt_tokens": len(prompt), "completion_tokens": count}})
            await event(writer, "[DONE]")
        except (RuntimeError, ValueError, TypeError) as failure:
            await event(writer, {"error": {"message": str(failure)}})
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def event(writer, body):
    data = f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
    await writer.drain()


async def proved(engine):
    """The engine, once it has made two tokens."""
    async def two():
        return [token async for token in engine.tokens([1, 2, 3], 2, dict(DEFAULTS), True)]

    tokens = await asyncio.wait_for(two(), START_SECONDS)
    if len(tokens) != 2:
        raise RuntimeError(f"two tokens were asked for, and {len(tokens)} came")
    return engine


async def chosen(model, arguments):
    why = ""
    if arguments.batching != "static":
        try:
            return await proved(Continuous(model, not arguments.no_prefix_cache)), why
        except Exception as failure:
            if arguments.batching == "continuous":
                raise
            why = f" (continuous batching failed: {type(failure).__name__}: {str(failure)[:80]})"
            model.set_attn_implementation("sdpa")
    return await proved(Static(model, arguments.most)), why


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--batching", choices=["auto", "continuous", "static"], default="auto")
    parser.add_argument("--most", type=int, default=64, help="requests in a static batch")
    parser.add_argument("--no-prefix-cache", action="store_true", help="continuous batches share no prefixes")
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stored = getattr(transformers.AutoConfig.from_pretrained(arguments.model), "dtype", None)
    half = stored if stored in (torch.float16, torch.bfloat16) else torch.float16
    model = transformers.AutoModelForCausalLM.from_pretrained(
        arguments.model, dtype=half if device == "cuda" else torch.float32).to(device).eval()
    engine, why = await chosen(model, arguments)
    version = f"transformers {transformers.__version__}, torch {torch.__version__}, {device}, {engine.name}{why}"
    print(version, flush=True)
    folder = os.environ.get("PROFILE_FOLDER")
    served = Server(engine, version, Recorder(folder) if folder else None)
    server = await asyncio.start_server(served.connection, "127.0.0.1", arguments.port, limit=1 << 24)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
