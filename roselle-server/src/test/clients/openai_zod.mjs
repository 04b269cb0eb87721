// The official JavaScript client's helpers for zod and tools against a running server: node openai_zod.mjs http://127.0.0.1:8000 [MODEL]
import assert from "node:assert/strict";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const client = new OpenAI({ baseURL: process.argv[2] + "/v1", apiKey: "unused", maxRetries: 0 });
const model = process.argv[3] ?? "demo";
const messages = [{ role: "user", content: "Order two red apples for Ada." }];
const question = [{ role: "user", content: "What is the weather in Oslo?" }];

const Line = z.object({ product: z.string().max(40), quantity: z.number().int().min(1).max(99) });
const Order = z.object({
  customer: z.string().max(40),
  colour: z.enum(["red", "green"]),
  lines: z.array(Line).min(1).max(3),
  payment: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("cash") }),
    z.object({ kind: z.literal("card"), number: z.string().max(20).nullable() }),
  ]),
});
const City = z.object({ city: z.string().max(40) });

/** A tool that notes what it was asked for. */
function weather(asked) {
  return zodFunction({
    name: "get_weather",
    description: "The weather in a city now",
    parameters: City,
    function: ({ city }) => {
      asked.push(city);
      return "sunny, 21 degrees";
    },
  });
}

const tests = {
  async responseFormat() {
    const answer = await client.chat.completions.parse({
      model, messages, temperature: 0, response_format: zodResponseFormat(Order, "order"),
    });
    Order.parse(answer.choices[0].message.parsed);
  },

  async streamedResponseFormat() {
    const stream = client.chat.completions.stream({
      model, messages, temperature: 0, response_format: zodResponseFormat(Order, "order"),
    });
    let deltas = 0;
    stream.on("content.delta", () => deltas++);
    Order.parse((await stream.finalChatCompletion()).choices[0].message.parsed);
    assert.ok(deltas > 1);
  },

  async textFormat() {
    const answer = await client.responses.parse({
      model, input: messages[0].content, temperature: 0, text: { format: zodTextFormat(Order, "order") },
    });
    Order.parse(answer.output_parsed);
  },

  async strictTool() {
    const answer = await client.chat.completions.parse({
      model, messages, temperature: 0, tool_choice: "required", tools: [zodFunction({ name: "order", parameters: Order })],
    });
    Order.parse(answer.choices[0].message.tool_calls[0].function.parsed_arguments);
  },

  async strictToolOfResponses() {
    const answer = await client.responses.parse({
      model, input: messages[0].content, temperature: 0, tool_choice: "required",
      tools: [zodResponsesFunction({ name: "order", parameters: Order })],
    });
    Order.parse(JSON.parse(answer.output[0].arguments)); // of parsed_arguments this version makes the call itself
  },

  async toolRunner() {
    const asked = [];
    const runner = client.chat.completions.runTools({ model, messages: question, temperature: 0, tools: [weather(asked)] });
    assert.ok((await runner.finalContent()).length > 0);
    assert.deepEqual(asked, ["Oslo"]);
  },

  async streamingToolRunner() {
    const asked = [];
    const runner = client.chat.completions.runTools({
      model, messages: question, temperature: 0, tools: [weather(asked)], stream: true,
    });
    assert.ok((await runner.finalContent()).length > 0);
    assert.deepEqual(asked, ["Oslo"]);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log("passed", name);
}
