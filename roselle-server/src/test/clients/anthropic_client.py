"""Anthropic's official Python client against a running server: python anthropic_client.py http://127.0.0.1:8000"""

import json
import sys
import typing
import urllib.request

import anthropic
from anthropic.types import message_count_tokens_params, message_create_params

client = anthropic.Anthropic(base_url=sys.argv[1], api_key="unused", max_retries=0)
MODEL = "demo"
MESSAGES = [{"role": "user", "content": "Tell me a story about a fox."}]
SHORT = {"model": MODEL, "messages": MESSAGES, "max_tokens": 16, "extra_body": {"temperature": 0}}
WEATHER = {
    "name": "get_weather",
    "description": "The weather in a city now",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
QUESTION = [{"role": "user", "content": "What is the weather in Oslo?"}]
ASKED = {"model": MODEL, "max_tokens": 60, "tools": [WEATHER], "extra_body": {"temperature": 0}}


def test_models():
    models = list(client.models.list())
    assert [model.id for model in models] == [MODEL]
    assert client.models.retrieve(MODEL) == models[0]
    assert models[0].max_tokens > 0 and models[0].created_at.year >= 2026


def test_messages_and_streaming_agree():
    whole = client.messages.create(**SHORT)
    assert whole.stop_reason == "max_tokens" and whole.usage.output_tokens == 16
    assert whole._request_id.startswith("req_")
    with client.messages.stream(**SHORT) as stream:
        text = "".join(stream.text_stream)
        last = stream.get_final_message()
    assert text == whole.content[0].text == last.content[0].text
    assert last.stop_reason == "max_tokens" and last.usage.output_tokens == 16
    read = [usage.input_tokens + usage.cache_read_input_tokens for usage in (whole.usage, last.usage)]
    assert read[0] == read[1], read


def test_cache_reads_are_told():
    system = [{"type": "text", "text": "Foxes are clever. " * 30, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    client.messages.create(**SHORT, system=system)
    assert client.messages.create(**SHORT, system=system).usage.cache_read_input_tokens >= 64


def test_count_tokens():
    counted = client.messages.count_tokens(model=MODEL, messages=MESSAGES, system="Be kind.").input_tokens
    usage = client.messages.create(**SHORT, system="Be kind.").usage
    assert counted == usage.input_tokens + usage.cache_read_input_tokens


def test_tools_there_and_back():
    message = client.messages.create(**ASKED, messages=QUESTION)
    assert message.stop_reason == "tool_use"
    call = message.content[-1]
    assert (call.name, call.input) == ("get_weather", {"city": "Oslo"})
    result = {"type": "tool_result", "tool_use_id": call.id, "content": '{"temperature": 7}'}
    answer = client.messages.create(
        **ASKED, messages=[*QUESTION, message.to_param(), {"role": "user", "content": [result]}]
    )
    assert answer.stop_reason == "end_turn" and "Oslo" in answer.content[-1].text


def test_streamed_tool_input():
    with client.messages.stream(**ASKED, messages=QUESTION) as stream:
        pieces = [event.partial_json for event in stream if event.type == "input_json"]
        last = stream.get_final_message()
    assert len(pieces) > 2 and last.content[-1].input == {"city": "Oslo"}


def test_tool_choice():
    for choice in ({"type": "any"}, {"type": "tool", "name": "get_weather"}):
        message = client.messages.create(
            **ASKED, messages=MESSAGES, tool_choice={**choice, "disable_parallel_tool_use": True}
        )
        assert [block.type for block in message.content] == ["tool_use"], message
    assert client.messages.create(**ASKED, messages=QUESTION, tool_choice={"type": "none"}).stop_reason != "tool_use"


def test_thinking_there_and_back():
    asked = {
        "model": MODEL,
        "max_tokens": 2000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "extra_body": {"temperature": 0},
    }
    sum_of_two = [{"role": "user", "content": "What is 12 + 30?"}]
    with client.messages.stream(**asked, messages=sum_of_two) as stream:
        signatures = [event.signature for event in stream if event.type == "signature"]
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].signature == signatures[0] and "42" in message.content[1].text
    client.messages.create(**SHORT | {"messages": [*sum_of_two, message.to_param(), *MESSAGES]})


def test_structured_output():
    schema = {"type": "object", "properties": {"legs": {"type": "integer"}}, "required": ["legs"]}
    config = {"format": {"type": "json_schema", "schema": {**schema, "additionalProperties": False}}}
    message = client.messages.create(**SHORT | {"max_tokens": 60}, output_config=config)
    assert isinstance(json.loads(message.content[0].text)["legs"], int)


def test_stop_sequences():
    text = client.messages.create(**SHORT).content[0].text
    message = client.messages.create(**SHORT, stop_sequences=[text[8:12]])
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", text[8:12])


def test_errors():
    try:
        client.messages.create(**{**SHORT, "service_tier": "priority"})
        raise AssertionError("a tier that is not there was accepted")
    except anthropic.BadRequestError as error:
        assert error.body["error"]["message"].startswith("service_tier is"), error
        assert error.request_id == error.body["request_id"]
    try:
        client.messages.create(**{**SHORT, "model": "other"})
        raise AssertionError("another model answered")
    except anthropic.NotFoundError as error:
        assert error.body["error"]["type"] == "not_found_error", error


def test_every_published_field_is_honoured_or_refused_by_name():
    with urllib.request.urlopen(sys.argv[1] + "/openapi.json") as answer:
        schemas = json.load(answer)["components"]["schemas"]
    headers = {"user_profile_id", "workspace_id"}
    for params, schema in (
        (message_create_params.MessageCreateParamsBase, "AnthropicRequest"),
        (message_count_tokens_params.MessageCountTokensParams, "AnthropicCountRequest"),
    ):
        unknown = set(typing.get_type_hints(params)) - headers - set(schemas[schema]["properties"])
        assert not unknown, unknown


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"))
