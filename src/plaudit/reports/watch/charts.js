"use strict";
// Lines over the steps, drawn as SVG. They are drawn again whenever a step was recorded, so they are
// few elements; and no library has to be loaded before the first one is there.
const curves = (() => {
  const { element, shown } = plaudit;
  const HEIGHT = 190;
  const EDGE = { left: 46, right: 10, top: 10, bottom: 24 };
  const themes = plaudit.json("themes");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (place) => {
    const all = themes[dark.matches ? "dark" : "light"].range.category;
    return all[place % all.length];
  };

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // Round numbers between two others, some five of them.
  function ticks(low, high, whole = false) {
    const rough = (high - low) / 5 || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    let every = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
    if (whole) every = Math.max(1, Math.round(every));
    const found = [];
    for (let n = Math.ceil(low / every - 1e-9); n * every <= high + every * 1e-6; n += 1) found.push(n * every || 0);
    return found;
  }

  function extent(lines, percent, fromZero) {
    const ys = lines.flatMap((line) => [...line.y, ...(line.low ?? []), ...(line.high ?? [])]).filter((y) => y !== null);
    if (percent) return [0, 1];
    let low = Math.min(...ys), high = Math.max(...ys);
    if (!ys.length) [low, high] = [0, 1];
    if (low > 0 && (fromZero || low < 0.6 * high)) low = 0;
    const room = (high - low) * 0.05 || Math.abs(high) * 0.1 || 0.5;
    return [low === 0 ? 0 : low - room, high + room];
  }

  // A chart in its place. lines: [{name, x, y, low, high, dashes, colour}]; pick(step) is a click.
  function draw(place, lines, { title, percent = false, fromZero = false, pick }) {
    const width = Math.max(place.clientWidth, 240);
    const xs = lines.flatMap((line) => line.x);
    let [left, right] = [Math.min(...xs), Math.max(...xs)];
    if (!xs.length) [left, right] = [0, 1];
    if (left === right) [left, right] = [left - 1, right + 1];
    const [low, high] = extent(lines, percent, fromZero);
    const across = (x) => EDGE.left + ((x - left) / (right - left)) * (width - EDGE.left - EDGE.right);
    const up = (y) => HEIGHT - EDGE.bottom - ((y - low) / (high - low)) * (HEIGHT - EDGE.top - EDGE.bottom);
    const label = (value) => (percent ? `${Math.round(value * 100)}%` : shown(Number(value.toPrecision(6))));
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const y of ticks(low, high)) {
      drawing.append(svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: up(y), y2: up(y) }));
      drawing.append(svg("text", { x: EDGE.left - 6, y: up(y) + 4, "text-anchor": "end" }, label(y)));
    }
    for (const x of ticks(Math.ceil(left), Math.floor(right), true)) {
      if (x < left || x > right) continue;
      const anchor = across(x) > width - 30 ? "end" : "middle";
      drawing.append(svg("text", { x: across(x), y: HEIGHT - 6, "text-anchor": anchor }, x.toLocaleString("en")));
    }
    // The bands of several lines would hide each other: then the legend alone tells them.
    if (lines.length === 1) drawing.append(...band(lines[0], across, up));
    lines.forEach((line) => drawing.append(...path(line, across, up)));
    const here = svg("line", { class: "here", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
    drawing.append(here);
    const caption = element("figcaption");
    const tell = (x) => caption.replaceChildren(...told(lines, x, percent));
    const nearest = (event) => {
      const box = drawing.getBoundingClientRect();
      const wanted = left + ((event.clientX - box.left - EDGE.left) / (box.width - EDGE.left - EDGE.right)) * (right - left);
      return xs.reduce((best, x) => (Math.abs(x - wanted) < Math.abs(best - wanted) ? x : best), xs[0]);
    };
    drawing.addEventListener("pointermove", (event) => {
      if (!xs.length) return;
      const x = nearest(event);
      here.setAttribute("x1", across(x));
      here.setAttribute("x2", across(x));
      here.setAttribute("visibility", "visible");
      tell(x);
    });
    drawing.addEventListener("pointerleave", () => {
      here.setAttribute("visibility", "hidden");
      tell(right);
    });
    drawing.addEventListener("click", (event) => xs.length && pick?.(nearest(event)));
    tell(right);
    const last = caption.textContent;
    place.replaceChildren(drawing, caption);
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", `${title} over the steps. ${last}`);
  }

  function path(line, across, up) {
    let d = "", pen = "M";
    line.y.forEach((y, at) => {
      if (y === null) pen = "M";
      else (d += `${pen}${across(line.x[at]).toFixed(1)},${up(y).toFixed(1)}`), (pen = "L");
    });
    if (!d) return [];
    const style = { class: "line", d, stroke: line.colour };
    if (line.dashes) style["stroke-dasharray"] = line.dashes;
    const alone = line.y.filter((y) => y !== null).length === 1;
    const at = line.y.findIndex((y) => y !== null);
    const dot = () => svg("circle", { cx: across(line.x[at]), cy: up(line.y[at]), r: 4, fill: line.colour });
    return alone ? [dot()] : [svg("path", style)];
  }

  function band(line, across, up) {
    if (!line.low) return [];
    const points = line.x.map((x, at) => [x, line.low[at], line.high[at]]).filter(([, low]) => low !== null);
    if (points.length < 2) return [];
    const there = points.map(([x, , high]) => `${across(x).toFixed(1)},${up(high).toFixed(1)}`);
    const back = points.reverse().map(([x, low]) => `${across(x).toFixed(1)},${up(low).toFixed(1)}`);
    return [svg("path", { class: "band", d: `M${[...there, ...back].join("L")}Z`, fill: line.colour })];
  }

  // A short piece of a line, for a legend.
  function lineKey(line) {
    const key = svg("svg", { class: "line-key", viewBox: "0 0 24 4", "aria-hidden": "true" });
    const style = { d: "M0,2H24", stroke: line.colour, "stroke-width": 3 };
    if (line.dashes) style["stroke-dasharray"] = line.dashes;
    key.append(svg("path", style));
    return key;
  }

  // The legend, with the values at a step, or at the last one before it.
  function told(lines, x, percent) {
    const value = (y) => (y === null || y === undefined ? "–" : percent ? `${(100 * y).toFixed(1)}%` : shown(y));
    return [
      element("span", { className: "at" }, `step ${x.toLocaleString("en")}`),
      ...lines.map((line) => {
        let at = line.x.length - 1;
        while (at > 0 && line.x[at] > x) at -= 1;
        const key = lineKey(line);
        const middle = line.low && line.low[at] !== null ? ` (${value(line.low[at])} to ${value(line.high[at])})` : "";
        return element("span", {}, key, `${line.name} ${value(line.y[at])}${middle}`);
      }),
    ];
  }

  return { draw, colour, dark, lineKey };
})();
