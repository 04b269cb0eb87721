// What is asked for a conversation: its messages as the model is told them, and its settings.
import { words } from "./attachments.js";
import { offered, told as toldCalls } from "./tools.js";

const NUMBERS = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_completion_tokens", "seed"];

/** The request to a model; a setting that is empty is not sent. */
export function request(model, { messages, settings = {} }) {
  const body = { model, messages: [] };
  if (settings.system) {
    body.messages.push({ role: "system", content: settings.system });
  }
  body.messages.push(...told(messages));
  const tools = offered(settings);
  if (tools.length > 0) {
    body.tools = tools;
  }
  for (const name of NUMBERS) {
    if (settings[name] !== undefined && settings[name] !== "") {
      body[name] = Number(settings[name]);
    }
  }
  return body;
}

/** What the model is told: calls with their results, no answer without words or calls, no question that the server refused, and never two questions in a row. */
function told(messages) {
  const list = [];
  messages.forEach((message, index) => {
    const { role } = message;
    const content = words(message);
    const calls = toldCalls(message);
    if (calls.length > 0) {
      list.push({ role, content, tool_calls: calls.map(({ call }) => call) }, ...calls.map(({ result }) => result));
      return;
    }
    if (content === "" || messages[index + 1]?.isRefused) {
      return;
    }
    if (list.at(-1)?.role === role) {
      list.at(-1).content += "\n\n" + content;
    } else {
      list.push({ role, content });
    }
  });
  return list;
}
