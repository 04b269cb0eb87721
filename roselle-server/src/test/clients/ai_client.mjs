// The AI SDK with its provider for OpenAI-compatible servers: node ai_client.mjs http://127.0.0.1:8000
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embedMany, generateText, streamText } from "ai";

const provider = createOpenAICompatible({ name: "roselle", baseURL: process.argv[2] + "/v1", includeUsage: true });
const model = provider("demo");
const prompt = "Tell me a story about a fox.";
const short = { model, prompt, temperature: 0, maxOutputTokens: 16, maxRetries: 0 };

const tests = {
  async text() {
    const answer = await generateText({ ...short, system: "You are a storyteller." });
    assert.ok(answer.text.length > 0);
    assert.equal(answer.finishReason, "length");
    assert.equal(answer.usage.outputTokens, 16);
  },

  async stream() {
    const whole = await generateText(short);
    const stream = streamText(short);
    let text = "";
    for await (const piece of stream.textStream) {
      text += piece;
    }
    assert.equal(text, whole.text);
    assert.equal((await stream.usage).outputTokens, 16);
  },

  async completion() {
    const answer = await generateText({ ...short, model: provider.completionModel("demo"), prompt: "Once upon a time" });
    assert.ok(answer.text.length > 0);
  },

  async embeddings() {
    const { embeddings } = await embedMany({ model: provider.textEmbeddingModel("demo"), values: ["a fox", "a boat"] });
    assert.equal(embeddings.length, 2);
    assert.equal(embeddings[0].length, embeddings[1].length);
  },

  async errors() {
    await assert.rejects(generateText({ ...short, model: provider("other") }), (error) => {
      assert.ok(APICallError.isInstance(error));
      assert.equal(error.statusCode, 404);
      assert.match(error.message, /no model other/);
      return true;
    });
  },

  async cancellation() {
    const few = 50;
    let pieces = few;
    for (let attempt = 0; pieces >= few && attempt < 10; attempt++) { // on a busy machine all may have come before this runs
      const abort = new AbortController();
      const stream = streamText({ ...short, maxOutputTokens: 500, abortSignal: abort.signal, onError() {} });
      pieces = 0;
      for await (const part of stream.fullStream) {
        if (part.type === "text-delta" && ++pieces === 3) {
          abort.abort();
        }
        if (part.type === "abort") {
          break;
        }
      }
    }
    assert.ok(pieces < few);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("passed", name);
}
