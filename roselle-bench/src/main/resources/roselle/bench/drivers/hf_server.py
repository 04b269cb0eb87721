"""Hugging Face transformers behind a minimal endpoint of OpenAI's completions: hf_server.py --model DIR --port N

Only what the benchmark sends is understood: a prompt of token ids, a stream with usage. Requests are answered one at a
time, since generate() has no batching across requests; a text says how many tokens it stands for.
"""
import argparse, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch, transformers

arguments = argparse.ArgumentParser()
arguments.add_argument("--model", required=True)
arguments.add_argument("--port", type=int, required=True)
arguments = arguments.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
model = transformers.AutoModelForCausalLM.from_pretrained(
    arguments.model, dtype=torch.float16 if device == "cuda" else torch.float32).to(device).eval()
turn = threading.Lock()


def draw(logits, temperature, top_p, top_k):
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    logits = logits.float() / temperature
    if top_k:
        logits[logits < logits.topk(min(top_k, logits.shape[-1])).values[..., -1, None]] = -float("inf")
    if top_p < 1:
        values, order = logits.sort(descending=True)
        drop = values.softmax(-1).cumsum(-1) - values.softmax(-1) > top_p
        logits.scatter_(-1, order, values.masked_fill(drop, -float("inf")))
    return logits.softmax(-1).multinomial(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.plain(200, {"version": f"transformers {transformers.__version__}, torch {torch.__version__}, {device}"})

    def event(self, body):
        data = f"data: {body if isinstance(body, str) else json.dumps(body)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = request.get("prompt")
        if not isinstance(prompt, list) or not prompt or not request.get("stream"):
            return self.plain(400, {"error": {"message": "the prompt has to be token ids, and the answer a stream"}})
        with turn, torch.inference_mode():
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            ids, cache = torch.tensor([prompt], device=device), None
            for _ in range(request["max_tokens"]):
                answer = model(ids, past_key_values=cache, use_cache=True)
                cache = answer.past_key_values
                ids = draw(answer.logits[:, -1], request.get("temperature", 1), request.get("top_p", 1),
                           request.get("top_k", 0))
                self.event({"choices": [{"index": 0, "text": f" {ids.item()}", "finish_reason": None}]})
            self.event({"choices": [{"index": 0, "text": "", "finish_reason": "length"}]})
            self.event({"choices": [], "usage": {"prompt_tokens": len(prompt),
                                                 "completion_tokens": request["max_tokens"]}})
            self.event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")


ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler).serve_forever()
