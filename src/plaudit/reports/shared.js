"use strict";
// What the scripts of every page share: elements, numbers, data in the page, and charts.
// Whatever a model wrote goes into the page as text alone, by textContent.
const plaudit = (() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const json = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "null");

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
  const shown = (value) => (value === null ? "–" : digits.format(value).replace("-", "−"));
  const counted = (count) => count.toLocaleString("en");

  // Data that `packed` put into the page: JSON, compressed.
  async function unpacked(id) {
    const source = document.getElementById(id);
    const bytes = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
    source.remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  // A table as CSV: columns are [title, value(row)]. A text that a spreadsheet would take for a
  // formula gets an apostrophe in front: what a model wrote must not run there either.
  function csvOf(columns, rows) {
    const cell = (value) => {
      if (value === null || value === undefined) return "";
      let text = String(value);
      if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && isNaN(text)) text = `'${text}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = rows.map((row) => columns.map(([, value]) => cell(value(row))).join(","));
    return [columns.map(([title]) => cell(title)).join(","), ...lines, ""].join("\r\n");
  }

  // Let the browser save a text as a file; with a BOM, by which spreadsheets know UTF-8.
  function download(name, text) {
    const address = URL.createObjectURL(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  // --- charts ----------------------------------------------------------------------------------

  const themes = json("themes");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const views = new Map(); // what is drawn, by the name of its chart
  const specs = new Map((json("specs") ?? []).map((chart) => [chart.name, chart]));
  let clicked = null; // (chart, datum) => …

  // Draw a chart, {name, spec, filter}, in its place on the page; again if it is there already.
  async function draw(chart) {
    const place = one(`.chart[data-chart="${CSS.escape(chart.name)}"]`);
    if (!place) return;
    specs.set(chart.name, chart);
    views.get(chart.name)?.finalize();
    const spec = structuredClone(chart.spec);
    const legend = spec.encoding?.color?.legend;
    if (legend?.columns && place.clientWidth < 420) legend.columns = 2;
    const drawn = await vegaEmbed(place, spec, {
      actions: false,
      ast: true, // expressions are interpreted: the page's policy forbids eval
      config: themes[dark.matches ? "dark" : "light"],
      defaultStyle: false,
      renderer: "svg",
      tooltip: { disableDefaultStyle: true },
    });
    views.set(chart.name, drawn);
    if (chart.filter) {
      place.dataset.clicks = "";
      drawn.view.addEventListener("click", (event, item) => item?.datum && clicked?.(chart, item.datum));
    }
  }

  // Charts are drawn when they come near the window: a long page is there at once.
  function drawCharts() {
    const near = new IntersectionObserver(
      (entries) => {
        for (const entry of entries.filter((found) => found.isIntersecting)) {
          near.unobserve(entry.target);
          const chart = specs.get(entry.target.dataset.chart);
          if (chart) draw(chart);
        }
      },
      { rootMargin: "600px" },
    );
    all(".chart").forEach((place) => near.observe(place));
    dark.addEventListener("change", () => views.forEach((_, name) => draw(specs.get(name))));
    addEventListener("beforeprint", () => specs.forEach((chart, name) => views.has(name) || draw(chart)));
  }

  const onClick = (act) => (clicked = act);

  return { one, all, json, element, shown, counted, unpacked, csvOf, download, draw, drawCharts, onClick };
})();
