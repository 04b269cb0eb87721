// The conversation on screen: messages, the answer being written, and what can be done with each.
import { ApiError, chat } from "./api.js";
import { byId, copy, element } from "./elements.js";
import { markdown } from "./markdown.js";
import * as store from "./store.js";

const IDEAS = ["Tell me a story about a fox.", "What is 17 + 25?", "Write a haiku about rain."];
const NUMBERS = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty", "max_completion_tokens", "seed"];

const thread = byId("thread");
const prompt = byId("prompt");

let current = store.newConversation();
let running = null; // the AbortController of the answer being written

// ---- drawing ----

function draw() {
  thread.replaceChildren(...(current.messages.length === 0 ? [welcome()] : current.messages.map(draw1)));
  thread.scrollTop = thread.scrollHeight;
  drawList();
}

function draw1(message, index) {
  return message.role === "user" ? drawQuestion(message, index) : drawAnswer(message, index);
}

function welcome() {
  const ideas = IDEAS.map((idea) => element("button", { type: "button", onclick: () => ask(idea) }, idea));
  return element(
    "div",
    { className: "empty" },
    element("h2", {}, "What shall we talk about?"),
    element("div", {}, "Everything stays between this browser and your server."),
    element("div", { className: "ideas" }, ...ideas),
  );
}

function drawQuestion(message, index) {
  return element(
    "article",
    { className: "user", ariaLabel: "You" },
    element("div", { className: "text" }, message.content),
    element("div", { className: "foot" }, action("Edit", () => edit(index)), copyAction(message)),
  );
}

function drawAnswer(message, index) {
  const article = element("article", { className: "assistant", ariaLabel: "Answer" });
  const body = element("div", { className: "markdown" });
  body.append(markdown(message.content));
  article.append(body);
  if (message.error) {
    article.append(element("p", { className: "failure", role: "alert" }, message.error));
  }
  const isLast = index === current.messages.length - 1;
  const foot = element("div", { className: "foot" });
  if (!running || !isLast) {
    foot.append(copyAction(message));
    if (isLast) {
      foot.append(action("Regenerate", regenerate));
    }
  } else if (message.content === "") {
    foot.append(element("span", { className: "working", ariaLabel: "Working" }));
  }
  foot.append(figures(message));
  article.append(foot);
  return article;
}

function action(label, onclick) {
  return element("button", { type: "button", onclick }, label);
}

function copyAction(message) {
  const button = action("Copy", () => copy(button, message.content));
  return button;
}

/** Under each answer: time to first token, tokens per second, tokens, and why it ended where that is worth a word. */
function figures(message) {
  const parts = [];
  if (message.firstMillis !== undefined) {
    parts.push(`first token ${Math.round(message.firstMillis)} ms`);
  }
  if (message.tokens > 1 && message.lastMillis > message.firstMillis) {
    const rate = ((message.tokens - 1) / (message.lastMillis - message.firstMillis)) * 1000;
    parts.push(`${rate.toFixed(rate < 10 ? 1 : 0)} tokens/s`);
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
  return element("span", { className: "figures" }, parts.join(" · "));
}

function redrawLast() {
  const isAtEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80;
  thread.lastElementChild?.replaceWith(drawAnswer(current.messages.at(-1), current.messages.length - 1));
  if (isAtEnd) {
    thread.scrollTop = thread.scrollHeight;
  }
}

function drawList() {
  const items = store.conversations().map((one) =>
    element(
      "li",
      { ariaCurrent: String(one.id === current.id) },
      element("button", { type: "button", className: "open", title: one.title, onclick: () => open(one.id) }, one.title),
      element("button", { type: "button", className: "remove", ariaLabel: "Delete " + one.title, onclick: () => remove(one.id) }, "×"),
    ),
  );
  byId("conversations").replaceChildren(...items);
}

function showRunning() {
  byId("send").hidden = running !== null;
  byId("stop").hidden = running === null;
}

// ---- conversations ----

export function open(id) {
  stop();
  current = store.conversation(id) ?? store.newConversation();
  location.hash = "chat/" + current.id;
  byId("sidebar").classList.remove("open");
  draw();
}

export function begin() {
  stop();
  current = store.newConversation();
  location.hash = "chat";
  byId("sidebar").classList.remove("open");
  draw();
  prompt.focus();
}

function remove(id) {
  store.removeConversation(id);
  if (id === current.id) {
    begin();
  } else {
    drawList();
  }
}

// ---- asking ----

export function ask(text) {
  if (running || text.trim() === "") {
    return;
  }
  if (current.messages.length === 0) {
    current.title = text.trim().slice(0, 60);
    history.replaceState(null, "", "#chat/" + current.id);
  }
  current.messages.push({ role: "user", content: text });
  answer();
}

/** Puts the words of a message back into the composer and takes the conversation back to before it. */
function edit(index) {
  if (running) {
    return;
  }
  prompt.value = current.messages[index].content;
  current.messages.length = index;
  store.save(current);
  draw();
  fit();
  prompt.focus();
}

export function editLast() {
  const index = current.messages.findLastIndex((message) => message.role === "user");
  if (index >= 0) {
    edit(index);
  }
}

function regenerate() {
  if (!running) {
    current.messages.length = current.messages.findLastIndex((message) => message.role === "user") + 1;
    answer();
  }
}

export function stop() {
  running?.abort();
}

async function answer() {
  const own = current;
  const body = request(own);
  const message = { role: "assistant", content: "" };
  own.messages.push(message);
  const abort = new AbortController();
  running = abort;
  store.save(own);
  draw();
  showRunning();
  try {
    await receive(body, message, abort.signal, own);
  } catch (failure) {
    if (abort.signal.aborted) {
      message.reason = "stopped";
    } else {
      message.error = failure instanceof ApiError ? failure.message : String(failure);
    }
  }
  running = null;
  store.save(own);
  showRunning();
  if (own === current) {
    redrawLast();
    drawList();
    byId("announcement").textContent = message.error ?? message.content;
  }
}

async function receive(body, message, signal, own) {
  const begun = performance.now();
  const screen = new Screen(message, own);
  for await (const chunk of chat(body, signal)) {
    const choice = chunk.choices[0];
    if (choice?.delta.content) {
      message.lastMillis = performance.now() - begun;
      message.firstMillis ??= message.lastMillis;
      message.tokens = (message.tokens ?? 0) + 1;
      message.content += choice.delta.content;
      screen.changed();
    }
    if (choice?.finish_reason) {
      message.reason = choice.finish_reason;
    }
    if (chunk.usage) {
      message.tokens = chunk.usage.completion_tokens;
      message.promptTokens = chunk.usage.prompt_tokens;
      message.cached = chunk.usage.prompt_tokens_details?.cached_tokens ?? 0;
    }
  }
}

/** Draws at most once a frame and saves at most once a second, whatever the speed of the tokens. */
class Screen {
  #isDue = false;
  #saved = 0;

  constructor(message, conversation) {
    this.message = message;
    this.conversation = conversation;
  }

  changed() {
    if (performance.now() - this.#saved > 1000) {
      this.#saved = performance.now();
      store.save(this.conversation);
    }
    if (!this.#isDue) {
      this.#isDue = true;
      requestAnimationFrame(() => {
        this.#isDue = false;
        if (current === this.conversation && running) {
          redrawLast();
        }
      });
    }
  }
}

function request(conversation) {
  const settings = store.settings();
  const body = { model: byId("model").value, messages: [] };
  if (settings.system) {
    body.messages.push({ role: "system", content: settings.system });
  }
  for (const { role, content } of conversation.messages) {
    body.messages.push({ role, content });
  }
  for (const name of NUMBERS) {
    if (settings[name] !== undefined && settings[name] !== "") {
      body[name] = Number(settings[name]);
    }
  }
  return body;
}

// ---- the composer ----

/** Makes the composer as high as its text. */
function fit() {
  prompt.style.height = "auto";
  prompt.style.height = prompt.scrollHeight + 2 + "px";
}

function send() {
  if (!running) {
    const text = prompt.value;
    prompt.value = "";
    fit();
    ask(text);
  }
}

export function start() {
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  prompt.addEventListener("input", fit);
  prompt.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send();
    }
  });
  byId("stop").addEventListener("click", stop);
  byId("new").addEventListener("click", begin);
  const [, id] = location.hash.split("/");
  current = (id && store.conversation(id)) || newest() || current;
  draw();
  prompt.focus();
}

function newest() {
  const first = store.conversations()[0];
  return first && store.conversation(first.id);
}
