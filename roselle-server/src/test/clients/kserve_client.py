"""Triton's and KServe's official clients against a running server: python kserve_client.py http://127.0.0.1:8000"""

import asyncio
import json
import sys
import urllib.request

import numpy
import tritonclient.http as triton
from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig
from tritonclient.http.aio import InferenceServerClient as AsyncClient
from tritonclient.utils import InferenceServerException

ROOT = sys.argv[1]
PROMPT = "Once upon a time"
client = triton.InferenceServerClient(ROOT.removeprefix("http://"), network_timeout=120, connection_timeout=120)


def tensor(name, value, binary=True):
    is_flag = isinstance(value, bool)
    array = numpy.array([value], dtype=bool if is_flag else numpy.object_)
    made = triton.InferInput(name, [1], "BOOL" if is_flag else "BYTES")
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def inputs(binary=True, **more):
    sampling = json.dumps({"temperature": "0", "max_tokens": "12"})
    values = {"text_input": PROMPT, "sampling_parameters": sampling, **more}
    return [tensor(name, value, binary) for name, value in values.items()]


def text(result):
    return result.as_numpy("text_output")[0].decode() if isinstance(result.as_numpy("text_output")[0], bytes) else result.as_numpy("text_output")[0]


def test_health_and_metadata():
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("demo") and client.is_model_ready("demo", "1")
    assert not client.is_model_ready("other") and not client.is_model_ready("demo", "2")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    metadata = client.get_model_metadata("demo")
    assert metadata["name"] == "demo" and metadata["inputs"][0] == {"name": "text_input", "datatype": "BYTES", "shape": [1]}
    configuration = client.get_model_config("demo")
    assert configuration["model_transaction_policy"]["decoupled"]
    assert client.get_model_repository_index() == [{"name": "demo", "version": "1", "state": "READY", "reason": ""}]


def test_tensors_as_json_and_as_bytes_say_the_same():
    told = client.infer("demo", inputs())
    assert text(told).startswith(PROMPT) and told.get_response()["model_name"] == "demo"
    for binary_in in (True, False):
        for binary_out in (True, False):
            outputs = [triton.InferRequestedOutput("text_output", binary_data=binary_out)]
            again = client.infer("demo", inputs(binary_in), outputs=outputs, model_version="1", request_id="7")
            assert text(again) == text(told) and again.get_response()["id"] == "7"


def test_outputs():
    flags = {name: True for name in (
        "exclude_input_in_output", "return_finish_reason", "return_cumulative_logprob",
        "return_num_input_tokens", "return_num_output_tokens")}
    result = client.infer("demo", inputs(**flags))
    assert result.as_numpy("finish_reason")[0] == b"length"
    assert result.as_numpy("num_output_tokens").tolist() == [12] and result.as_numpy("num_input_tokens")[0] > 1
    assert result.as_numpy("cumulative_logprob").dtype == numpy.float32 and result.as_numpy("cumulative_logprob")[0] < 0
    named = [triton.InferRequestedOutput("num_output_tokens", binary_data=False)]
    alone = client.infer("demo", inputs(), outputs=named)
    assert alone.as_numpy("num_output_tokens")[0] == 12 and alone.as_numpy("text_output") is None


def test_parameters_of_the_request():
    greedy = {"temperature": 0, "max_tokens": 12}
    result = client.infer("demo", [tensor("text_input", PROMPT)], parameters=greedy)
    assert text(result) == text(client.infer("demo", inputs()))
    two = client.infer("demo", [tensor("text_input", PROMPT)], parameters={"n": 2, "max_tokens": 3})
    assert two.as_numpy("text_output").shape == (2,)


def test_concurrent_requests():
    waiting = [client.async_infer("demo", inputs()) for _ in range(4)]
    assert len({text(each.get_result()) for each in waiting}) == 1

    async def ask():
        async with AsyncClient(ROOT.removeprefix("http://")) as asked:
            result = await asked.infer("demo", inputs())
            assert text(result).startswith(PROMPT)

    asyncio.run(ask())


def stream(body):
    request = urllib.request.Request(ROOT + "/v2/models/demo/generate_stream", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=120) as answer:
        return [json.loads(line[6:]) for line in answer.read().decode().splitlines() if line.startswith("data: ")]


def test_generate_streams_what_infer_tells():
    parameters = {"temperature": 0, "max_tokens": 12, "stream": True}
    events = stream({"text_input": PROMPT, "parameters": parameters})
    assert len(events) >= 12
    assert PROMPT + "".join(event["text_output"] for event in events) == text(client.infer("demo", inputs()))


def test_statistics():
    def stats():
        return client.get_inference_statistics("demo")["model_stats"][0]

    before = stats()
    client.infer("demo", inputs())
    assert stats()["inference_count"] == before["inference_count"] + 1
    assert client.get_inference_statistics()["model_stats"][0]["inference_stats"]["success"]["ns"] > 0


def test_errors():
    shared = triton.InferInput("text_input", [1], "BYTES")
    shared.set_shared_memory("region", 4)
    for ask, said in (
        (lambda: client.infer("other", inputs()), "there is no model other"),
        (lambda: client.infer("demo", inputs(stream=True)), "generate_stream streams"),
        (lambda: client.infer("demo", [tensor("text", PROMPT)]), "is no input of the model"),
        (lambda: client.infer("demo", inputs(), sequence_id=3), "unknown field parameters.sequence_id"),
        (lambda: client.infer("demo", [shared]), "shared memory is not supported"),
        (lambda: client.infer("demo", inputs(), request_compression_algorithm="gzip"), "send the body as it is"),
        (lambda: client.load_model("demo"), "is not supported"),
        (lambda: client.unload_model("demo"), "is not supported"),
        (lambda: client.get_log_settings(), "is not supported"),
        (lambda: client.update_log_settings({"log_info": False}), "is not supported"),
        (lambda: client.get_trace_settings("demo"), "is not supported"),
        (lambda: client.update_trace_settings(settings={"trace_level": "OFF"}), "is not supported"),
        (lambda: client.get_system_shared_memory_status(), "is not supported"),
        (lambda: client.register_system_shared_memory("region", "/key", 4), "is not supported"),
        (lambda: client.unregister_cuda_shared_memory(), "is not supported"),
    ):
        try:
            ask()
            raise AssertionError("accepted: " + said)
        except InferenceServerException as error:
            assert said in str(error), error


def test_kserves_client():
    async def ask():
        async with InferenceRESTClient(RESTConfig(protocol="v2", timeout=120)) as asked:
            assert await asked.is_server_live(ROOT) and await asked.is_server_ready(ROOT)
            assert await asked.is_model_ready(ROOT, "demo") and not await asked.is_model_ready(ROOT, "other")
            for binary in (True, False):
                made = InferInput("text_input", [1], "BYTES")
                made.set_data_from_numpy(numpy.array([PROMPT.encode()], dtype=numpy.object_), binary_data=binary)
                request = InferRequest("demo", [made], parameters={"temperature": 0, "max_tokens": 12})
                answer = await asked.infer(ROOT, request, model_name="demo")
                told = answer.outputs[0].as_numpy()[0]
                assert (told.decode() if isinstance(told, bytes) else told) == text(client.infer("demo", inputs()))

    asyncio.run(ask())


def test_every_input_of_the_metadata_is_described():
    with urllib.request.urlopen(ROOT + "/openapi.json") as answer:
        schemas = json.load(answer)["components"]["schemas"]
    names = {each["name"] for each in client.get_model_metadata("demo")["inputs"]}
    described = {name for schema in ("KserveTextInput", "KserveFlagInput") for name in schemas[schema]["properties"]["name"]["enum"]}
    assert names == described and names < set(schemas["KserveGenerateRequest"]["properties"])


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"), flush=True)
