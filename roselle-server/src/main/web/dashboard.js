// What the server is doing, drawn from a state that it tells once a second while the dashboard is on screen.
import { dashboard } from "./api.js";
import { chart } from "./charts.js";
import { byId, drawing, element } from "./elements.js";

const PERIOD_MILLIS = 1000;
const KEPT = 120; // states, two minutes

const states = [];
let timer = 0;

export function show() {
  if (!timer) {
    timer = setInterval(refresh, PERIOD_MILLIS);
    refresh();
  }
}

export function hide() {
  clearInterval(timer);
  timer = 0;
}

async function refresh() {
  try {
    states.push(await dashboard());
    if (states.length > KEPT) {
      states.shift();
    }
    draw(states.at(-1));
  } catch (failure) {
    byId("dashboard").replaceChildren(element("p", { className: "failure", role: "alert" }, failure.message));
  }
}

function draw(state) {
  const sum = (name) => total(state, name);
  const pages = (one) => percent(total(one, "used_pages"), total(one, "total_pages"));
  const cached = total(state, "cached_pages");
  show1(
    health(state),
    element(
      "section",
      { className: "tiles" },
      tile("Running", sum("running"), `${sum("waiting")} waiting`, {
        running: (one) => total(one, "running"),
        waiting: (one) => total(one, "waiting"),
      }),
      tile("Output tokens/s", rate("output_tokens"), `${count(state.output_tokens)} in all`, { "": perSecond("output_tokens") }),
      tile("Prompt tokens/s", rate("prompt_tokens"), `${count(state.prompt_tokens)} in all`, { "": perSecond("prompt_tokens") }),
      latencyTile("Time to first token", "first_token", state),
      latencyTile("Time between tokens", "between_tokens", state),
      tile(
        "KV pages in use",
        pages(state) + " %",
        `${count(sum("used_pages"))} of ${count(sum("total_pages"))}, ${count(cached)} cached`,
        { "": pages },
        share,
      ),
      tile(
        "Prefix hits",
        percent(state.cached_tokens, state.prompt_tokens) + " %",
        `${count(state.cached_tokens)} prompt tokens not computed`,
        { "": (one) => percent(one.cached_tokens, one.prompt_tokens) },
        share,
      ),
      tile("Requests", count(state.requests), `${count(state.failed)} failed`, { "": perSecond("requests") }, (value) => `${short(value)}/s`),
      tile("Engine step", micros(lastStep(state)), `${count(sum("steps"))} steps`, { "": lastStep }, micros),
    ),
    memory(state),
    timeline(state),
  );
}

/** Puts this on screen, where focus and scrolled tables stay as they were. */
function show1(...parts) {
  const keyOf = (one) => one?.dataset.key;
  const focused = keyOf(document.activeElement);
  const scrolled = new Map([...document.querySelectorAll("#dashboard .scroll")].map((one) => [keyOf(one), one.scrollLeft]));
  byId("dashboard").replaceChildren(...parts);
  for (const one of document.querySelectorAll("#dashboard [data-key]")) {
    one.scrollLeft = scrolled.get(keyOf(one)) ?? 0;
    if (keyOf(one) === focused) {
      one.focus({ preventScroll: true });
    }
  }
}

function lastStep(state) {
  return Math.max(0, ...state.models.map((model) => model.last_step_micros));
}

function health(state) {
  const up = duration(state.uptime_millis);
  const names = state.models.map((model) => model.name).join(", ") || "no model yet";
  return state.complaint
    ? element("p", { className: "failure", role: "alert" }, `Not ready: ${state.complaint}. Up for ${up}, serving ${names}.`)
    : element("p", { className: "note" }, `Ready. Up for ${up}, serving ${names}.`);
}

// ---- tiles ----

/** Curves are functions of a state by their names, of which a single one needs none. */
function tile(title, figure, detail, curves, text = short) {
  return element(
    "article",
    { className: "tile" },
    element("h2", {}, title),
    element("div", { className: "figure" }, String(figure)),
    element("div", { className: "detail" }, detail),
    chart(
      title,
      Object.entries(curves).map(([name, value]) => ({ name, values: states.map(value) })),
      states.map((one) => one.uptime_millis),
      KEPT,
      text,
    ),
  );
}

function latencyTile(title, name, state) {
  const { count: samples, p50, p90, p99 } = state[name];
  const figure = samples === 0 ? "–" : micros(p50);
  const detail = samples === 0 ? "no samples yet" : `p90 ${micros(p90)}, p99 ${micros(p99)}, last ${count(samples)}`;
  return tile(title, figure, detail, { p50: (one) => one[name].p50, p90: (one) => one[name].p90 }, micros);
}

// ---- the models, and the memory that each takes ----

function memory(state) {
  const budget = state.budget_bytes > 0 ? ` of ${bytes(state.budget_bytes)}` : "";
  const parked = state.host_budget_bytes > 0 ? `; parked: ${bytes(state.host_bytes)} of ${bytes(state.host_budget_bytes)}` : "";
  const taken = (model) => (model.state === "parked" ? model.host_bytes : model.bytes);
  const cells = (model) => [
    model.name,
    model.state === "loading" ? `loading ${model.percent} %` : model.state,
    taken(model) > 0 ? bytes(taken(model)) : "",
    model.users,
  ];
  const row = (model) => element("tr", {}, ...cells(model).map((text) => element("td", {}, String(text))));
  return element(
    "section",
    { className: "tile timeline memory" },
    element("h2", {}, `Models: ${bytes(state.held_bytes)}${budget}${parked}`),
    element(
      "div",
      { className: "scroll", tabIndex: 0, "data-key": "models" },
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...["Model", "State", "Memory", "Requests"].map((text) => element("th", {}, text)))),
        element("tbody", {}, ...state.listed.map(row)),
      ),
    ),
  );
}

function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, number)) / 3));
  return `${(number / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

function total(state, name) {
  return state.models.reduce((sum, model) => sum + model[name], 0);
}

/** How fast a counter grew up to a state, over the states of five seconds before it. */
function perSecond(name) {
  return (state) => {
    const at = states.indexOf(state);
    const before = states[Math.max(0, at - 5)];
    const millis = state.uptime_millis - before.uptime_millis;
    return millis > 0 ? ((state[name] - before[name]) * 1000) / millis : 0;
  };
}

function rate(name) {
  return count(Math.round(perSecond(name)(states.at(-1))));
}

// ---- the requests, each as a bar in time ----

function timeline(state) {
  const requests = state.recent;
  const from = Math.min(...requests.map((one) => one.begin_millis), state.uptime_millis - 10_000);
  const span = Math.max(1, state.uptime_millis - from);
  const rows = requests.map((one) => row(one, from, span, state.uptime_millis));
  const head = ["Request", "Model", "Prompt", "Cached", "Output", "First token", "Total", "State", `Last ${duration(span)}`];
  return element(
    "section",
    { className: "tile timeline requests" },
    element("h2", {}, "Latest requests"),
    element("p", { className: "note legend" }, legend("queue", "queued"), legend("prompt", "prompt"), legend("answer", "answer")),
    element(
      "div",
      { className: "scroll", tabIndex: 0, "data-key": "requests" },
      element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text) => element("th", {}, text)))), element("tbody", {}, ...rows)),
    ),
    requests.length === 0 ? element("p", { className: "note" }, "None yet.") : "",
  );
}

function legend(name, text) {
  return element("span", {}, element("i", { className: name }), text);
}

function row(one, from, span, now) {
  const end = one.end_millis ?? now;
  const first = one.first_millis ?? end;
  const begun = Math.min(one.begin_millis + (one.queue_millis ?? 0), first);
  const texts = [
    one.id.slice(-8),
    one.model,
    count(one.prompt_tokens),
    one.end_millis === undefined ? "" : count(one.cached_tokens),
    count(one.output_tokens),
    one.first_millis === undefined ? "" : micros(1000 * (one.first_millis - one.begin_millis)),
    micros(1000 * (end - one.begin_millis)),
    one.state,
  ];
  const svg = drawing("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", height: "12", "aria-hidden": "true" });
  const bar = (name, begin, finish) =>
    svg.append(drawing("rect", { class: name, x: (1000 * (begin - from)) / span, y: 1, height: 8, width: Math.max(0, (1000 * (finish - begin)) / span) }));
  bar("queue", one.begin_millis, begun);
  bar("prompt", begun, first);
  bar(one.state === "failed" ? "failed" : "answer", first, Math.max(end, first + span / 500));
  return element("tr", {}, ...texts.map((text) => element("td", {}, text)), element("td", { className: "track" }, svg));
}

// ---- numbers for people ----

/** A number of about three digits. */
function short(number) {
  return number.toLocaleString("en", { maximumFractionDigits: number < 10 ? 1 : 0 });
}

function share(number) {
  return short(number) + " %";
}

function count(number) {
  return number.toLocaleString("en");
}

function percent(part, whole) {
  return whole > 0 ? Math.round((100 * part) / whole) : 0;
}

function micros(value) {
  if (value < 1000) {
    return `${Math.round(value)} µs`;
  }
  return value < 1e6 ? `${(value / 1000).toFixed(value < 1e4 ? 1 : 0)} ms` : `${(value / 1e6).toFixed(1)} s`;
}

function duration(millis) {
  const seconds = Math.floor(millis / 1000);
  if (seconds < 60) {
    return `${seconds} s`;
  }
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
