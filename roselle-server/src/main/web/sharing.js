// Conversations as files: all of this browser's in one, and back again. A file is a stranger's until each part of it is looked at.
import { element } from "./elements.js";
import * as store from "./store.js";

const VERSION = 1;
const MOST_DEPTH = 100; // branches within each other

/** All conversations as the text of a file. */
export function exported() {
  const conversations = store.conversations().map((one) => store.conversation(one.id)).filter(Boolean);
  return JSON.stringify({ roselle: VERSION, conversations }, null, 1);
}

/** Has the browser save them. */
export function saveFile() {
  const address = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
  element("a", { href: address, download: `roselle-${new Date().toISOString().slice(0, 10)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Adds the conversations of a file; one that is here already stays, and a sentence tells what came of it. */
export function imported(text) {
  const found = parsed(text);
  if (found?.roselle !== VERSION || !Array.isArray(found.conversations) || !found.conversations.every(isConversation)) {
    return "This is no file of conversations that this page has exported: nothing was added.";
  }
  const added = found.conversations.filter((one) => !isHere(one));
  for (const { title, messages, settings } of added.toReversed()) {
    store.save({ ...store.newConversation(), title, messages, settings });
  }
  return `${added.length} of ${found.conversations.length} conversations were added.`;
}

function isHere(one) {
  const known = JSON.stringify(one.messages);
  return store.conversations().some(({ id }) => JSON.stringify(store.conversation(id)?.messages) === known);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isConversation(one) {
  return typeof one?.title === "string" && isTexts(one.settings ?? {}) && areMessages(one.messages, 0) && one.messages.length > 0;
}

function isTexts(settings) {
  return typeof settings === "object" && Object.values(settings).every((value) => typeof value === "string");
}

function areMessages(list, depth) {
  return depth < MOST_DEPTH && Array.isArray(list) && list.every((message) => isMessage(message, depth));
}

function isMessage(message, depth) {
  const texts = [message?.content, message?.thoughts ?? "", message?.error ?? ""];
  const numbers = [message?.firstMillis, message?.rate, message?.tokens, message?.cached, message?.promptTokens];
  return (
    ["user", "assistant"].includes(message?.role) &&
    texts.every((text) => typeof text === "string") &&
    areFiles(message.files ?? []) &&
    areCalls(message.calls ?? []) &&
    numbers.every((number) => number === undefined || number === null || typeof number === "number") &&
    (message.fork === undefined || isFork(message.fork, depth))
  );
}

function areFiles(files) {
  return Array.isArray(files) && files.every((file) => typeof file?.name === "string" && typeof file.text === "string");
}

function areCalls(calls) {
  const texts = (call) => [call?.id, call?.name, call?.arguments, call?.result ?? ""];
  return Array.isArray(calls) && calls.every((call) => texts(call).every((text) => typeof text === "string"));
}

function isFork(fork, depth) {
  const { tails, shown } = fork ?? {};
  return (
    Array.isArray(tails) && tails[shown] === null && tails.every((tail, at) => at === shown || (areMessages(tail, depth + 1) && tail.length > 0))
  );
}
