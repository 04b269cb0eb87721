"""Triton's official client of gRPC against a running server: python kserve_grpc_client.py http://127.0.0.1:8000"""

import asyncio
import json
import queue
import sys

import grpc
import numpy
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.utils import InferenceServerException

ADDRESS = sys.argv[1].removeprefix("http://")
PROMPT = "Once upon a time"
client = triton.InferenceServerClient(ADDRESS)


def tensor(name, value):
    is_flag = isinstance(value, bool)
    made = triton.InferInput(name, [1], "BOOL" if is_flag else "BYTES")
    made.set_data_from_numpy(numpy.array([value], dtype=bool if is_flag else numpy.object_))
    return made


def inputs(**more):
    sampling = json.dumps({"temperature": "0", "max_tokens": "12"})
    return [tensor(name, value) for name, value in {"text_input": PROMPT, "sampling_parameters": sampling, **more}.items()]


def text(result):
    return result.as_numpy("text_output")[0].decode()


def test_health_and_metadata():
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("demo") and client.is_model_ready("demo", "1")
    assert not client.is_model_ready("other") and not client.is_model_ready("demo", "2")
    server = client.get_server_metadata(as_json=True)
    assert server["name"] == "roselle" and server["extensions"] and server["version"]
    model = client.get_model_metadata("demo", as_json=True)
    assert model["name"] == "demo" and model["versions"] == ["1"] and model["platform"] == "roselle"
    assert model["inputs"][0] == {"name": "text_input", "datatype": "BYTES", "shape": ["1"]}
    assert {"name": "text_output", "datatype": "BYTES", "shape": ["-1"]} in model["outputs"]


def test_repository_and_statistics():
    index = client.get_model_repository_index(as_json=True)
    assert index["models"] == [{"name": "demo", "version": "1", "state": "READY"}], index
    config = client.get_model_config("demo", as_json=True)["config"]
    assert config["name"] == "demo" and config["backend"] == "roselle"
    assert config["model_transaction_policy"] == {"decoupled": True}
    assert config["input"][0] == {"name": "text_input", "data_type": "TYPE_STRING", "dims": ["1"]}, config
    assert {"name": "num_output_tokens", "data_type": "TYPE_UINT32", "dims": ["-1"]} in config["output"], config
    count = lambda: int(client.get_inference_statistics("demo", as_json=True)["model_stats"][0].get("inference_count", 0))
    before = count()
    client.infer("demo", inputs())
    assert count() == before + 1
    success = client.get_inference_statistics(as_json=True)["model_stats"][0]["inference_stats"]["success"]
    assert int(success["count"]) == before + 1 and int(success["ns"]) > 0


def test_infer():
    told = client.infer("demo", inputs(), request_id="7")
    assert text(told).startswith(PROMPT)
    assert told.get_response().id == "7" and told.get_response().model_name == "demo" and told.get_response().model_version == "1"
    greedy = client.infer("demo", [tensor("text_input", PROMPT)], parameters={"temperature": 0.0, "max_tokens": 12})
    assert text(greedy) == text(told)
    named = client.infer("demo", inputs(), outputs=[triton.InferRequestedOutput("num_output_tokens")])
    assert named.as_numpy("num_output_tokens").tolist() == [12] and named.as_numpy("text_output") is None
    two = client.infer("demo", [tensor("text_input", PROMPT)], parameters={"n": 2, "max_tokens": 3})
    assert two.as_numpy("text_output").shape == (2,)


def test_every_output():
    flags = {name: True for name in (
        "exclude_input_in_output", "return_finish_reason", "return_cumulative_logprob", "return_logprobs",
        "return_num_input_tokens", "return_num_output_tokens")}
    result = client.infer("demo", inputs(**flags))
    assert PROMPT + text(result) == text(client.infer("demo", inputs()))
    assert result.as_numpy("finish_reason")[0] == b"length"
    assert result.as_numpy("cumulative_logprob").dtype == numpy.float32 and result.as_numpy("cumulative_logprob")[0] < 0
    assert result.as_numpy("num_input_tokens").dtype == numpy.uint32 and result.as_numpy("num_input_tokens")[0] > 1


def test_typed_contents():
    from tritonclient.grpc import service_pb2, service_pb2_grpc
    request = service_pb2.ModelInferRequest(model_name="demo")
    made = request.inputs.add(name="text_input", datatype="BYTES", shape=[1])
    made.contents.bytes_contents.append(PROMPT.encode())
    request.parameters["max_tokens"].int64_param = 12
    request.parameters["temperature"].double_param = 0
    alone = request.inputs.add(name="exclude_input_in_output", datatype="BOOL", shape=[1])
    alone.contents.bool_contents.append(True)
    with grpc.insecure_channel(ADDRESS) as channel:
        answer = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request)
    assert PROMPT + answer.raw_output_contents[0][4:].decode() == text(client.infer("demo", inputs()))


def test_concurrent_requests():
    done = queue.Queue()
    for _ in range(4):
        client.async_infer("demo", inputs(), callback=lambda result, error: done.put((result, error)))
    answers = [done.get(timeout=120) for _ in range(4)]
    assert all(error is None for _, error in answers) and len({text(result) for result, _ in answers}) == 1

    async def ask():
        async with triton_aio.InferenceServerClient(ADDRESS) as asked:
            assert text(await asked.infer("demo", inputs())) == text(answers[0][0])

    asyncio.run(ask())


def test_stream():
    done = queue.Queue()
    client.start_stream(callback=lambda result, error: done.put((result, error)))
    for round_ in ("1", "2"):
        client.async_stream_infer("demo", inputs(stream=True), request_id=round_, enable_empty_final_response=True)
        parts = []
        while True:
            result, error = done.get(timeout=120)
            assert error is None, error
            assert result.get_response().id == round_
            if result.get_response().parameters["triton_final_response"].bool_param:
                assert not result.get_response().outputs
                break
            parts.append(text(result))
        assert len(parts) >= 12 and PROMPT + "".join(parts) == text(client.infer("demo", inputs()))
    client.async_stream_infer("other", inputs(), request_id="3")
    result, error = done.get(timeout=120)
    assert result is None and "there is no model other" in str(error), (result, error)
    client.async_stream_infer("demo", inputs(), request_id="4")
    result, error = done.get(timeout=120)
    assert error is None and text(result) == text(client.infer("demo", inputs()))
    assert result.get_response().parameters["triton_final_response"].bool_param
    client.stop_stream()


def test_a_cancelled_stream_ends():
    done = queue.Queue()
    client.start_stream(callback=lambda result, error: done.put((result, error)))
    client.async_stream_infer("demo", [tensor("text_input", PROMPT), tensor("stream", True)], parameters={"max_tokens": 900, "ignore_eos": True})
    done.get(timeout=120)
    client.stop_stream(cancel_requests=True)
    assert text(client.infer("demo", inputs())).startswith(PROMPT)


def test_a_deadline_is_the_clients():
    slow = {"max_tokens": 1000, "ignore_eos": True}
    try:
        client.infer("demo", [tensor("text_input", PROMPT)], parameters=slow, client_timeout=0.05)
        raise AssertionError("no deadline")
    except InferenceServerException as error:
        assert "DEADLINE_EXCEEDED" in str(error.status()), error


def test_errors():
    for ask, status, said in (
        (lambda: client.infer("other", inputs()), "NOT_FOUND", "there is no model other"),
        (lambda: client.infer("demo", inputs(), model_version="2"), "NOT_FOUND", "has no such version"),
        (lambda: client.infer("demo", inputs(stream=True)), "INVALID_ARGUMENT", "ModelStreamInfer streams"),
        (lambda: client.infer("demo", [tensor("text", PROMPT)]), "INVALID_ARGUMENT", "is no input of the model"),
        (lambda: client.infer("demo", inputs(), sequence_id=3), "INVALID_ARGUMENT", "unknown field parameters.sequence_"),
        (lambda: client.infer("demo", [tensor("text_input", "a" * 5000)], compression_algorithm="gzip"), "UNIMPLEMENTED", "compressed"),
        (lambda: client.infer("demo", [tensor("text_input", "ö")], parameters={"tempe☃rature": 1}), "INVALID_ARGUMENT", "tempe☃rature"),
        (lambda: client.get_model_metadata("other"), "NOT_FOUND", "there is no model other"),
        (lambda: client.get_model_config("other"), "NOT_FOUND", "there is no model other"),
        (lambda: client.load_model("demo"), "UNIMPLEMENTED", "is not supported where one stays"),
        (lambda: client.unload_model("demo"), "UNIMPLEMENTED", "is not supported where one stays"),
        (lambda: client.get_log_settings(), "UNIMPLEMENTED", "is not supported"),
        (lambda: client.get_system_shared_memory_status(), "UNIMPLEMENTED", "is not supported"),
    ):
        try:
            ask()
            raise AssertionError("accepted: " + said)
        except InferenceServerException as error:
            assert said in str(error) and status in str(error.status()), (error, error.status())


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"), flush=True)
