// Tools that the server was started with: which of them a conversation offers, and the calls that a model makes.
// A call is { id, name, arguments, result }: it is made only where the user agrees, and what it gives is text to the model.
import { ApiError, callTool, tools } from "./api.js";
import { byId, element } from "./elements.js";

const REFUSAL = "error: the user does not want this call";
const STOPPED = "error: the user has stopped before this call was made";

let known = []; // as the server lists them, in OpenAI's form
let asked = null; // { call, decide }: the call that waits for the user

/** Asks the server for its tools; whoever shows the settings draws them then. */
export async function load() {
  known = await tools().catch((failure) => {
    if (failure instanceof ApiError) {
      return []; // what a key is missing for is told where it is entered
    }
    throw failure;
  });
}

/** The names of the tools that settings switch on. */
function names({ tools: text }) {
  return text ? text.split("\n") : [];
}

/** The tools that a conversation offers: those that its settings switch on and the server still has. */
export function offered(settings) {
  const wanted = names(settings);
  return known.filter((tool) => wanted.includes(tool.function.name));
}

/** Draws a switch for each tool; changed is told the names of those that are on, one a line. */
export function drawSwitches(settings, changed) {
  const wanted = new Set(names(settings));
  const place = byId("tools");
  place.hidden = known.length === 0;
  const switches = known.map(({ function: { name, description = "" } }) => {
    const box = element("input", { type: "checkbox", checked: wanted.has(name) });
    box.addEventListener("change", (event) => {
      event.stopPropagation(); // the form's other fields are texts
      wanted[box.checked ? "add" : "delete"](name);
      changed([...wanted].join("\n"));
    });
    return element("label", { className: "switch", title: description }, box, " " + name);
  });
  place.replaceChildren(element("legend", {}, "Tools"), ...switches);
}

// ---- calls ----

/** Adds what a chunk tells of calls to those of a message. */
export function hear(message, deltas) {
  message.calls ??= [];
  for (const { index, id, function: said = {} } of deltas) {
    const call = (message.calls[index] ??= { id: "", name: "", arguments: "" });
    call.id += id ?? "";
    call.name += said.name ?? "";
    call.arguments += said.arguments ?? "";
  }
}

/** A message's calls as the model is told them again, each with its result. */
export function told({ calls = [] }) {
  return calls.map((call) => ({
    call: { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } },
    result: { role: "tool", tool_call_id: call.id, content: call.result ?? STOPPED },
  }));
}

/** Makes the calls of a message, one after the other, each when the user agrees; redraw is called when one of them changes. */
export async function carryOut(conversation, message, signal, redraw) {
  for (const call of message.calls) {
    call.result = (await consent(conversation, call, signal, redraw)) ? await result(call, signal) : REFUSAL;
    redraw();
  }
}

async function result({ name, arguments: given }, signal) {
  try {
    return await callTool(name, given, signal);
  } catch (failure) {
    if (failure instanceof ApiError) {
      return "error: " + failure.message;
    }
    throw failure;
  }
}

async function consent(conversation, call, signal, redraw) {
  signal.throwIfAborted();
  conversation.allowed ??= []; // not among the settings: files of conversations from elsewhere allow nothing
  if (conversation.allowed.includes(call.name)) {
    return true;
  }
  try {
    const answer = await new Promise((decide, fail) => {
      signal.addEventListener("abort", () => fail(signal.reason), { once: true });
      asked = { call, decide };
      redraw();
    });
    if (answer === "always") {
      conversation.allowed.push(call.name);
    }
    return answer !== "no";
  } finally {
    asked = null;
  }
}

/** The calls of a message, each folded away but for the one that waits for the user. */
export function drawCalls({ calls = [] }) {
  return calls.map(drawCall);
}

function drawCall(call) {
  const isAsked = asked?.call === call;
  const parts = [element("summary", {}, what(call, isAsked) + call.name)];
  parts.push(element("pre", { tabIndex: 0, ariaLabel: "Arguments" }, pretty(call.arguments)));
  if (isAsked) {
    const button = (label, answer) => element("button", { type: "button", onclick: () => asked?.decide(answer) }, label);
    const buttons = [button("Allow once", "once"), button("Always in this conversation", "always"), button("Refuse", "no")];
    parts.push(element("div", { className: "consent" }, ...buttons));
  } else if (call.result !== undefined) {
    parts.push(element("pre", { className: "result", tabIndex: 0, ariaLabel: "Result" }, call.result));
  }
  const made = element("details", { className: "call" }, ...parts);
  made.open = isAsked;
  return made;
}

function what({ result }, isAsked) {
  if (result === undefined) {
    return isAsked ? "Wants to call " : "Calls ";
  }
  return result === REFUSAL ? "Refused to call " : "Called ";
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
