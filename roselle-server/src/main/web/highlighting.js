// Colours code: a worker finds its words, so that the page stays quick whatever a model has written. No markup is parsed.
import { element } from "./elements.js";

const MOST_CHARACTERS = 50_000; // of a block; longer ones stay plain
const MOST_MILLIS = 2000; // for one block
const MOST_WAITING = 50; // elements with the same text: drawn anew, or as often in a conversation
const MOST_KEPT = 200; // blocks whose parts are remembered, as an answer is drawn again with each of its tokens

const kept = new Map(); // language and text to parts: [scope, text]
const waiting = new Map(); // the same to elements
let worker = null;
let isReady = false; // its library is here
let asked = null; // what the worker is busy with
let timer = 0;

/** Colours the text of an element, now or when its parts are known. */
export function highlight(code, language, text) {
  if (language === "" || text.length > MOST_CHARACTERS) {
    return;
  }
  const key = language.toLowerCase() + "\n" + text;
  if (kept.has(key)) {
    fill(code, kept.get(key));
  } else {
    waiting.set(key, [...(waiting.get(key) ?? []), code].slice(-MOST_WAITING));
    askNext();
  }
}

function askNext() {
  if (asked === null && waiting.size > 0) {
    [asked] = waiting.keys();
    const end = asked.indexOf("\n");
    worker ??= begin();
    worker.postMessage({ language: asked.slice(0, end), text: asked.slice(end + 1) });
    if (isReady) {
      startClock();
    }
  }
}

function begin() {
  const made = new Worker(new URL("./highlighter.js", import.meta.url), { type: "module" });
  made.addEventListener("message", ({ data }) => {
    if (data === "ready") {
      isReady = true;
      startClock();
    } else {
      settle(data);
    }
  });
  made.addEventListener("error", giveUp);
  return made;
}

function startClock() {
  timer = setTimeout(giveUp, MOST_MILLIS);
}

/** Leaves what takes too long as it is, and begins with a worker anew. */
function giveUp() {
  worker.terminate();
  worker = null;
  isReady = false;
  settle([["", asked.slice(asked.indexOf("\n") + 1)]]);
}

function settle(parts) {
  clearTimeout(timer);
  if (kept.size === MOST_KEPT) {
    kept.delete(kept.keys().next().value);
  }
  kept.set(asked, parts);
  waiting.get(asked).forEach((code) => fill(code, parts));
  waiting.delete(asked);
  asked = null;
  askNext();
}

/** Scopes have several words, "title.function": the first says the colour. */
function fill(code, parts) {
  code.replaceChildren(...parts.map(([scope, text]) => (scope ? element("span", { className: "code-" + scope.split(".")[0] }, text) : text)));
}
