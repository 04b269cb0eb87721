// Formulas in TeX as MathML, by a library that is fetched with the first of them. What it cannot read stays as it was written.
const SCRIPT = "./vendor/temml-0.13.5/temml.min.js";
const STYLE = "./vendor/temml-0.13.5/Temml-Local.css";
const MATHML = "http://www.w3.org/1998/Math/MathML";
const MOST_CHARACTERS = 4000; // of a formula
const MOST_KEPT = 500; // formulas that are remembered, as an answer is drawn again with each of its tokens
const LIMITS = { throwOnError: true, trust: false, maxExpand: 500, maxSize: [20, 500] }; // sizes in em and pt
const WITHOUT_PICTURES = { "\\cancelto": "\\cancel{#2}^{#1}" }; // its arrow would be a picture within the style sheet

const made = new Map(); // kind and source to what was made of it: an element, or null
let library = null;

/** Puts the formula in the place of its source, now or when the library is here. */
export function typeset(place, source, isDisplay) {
  if (source.length > MOST_CHARACTERS) {
    return;
  }
  const key = (isDisplay ? "d" : "i") + source;
  if (made.has(key)) {
    fill(place, made.get(key), source);
  } else {
    library ??= load();
    library.then((temml) => fill(place, remembered(temml, key, source), source), () => {});
  }
}

function fill(place, formula, source) {
  if (formula) {
    place.replaceChildren(formula.cloneNode(true));
    place.classList.add("typeset");
    place.title = source;
  }
}

function load() {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = new URL(STYLE, import.meta.url);
  const script = document.createElement("script");
  script.src = new URL(SCRIPT, import.meta.url);
  document.head.append(style, script);
  return new Promise((resolve, reject) => {
    script.addEventListener("load", () => resolve(globalThis.temml));
    script.addEventListener("error", reject);
  });
}

function remembered(temml, key, source) {
  if (!made.has(key)) {
    if (made.size === MOST_KEPT) {
      made.delete(made.keys().next().value);
    }
    made.set(key, element(temml, source, key.startsWith("d")));
  }
  return made.get(key);
}

function element(temml, source, displayMode) {
  const place = document.createElement("span");
  try {
    temml.render(source, place, { ...LIMITS, macros: { ...WITHOUT_PICTURES }, displayMode });
  } catch {
    return null; // no TeX, or too deep
  }
  const parts = [...place.querySelectorAll("*")];
  parts.forEach((part) => part.removeAttribute("id")); // names are the page's
  return parts.every(isHarmless) ? place.firstElementChild : null;
}

/** Formulas and, around numbers of equations, plain spans: no links, no pictures. */
function isHarmless(part) {
  return (part.namespaceURI === MATHML && !part.hasAttribute("href")) || part.tagName === "SPAN";
}
