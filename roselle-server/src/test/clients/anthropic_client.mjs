// Anthropic's official JavaScript client against a running server: node anthropic_client.mjs http://127.0.0.1:8000
import assert from "node:assert/strict";
import Anthropic, { APIUserAbortError, BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import * as z from "zod";

const client = new Anthropic({ baseURL: process.argv[2], apiKey: "unused", maxRetries: 0 });
const model = "demo";
const messages = [{ role: "user", content: "Tell me a story about a fox." }];
const short = { model, messages, max_tokens: 16, temperature: 0 };
const question = [{ role: "user", content: "What is the weather in Oslo?" }];
const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { name: "get_weather", description: "The weather in a city now", input_schema: city };
const asked = { model, messages: question, max_tokens: 60, temperature: 0 };

const tests = {
  async models() {
    const models = [];
    for await (const each of client.models.list()) {
      models.push(each);
    }
    assert.deepEqual(models.map((each) => each.id), [model]);
    assert.deepEqual(await client.models.retrieve(model), models[0]);
  },

  async messagesAndStreamingAgree() {
    const whole = await client.messages.create(short);
    assert.equal(whole.stop_reason, "max_tokens");
    assert.equal(whole.usage.output_tokens, 16);
    assert.match(whole._request_id, /^req_/);
    let text = "";
    const stream = client.messages.stream(short).on("text", (piece) => (text += piece));
    const last = await stream.finalMessage();
    assert.equal(text, whole.content[0].text);
    assert.deepEqual(last.content, whole.content);
    assert.equal(last.usage.output_tokens, 16);
    const kinds = new Set();
    for await (const event of await client.messages.create({ ...short, stream: true })) {
      kinds.add(event.type);
    }
    for (const kind of ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"]) {
      assert.ok(kinds.has(kind), kind);
    }
  },

  async countTokens() {
    const { input_tokens } = await client.messages.countTokens({ model, messages, system: "Be kind.", tools: [weather] });
    const { usage } = await client.messages.create({ ...short, system: "Be kind.", tools: [weather] });
    assert.equal(input_tokens, usage.input_tokens + usage.cache_read_input_tokens);
  },

  async toolRunner() {
    const cities = [];
    const tool = betaTool({
      name: weather.name,
      description: weather.description,
      inputSchema: city,
      run: ({ city }) => (cities.push(city), '{"temperature": 7}'),
    });
    const last = await client.beta.messages.toolRunner({ ...asked, tools: [tool], max_iterations: 3 }); // begins with a thread, then without
    assert.deepEqual(cities, ["Oslo"]);
    assert.equal(last.stop_reason, "end_turn");
    assert.match(last.content.at(-1).text, /Oslo/);
  },

  async streamedToolInput() {
    const pieces = [];
    const stream = client.messages.stream({ ...asked, tools: [weather] }).on("inputJson", (piece) => pieces.push(piece));
    const last = await stream.finalMessage();
    assert.ok(pieces.length > 2);
    assert.deepEqual(last.content.at(-1).input, { city: "Oslo" });
  },

  async thinkingThereAndBack() {
    const sum = [{ role: "user", content: "What is 12 + 30?" }];
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const last = await client.messages.stream({ model, messages: sum, thinking, max_tokens: 2000, temperature: 0 }).finalMessage();
    assert.deepEqual(last.content.map((block) => block.type), ["thinking", "text"]);
    assert.ok(last.content[0].signature);
    await client.messages.create({ ...short, messages: [...sum, { role: "assistant", content: last.content }, ...messages] });
  },

  async parsedOutput() {
    const Animal = z.object({ legs: z.int() });
    const parsed = await client.messages.parse({ ...short, max_tokens: 60, output_config: { format: zodOutputFormat(Animal) } });
    assert.ok(Number.isInteger(parsed.parsed_output.legs));
  },

  async errors() {
    await assert.rejects(client.messages.create({ ...short, top_p: 7 }), (error) => {
      assert.ok(error instanceof BadRequestError);
      assert.equal(error.error.error.type, "invalid_request_error");
      assert.match(error.message, /top_p/);
      return true;
    });
    await assert.rejects(client.messages.create({ ...short, model: "other" }), NotFoundError);
  },

  async cancellation() {
    const stream = client.messages.stream({ ...short, max_tokens: 500 });
    stream.on("text", () => stream.abort());
    await assert.rejects(stream.finalMessage(), APIUserAbortError);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("passed", name);
}
