"""Every field of the requests that official clients can make, once with each kind of value.

python published_fields.py URL URL_OF_ENCODERS [--list]

The fields are those of the clients' own types, by reflection, to a depth. Each is put into a request that is right
without it. What comes must be an answer, or a refusal that names the field, or what it lies in. --list prints what is
answered."""

import collections.abc
import datetime
import inspect
import json
import re
import sys
import types
import typing
import urllib.error
import urllib.request

import cohere
import ollama
import pydantic
from anthropic.types import message_count_tokens_params, message_create_params
from ollama import _types
from openai.types import completion_create_params, embedding_create_params
from openai.types.chat import completion_create_params as chat_create_params
from openai.types.responses import response_create_params
from text_generation.types import Parameters

URL, ENCODERS = sys.argv[1:3]
DEEPEST = 7
USER = {"role": "user", "content": "Hi"}
CALL = {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "x", "input": {}}]}
OWN = {"model", "user_profile_id", "workspace_id", "request_options"}  # every request's; headers; the client's own
NEEDED = {  # though the types do not say so, or say it of others
    "ChatCompletionAssistantMessageParam": {"content"},
    "FunctionCallOutput": {"call_id"},
    "Function": {"name"},
    "JSONSchema": {"schema"},
    "Tool": {"function"},
}
VALUES = {  # where not any will do
    "arguments": "{}",
    "budget_tokens": 1024,
    "definition": 'start: "a"',
    "max_tokens": 2,
    "model": "demo",
    "pattern": "[ab]",
    "signature": "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=",  # of the thought "x"
    "summary": [],
    "top_logprobs": 2,
    "url": "data:image/png;base64,AAAA",
}


def is_typed_dict(kind):
    return isinstance(kind, type) and issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def is_model(kind):
    return isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def bare(kind):
    """A type without what only says that it may be left out, or how it is written."""
    while typing.get_origin(kind) in (typing.Annotated, typing.Required, typing.NotRequired):
        kind = typing.get_args(kind)[0]
    if hasattr(kind, "__value__"):  # an alias
        return bare(kind.__value__)
    return kind


def is_required(kind, hint):
    while typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    origin = typing.get_origin(hint)
    return origin is typing.Required or kind.__total__ and origin is not typing.NotRequired


def fields(kind):
    """The fields of an object's type: by name its type, and whether it must be there."""
    if is_typed_dict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        all_fields = {name: (hint, is_required(kind, hint)) for name, hint in hints.items()}
    else:
        all_fields = {
            field.alias or name: (field.annotation, field.is_required()) for name, field in kind.model_fields.items()
        }
    needed = NEEDED.get(kind.__name__, ())
    return {name: (bare(hint), required or name in needed) for name, (hint, required) in all_fields.items()}


def least(kind, name="", depth=0):
    """The shortest right value of a type."""
    kind = bare(kind)
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return typing.get_args(kind)[0]
    if origin in (typing.Union, types.UnionType):
        return least(next(each for each in typing.get_args(kind) if each is not type(None)), name, depth)
    if is_typed_dict(kind) or is_model(kind):
        return {
            each: VALUES[each] if each == "summary" else least(its, each, depth + 1)
            for each, (its, required) in fields(kind).items()
            if required or each == "type" and typing.get_origin(its) is typing.Literal
        }
    if origin in (dict, collections.abc.Mapping) or kind is dict:
        return {"5" if name == "logit_bias" else "a": least(typing.get_args(kind)[1]) if typing.get_args(kind) else "x"}
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        return [least(typing.get_args(kind)[0], name, depth + 1)] if depth < DEEPEST else []
    if kind is bool:
        return True
    if kind is int:
        return VALUES.get(name, 1)
    if kind is float:
        return 0.5
    if kind is datetime.datetime:
        return "2026-01-01T00:00:00Z"
    return VALUES.get(name, "x")


def values(kind, name, depth=0, seen=()):
    """Right values of a type that differ in kind, each with the path, below the field, of what is looked at in it."""
    kind = bare(kind)
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        yield from (("", each) for each in typing.get_args(kind))
    elif origin in (typing.Union, types.UnionType):
        for each in typing.get_args(kind):
            if each is not type(None):
                yield from values(each, name, depth, seen)
    elif is_typed_dict(kind) or is_model(kind):
        shortest = least(kind)
        yield "", shortest
        if depth < DEEPEST and kind not in seen:
            for each, (its, _) in fields(kind).items():
                for path, value in values(its, each, depth + 1, (*seen, kind)):
                    yield "." + each + path, {**shortest, each: value}
    elif origin in (dict, collections.abc.Mapping) or kind is dict:
        yield "" if name == "logit_bias" else ".a", least(kind, name)
    elif isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        for path, value in values(typing.get_args(kind)[0], name, depth + 1, seen):
            yield "[0]" + path, [value]
    elif kind is bool:
        yield from (("", True), ("", False))
    else:
        yield "", least(kind, name)


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def names(said, path):
    """Whether a refusal names a field, one that it lies in, or what says of which kind that one is."""
    parts = re.findall(r"[^.\[]+|\[\d+\]", path)
    for end in range(1, len(parts) + 1):
        at = "".join(part if part.startswith("[") else "." + part for part in parts[:end]).lstrip(".")
        for each in (at, at + ".type", at + ".role"):
            if re.search(r"(?<![\w.])" + re.escape(each) + r"(?![\w.\[]*[\w\[])", said):
                return True
    return False


def check(url, path, base, all_fields, prefix=""):
    """Sends each field; returns how many were answered, and complaints."""
    count, refused, complaints, answered = 0, 0, [], []
    for name, kind in all_fields.items():
        if name in OWN:
            continue
        for below, value in values(kind, name):
            body = json.loads(json.dumps(base))
            holder = body
            for step in filter(None, prefix.split(".")):
                holder = holder.setdefault(step, {})
            holder[name] = value
            at = (prefix + "." if prefix else "") + name + below
            if "tool_result" in json.dumps(value) and name == "messages":  # which answers a call before it
                holder[name] = [USER, CALL, *value]
                at = at.replace("[0]", "[2]", 1)
            if "budget_tokens" in json.dumps(value) and "max_tokens" in body:
                body["max_tokens"] = 1025  # which must be more
            status, said = post(url + path, body)
            count += 1
            if status == 200:
                answered.append((at, value))
            elif 400 <= status < 500 and names(said.replace('\\"', '"'), at):
                refused += 1
            else:
                complaints.append((path, at, value, status, said[:300]))
    print(f"{path}: {count} values, {len(answered)} answered, {refused} refused by name")
    if "--list" in sys.argv:
        for each in answered:
            print("   ", *each)
    return complaints


def kinds(params):
    return {name: kind for name, (kind, _) in fields(params).items()}


def signature(method):
    parameters = inspect.signature(method).parameters
    return {name: bare(each.annotation) for name, each in parameters.items() if name != "self"}


def main():
    assert names("unknown field tools[0].x: leave it out", "tools[0].x.y")
    assert names("tools[0].type is x: it must be y", "tools[0].x")
    assert not names("tools[0].name is missing", "tools[0].x")
    assert not names("tools[1].x is wrong", "tools[0].x")
    chat = {"messages": [USER], "max_tokens": 2}
    text = {"prompt": "a", "max_tokens": 2}
    response = {"input": "a", "max_output_tokens": 2}
    count = {"messages": [USER]}
    whole = {"stream": False, "options": {"num_predict": 2}}
    streams = {"stream": bool}  # of which these types are the common part
    calls = (
        ("/v1/chat/completions", chat, {**kinds(chat_create_params.CompletionCreateParamsBase), **streams}, ""),
        ("/v1/completions", text, {**kinds(completion_create_params.CompletionCreateParamsBase), **streams}, ""),
        ("/v1/embeddings", {"input": "a"}, kinds(embedding_create_params.EmbeddingCreateParams), ""),
        ("/v1/responses", response, {**kinds(response_create_params.ResponseCreateParamsBase), **streams}, ""),
        ("/v1/messages", chat, {**kinds(message_create_params.MessageCreateParamsBase), **streams}, ""),
        ("/v1/messages/count_tokens", count, kinds(message_count_tokens_params.MessageCountTokensParams), ""),
        ("/api/chat", {"messages": [USER], **whole}, kinds(_types.ChatRequest), ""),
        ("/api/generate", {"prompt": "a", **whole}, kinds(_types.GenerateRequest), ""),
        ("/generate", {"inputs": "a", "parameters": {"max_new_tokens": 2}}, kinds(Parameters), "parameters"),
    )
    complaints = []
    for path, base, all_fields, prefix in calls:
        complaints += check(URL, path, base, all_fields, prefix)
    texts = {"model": "bert", "texts": ["a"], "input_type": "search_query"}
    ranks = {"model": "bert-cross", "query": "a", "documents": ["a"]}
    for path, base, method in (
        ("/v2/embed", texts, cohere.ClientV2.embed),
        ("/v2/rerank", ranks, cohere.ClientV2.rerank),
        ("/api/embed", {"model": "bert", "input": "a"}, ollama.Client.embed),
        ("/api/embeddings", {"model": "bert", "prompt": "a"}, ollama.Client.embeddings),
    ):
        complaints += check(ENCODERS, path, base, signature(method))
    for complaint in complaints:
        print("COMPLAINT", *complaint)
    assert not complaints, len(complaints)
    print("passed published_fields")


main()
