"""The official Python client against a running server: python openai_client.py http://127.0.0.1:8000"""

import json
import sys
import time

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="unused", max_retries=0)
MODEL = "demo"
MESSAGES = [{"role": "user", "content": "Tell me a story about a fox."}]
SHORT = {"model": MODEL, "messages": MESSAGES, "temperature": 0, "max_completion_tokens": 16}


def test_models():
    assert [model.id for model in client.models.list()] == [MODEL]


def test_chat_and_streaming_agree():
    whole = client.chat.completions.create(**SHORT)
    assert whole.choices[0].finish_reason == "length"
    assert whole.usage.completion_tokens == 16
    chunks = list(client.chat.completions.create(**SHORT, stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == whole.choices[0].message.content
    assert chunks[-1].usage.completion_tokens == 16


def test_several_choices_differ_by_seed_and_repeat():
    asked = {**SHORT, "temperature": 1.5, "n": 3, "seed": 7}
    once = [choice.message.content for choice in client.chat.completions.create(**asked).choices]
    again = [choice.message.content for choice in client.chat.completions.create(**asked).choices]
    assert once == again
    assert len(set(once)) > 1


def test_completions_with_token_ids_and_logprobs():
    answer = client.completions.create(model=MODEL, prompt=[5, 6, 7], max_tokens=3, logprobs=2, temperature=0)
    assert len(answer.choices[0].logprobs.tokens) == 3
    assert len(answer.choices[0].logprobs.top_logprobs[0]) >= 2


def test_vllm_extensions():
    answer = client.chat.completions.create(
        **SHORT, extra_body={"top_k": 5, "min_p": 0.1, "repetition_penalty": 1.1, "ignore_eos": True}
    )
    assert answer.usage.completion_tokens == 16


def test_errors():
    try:
        client.chat.completions.create(**{**SHORT, "top_p": 7})
        raise AssertionError("top_p of 7 was accepted")
    except openai.BadRequestError as error:
        assert error.param == "top_p", error
    try:
        client.chat.completions.create(**{**SHORT, "model": "other"})
        raise AssertionError("another model answered")
    except openai.NotFoundError as error:
        assert error.code == "model_not_found", error


def test_error_types():
    huge = "word " * 100_000
    cases = [
        (openai.BadRequestError, "context_length_exceeded", {"messages": [{"role": "user", "content": huge}]}),
        (openai.BadRequestError, "invalid_type", {"temperature": "warm"}),
        (openai.BadRequestError, "unknown_parameter", {"extra_body": {"no_such_field": 1}}),
        (openai.BadRequestError, "missing_required_parameter", {"messages": [{"role": "user", "content": None}]}),
        (openai.NotFoundError, "model_not_found", {"model": "other", "stream": True}),
    ]
    for kind, code, fields in cases:
        try:
            client.chat.completions.create(**{**SHORT, **fields})
            raise AssertionError(f"{fields.keys()} was accepted")
        except kind as error:
            assert error.code == code, error
            assert error.type == "invalid_request_error", error
            assert error.request_id.startswith("req_"), error
    for failing in (lambda: client.models.retrieve("other"), lambda: client.responses.retrieve("resp_none")):
        try:
            failing()
            raise AssertionError("something was found")
        except openai.NotFoundError:
            pass


WEATHER = {"name": "get_weather", "description": "The weather in a city now"}
WEATHER |= {"parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
QUESTION = {"role": "user", "content": "What is the weather in Oslo?"}


def test_tools():
    asked = {"model": MODEL, "messages": [QUESTION], "temperature": 0, "max_tokens": 60}
    asked["tools"] = [{"type": "function", "function": WEATHER}]
    choice = client.chat.completions.create(**asked).choices[0]
    assert choice.finish_reason == "tool_calls", choice
    call = choice.message.tool_calls[0]
    assert call.function.name == "get_weather"
    with client.chat.completions.stream(**asked) as stream:
        streamed = stream.get_final_completion().choices[0]
    assert streamed.message.tool_calls[0].function.arguments == call.function.arguments
    result = {"role": "tool", "tool_call_id": call.id, "content": '{"temperature": 7}'}
    answer = client.chat.completions.create(**{**asked, "messages": [QUESTION, choice.message, result]})
    assert "Oslo" in answer.choices[0].message.content


def test_responses_with_tools():
    asked = {"model": MODEL, "temperature": 0, "max_output_tokens": 60}
    asked["tools"] = [{"type": "function", "strict": False, **WEATHER}]
    first = client.responses.create(**asked, input=[QUESTION])
    call = first.output[0]
    assert call.type == "function_call" and call.name == "get_weather", first
    result = {"type": "function_call_output", "call_id": call.call_id, "output": '{"temperature": 7}'}
    kept = client.responses.create(**asked, input=[result], previous_response_id=first.id)
    again = client.responses.create(**asked, input=[QUESTION, *first.output, result])
    assert "Oslo" in kept.output_text and again.output_text == kept.output_text
    with client.responses.stream(**asked, input=[QUESTION]) as stream:
        assert stream.get_final_response().output[0].arguments == call.arguments


def test_responses_with_thoughts():
    asked = {"model": MODEL, "input": "What is 12 + 30?", "temperature": 0, "reasoning": {"effort": "high"}}
    whole = client.responses.create(**asked)
    assert [item.type for item in whole.output] == ["reasoning", "message"], whole
    thoughts = ""
    with client.responses.stream(**asked) as stream:
        for event in stream:
            if event.type == "response.reasoning_text.delta":
                thoughts += event.delta
        assert stream.get_final_response().output_text == whole.output_text
    assert thoughts == whole.output[0].content[0].text


def test_several_streamed_choices():
    texts = ["", ""]
    asked = {**SHORT, "n": 2, "seed": 7, "temperature": 1.0}
    for chunk in client.chat.completions.create(**asked, stream=True):
        assert chunk.id and chunk.created and chunk.system_fingerprint
        texts[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert texts == [choice.message.content for choice in client.chat.completions.create(**asked).choices]


def test_cancellation():
    stream = client.chat.completions.create(**{**SHORT, "max_completion_tokens": 500}, stream=True)
    for _ in range(3):
        next(iter(stream))
    stream.close()


def test_embeddings():
    answer = client.embeddings.create(model=MODEL, input=["a fox", "a boat"])
    assert len(answer.data) == 2
    assert abs(sum(number * number for number in answer.data[0].embedding) - 1) < 1e-4


def test_responses():
    first = client.responses.create(model=MODEL, input="Hello", max_output_tokens=8, temperature=0)
    assert first.output_text
    second = client.responses.create(
        model=MODEL, input="And then?", previous_response_id=first.id, max_output_tokens=8, temperature=0
    )
    assert second.previous_response_id == first.id
    text = ""
    with client.responses.stream(model=MODEL, input="Hello", max_output_tokens=8, temperature=0) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                text += event.delta
    assert text == first.output_text
    items = client.responses.input_items.list(first.id).data
    assert [item.content[0].text for item in items] == ["Hello"], items
    client.responses.delete(first.id)


def test_responses_in_the_background():
    asked = dict(model="demo", input="Tell me a story about a fox.", temperature=0, max_output_tokens=20)
    response = client.responses.create(background=True, **asked)
    assert response.status == "queued" and response.background, response
    while response.status in ("queued", "in_progress"):
        time.sleep(0.05)
        response = client.responses.retrieve(response.id)
    assert response.status == "incomplete", response
    assert response.output_text == client.responses.create(**asked).output_text
    assert client.responses.cancel(response.id).status == "incomplete"


def test_files_and_batches():
    lines = [
        {
            "custom_id": f"id-{number}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": MODEL, "messages": [{"role": "user", "content": f"Hi {number}"}], "max_tokens": 4},
        }
        for number in range(3)
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    sent = client.files.create(file=("in.jsonl", text), purpose="batch")
    assert client.files.content(sent.id).read() == text
    assert sent.id in [file.id for file in client.files.list(purpose="batch", limit=1)]
    batch = client.batches.create(
        input_file_id=sent.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={"what": "test"},
        output_expires_after={"anchor": "created_at", "seconds": 3600},
    )
    while batch.status in ("validating", "in_progress", "finalizing"):
        time.sleep(0.1)
        batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed" and batch.request_counts.completed == 3, batch
    answers = [json.loads(line) for line in client.files.content(batch.output_file_id).text.splitlines()]
    assert [answer["custom_id"] for answer in answers] == ["id-0", "id-1", "id-2"], answers
    assert batch.id in [each.id for each in client.batches.list(limit=1)]
    failed = client.batches.create(
        input_file_id=client.files.create(file=("x.jsonl", b"{"), purpose="batch").id,
        endpoint="/v1/completions",
        completion_window="24h",
    )
    while failed.status == "validating":
        time.sleep(0.1)
        failed = client.batches.retrieve(failed.id)
    assert failed.status == "failed" and failed.errors.data[0].line == 1, failed
    try:
        client.batches.cancel(batch.id)
        raise AssertionError("a completed batch cannot be cancelled")
    except openai.BadRequestError as refusal:
        assert "completed" in str(refusal)
    assert client.files.delete(sent.id).deleted


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"))
