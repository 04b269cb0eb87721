// The official JavaScript client against a running server: node openai_client.mjs http://127.0.0.1:8000
import assert from "node:assert/strict";
import OpenAI, { APIUserAbortError, BadRequestError, NotFoundError } from "openai";

const client = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "unused", maxRetries: 0 });
const model = "demo";
const messages = [{ role: "user", content: "Tell me a story about a fox." }];
const short = { model, messages, temperature: 0, max_completion_tokens: 16 };

const tests = {
  async models() {
    const names = [];
    for await (const one of client.models.list()) {
      names.push(one.id);
    }
    assert.deepEqual(names, [model]);
    assert.equal((await client.models.retrieve(model)).object, "model");
  },

  async chat() {
    const answer = await client.chat.completions.create(short);
    assert.equal(answer.choices[0].message.role, "assistant");
    assert.ok(answer.choices[0].message.content.length > 0);
    assert.equal(answer.choices[0].finish_reason, "length");
    assert.equal(answer.usage.completion_tokens, 16);
  },

  async streaming() {
    const whole = await client.chat.completions.create(short);
    let text = "";
    let usage = null;
    const stream = await client.chat.completions.create({ ...short, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, whole.choices[0].message.content);
    assert.equal(usage.completion_tokens, 16);
  },

  async streamingHelper() {
    const runner = client.chat.completions.stream(short);
    const whole = await client.chat.completions.create(short);
    assert.equal((await runner.finalChatCompletion()).choices[0].message.content, whole.choices[0].message.content);
  },

  async completions() {
    const answer = await client.completions.create({ model, prompt: ["One", "Two"], max_tokens: 4, temperature: 0, echo: true });
    assert.equal(answer.choices.length, 2);
    assert.ok(answer.choices[1].text.startsWith("Two"));
  },

  async logprobs() {
    const answer = await client.chat.completions.create({ ...short, logprobs: true, top_logprobs: 3 });
    const content = answer.choices[0].logprobs.content;
    assert.equal(content.length, 16);
    assert.equal(content[0].top_logprobs.length, 3);
    assert.ok(content[0].logprob <= 0);
  },

  async errors() {
    await assert.rejects(client.chat.completions.create({ ...short, temperature: -1 }), (error) => {
      assert.ok(error instanceof BadRequestError);
      assert.equal(error.param, "temperature");
      return true;
    });
    await assert.rejects(client.chat.completions.create({ ...short, model: "other" }), (error) => {
      assert.ok(error instanceof NotFoundError);
      assert.equal(error.code, "model_not_found");
      return true;
    });
  },

  async cancellation() {
    const whole = 780;
    let chunks = whole;
    for (let attempt = 0; chunks >= whole && attempt < 10; attempt++) { // on a busy machine all may have come before this runs
      const stream = await client.chat.completions.create({ model, messages, stream: true, ignore_eos: true, max_tokens: whole });
      chunks = 0;
      for await (const _ of stream) {
        if (++chunks === 3) {
          stream.controller.abort();
        }
      }
    }
    assert.ok(chunks < whole);
    const abort = new AbortController();
    const waiting = client.chat.completions.create({ model, messages, ignore_eos: true, max_tokens: 700 }, { signal: abort.signal });
    abort.abort();
    await assert.rejects(waiting, APIUserAbortError);
  },

  async embeddings() {
    const answer = await client.embeddings.create({ model, input: ["a fox", "a boat"] });
    assert.equal(answer.data.length, 2);
    const length = Math.hypot(...answer.data[0].embedding);
    assert.ok(Math.abs(length - 1) < 1e-4, `a length of ${length}`);
  },

  async responses() {
    const first = await client.responses.create({ model, input: "Tell me a story about a fox.", temperature: 0, max_output_tokens: 16 });
    assert.equal(first.status, "incomplete");
    assert.ok(first.output_text.length > 0);
    const second = await client.responses.create({ model, input: "And then?", previous_response_id: first.id, max_output_tokens: 4 });
    assert.equal(second.previous_response_id, first.id);
    assert.equal((await client.responses.retrieve(first.id)).output_text ?? first.output_text, first.output_text);
  },

  async responsesStreaming() {
    const stream = await client.responses.create({ model, input: "Hello", temperature: 0, max_output_tokens: 8, stream: true });
    let text = "";
    let last = null;
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") {
        text += event.delta;
      }
      last = event;
    }
    assert.ok(["response.completed", "response.incomplete"].includes(last.type));
    assert.equal(last.response.output[0].content[0].text, text);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("passed", name);
}
