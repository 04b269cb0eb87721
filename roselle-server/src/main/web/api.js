// The server's API as the page uses it; paths are relative, so that the page works behind a proxy's prefix.
import { settings } from "./store.js";

/** An answer that says what went wrong. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

function headers() {
  const { key } = settings();
  return key ? { authorization: "Bearer " + key } : {};
}

async function checked(response) {
  if (response.ok) {
    return response;
  }
  let message = "the server answered " + response.status;
  try {
    message = (await response.json()).error.message;
  } catch {
    // not in the API's shape: the status must do
  }
  throw new ApiError(message, response.status);
}

async function ask(path, options = {}) {
  try {
    return await checked(await fetch(path, { ...options, headers: { ...headers(), ...options.headers } }));
  } catch (failure) {
    if (failure instanceof TypeError) {
      throw new ApiError("the server cannot be reached", 0);
    }
    throw failure;
  }
}

/** The names of the models. */
export async function models() {
  const body = await (await ask("v1/models")).json();
  return body.data.map((model) => model.id);
}

/** What holds for a model where a request leaves it open; it must be loaded. */
export async function defaults(model) {
  return (await ask("page/defaults?model=" + encodeURIComponent(model))).json();
}

/** The tools that the server was started with. */
export async function tools() {
  return (await (await ask("page/tools")).json()).tools;
}

/** What a tool says to a call. */
export async function callTool(name, given, signal) {
  const headers = { "content-type": "application/json" };
  const answer = await ask("page/tools", { method: "POST", headers, body: JSON.stringify({ name, arguments: given }), signal });
  return (await answer.json()).content;
}

export async function dashboard() {
  return (await ask("dashboard/state")).json();
}

/**
 * The chunks of a streamed chat completion, as they arrive; aborting the signal cancels it on the server. Before the first of
 * them, asked is told what the server calls the request.
 */
export async function* chat(body, signal, asked) {
  const response = await ask("v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }),
    signal,
  });
  asked(response.headers.get("x-request-id"));
  for await (const data of events(response.body)) {
    if (data === "[DONE]") {
      return;
    }
    const chunk = JSON.parse(data);
    if (chunk.error) {
      throw new ApiError(chunk.error.message, 200);
    }
    yield chunk;
  }
  throw new ApiError("the answer broke off", 200);
}

/** The data of each server-sent event. */
async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        if (part.startsWith("data: ")) {
          yield part.slice("data: ".length);
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
