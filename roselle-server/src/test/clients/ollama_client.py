"""Ollama's official Python client against a running server: python ollama_client.py http://127.0.0.1:8000"""

import json
import sys
import urllib.request

import ollama
from ollama import _types

client = ollama.Client(host=sys.argv[1])
MODEL = "demo"
MESSAGES = [{"role": "user", "content": "Tell me a story about a fox."}]
SHORT = {"model": MODEL, "messages": MESSAGES, "options": {"temperature": 0, "num_predict": 16}}
QUESTION = [{"role": "user", "content": "What is the weather in Oslo?"}]
ASKED = {"model": MODEL, "options": {"temperature": 0, "num_predict": 60}}


WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city now",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def test_models():
    assert [model.model for model in client.list().models] == ["demo:latest"]
    running = client.ps().models[0]
    assert running.model == "demo:latest" and running.context_length > 0 and running.expires_at.year == 9999
    shown = client.show(MODEL)
    assert shown.capabilities == ["completion", "tools", "thinking"], shown
    assert running.context_length in shown.modelinfo.values()


def test_chat_and_streaming_agree():
    whole = client.chat(**SHORT)
    lines = list(client.chat(**SHORT, stream=True))
    assert "".join(line.message.content for line in lines) == whole.message.content
    for end in (whole, lines[-1]):
        assert (end.done, end.done_reason, end.eval_count) == (True, "length", 16)
        assert end.total_duration == end.load_duration + end.prompt_eval_duration + end.eval_duration > 0


def test_generate_goes_on_from_its_context():
    options = {"temperature": 0, "num_predict": 8}
    first = client.generate(MODEL, "Tell me a story about a fox.", options=options)
    second = client.generate(MODEL, "And then?", context=first.context, options=options)
    assert second.prompt_eval_count > len(first.context) == first.prompt_eval_count + 8
    raw = client.generate(MODEL, "Once upon a time", raw=True, options=options)
    assert raw.response and raw.context is None


def test_tools_there_and_back():
    message = client.chat(**ASKED, messages=QUESTION, tools=[WEATHER]).message
    call = message.tool_calls[0].function
    assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo"})
    result = {"role": "tool", "tool_name": call.name, "content": '{"temperature": 7}'}
    answer = client.chat(**ASKED, messages=[*QUESTION, message, result], tools=[WEATHER])
    assert "Oslo" in answer.message.content, answer


def test_thinking():
    question = [{"role": "user", "content": "What is 12 + 30?"}]
    asked = {"model": MODEL, "messages": question, "options": {"temperature": 0, "num_predict": 100}}
    assert "42" in client.chat(**asked, think=True).message.content
    thoughts = "".join(line.message.thinking or "" for line in client.chat(**asked, think="high", stream=True))
    assert thoughts == client.chat(**asked, think=True).message.thinking
    assert client.chat(**asked, think=False).message.thinking is None


def test_formats():
    schema = {"type": "object", "properties": {"legs": {"type": "integer"}}, "required": ["legs"]}
    asked = {**SHORT, "options": {"temperature": 0, "num_predict": 60}}
    answer = client.chat(**asked, format={**schema, "additionalProperties": False})
    assert isinstance(json.loads(answer.message.content)["legs"], int)
    assert client.chat(**SHORT, format="json").message.content.startswith("{")


def test_logprobs():
    logprobs = client.chat(**SHORT, logprobs=True, top_logprobs=2).logprobs
    assert len(logprobs) == 16 and len(logprobs[0].top_logprobs) >= 2


def test_pull_and_load():
    assert client.pull(MODEL).status == "success"
    assert [line.status for line in client.pull("demo:latest", stream=True)] == ["success"]
    assert client.generate(MODEL, keep_alive="10m").done_reason == "load"


def test_create_copy_and_delete():
    made = client.create("fox", from_=MODEL, system="You tell of foxes.", parameters={"temperature": 0, "num_predict": 7, "stop": ["@"]}, stream=True)
    assert [line.status for line in made][-1] == "success"
    assert "fox:latest" in [each.model for each in client.list().models]
    question = [{"role": "user", "content": "Tell me a story."}]
    told = client.chat("fox", question)
    system = [{"role": "system", "content": "You tell of foxes."}]
    plain = client.chat(MODEL, system + question, options={"temperature": 0, "num_predict": 7})
    assert told.message.content == plain.message.content and told.model == "fox" and told.eval_count == 7
    assert client.chat("fox", question, options={"num_predict": 3}).eval_count == 3
    shown = client.show("fox")
    assert "SYSTEM" in shown.modelfile and "num_predict" in shown.parameters and shown.details.parent_model == MODEL
    client.copy("fox", "vixen")
    assert client.generate("vixen", "Once upon a time").eval_count == 7
    for name in ("fox", "vixen"):
        client.delete(name)
    assert not {"fox:latest", "vixen:latest"} & {each.model for each in client.list().models}


def test_templates():
    template = "{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
    assert client.create("shaped", from_=MODEL, template=template).status == "success"
    assert client.show("shaped").template == template
    short = {"temperature": 0, "num_predict": 12}
    told = client.chat("shaped", MESSAGES, options=short).message.content
    text = "<|im_start|>user\n" + MESSAGES[0]["content"] + "<|im_end|>\n<|im_start|>assistant\n"
    assert told == client.generate(MODEL, text, raw=True, options=short).response
    brought = client.generate(MODEL, MESSAGES[0]["content"], template="<|im_start|>user\n{{ .Prompt }}<|im_end|>\n<|im_start|>assistant\n{{ .Response }}", options=short)
    assert brought.response == told
    client.delete("shaped")


def test_embeds_with_a_model_that_generates():
    assert len(client.embed(MODEL, ["a fox", "a hen"]).embeddings) == 2


def test_errors():
    for status, ask in (
        (400, lambda: client.chat(**{**SHORT, "options": {"top_p": 7}})),
        (404, lambda: client.chat(**{**SHORT, "model": "other"})),
        (400, lambda: client.pull("other")),
        (400, lambda: client.delete(MODEL)),
        (404, lambda: client.copy("nothing", "other")),
        (404, lambda: client.create("other", from_="nothing")),
        (400, lambda: client.create("other", from_=MODEL, template="{{ .Prompt ")),
        (400, lambda: client.create("other", from_=MODEL, parameters={"mirostat": 1})),
        (400, lambda: client.push(MODEL)),
        (400, lambda: client.embed(MODEL, "a fox", dimensions=3)),
    ):
        try:
            ask()
            raise AssertionError("accepted")
        except ollama.ResponseError as error:
            assert error.status_code == status and len(error.error) > 10, error


def test_every_published_field_is_honoured_or_refused_by_name():
    with urllib.request.urlopen(sys.argv[1] + "/openapi.json") as answer:
        schemas = json.load(answer)["components"]["schemas"]
    images = {"width", "height", "steps"}  # of models that draw
    for kind, schema in (
        (_types.ChatRequest, "OllamaChatRequest"),
        (_types.GenerateRequest, "OllamaGenerateRequest"),
        (_types.Options, "OllamaOptions"),
        (_types.ShowRequest, "OllamaShowRequest"),
        (_types.PullRequest, "OllamaPullRequest"),
    ):
        unknown = set(kind.model_fields) - images - set(schemas[schema]["properties"])
        assert not unknown, unknown


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"))
