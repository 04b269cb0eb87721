// The conversation on screen: messages, the answer being written, and what can be done with each.
import { ApiError, chat } from "./api.js";
import * as attachments from "./attachments.js";
import { isEmpty, setAside, showBranch, texts } from "./branches.js";
import { byId, copy, element } from "./elements.js";
import { markdown } from "./markdown.js";
import { request } from "./request.js";
import { imported, saveFile } from "./sharing.js";
import { figures, isAnswerTo, tellSpeed } from "./speed.js";
import * as store from "./store.js";
import { carryOut, drawCalls, hear } from "./tools.js";

const IDEAS = ["Tell me a story about a fox.", "What is 17 + 25?", "Write a haiku about rain."];
const MOST_TURNS = 20; // answers with calls in a row
const REFUSALS = [400, 413, 422]; // such a question would be refused again

const thread = byId("thread");
const prompt = byId("prompt");

let current = store.newConversation();
let running = null; // the AbortController of the answer being written
let edited = null; // the place of the question whose words are in the composer, or null
let draft = { content: "", files: [] }; // what the composer held before them
const deleted = new Set(); // ids of conversations
const unfolded = new WeakSet(); // answers whose thoughts are shown

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
  const ideas = IDEAS.map((idea) => element("button", { type: "button", onclick: () => ask({ content: idea, files: [] }) }, idea));
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
    ...attachments.drawn(message),
    ...(message.content === "" ? [] : [element("div", { className: "text" }, message.content)]),
    element("div", { className: "foot" }, ...branches(message, index), action("Edit", () => edit(index)), copyAction(message)),
  );
}

function drawAnswer(message, index) {
  const article = element("article", { className: "assistant", ariaLabel: "Answer" });
  if (message.thoughts) {
    article.append(thoughts(message));
  }
  const body = element("div", { className: "markdown" });
  body.append(markdown(message.content));
  article.append(body, ...drawCalls(message));
  if (message.error) {
    article.append(element("p", { className: "failure", role: "alert" }, message.error));
  }
  const isLast = index === current.messages.length - 1;
  const foot = element("div", { className: "foot" });
  if (!running || !isLast) {
    foot.append(...branches(message, index));
    if (message.content !== "") {
      foot.append(copyAction(message));
    }
    if (isLast) {
      foot.append(action("Regenerate", regenerate));
    }
  } else if (isEmpty(message)) {
    foot.append(element("span", { className: "working", ariaLabel: "Working" }));
  }
  foot.append(element("span", { className: "figures" }, figures(message)));
  article.append(foot);
  return article;
}

/** What the model thought before it answered, folded away until a reader wants it. */
function thoughts(message) {
  const body = element("div", { className: "markdown" });
  body.append(markdown(message.thoughts));
  const isThinking = running && message === current.messages.at(-1) && message.content === "";
  const made = element("details", { className: "thoughts" }, element("summary", {}, isThinking ? "Thinking …" : "Thoughts"), body);
  made.open = unfolded.has(message);
  made.addEventListener("toggle", () => (made.open ? unfolded.add(message) : unfolded.delete(message)));
  return made;
}

/** The way to what was written in a message's place, where there is such. */
function branches(message, index) {
  if (!message.fork) {
    return [];
  }
  const { tails, shown } = message.fork;
  const turn = (label, text, wanted) =>
    element("button", { type: "button", ariaLabel: label, disabled: !(wanted in tails), onclick: () => turnTo(index, wanted) }, text);
  return [
    turn("Branch before", "‹", shown - 1),
    element("span", { className: "branch" }, `${shown + 1} of ${tails.length}`),
    turn("Branch after", "›", shown + 1),
  ];
}

function turnTo(index, wanted) {
  if (!running) {
    stopEditing();
    showBranch(current.messages, index, wanted);
    store.save(current);
    draw();
  }
}

function action(label, onclick) {
  return element("button", { type: "button", onclick }, label);
}

function copyAction(message) {
  const button = action("Copy", () => copy(button, message.content));
  return button;
}

function redrawLast() {
  const isAtEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80;
  thread.lastElementChild?.replaceWith(drawAnswer(current.messages.at(-1), current.messages.length - 1));
  if (isAtEnd) {
    thread.scrollTop = thread.scrollHeight;
  }
}

function drawList() {
  const items = store.conversations().filter(isFound).map((one) =>
    element(
      "li",
      { ariaCurrent: String(one.id === current.id) },
      element("button", { type: "button", className: "open", title: one.title, onclick: () => open(one.id) }, one.title),
      element("button", { type: "button", className: "remove", ariaLabel: "Delete " + one.title, onclick: () => remove(one.id) }, "×"),
    ),
  );
  byId("conversations").replaceChildren(...items);
}

/** Whether a conversation has what is searched for, in its title or in its words. */
function isFound({ id, title }) {
  const wanted = byId("search").value.trim().toLowerCase();
  return wanted === "" || [title, ...texts(store.conversation(id)?.messages ?? [])].some((text) => text.toLowerCase().includes(wanted));
}

function showRunning() {
  byId("send").hidden = running !== null;
  byId("stop").hidden = running === null;
}

// ---- conversations ----

/** Makes a conversation the current one, and tells whoever shows its settings. */
function show(conversation) {
  current = conversation;
  current.settings ??= { ...store.settings().fresh };
  document.dispatchEvent(new Event("conversation"));
}

/** The settings of the conversation on screen: texts by the names of their fields. */
export function settings() {
  return current.settings ?? {};
}

/** Sets one of them; before the first message for new conversations as well, later for this one alone. */
export function set(name, value) {
  current.settings = { ...current.settings, [name]: value };
  if (current.messages.length > 0) {
    store.save(current);
  } else {
    store.saveSettings({ ...store.settings(), fresh: current.settings });
  }
}

export function open(id) {
  stop();
  stopEditing();
  show(store.conversation(id) ?? store.newConversation());
  location.hash = "chat/" + current.id;
  byId("sidebar").classList.remove("open");
  draw();
}

export function begin() {
  stop();
  stopEditing();
  show(store.newConversation());
  location.hash = "chat";
  byId("sidebar").classList.remove("open");
  draw();
  prompt.focus();
}

function remove(id) {
  deleted.add(id);
  store.removeConversation(id);
  if (id === current.id) {
    begin();
  } else {
    drawList();
  }
}

// ---- asking ----

/** Asks with words, or files, or both. */
function ask({ content, files }) {
  if (running) {
    return;
  }
  const question = files.length > 0 ? { role: "user", content, files } : { role: "user", content };
  if (edited !== null) {
    question.fork = setAside(current.messages, edited);
    endEditing();
  }
  if (current.messages.length === 0) {
    current.title = (content.trim() || files[0].name).slice(0, 60);
    history.replaceState(null, "", "#chat/" + current.id);
  }
  current.messages.push(question);
  answer();
}

/** Puts the words of a question into the composer: sent again, they begin another branch. */
function edit(index) {
  if (running) {
    return;
  }
  if (edited === null) {
    draft = { content: prompt.value, files: attachments.detached() };
  }
  edited = index;
  byId("editing").hidden = false;
  fill(current.messages[index]);
}

/** Puts back what the composer held before a question was edited. */
export function stopEditing() {
  if (edited !== null) {
    endEditing();
    fill(draft);
  }
}

function endEditing() {
  edited = null;
  byId("editing").hidden = true;
}

function fill({ content, files = [] }) {
  prompt.value = content;
  attachments.put(files);
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
    const index = current.messages.findLastIndex((message) => message.role === "user") + 1;
    answer(setAside(current.messages, index));
  }
}

export function stop() {
  running?.abort();
}

/** Has the conversation answered, again where tools were called; the answer carries the fork that it is a branch of, if any. */
async function answer(fork) {
  const own = current;
  const abort = new AbortController();
  running = abort;
  let message = await answerOnce(own, fork, abort.signal);
  for (let turn = 1; message.reason === "tool_calls" && turn < MOST_TURNS && (await called(own, message, abort.signal)); turn++) {
    message = await answerOnce(own, undefined, abort.signal);
  }
  running = null;
  keep(own);
  showRunning();
  if (own === current) {
    redrawLast();
    drawList();
    byId("announcement").textContent = message.error ?? message.content;
  }
  await tellSpeed(message);
  keep(own);
  if (own === current && message === own.messages.at(-1)) {
    redrawLast();
  }
}

async function answerOnce(own, fork, signal) {
  const body = request(byId("model").value, own);
  const message = { role: "assistant", content: "", fork };
  own.messages.push(message);
  store.save(own);
  if (own === current) {
    draw();
    showRunning();
  }
  try {
    await receive(body, message, signal, own);
  } catch (failure) {
    tell(message, failure, signal);
    message.isRefused = !signal.aborted && isEmpty(message) && REFUSALS.includes(failure.status);
  }
  return message;
}

/** Makes the calls of an answer; false where the user stopped, or something failed, before they were made. */
async function called(own, message, signal) {
  const redraw = () => {
    keep(own);
    if (own === current) {
      redrawLast();
      byId("announcement").textContent = thread.querySelector(".call[open] summary")?.textContent ?? "";
    }
  };
  try {
    await carryOut(own, message, signal, redraw);
    return true;
  } catch (failure) {
    tell(message, failure, signal);
    return false;
  }
}

/** Has a message say why it ended. */
function tell(message, failure, signal) {
  if (signal.aborted) {
    message.reason = "stopped";
  } else {
    message.error = failure instanceof ApiError ? failure.message : String(failure);
  }
}

/** Saves a conversation, unless it was deleted while it was still being answered. */
function keep(conversation) {
  if (!deleted.has(conversation.id)) {
    store.save(conversation);
  }
}

async function receive(body, message, signal, own) {
  const begun = performance.now();
  const screen = new Screen(message, own);
  const asked = (id) => isAnswerTo(message, id);
  for await (const chunk of chat(body, signal, asked)) {
    const choice = chunk.choices[0];
    const { content, reasoning_content: thought, tool_calls: calls } = choice?.delta ?? {};
    if (calls) {
      hear(message, calls);
    }
    if (content || thought || calls) {
      message.lastMillis = performance.now() - begun;
      message.firstMillis ??= message.lastMillis;
      message.content += content ?? "";
      message.thoughts = thought ? (message.thoughts ?? "") + thought : message.thoughts;
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
      keep(this.conversation);
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

// ---- the composer ----

/** Makes the composer as high as its text. */
function fit() {
  prompt.style.height = "auto";
  prompt.style.height = prompt.scrollHeight + 2 + "px";
}

function send() {
  if (!running && (prompt.value.trim() !== "" || attachments.hasAny())) {
    const message = { content: prompt.value, files: attachments.detached() };
    fill(edited === null ? { content: "" } : draft);
    ask(message);
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
  attachments.listen(byId("chat").querySelector("main"), prompt);
  byId("stop").addEventListener("click", stop);
  byId("cancel").addEventListener("click", stopEditing);
  byId("new").addEventListener("click", begin);
  byId("search").addEventListener("input", drawList);
  byId("export").addEventListener("click", saveFile);
  byId("import").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", takeFile);
  const [, id] = location.hash.split("/");
  show((id && store.conversation(id)) || newest() || current);
  draw();
  prompt.focus();
}

async function takeFile(event) {
  const [file] = event.target.files;
  if (file) {
    byId("imported").textContent = imported(await file.text());
    event.target.value = ""; // the same file may be taken again
    drawList();
  }
}

function newest() {
  const first = store.conversations()[0];
  return first && store.conversation(first.id);
}
