// What this browser remembers: conversations and settings, in localStorage.
const LIST = "roselle.conversations";
const ONE = "roselle.conversation.";
const SETTINGS = "roselle.settings";

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Writes, and gives up the oldest conversations when the browser's room is used up. */
function write(name, value) {
  const text = JSON.stringify(value);
  for (;;) {
    try {
      localStorage.setItem(name, text);
      return true;
    } catch {
      const oldest = conversations().findLast((one) => ONE + one.id !== name);
      if (!oldest) {
        return false;
      }
      removeConversation(oldest.id);
    }
  }
}

/** The conversations, the newest first: { id, title }. */
export function conversations() {
  return read(LIST, []);
}

export function newConversation() {
  const id = crypto.randomUUID?.() ?? String(Date.now()) + Math.random();
  return { id, title: "New conversation", messages: [], settings: { ...settings().fresh } };
}

/** A conversation: { id, title, messages: [{ role, content, … }], settings: texts by the names of their fields }. */
export function conversation(id) {
  return read(ONE + id, null);
}

export function save(one) {
  write(ONE + one.id, one);
  const others = conversations().filter((other) => other.id !== one.id);
  write(LIST, [{ id: one.id, title: one.title }, ...others]);
}

export function removeConversation(id) {
  localStorage.removeItem(ONE + id);
  localStorage.setItem(LIST, JSON.stringify(conversations().filter((one) => one.id !== id)));
}

/** What holds for the whole page: theme, model, key, and under fresh what new conversations begin with. */
export function settings() {
  return read(SETTINGS, {});
}

export function saveSettings(values) {
  write(SETTINGS, values);
}
