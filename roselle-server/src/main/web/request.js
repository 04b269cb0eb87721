// What is asked for a conversation: its messages as the model is told them, and its settings.
import { words } from "./attachments.js";

const NUMBERS = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_completion_tokens", "seed"];

/** The request to a model; a setting that is empty is not sent. */
export function request(model, { messages, settings = {} }) {
  const body = { model, messages: [] };
  if (settings.system) {
    body.messages.push({ role: "system", content: settings.system });
  }
  body.messages.push(...told(messages));
  for (const name of NUMBERS) {
    if (settings[name] !== undefined && settings[name] !== "") {
      body[name] = Number(settings[name]);
    }
  }
  return body;
}

/** What the model is told: no answer without words, no question that the server refused, and never two questions in a row. */
function told(messages) {
  const list = [];
  messages.forEach((message, index) => {
    const { role } = message;
    const content = words(message);
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
