// A worker that finds the words of code: it says that it is ready, is then asked for one text at a time, and may be ended when it
// takes too long over one.
import library from "./vendor/highlight-11.12.0/highlight.min.js";

/** The texts of a node of the library's tree as [scope, text] in their order; the innermost scope holds. */
function flatten(node, scope, parts) {
  if (typeof node === "string") {
    parts.push([scope, node]);
  } else {
    const own = node.scope && !node.scope.startsWith("language:") ? node.scope : scope;
    node.children.forEach((child) => flatten(child, own, parts));
  }
  return parts;
}

addEventListener("message", ({ data: { language, text } }) => {
  const isKnown = library.getLanguage(language) !== undefined;
  postMessage(isKnown ? flatten(library.highlight(text, { language })._emitter.rootNode, "", []) : [["", text]]);
});

postMessage("ready");
