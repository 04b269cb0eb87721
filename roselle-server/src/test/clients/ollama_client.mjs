// Ollama's official JavaScript client, and the AI SDK's provider above it, against a running server: node ollama_client.mjs http://127.0.0.1:8000
import assert from "node:assert/strict";
import { generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { createOllama } from "ai-sdk-ollama";
import { Ollama } from "ollama";
import * as z from "zod";

const host = process.argv[2];
const client = new Ollama({ host });
const model = "demo";
const messages = [{ role: "user", content: "Tell me a story about a fox." }];
const short = { model, messages, options: { temperature: 0, num_predict: 16 } };
const question = "What is the weather in Oslo?";
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather in a city now",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const provider = createOllama({ baseURL: host });
const aiShort = { model: provider(model), prompt: messages[0].content, temperature: 0, maxOutputTokens: 16, maxRetries: 0 };

const tests = {
  async models() {
    assert.deepEqual((await client.list()).models.map((each) => each.model), ["demo:latest"]);
    assert.equal((await client.ps()).models[0].model, "demo:latest");
    assert.ok((await client.show({ model })).capabilities.includes("completion"));
    assert.ok((await client.version()).version);
  },

  async chatAndStreamingAgree() {
    const whole = await client.chat(short);
    let text = "";
    let last;
    for await (last of await client.chat({ ...short, stream: true })) {
      text += last.message.content;
    }
    assert.equal(text, whole.message.content);
    assert.deepEqual([last.done, last.done_reason, last.eval_count], [true, "length", 16]);
  },

  async generateGoesOnFromItsContext() {
    const options = { temperature: 0, num_predict: 8 };
    const first = await client.generate({ model, prompt: messages[0].content, options });
    const second = await client.generate({ model, prompt: "And then?", context: first.context, options });
    assert.ok(second.prompt_eval_count > first.context.length);
  },

  async toolsThereAndBack() {
    const asked = { model, tools: [weather], options: { temperature: 0, num_predict: 60 } };
    const { message } = await client.chat({ ...asked, messages: [{ role: "user", content: question }] });
    assert.deepEqual(message.tool_calls[0].function, { index: 0, name: "get_weather", arguments: { city: "Oslo" } });
    const result = { role: "tool", tool_name: "get_weather", content: '{"temperature": 7}' };
    const answer = await client.chat({ ...asked, messages: [{ role: "user", content: question }, message, result] });
    assert.match(answer.message.content, /Oslo/);
  },

  async formatAndThoughts() {
    const format = { type: "object", properties: { legs: { type: "integer" } }, required: ["legs"], additionalProperties: false };
    const answer = await client.chat({ ...short, options: { temperature: 0, num_predict: 60 }, format });
    assert.ok(Number.isInteger(JSON.parse(answer.message.content).legs));
    const sum = [{ role: "user", content: "What is 12 + 30?" }];
    const options = { temperature: 0, num_predict: 100 };
    assert.ok((await client.chat({ model, messages: sum, think: true, options })).message.thinking);
  },

  async pullsWhatIsThere() {
    const states = [];
    for await (const { status } of await client.pull({ model, stream: true })) {
      states.push(status);
    }
    assert.deepEqual(states, ["success"]);
  },

  async embedsWithAModelThatGenerates() {
    assert.equal((await client.embed({ model, input: ["a fox", "a hen"] })).embeddings.length, 2);
  },

  async errors() {
    await assert.rejects(client.chat({ ...short, model: "other" }), { status_code: 404 });
    await assert.rejects(client.chat({ ...short, options: { top_p: 7 } }), /top_p/);
    await assert.rejects(client.embed({ model, input: "a fox", dimensions: 3 }), { status_code: 400 });
  },

  async cancellation() {
    const stream = await client.chat({ ...short, options: { num_predict: 500 }, stream: true });
    let pieces = 0;
    await assert.rejects(async () => {
      for await (const _ of stream) {
        if (++pieces === 2) {
          stream.abort();
        }
      }
    }, { name: "AbortError" });
  },

  async aiSdkText() {
    const whole = await generateText(aiShort);
    assert.equal(whole.finishReason, "length");
    assert.equal(whole.usage.outputTokens, 16);
    let text = "";
    for await (const piece of streamText(aiShort).textStream) {
      text += piece;
    }
    assert.equal(text, whole.text);
  },

  async aiSdkTools() {
    const cities = [];
    const get_weather = tool({
      description: weather.function.description,
      inputSchema: jsonSchema(weather.function.parameters),
      execute: async ({ city }) => (cities.push(city), { temperature: 7 }),
    });
    const asked = { ...aiShort, prompt: question, maxOutputTokens: 60, tools: { get_weather }, stopWhen: stepCountIs(3) };
    const answer = await generateText(asked);
    assert.deepEqual(cities, ["Oslo"]);
    assert.match(answer.text, /Oslo/);
    let text = "";
    for await (const piece of streamText(asked).textStream) {
      text += piece;
    }
    assert.deepEqual(cities, ["Oslo", "Oslo"]);
    assert.match(text, /Oslo/);
  },

  async aiSdkObject() {
    const { object } = await generateObject({ ...aiShort, maxOutputTokens: 60, schema: z.object({ legs: z.int() }) });
    assert.ok(Number.isInteger(object.legs));
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("passed", name);
}
