"""Hugging Face's official client of Text Generation Inference against a running server: python tgi_client.py http://127.0.0.1:8000"""

import asyncio
import json
import sys
import urllib.request

from huggingface_hub import InferenceClient
from text_generation import AsyncClient, Client, errors
from text_generation.types import Grammar, GrammarType, Parameters

client = Client(sys.argv[1], timeout=120)
PROMPT = "Once upon a time"


def test_generate_and_streaming_agree():
    whole = client.generate(PROMPT, max_new_tokens=12)
    assert whole.details.finish_reason == "length" and whole.details.generated_tokens == 12
    events = list(client.generate_stream(PROMPT, max_new_tokens=12))
    assert len(events) == 12
    text = "".join(event.token.text for event in events if not event.token.special)
    assert text == events[-1].generated_text == whole.generated_text
    assert events[-1].details.generated_tokens == 12
    assert [event.token.id for event in events] == [token.id for token in whole.details.tokens]


def test_async():
    async def ask():
        asked = AsyncClient(sys.argv[1], timeout=120)
        whole = await asked.generate(PROMPT, max_new_tokens=8)
        events = [event async for event in asked.generate_stream(PROMPT, max_new_tokens=8)]
        assert events[-1].generated_text == whole.generated_text

    asyncio.run(ask())


def test_details():
    answer = client.generate(PROMPT, max_new_tokens=3, decoder_input_details=True, top_n_tokens=2)
    assert answer.details.prefill[0].logprob is None and answer.details.prefill[1].logprob < 0
    assert [len(tops) for tops in answer.details.top_tokens] == [2, 2, 2]
    full = client.generate(PROMPT, max_new_tokens=3, return_full_text=True)
    assert full.generated_text == PROMPT + answer.generated_text


def test_sampling():
    asked = {"max_new_tokens": 8, "do_sample": True, "temperature": 2.0, "top_k": 50, "top_p": 0.95}
    first = client.generate(PROMPT, **asked, seed=1)
    assert first.details.seed == 1 and client.generate(PROMPT, **asked, seed=1) == first
    best = client.generate(PROMPT, **asked, best_of=3)
    assert len(best.details.best_of_sequences) == 2
    client.generate(PROMPT, max_new_tokens=3, repetition_penalty=1.1, frequency_penalty=0.1, typical_p=0.9, truncate=3)


def test_stop_sequences():
    stop = client.generate(PROMPT, max_new_tokens=20).generated_text[6:10]
    answer = client.generate(PROMPT, max_new_tokens=20, stop_sequences=[stop])
    assert answer.details.finish_reason == "stop_sequence" and answer.generated_text.endswith(stop)


def test_grammars():
    schema = {"type": "object", "properties": {"legs": {"type": "integer", "maximum": 8}}, "required": ["legs"]}
    grammar = Grammar(type=GrammarType.Json, value={**schema, "additionalProperties": False})
    assert json.loads(client.generate(PROMPT, max_new_tokens=60, grammar=grammar).generated_text)["legs"] <= 8
    grammar = Grammar(type=GrammarType.Regex, value="yes|no")
    assert client.generate(PROMPT, grammar=grammar).generated_text in ("yes", "no")


def test_errors():
    for ask in (
        lambda: client.generate(PROMPT, max_new_tokens=10_000_000),
        lambda: client.generate(PROMPT, watermark=True),
        lambda: list(client.generate_stream(PROMPT, max_new_tokens=0)),
    ):
        try:
            ask()
            raise AssertionError("accepted")
        except errors.ValidationError as error:
            assert len(str(error)) > 10, error


def test_the_hubs_client():
    hub = InferenceClient(sys.argv[1], timeout=120)
    text = client.generate(PROMPT, max_new_tokens=8).generated_text
    assert hub.text_generation(PROMPT, max_new_tokens=8) == text
    assert hub.text_generation(PROMPT, max_new_tokens=8, details=True).details.generated_tokens == 8
    assert "".join(hub.text_generation(PROMPT, max_new_tokens=8, stream=True)) == text


def test_every_published_field_is_honoured_or_refused_by_name():
    with urllib.request.urlopen(sys.argv[1] + "/openapi.json") as answer:
        schemas = json.load(answer)["components"]["schemas"]
    unknown = set(Parameters.model_fields) - set(schemas["TgiParameters"]["properties"])
    assert not unknown, unknown


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"))
