"use strict";
(() => {
  const { one, element, shown, counted } = plaudit;
  const EVERY = 2000; // milliseconds from one request for news to the next
  const LIVE = 120; // seconds without a batch after which a run is not called live
  const runs = []; // what is known of each
  let shownStep = null; // the step whose rows are shown; null follows the latest
  let most = 60;
  let asked = 0; // requests for rows so far: only the answer to the last one is shown

  const ask = async (path, values = {}) => {
    const answer = await fetch(`${path}?${new URLSearchParams(values)}`);
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const percent = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`);
  const last = (values) => values?.[values.length - 1] ?? null;

  // --- what is new ---------------------------------------------------------------------------

  async function follow() {
    try {
      const have = runs.map((run) => run.version).join(",");
      const found = await ask("/api/state", { have });
      let changed = false;
      found.forEach((state, place) => {
        if ("name" in state) {
          changed ||= runs[place]?.version !== state.version || !runs[place];
          runs[place] = state;
        }
      });
      tellAbout();
      if (changed) {
        showHeadline();
        showAlarms();
        showCharts();
        offerStatuses();
        if (shownStep === null || !asked) await showRows();
      }
      document.documentElement.dataset.ready = "";
    } catch (error) {
      one("#about").textContent = `This page cannot reach plaudit watch: ${error.message}. Has it been stopped?`;
    }
    setTimeout(follow, document.hidden ? 5 * EVERY : EVERY);
  }

  function tellAbout() {
    const about = one("#about");
    about.replaceChildren(
      ...runs.flatMap((run, place) => {
        const age = run.at === null ? Infinity : Date.now() / 1000 - run.at;
        const live = age < LIVE;
        const when = run.at === null ? "nothing is recorded yet" : live ? "live" : `last batch ${new Date(run.at * 1000).toLocaleString()}`;
        const what = run.rows ? `${counted(run.rows)} rows, ${counted(run.steps)} steps, ` : "";
        const [broken] = run.unreadable;
        const parts = run.unreadable.length > 1 ? `${counted(run.unreadable.length)} parts, such as ${broken}` : broken;
        return [
          place ? element("br") : "",
          element("span", { className: live ? "state live" : "state" }),
          `${runs.length > 1 ? `${run.name}: ` : ""}${what}${when}`,
          ...(broken ? [element("br"), `Cannot be read and is left out: ${parts}`] : []),
        ];
      }),
    );
  }

  const DASHES = ["", "6 4", "2 3", "9 3 2 3"]; // of the lines of the first run, the second, …
  const look = (place, colour = place) => ({ dashes: DASHES[place % DASHES.length], colour: curves.colour(colour) });

  function showHeadline() {
    const facts = [
      ["step", (run) => (run.last === null ? "–" : counted(run.last)), (run) => `${counted(run.rows)} rows`],
      ["total", (run) => shown(last(run.curves.values.total?.mean)), (run) => `first ${shown(run.curves.values.total?.mean[0] ?? null)}`],
      ["groups without signal", (run) => percent(last(run.curves.flat)), () => "all totals of the group are the same"],
      ["length", (run) => shown(last(run.curves.length.mean)), (run) => run.unit],
      ["seconds of rewards", (run) => shown(last(run.curves.seconds)), () => "per step, in the slowest process"],
    ];
    const alone = (value, name, note) => [element("b", {}, value(runs[0])), element("span", {}, name), element("small", {}, note(runs[0]))];
    const beside = (value, name) => [
      element("span", {}, name),
      ...runs.map((run, place) => element("small", { className: "of-run" }, curves.lineKey(look(place)), `${run.name} `, element("b", {}, value(run)))),
    ];
    one("#headline").replaceChildren(
      ...facts.map(([name, value, note]) => element("div", {}, ...(runs.length > 1 ? beside(value, name) : alone(value, name, note)))),
    );
  }

  // --- alarms --------------------------------------------------------------------------------

  const opened = new Set(); // the alarms whose rows are shown

  function showAlarms() {
    const cards = runs.flatMap((run, place) => run.alarms.map((alarm) => alarmCard(run, place, alarm)));
    const quiet = runs.every((run) => !run.steps)
      ? "There are no rows yet."
      : "There is no alarm, and there was none so far.";
    one("#alarm-list").replaceChildren(
      ...(cards.length ? cards : [element("div", { className: "card fine" }, element("p", {}, quiet))]),
    );
  }

  function alarmCard(run, place, alarm) {
    const when = alarm.is_over
      ? `steps ${counted(alarm.first)} to ${counted(alarm.last)}, over now`
      : `since step ${counted(alarm.first)}`;
    const name = alarm.kind[0].toUpperCase() + alarm.kind.slice(1);
    const whose = runs.length > 1 ? `${run.name}, ` : "";
    const rows = element("div");
    const key = `${place} ${alarm.kind} ${alarm.about}`;
    const button = element("button", { type: "button", className: "link" }, "Show the rows");
    const show = async () => {
      button.textContent = "Hide the rows";
      const found = await ask("/api/rows", { ...alarm.rows, run: place, most: 5 });
      const all = element("button", { type: "button", className: "link" }, `The rows of step ${counted(found.step)}`);
      all.onclick = () => goTo(place, found.step, { status: alarm.rows.status ?? "", order: alarm.rows.order ?? "" });
      rows.replaceChildren(...found.rows.map((row) => rowView(row, true)), all);
    };
    button.onclick = async () => {
      if (opened.delete(key)) {
        rows.replaceChildren();
        button.textContent = "Show the rows";
      } else {
        opened.add(key);
        await show();
      }
    };
    if (opened.has(key)) show();
    return element(
      "article",
      { className: alarm.is_over ? "card alarm over" : "card alarm" },
      element("h3", {}, `${name} `, element("small", {}, `${whose}${when}`)),
      element("p", {}, alarm.text),
      element("p", {}, button),
      rows,
    );
  }

  // --- curves --------------------------------------------------------------------------------

  function charts() {
    const names = [...new Set(runs.flatMap((run) => Object.keys(run.curves.values)))];
    const own = (name) => ({
      key: `value ${name}`,
      title: name,
      lines: each((curves) => curves.values[name] && { ...curves.values[name], y: curves.values[name].mean }),
    });
    const shares = (of) => {
      const kinds = [...new Set(runs.flatMap((run) => Object.keys(run.curves[of])))];
      const line = (kind) => (curves) => curves[of][kind] && { y: curves[of][kind] };
      return kinds.flatMap((kind, place) => each(line(kind), kind, kinds.length > 1 ? place : null));
    };
    return [
      ...names.map(own),
      { key: "right", title: "right", percent: true, lines: shares("right") },
      { key: "flat", title: "groups without signal", percent: true, lines: each((curves) => ({ y: curves.flat })) },
      {
        key: "length",
        title: `length in ${runs[0].unit}`,
        fromZero: true,
        lines: each((curves) => ({ ...curves.length, y: curves.length.mean })),
      },
      { key: "statuses", title: "statuses other than scored", percent: true, lines: shares("statuses") },
      { key: "seconds", title: "seconds of rewards per step", fromZero: true, lines: each((curves) => ({ y: curves.seconds })) },
      { key: "rewards", title: "seconds of each reward per step, in all processes", fromZero: true, lines: shares("rewards") },
    ];
  }

  // A line of each run. place: that of the colour; by default each run has its own.
  function each(of, name = "", place = null) {
    return runs.flatMap((run, at) => {
      const found = of(run.curves);
      if (!found || !run.curves.step.length) return [];
      const label = [name, runs.length > 1 ? run.name : name ? "" : "mean"].filter(Boolean).join(", ");
      return [{ ...found, name: label, x: run.curves.step, ...look(at, place ?? at) }];
    });
  }

  function showCharts() {
    const place = one("#charts");
    for (const chart of charts()) {
      let figure = one(`[data-curve="${CSS.escape(chart.key)}"]`, place);
      if (!figure) {
        figure = element("figure", { className: "curve" });
        figure.dataset.curve = chart.key;
        place.append(element("div", { className: "card" }, element("h3", {}, chart.title), figure));
      }
      curves.draw(figure, chart.lines, { ...chart, pick: (step) => goTo(null, step, {}) });
    }
  }

  // --- rows ----------------------------------------------------------------------------------

  function goTo(run, step, { status = null, order = null }) {
    if (run !== null) one("#run").value = String(run);
    if (status !== null) one("#status").value = status;
    if (order !== null) one("#order").value = order;
    shownStep = step;
    most = 60;
    showRows();
    one("#rows").scrollIntoView();
  }

  const current = () => runs[Number(one("#run").value)] ?? runs[0];

  // The rows of the step that is chosen; by = -1 or 1: of the recorded step before or after it.
  async function showRows(by = 0) {
    const number = (asked += 1);
    const values = { run: one("#run").value, order: one("#order").value, status: one("#status").value, most };
    if (shownStep !== null) values.step = shownStep;
    if (by) values.by = by;
    const found = await ask("/api/rows", values);
    if (number !== asked) return;
    if (shownStep !== null) shownStep = found.step;
    keepInAddress();
    one("#step").value = found.step ?? "";
    one("#found").textContent =
      found.step === null
        ? "There are no rows yet."
        : `${counted(found.count)} rows of step ${counted(found.step)}${shownStep === null ? ", the latest" : ""}`;
    one("#more").hidden = found.rows.length >= found.count || most >= 400;
    const list = one("#list");
    const open = new Set(plaudit.all("details[open]", list).map((row) => row.dataset.row));
    list.replaceChildren(...(values.order ? [flat(found.rows)] : grouped(found.rows)));
    plaudit.all("details", list).forEach((row) => (row.open = open.has(row.dataset.row)));
  }

  // The run, the step, the order and the status are in the address, which can be sent to others.
  function keepInAddress() {
    const kept = { run: one("#run").value === "0" ? "" : one("#run").value, step: shownStep ?? "", order: one("#order").value, status: one("#status").value };
    const query = new URLSearchParams(Object.entries(kept).filter(([, value]) => value !== ""));
    history.replaceState(null, "", `${query.size ? `?${query}` : location.pathname}${location.hash}`);
  }

  function readAddress() {
    const query = new URLSearchParams(location.search);
    for (const name of ["run", "order", "status"]) {
      const [field, value] = [one(`#${name}`), query.get(name)];
      if (value && name === "status") field.append(element("option", { value }, value)); // its rows are yet to be read
      if (value && [...field.options].some((option) => option.value === value)) field.value = value;
    }
    if (/^\d+$/.test(query.get("step") ?? "")) shownStep = Number(query.get("step"));
  }

  const flat = (rows) => element("div", { className: "card group" }, ...rows.map((row) => rowView(row, true)));

  function grouped(rows) {
    return [...groupBy(rows, (row) => row.group).values()].map((own) =>
      element(
        "article",
        { className: "card group" },
        ...picture(own[0]),
        element("p", { className: "asked" }, own[0].prompt || "(the trainer passed no prompt)"),
        timeButton(own[0]),
        ...own.map((row) => rowView(row, false)),
      ),
    );
  }

  const picture = (row) => (row.thumbnail ? [element("img", { className: "thumbnail", src: row.thumbnail, alt: "The image of the prompt" })] : []);

  function groupBy(rows, of) {
    const groups = new Map();
    for (const row of rows) groups.set(of(row), [...(groups.get(of(row)) ?? []), row]);
    return groups;
  }

  function timeButton(row) {
    const button = element("button", { type: "button", className: "link through-time" }, "This prompt through time");
    button.onclick = () => showHistory(row);
    return element("p", {}, button);
  }

  function rowView(row, withPrompt, withStep = false) {
    const values = Object.entries(row.values).map(([name, value]) => `${name} ${shown(value)}`);
    const said = row.completion.trim().replace(/\s+/g, " ") || "(nothing)";
    const view = element(
      "details",
      { className: "row" },
      element(
        "summary",
        {},
        element("b", {}, mark(row), withStep ? `step ${counted(row.step)}` : shown(row.total)),
        element("span", { className: "said" }, said.slice(0, 300)),
        element("span", { className: "numbers" }, withStep ? `total ${shown(row.total)} ` : `${values.join(" · ")} `, pill(row.status)),
      ),
    );
    view.dataset.row = row.id;
    view.addEventListener("toggle", () => view.open && view.children.length < 2 && view.append(inside(row, withPrompt)));
    return view;
  }

  const mark = (row) =>
    row.right === null ? "" : element("span", { className: row.right ? "mark right" : "mark wrong", title: row.right ? "right" : "wrong" }, row.right ? "✓" : "✗");

  const pill = (status) => element("span", { className: `status ${status}` }, status);

  function inside(row, withPrompt) {
    const about = [`total ${shown(row.total)}`, `step ${counted(row.step ?? 0)}`];
    if (row.tokens !== null) about.push(`${counted(row.tokens)} tokens`);
    if (row.seconds >= 0.001) about.push(`${shown(row.seconds)} s`);
    const others = Object.entries(row.others).flatMap(([name, value]) => [element("h4", {}, name), element("pre", {}, value)]);
    return element(
      "div",
      { className: "inside" },
      ...(withPrompt ? [element("h4", {}, "prompt"), ...picture(row), element("pre", {}, row.prompt || "(none)"), timeButton(row)] : []),
      element("h4", {}, `completion (${about.join(", ")})`),
      element("pre", {}, row.completion || "(nothing)"),
      element("h4", {}, "why"),
      ...row.reasons.map(reason),
      ...others,
    );
  }

  function reason(entry) {
    const read = [entry.answer !== null ? `read as answer: ${entry.answer}` : "", entry.gold !== null ? `gold: ${entry.gold}` : ""];
    return element(
      "div",
      { className: "reason" },
      element("b", {}, `${entry.component} ${shown(entry.value)} `),
      pill(entry.status),
      element("p", {}, entry.why),
      ...read.filter(Boolean).map((text) => element("p", { className: "quiet" }, text)),
    );
  }

  async function showHistory(row) {
    const found = await ask("/api/prompt", { prompt: row.key, most: 200 });
    const sides = found.map((run) =>
      element(
        "div",
        {},
        element("h3", {}, `${runs.length > 1 ? `${run.name}: ` : ""}${counted(run.rows.length)} completions, the latest first`),
        ...[...run.rows].reverse().map((own) => rowView(own, false, true)),
      ),
    );
    const figure = element("figure", { className: "curve" });
    one("#through-time").replaceChildren(
      ...picture(row),
      element("p", { className: "asked" }, row.prompt || "(the trainer passed no prompt)"),
      figure,
      element("div", { className: "sides" }, ...sides),
    );
    one("#history").showModal();
    curves.draw(figure, found.flatMap(promptLine), { title: "total of this prompt" });
  }

  // The mean total of a prompt's completions at each step, with the least and the most.
  function promptLine(run, place) {
    const steps = groupBy(run.rows.filter((row) => row.total !== null), (row) => row.step);
    const totals = [...steps.values()].map((rows) => rows.map((row) => row.total));
    if (!totals.length) return [];
    return [{
      name: runs.length > 1 ? run.name : "mean total, from the least to the most",
      x: [...steps.keys()],
      y: totals.map((all) => all.reduce((sum, one) => sum + one, 0) / all.length),
      low: totals.map((all) => Math.min(...all)),
      high: totals.map((all) => Math.max(...all)),
      ...look(place),
    }];
  }

  function offerStatuses() {
    const known = [...new Set(runs.flatMap((run) => Object.keys(run.curves.statuses)))].sort();
    const choice = one("#status");
    const chosen = choice.value;
    choice.replaceChildren(element("option", { value: "" }, "any"), ...["scored", ...known].map((name) => element("option", { value: name }, name)));
    if (chosen && !["scored", ...known].includes(chosen)) choice.append(element("option", { value: chosen }, chosen));
    choice.value = chosen;
  }

  let moved = Promise.resolve();

  // One move after the other, so that two quick clicks go two steps.
  function move(by) {
    const go = () => {
      shownStep ??= current().last;
      return showRows(by);
    };
    moved = moved.then(go, go);
  }

  one("#before").onclick = () => move(-1);
  one("#after").onclick = () => move(1);
  one("#latest").onclick = () => ((shownStep = null), showRows());
  one("#step").onchange = (event) => {
    shownStep = event.target.value === "" ? null : Number(event.target.value);
    showRows();
  };
  for (const name of ["run", "order", "status"]) one(`#${name}`).onchange = () => ((most = 60), showRows());
  one("#more").onclick = () => ((most = Math.min(400, most * 2)), showRows());
  one("#choice").onsubmit = (event) => event.preventDefault();
  one("#close").onclick = () => one("#history").close();
  addEventListener("resize", () => runs.length && showCharts());
  curves.dark.addEventListener("change", () => runs.length && (showHeadline(), showCharts()));
  readAddress();
  follow();
})();
