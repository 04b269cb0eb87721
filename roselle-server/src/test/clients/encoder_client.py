"""Official clients of APIs with vectors, scores and ranks against a server of encoders: python encoder_client.py http://127.0.0.1:8000"""

import base64
import inspect
import json
import struct
import sys
import urllib.request

import cohere
import ollama
import openai
from huggingface_hub import InferenceClient

URL = sys.argv[1]
TEXTS = ["Hi.", "the story of a ship"]
openai_client = openai.OpenAI(base_url=URL + "/v1", api_key="unused", max_retries=0)
cohere_client = cohere.ClientV2(api_key="unused", base_url=URL)


def vectors():
    return [each.embedding for each in openai_client.embeddings.create(model="bert", input=TEXTS).data]


def close(one, other):
    return len(one) == len(other) and all(abs(a - b) < 1e-5 for a, b in zip(one, other))


def test_openai():
    assert [model.id for model in openai_client.models.list()] == ["bert", "bert-cross", "bert-labels"]
    packed = openai_client.embeddings.create(model="bert", input=TEXTS, encoding_format="base64")
    unpacked = [struct.unpack("<32f", base64.b64decode(each.embedding)) for each in packed.data]
    assert all(close(one, other) for one, other in zip(vectors(), unpacked))
    assert packed.usage.prompt_tokens == packed.usage.total_tokens > 4
    ids = openai_client.embeddings.create(model="bert", input=[[2, 116, 8, 3]])
    assert close(ids.data[0].embedding, vectors()[0])


def test_openai_errors():
    for status, ask in (
        (400, lambda: openai_client.embeddings.create(model="bert", input="a", dimensions=8)),
        (400, lambda: openai_client.embeddings.create(model="bert-labels", input="a")),
        (404, lambda: openai_client.embeddings.create(model="other", input="a")),
        (400, lambda: openai_client.completions.create(model="bert", prompt="a")),
    ):
        try:
            ask()
            raise AssertionError("accepted")
        except openai.APIStatusError as error:
            assert error.status_code == status, error


def test_cohere_embed():
    answer = cohere_client.embed(
        model="bert", texts=TEXTS, input_type="search_document", embedding_types=["float", "base64"]
    )
    assert all(close(one, other) for one, other in zip(vectors(), answer.embeddings.float_))
    unpacked = [struct.unpack("<32f", base64.b64decode(each)) for each in answer.embeddings.base64]
    assert all(close(one, other) for one, other in zip(vectors(), unpacked))
    query = cohere_client.embed(model="bert", texts=TEXTS, input_type="search_query", embedding_types=["float"])
    assert not close(query.embeddings.float_[0], vectors()[0])  # the model has a prompt for queries


def test_cohere_rerank():
    documents = ["the sea", "what is a panda?", "hi"]
    answer = cohere_client.rerank(model="bert-cross", query="panda", documents=documents)
    scores = [result.relevance_score for result in answer.results]
    assert sorted(result.index for result in answer.results) == [0, 1, 2] and scores == sorted(scores, reverse=True)
    older = cohere.Client(api_key="unused", base_url=URL).rerank(
        model="bert-cross", query="panda", documents=documents, top_n=1, return_documents=True
    )
    assert len(older.results) == 1 and older.results[0].document.text == documents[answer.results[0].index]
    try:
        cohere_client.rerank(model="bert-cross", query="panda", documents=documents, max_tokens_per_doc=7)
        raise AssertionError("accepted")
    except cohere.errors.BadRequestError as error:
        assert "max_tokens_per_doc is 7" in error.body["message"], error


def test_ollama():
    client = ollama.Client(host=URL)
    answer = client.embed("bert", TEXTS)
    assert all(close(one, other) for one, other in zip(vectors(), answer.embeddings))
    assert close(client.embeddings("bert", TEXTS[0]).embedding, vectors()[0])
    assert client.show("bert").capabilities == ["embedding"]


def test_text_embeddings_inference():
    answer = InferenceClient(model=URL + "/embed").feature_extraction("Hi.")
    assert answer.shape == (1, 32) and close(list(answer[0]), vectors()[0])


def test_every_published_field_is_honoured_or_refused_by_name():
    with urllib.request.urlopen(URL + "/openapi.json") as answer:
        schemas = json.load(answer)["components"]["schemas"]
    own = {"self", "request_options", "max_workers", "batching"}  # of the client
    for method, schema in (
        (cohere.ClientV2.embed, "CohereEmbedRequest"),
        (cohere.ClientV2.rerank, "RerankRequest"),
        (ollama.Client.embed, "OllamaEmbedRequest"),
        (ollama.Client.embeddings, "OllamaEmbeddingsRequest"),
    ):
        unknown = set(inspect.signature(method).parameters) - own - set(schemas[schema]["properties"])
        assert not unknown, (schema, unknown)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("passed", name.removeprefix("test_"))
