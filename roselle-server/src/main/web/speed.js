// How fast an answer was: by the server's log, else by when its tokens came here.
import { ApiError, dashboard } from "./api.js";
import * as store from "./store.js";

const requests = new WeakMap(); // answers to what the server calls their requests
let strangersKey = null; // one that may not read the server's log, which is the operators'

/** Remembers what the server calls the request of an answer. */
export function isAnswerTo(message, id) {
  requests.set(message, id);
}

/** Tells how fast an answer was by the server's clock, else by when its tokens came here, which the way has a part in. */
export async function tellSpeed(message) {
  const counted = await logged(requests.get(message));
  message.tokens ??= counted?.output_tokens;
  message.isEstimate = !counted;
  const millis = counted ? counted.last_millis - counted.first_millis : message.lastMillis - message.firstMillis;
  const tokens = counted?.output_tokens ?? message.tokens ?? 0;
  message.rate = millis > 0 && tokens > 1 ? ((tokens - 1) * 1000) / millis : undefined;
}

/** What the server's log has of a request; nothing where this key may not read it, or it has forgotten it. */
async function logged(id) {
  const { key } = store.settings();
  try {
    return id && key !== strangersKey ? (await dashboard()).recent.find((one) => one.id === id) : undefined;
  } catch (failure) {
    if (failure instanceof ApiError) {
      strangersKey = failure.status === 403 ? key : strangersKey;
      return undefined; // the answer is there all the same, and its speed can be estimated
    }
    throw failure;
  }
}

/** Under each answer: time to first token, what the server counted, and why it ended where that is worth a word. */
export function figures(message) {
  const parts = [];
  if (message.firstMillis !== undefined) {
    parts.push(`first token ${Math.round(message.firstMillis)} ms`);
  }
  if (message.rate) {
    parts.push(`${message.isEstimate ? "about " : ""}${message.rate.toFixed(message.rate < 10 ? 1 : 0)} tokens/s`);
  }
  if (message.tokens) {
    parts.push(`${message.tokens} ${message.tokens === 1 ? "token" : "tokens"}`);
  }
  if (message.cached) {
    parts.push(`${message.cached} of ${message.promptTokens} prompt tokens cached`);
  }
  if (message.reason === "length") {
    parts.push("ended at the longest length");
  } else if (message.reason === "stopped") {
    parts.push("stopped");
  }
  return parts.join(" · ");
}
