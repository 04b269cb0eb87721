"""Tests of the small server around transformers: python3 hf_server_test.py

What it does itself (HTTP, streams, batches, the choice of an engine) is tested with stubs of torch and transformers. Where a
Python has both, the server is started with a very small model as well, once for each way of batching.
"""
import argparse, asyncio, http.client, importlib.util, json, pathlib, subprocess, sys, tempfile, threading, time, types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parent.parent / "main/resources/roselle/bench/drivers/hf_server.py"
HAS_TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))


class Tensor(list):
    """As much of a tensor as the server looks at: rows of numbers."""

    def flatten(self):
        return Tensor(x for row in self for x in (row if isinstance(row, list) else [row]))

    def tolist(self):
        return list(self)


def script():
    """The server as a module, with stubs of what it imports."""
    torch = types.ModuleType("torch")
    torch.tensor = lambda rows, device: Tensor(rows)
    torch.inference_mode = lambda: mock.MagicMock()
    stubs = {"torch": torch, "transformers": types.ModuleType("transformers")}
    with mock.patch.dict(sys.modules, stubs):
        spec = importlib.util.spec_from_file_location("hf_server", SCRIPT)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


server = script()
SAMPLING = dict(temperature=1.0, top_p=1.0, top_k=0)


class Counting:
    """An engine whose tokens are 1, 2, 3 …, and that remembers what it was asked."""

    def __init__(self, most=10 ** 9):
        self.most, self.asked, self.closed = most, [], 0

    async def tokens(self, prompt, wanted, sampling, ignores_eos):
        self.asked.append((prompt, wanted, sampling, ignores_eos))
        try:
            for token in range(1, min(wanted, self.most) + 1):
                await asyncio.sleep(0)
                yield token
        finally:
            self.closed += 1


class Failing:
    async def tokens(self, prompt, wanted, sampling, ignores_eos):
        yield 7
        raise RuntimeError("the cache is full")


async def exchange(engine, *requests, recorder=None):
    """The bytes that one connection answers to some requests."""
    served = server.Server(engine, "version 1", recorder)
    listening = await asyncio.start_server(served.connection, "127.0.0.1", 0, limit=1 << 24)
    async with listening:
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        for request in requests:
            writer.write(request)
        writer.write_eof()
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer


def post(**body):
    data = json.dumps(body).encode()
    return b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data)


def events(answer):
    return [line[6:] for line in answer.decode().splitlines() if line.startswith("data: ")]


class HttpTest(unittest.IsolatedAsyncioTestCase):
    async def test_streams_each_token_then_the_reason_and_the_usage(self):
        answer = await exchange(Counting(), post(prompt=[4, 5, 6], max_tokens=2, stream=True))

        self.assertTrue(answer.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
        self.assertTrue(answer.endswith(b"0\r\n\r\n"))
        *told, last = events(answer)
        told = [json.loads(event) for event in told]
        self.assertEqual([event["choices"][0]["text"] for event in told[:3]], [" 1", " 2", ""])
        self.assertEqual([event["choices"][0]["finish_reason"] for event in told[:3]], [None, None, "length"])
        self.assertEqual(told[3], {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
        self.assertEqual(last, "[DONE]")

    async def test_says_stop_where_the_model_ended_before_the_limit(self):
        told = [json.loads(event) for event in events(await exchange(Counting(2), post(prompt=[4], max_tokens=9,
                                                                                       stream=True)))[:-1]]

        self.assertEqual(told[2]["choices"][0]["finish_reason"], "stop")
        self.assertEqual(told[3]["usage"]["completion_tokens"], 2)

    async def test_hands_the_sampling_on(self):
        engine = Counting()

        await exchange(engine, post(prompt=[4], max_tokens=1, stream=True, temperature=0.7, top_p=0.9, top_k=50,
                                    ignore_eos=True), post(prompt=[4], max_tokens=1, stream=True))

        self.assertEqual(engine.asked, [([4], 1, dict(temperature=0.7, top_p=0.9, top_k=50), True),
                                        ([4], 1, dict(temperature=1.0, top_p=1.0, top_k=0), False)])

    async def test_answers_one_request_after_the_other_on_a_connection(self):
        answer = await exchange(Counting(), b"GET /health HTTP/1.1\r\n\r\n",
                                post(prompt=[4], max_tokens=1, stream=True), b"GET /version HTTP/1.1\r\n\r\n")

        self.assertEqual(answer.count(b"HTTP/1.1 200"), 3)
        self.assertEqual(answer.count(b'{"version": "version 1"}'), 2)

    async def test_records_between_two_requests(self):
        profiler = mock.MagicMock()
        profiler.export_chrome_trace.side_effect = lambda file: pathlib.Path(file).write_text("{}")
        start, stop = b"POST /start_profile HTTP/1.1\r\n\r\n", b"POST /stop_profile HTTP/1.1\r\n\r\n"
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(server, "torch") as torch:
            torch.cuda.is_available.return_value = False
            torch.profiler.profile.return_value = profiler

            answer = await exchange(Counting(), stop, start, start, post(prompt=[4], max_tokens=1, stream=True), stop,
                                    recorder=server.Recorder(folder + "/hf-torch"))

            self.assertEqual([part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]],
                             [b"409", b"200", b"409", b"200", b"200"])
            self.assertEqual([file.name for file in pathlib.Path(folder, "hf-torch").iterdir()], ["hf-1.trace.json"])
        self.assertEqual([call[0] for call in profiler.method_calls], ["start", "stop", "export_chrome_trace"])

    async def test_records_nothing_where_no_folder_is_named(self):
        answer = await exchange(Counting(), b"POST /start_profile HTTP/1.1\r\n\r\n")

        self.assertTrue(answer.startswith(b"HTTP/1.1 404"))
        self.assertIn(b"PROFILE_FOLDER", answer)

    async def test_refuses_text_and_whole_answers(self):
        for body in dict(prompt="text", stream=True), dict(prompt=[], stream=True), dict(prompt=[1, 2]):
            answer = await exchange(Counting(), post(**body))

            self.assertTrue(answer.startswith(b"HTTP/1.1 400 "), answer)
            self.assertIn(b"the prompt has to be token ids, and the answer a stream", answer)

    async def test_tells_of_a_failure_in_the_stream_without_an_end(self):
        told = events(await exchange(Failing(), post(prompt=[4], max_tokens=3, stream=True)))

        self.assertEqual(json.loads(told[-1]), {"error": {"message": "the cache is full"}})
        self.assertNotIn("[DONE]", told)

    async def test_ends_the_work_for_a_client_that_has_gone(self):
        engine = Counting()
        listening = await asyncio.start_server(server.Server(engine, "").connection, "127.0.0.1", 0)
        async with listening:
            reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
            writer.write(post(prompt=[4], max_tokens=10 ** 7, stream=True))
            await reader.readuntil(b"data: ")
            writer.transport.abort()
            limit = time.monotonic() + 120
            while not engine.closed and time.monotonic() < limit:
                await asyncio.sleep(0.01)

        self.assertEqual(engine.closed, 1)


class RowsTest(unittest.TestCase):
    def test_gives_each_row_its_tokens_until_its_end(self):
        told = [[], [], []]
        batch = [([1, 2], 3, None, told[0].append), ([1], 1, None, told[1].append), ([1, 2], 3, None, told[2].append)]
        rows = server.Rows(batch, 99)

        rows.put(Tensor([[1, 2], [0, 1], [1, 2]]))  # the prompts
        rows.put(Tensor([11, 21, 31]))
        rows.put(Tensor([12, 22, 99]))
        rows.put(Tensor([13, 23, 33]))
        rows.end()

        self.assertEqual(told, [[11, 12, 13, None], [21, None], [31, 99, None]])

    def test_knows_several_ends_and_none(self):
        self.assertEqual(server.Rows([], [5, 6]).ends, {5, 6})
        self.assertEqual(server.Rows([], None).ends, set())


class Model:
    """A model whose generate() waits until it may, and gives each row its number and the step."""

    def __init__(self):
        self.device, self.calls, self.begun, self.may = "cpu", [], 0, threading.Semaphore(0)
        self.generation_config = types.SimpleNamespace(eos_token_id=None)

    def generate(self, ids, attention_mask, max_new_tokens, pad_token_id, streamer, **options):
        self.begun += 1
        self.may.acquire()
        self.calls.append((ids, attention_mask, max_new_tokens, options))
        if options.get("top_k") == 13:
            raise ValueError("top_k is unlucky")
        streamer.put(ids)
        for step in range(max_new_tokens):
            streamer.put(Tensor([100 * (row + 1) + step for row in range(len(ids))]))


class StaticTest(unittest.IsolatedAsyncioTestCase):
    async def ask(self, engine, prompt, wanted, **sampling):
        return [token async for token in engine.tokens(prompt, wanted, SAMPLING | sampling, True)]

    async def after(self, engine, count, tasks):
        """Lets the batch begin only when so many wait."""
        limit = time.monotonic() + 120
        while len(engine.waiting) < count and time.monotonic() < limit:
            await asyncio.sleep(0.001)
        engine.model.may.release(count + 1)
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 120)

    async def test_puts_what_waits_into_one_batch_padded_on_the_left(self):
        engine = server.Static(Model(), 64)
        first = asyncio.create_task(self.ask(engine, [9], 1))  # the batch that makes the others wait
        while not engine.model.begun:
            await asyncio.sleep(0.001)
        tasks = [asyncio.create_task(self.ask(engine, prompt, wanted)) for prompt, wanted in (([1, 2, 3], 2), ([4], 3))]

        answers = await self.after(engine, 2, [first] + tasks)

        self.assertEqual(answers, [[100], [100, 101], [200, 201, 202]])
        ids, mask, most, options = engine.model.calls[1]
        self.assertEqual((ids, mask, most), ([[1, 2, 3], [0, 0, 4]], [[1, 1, 1], [0, 0, 1]], 3))
        self.assertEqual(options, dict(do_sample=True, temperature=1.0, top_p=1.0, top_k=0, eos_token_id=None))

    async def test_keeps_other_sampling_and_too_many_for_the_next_batch(self):
        engine = server.Static(Model(), 2)
        first = asyncio.create_task(self.ask(engine, [9], 1))  # the batch that makes the others wait
        while not engine.model.begun:
            await asyncio.sleep(0.001)
        tasks = [asyncio.create_task(self.ask(engine, [1], 1, temperature=heat)) for heat in (1.0, 1.0, 1.0, 0)]

        await self.after(engine, 4, [first] + tasks)

        self.assertEqual([len(call[0]) for call in engine.model.calls], [1, 2, 1, 1])
        self.assertEqual(engine.model.calls[-1][3], dict(do_sample=False, eos_token_id=None))

    async def test_a_batch_that_fails_fails_its_requests_alone(self):
        engine = server.Static(Model(), 64)
        bad = asyncio.create_task(self.ask(engine, [1], 1, top_k=13))
        engine.model.may.release()
        failures = await asyncio.wait_for(asyncio.gather(bad, return_exceptions=True), 120)
        engine.model.may.release()

        self.assertEqual(str(failures[0]), "top_k is unlucky")
        self.assertEqual(await asyncio.wait_for(self.ask(engine, [1], 1), 20), [100])


class ChoiceTest(unittest.IsolatedAsyncioTestCase):
    def arguments(self, batching):
        return argparse.Namespace(batching=batching, most=4, no_prefix_cache=True)

    async def chosen(self, batching, continuous):
        model = mock.Mock()
        with mock.patch.object(server, "Continuous", continuous), mock.patch.object(server, "Static", lambda *_: Counting()):
            return await server.chosen(model, self.arguments(batching))

    async def test_takes_continuous_batching_where_it_makes_tokens(self):
        engine = Counting()

        self.assertEqual(await self.chosen("auto", lambda *_: engine), (engine, ""))
        self.assertEqual(engine.asked[0][1], 2)

    async def test_takes_static_batches_where_it_does_not_and_says_why(self):
        _, why = await self.chosen("auto", mock.Mock(side_effect=ImportError("no ContinuousBatchingConfig")))
        self.assertEqual(why, " (continuous batching failed: ImportError: no ContinuousBatchingConfig)")

        _, why = await self.chosen("auto", lambda *_: Counting(1))
        self.assertIn("two tokens were asked for, and 1 came", why)

    async def test_fails_where_continuous_batching_was_asked_for_by_name(self):
        with self.assertRaises(ImportError):
            await self.chosen("continuous", mock.Mock(side_effect=ImportError("none")))

    async def test_never_tries_it_where_static_batches_were_asked_for(self):
        _, why = await self.chosen("static", mock.Mock(side_effect=AssertionError("was tried")))
        self.assertEqual(why, "")


@unittest.skipUnless(HAS_TORCH, "this Python has no torch and transformers")
class RealModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        make = ("import sys, torch, transformers as t; torch.manual_seed(3); t.GPT2LMHeadModel(t.GPT2Config(n_layer=2, "
                "n_embd=32, n_head=2, vocab_size=300, bos_token_id=299, eos_token_id=299)).save_pretrained(sys.argv[1])")
        subprocess.run([sys.executable, "-c", make, cls.folder.name], check=True, capture_output=True, timeout=300)

    def likeliest(self, prompt, count):
        code = ("import sys, json, torch, transformers as t; m = t.AutoModelForCausalLM.from_pretrained(sys.argv[1]).eval(); "
                "ids = json.loads(sys.argv[2])\n"
                "for _ in range(int(sys.argv[3])):\n"
                "    ids.append(int(m(torch.tensor([ids])).logits[0, -1].argmax()))\n"
                f"print(ids[{len(prompt)}:])")
        done = subprocess.run([sys.executable, "-c", code, self.folder.name, json.dumps(prompt), str(count)], check=True,
                              capture_output=True, timeout=300, text=True)
        return json.loads(done.stdout.splitlines()[-1])

    def answer(self, port, **body):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("POST", "/v1/completions", json.dumps(dict(stream=True) | body))
        told = [json.loads(event) for event in events(connection.getresponse().read()) if event != "[DONE]"]
        connection.close()
        return ([int(choice["text"]) for event in told for choice in event["choices"] if choice["text"]],
                told[-1]["usage"]["completion_tokens"])

    def serve(self, *flags):
        import socket

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([sys.executable, str(SCRIPT), "--model", self.folder.name, "--port", str(port), *flags],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close()))
        limit = time.monotonic() + 300
        while time.monotonic() < limit:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                self.addCleanup(connection.close)
                connection.request("GET", "/version")
                return port, json.loads(connection.getresponse().read())["version"]
            except (ConnectionError, TimeoutError):
                self.assertIsNone(process.poll(), "it ended")
                time.sleep(0.1)
        self.fail("it was not ready")

    def check(self, port):
        prompt = [5, 17, 200, 3]
        expected = self.likeliest(prompt, 6)
        self.assertEqual(self.answer(port, prompt=prompt, max_tokens=6, temperature=0, ignore_eos=True), (expected, 6))
        tokens, count = self.answer(port, prompt=prompt, max_tokens=9, temperature=0.7, top_p=0.9, top_k=50,
                                    ignore_eos=True)
        self.assertEqual((len(tokens), count), (9, 9))
        self.assertTrue(all(0 <= token < 300 for token in tokens))

    def test_static_batches_give_the_likeliest_tokens(self):
        port, version = self.serve("--batching", "static")
        self.assertIn("static batches of at most 64", version)
        self.check(port)

    def test_continuous_batches_give_the_likeliest_tokens_where_this_version_has_them(self):
        port, version = self.serve("--batching", "auto", "--no-prefix-cache")
        if "continuous batching failed" in version:
            self.skipTest(version)
        self.check(port)


if __name__ == "__main__":
    unittest.main()
