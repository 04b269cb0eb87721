// Text files beside a message: taken by button, drag or paste, shown as chips, and put before the words that the model is told.
import { byId, element } from "./elements.js";

const MOST_FILES = 10; // of a message
const MOST_BYTES = 256 * 1024; // of all of them: a browser keeps about 5 MB, and models read less

let attached = []; // to the message in the composer: { name, text }

/** The files of the message in the composer, which has none afterwards. */
export function detached() {
  const files = attached;
  put([]);
  return files;
}

export function put(files) {
  attached = files;
  tell("");
  draw();
}

/** Whether the message in the composer has a file. */
export function hasAny() {
  return attached.length > 0;
}

/** Attaches what is text, and says why the rest is not attached. */
export async function attach(files) {
  const refusals = [];
  for (const file of files) {
    const refusal = await take(file);
    if (refusal) {
      refusals.push(refusal);
    }
  }
  tell(refusals.join(" "));
  draw();
}

async function take(file) {
  if (attached.length === MOST_FILES) {
    return `${file.name} is one too many: a message has at most ${MOST_FILES} files.`;
  }
  if (file.size + attached.reduce((sum, one) => sum + size(one), 0) > MOST_BYTES) {
    return `${file.name} is too large: the files of a message have at most ${bytes(MOST_BYTES)} together.`;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes("\0")) {
      return `${file.name} is no text.`;
    }
    attached = [...attached, { name: file.name, text }];
    return "";
  } catch (failure) {
    return failure instanceof TypeError ? `${file.name} is no text in UTF-8.` : `${file.name} cannot be read.`;
  }
}

function tell(sentence) {
  byId("attached").textContent = sentence;
}

function draw() {
  const chips = attached.map((file, index) => {
    const remove = () => put(attached.toSpliced(index, 1));
    return element(
      "li",
      { className: "chip" },
      element("span", {}, `${file.name} · ${bytes(size(file))}`),
      element("button", { type: "button", ariaLabel: "Remove " + file.name, onclick: remove }, "×"),
    );
  });
  byId("chips").replaceChildren(...chips);
  byId("chips").hidden = chips.length === 0;
}

function size({ text }) {
  return new TextEncoder().encode(text).length;
}

function bytes(number) {
  return number < 1024 ? `${number} B` : `${(number / 1024).toFixed(number < 10 * 1024 ? 1 : 0)} KiB`;
}

/** The files of a message that was sent, each to be unfolded. */
export function drawn({ files = [] }) {
  const chips = files.map((file) =>
    element(
      "details",
      { className: "chip" },
      element("summary", {}, `${file.name} · ${bytes(size(file))}`),
      element("pre", { tabIndex: 0 }, file.text),
    ),
  );
  return chips.length === 0 ? [] : [element("div", { className: "attachments" }, ...chips)];
}

/** What the model is told of a message: its files, each between fences that do not occur in it, then its words. */
export function words({ content, files = [] }) {
  const parts = files.map(({ name, text }) => {
    const fence = "`".repeat(Math.max(3, 1 + longestRun(text)));
    return `${name}:\n${fence}\n${text.endsWith("\n") ? text : text + "\n"}${fence}`;
  });
  return [...parts, content].filter((part) => part !== "").join("\n\n");
}

function longestRun(text) {
  let longest = 0;
  let length = 0;
  for (const unit of text) {
    length = unit === "`" ? length + 1 : 0;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** Has the composer take files: by its button, dropped onto a part of the page, or pasted. */
export function listen(target, prompt) {
  byId("attach").addEventListener("click", () => byId("attachments").click());
  byId("attachments").addEventListener("change", async ({ target: input }) => {
    await attach([...input.files]);
    input.value = ""; // the same file may be taken again
    prompt.focus();
  });
  prompt.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length > 0) {
      event.preventDefault();
      attach([...event.clipboardData.files]);
    }
  });
  target.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("Files")) {
      event.preventDefault();
      target.classList.add("dropping");
    }
  });
  target.addEventListener("dragleave", (event) => {
    if (!target.contains(event.relatedTarget)) {
      target.classList.remove("dropping");
    }
  });
  target.addEventListener("drop", (event) => {
    target.classList.remove("dropping");
    if (event.dataTransfer.files.length > 0) {
      event.preventDefault();
      attach([...event.dataTransfer.files]);
    }
  });
}
