// Curves over the last minutes, with the values at their axes and, under the pointer or by the arrow keys, those of a moment.
import { drawing, element } from "./elements.js";

const HEIGHT = 30;

let pointed = null; // { key, at }: the chart and the place in its curves that is looked at; drawn anew, it still is

/**
 * A chart.
 *
 * @param key a name that stays its own when it is drawn anew
 * @param curves [{ name, values }] of the same length, the newest value last
 * @param times when each value was, in milliseconds
 * @param kept the number of values that fill the width
 * @param text what a value is called
 */
export function chart(key, curves, times, kept, text) {
  const top = Math.max(...curves.flatMap(({ values }) => values));
  const place = (at) => kept - times.length + at; // the newest is at the right
  const height = (value) => HEIGHT - 1 - (top > 0 ? ((HEIGHT - 2) * value) / top : 0);
  const svg = drawing("svg", { viewBox: `0 0 ${kept - 1} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  curves.forEach(({ values }, index) => {
    const points = values.map((value, at) => `${place(at)},${height(value)}`).join(" ");
    svg.append(drawing("polyline", { points, class: index === 0 ? "spark" : "spark second" }));
  });
  const cursor = drawing("line", { y1: 0, y2: HEIGHT, class: "cursor" });
  svg.append(cursor);
  const readout = element("span", { className: "readout" });
  const last = times.length - 1;

  const point = () => {
    const isHere = pointed?.key === key;
    const at = Math.max(0, Math.min(last, pointed?.at ?? last));
    cursor.setAttribute("x1", place(at));
    cursor.setAttribute("x2", place(at));
    cursor.style.display = isHere ? "" : "none";
    readout.textContent = isHere ? [...curves.map(({ name, values }) => `${name} ${text(values[at])}`.trim()), ago(times[last] - times[at])].join(" · ") : "";
  };
  const look = (at) => {
    pointed = at === null ? null : { key, at };
    point();
  };
  const made = element(
    "div",
    {
      className: "chart",
      role: "img",
      tabIndex: 0,
      ariaLabel: `${key}: ${curves.map(({ name, values }) => `${name} ${text(values[last])}`.trim()).join(", ")} now, at most ${text(top)}`,
      onpointermove: ({ clientX, currentTarget }) => {
        const { left, width } = currentTarget.getBoundingClientRect();
        look(Math.round(((clientX - left) / width) * (kept - 1)) - (kept - times.length));
      },
      onpointerleave: () => look(null),
      onblur: () => made.isConnected && look(null),
      onkeydown: (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) {
          event.preventDefault();
          const at = pointed?.key === key ? pointed.at : last;
          look(Math.max(0, Math.min(last, at + step)));
        }
      },
    },
    svg,
    element("span", { className: "top" }, text(top)),
    readout,
    element("span", { className: "from" }, ago(times[last] - times[0])),
    element("span", { className: "to" }, "now"),
  );
  made.dataset.key = key;
  point();
  return made;
}

function ago(millis) {
  const seconds = Math.round(millis / 1000);
  return seconds === 0 ? "now" : `${seconds} s ago`;
}
