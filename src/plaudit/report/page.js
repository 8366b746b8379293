"use strict";
// The page's own script: shows the table of rows, and one row.
// Whatever a model wrote goes into the page as text alone, by textContent.
(() => {
  const { one, element, shown, counted, unpacked } = plaudit;

  // --- the rows --------------------------------------------------------------------------------

  const ROW = 38; // pixels, as in the style
  const ROUNDED = 1e-6; // by how much the page's values may differ from the bounds of a bar
  const SPARE = 12; // rows drawn beyond either edge
  const filters = one("#filters");
  const grid = one("#table");
  const body = one(".body", grid);
  const spacer = one(".spacer", grid);
  let data = null;
  let columns = []; // {key, title, width, value(row), cell(row), number, wide}
  let order = []; // the rows that pass the filters, sorted
  let sort = { key: "id", down: false };
  let current = 0; // the place in `order` that the keyboard is at
  let texts = null; // each row in lower case, to search in

  const string = (place) => (place === null ? "" : data.strings[place]);
  const textOf = (row) => (Array.isArray(data.text[row]) ? data.text[row][0] + " … " + data.text[row][2] : data.text[row]);

  // The answer that a row is shown with: of the first component that read one.
  function answerOf(row) {
    const reason = data.reasons[row].find((found) => found[4] !== null);
    return reason ? string(reason[4]) : "";
  }

  function tableColumns() {
    const narrow = innerWidth <= 760;
    const values = data.components.map((name, place) => ({
      key: name, title: name, short: name.replace(/_reward$/, ""), width: "minmax(4.5rem, 7.6rem)", number: true, wide: true, value: (row) => data.values[place][row],
    }));
    const shownValues = values.slice(0, 4).map((column) => column.key);
    const found = [
      { key: "id", title: "row", width: "4.2rem", number: true, wide: true, value: (row) => data.id[row] },
      { key: "total", title: "total", width: narrow ? "3.2rem" : "4.2rem", number: true, value: (row) => data.total[row] },
      ...values,
      { key: "status", title: "status", width: narrow ? "5.4rem" : "5.6rem", value: (row) => string(data.status[row]), cell: (row) => status(string(data.status[row])) },
      { key: "answer", title: "answer", width: narrow ? "1fr" : "minmax(5rem, 1fr)", value: (row) => data.answer[row] },
      { key: "prompt", title: "prompt", width: "minmax(7rem, 2fr)", wide: true, value: (row) => string(data.prompt[row]) },
      { key: "length", title: "length", width: "4.2rem", number: true, wide: true, value: (row) => data.length[row] },
      { key: "group", title: "group", wide: true, hidden: true, value: (row) => string(data.group[row]) },
      { key: "completion", title: "completion", hidden: true, value: textOf },
    ];
    for (const column of found) {
      column.hidden ||= (narrow && column.wide) || (values.includes(column) && !shownValues.includes(column.key));
    }
    return found;
  }

  const status = (text) => element("span", { className: `status ${text.replace(/[^a-z_]/g, "")}`, textContent: text });

  function cell(column, row) {
    const value = column.value(row);
    const made = element("span", { role: "gridcell", className: column.number ? "n" : "" });
    if (column.cell) made.append(column.cell(row));
    else if (column.number) made.textContent = column.key === "id" ? String(value) : shown(value);
    else made.textContent = value.slice(0, 200) || "–";
    if (value === null || value === "") made.classList.add("none");
    return made;
  }

  function drawHead() {
    columns = tableColumns();
    const visible = columns.filter((column) => !column.hidden);
    grid.style.setProperty("--columns", visible.map((column) => column.width).join(" "));
    grid.setAttribute("aria-colcount", visible.length);
    one(".head", grid).replaceChildren(
      ...visible.map((column) => {
        const made = element("span", { role: "columnheader", className: column.number ? "n" : "" });
        made.ariaSort = sort.key === column.key ? (sort.down ? "descending" : "ascending") : "none";
        const button = element("button", { type: "button", textContent: column.short ?? column.title, title: `Sort by ${column.title}` });
        button.addEventListener("click", () => sortBy(column.key, sort.key === column.key && !sort.down));
        made.append(button);
        return made;
      }),
    );
    filters.elements.sort.value = `${sort.key} ${sort.down ? "down" : "up"}`;
  }

  function drawBody() {
    const first = Math.max(0, Math.floor(body.scrollTop / ROW) - SPARE);
    const last = Math.min(order.length, Math.ceil((body.scrollTop + body.clientHeight) / ROW) + SPARE);
    const visible = columns.filter((column) => !column.hidden);
    const focused = body.contains(document.activeElement);
    const rows = [];
    for (let place = first; place < last; place++) {
      const row = order[place];
      const made = element("div", { className: "tr", role: "row", tabIndex: place === current ? 0 : -1 });
      made.dataset.place = place;
      made.setAttribute("aria-rowindex", place + 2);
      made.style.top = `${place * ROW}px`;
      made.append(...visible.map((column) => cell(column, row)));
      rows.push(made);
    }
    body.replaceChildren(spacer, ...rows);
    if (focused) one(`[data-place="${current}"]`, body)?.focus({ preventScroll: true });
  }

  function drawTable() {
    drawHead();
    spacer.style.height = `${order.length * ROW}px`;
    body.style.height = `${Math.min(order.length * ROW, Math.min(560, innerHeight * 0.7)) || ROW}px`;
    grid.setAttribute("aria-rowcount", order.length + 1);
    one("#found").textContent = `${counted(order.length)} of ${counted(data.id.length)} ${data.id.length === 1 ? "row" : "rows"}`;
    drawBody();
    // The head has no scroll bar, and its columns stand over the body's all the same.
    one(".head", grid).style.marginRight = `${body.offsetWidth - body.clientWidth}px`;
  }

  function sortBy(key, down) {
    sort = { key, down };
    sortRows();
    body.scrollTop = current = 0;
    drawTable();
  }

  // Rows without a value come last, whichever way; ties stay in the order of the run.
  function sortRows() {
    const column = columns.find((found) => found.key === sort.key) ?? columns[0];
    const keys = new Map(order.map((row) => [row, column.value(row)]));
    const sign = sort.down ? -1 : 1;
    order.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      if (x === y) return a - b;
      if (x === null || x === "") return 1;
      if (y === null || y === "") return -1;
      return x < y ? -sign : sign;
    });
  }

  function searched(row) {
    const reasons = data.reasons[row].flatMap((reason) => [reason[4], reason[5], reason[6]].map(string));
    return [string(data.prompt[row]), textOf(row), string(data.gold[row]), ...reasons].join("\n").toLowerCase();
  }

  function filterRows() {
    const asked = Object.fromEntries(new FormData(filters));
    const text = asked.text.trim().toLowerCase();
    const group = asked.group.trim().toLowerCase();
    const [low, high] = [asked.low, asked.high].map((bound) => (bound === "" ? null : Number(bound)));
    const place = data.components.indexOf(asked.component);
    const values = place < 0 ? data.total : data.values[place];
    // A whole name means that group; a part of one means all that contain it.
    const exact = data.group.some((found) => string(found).toLowerCase() === group);
    const inGroup = (name) => (exact ? name === group : name.includes(group));
    if (text) texts ??= data.id.map((_, row) => searched(row));
    order = [];
    for (let row = 0; row < data.id.length; row++) {
      const value = values[row];
      if (asked.status && string(data.status[row]) !== asked.status) continue;
      if (group && !inGroup(string(data.group[row]).toLowerCase())) continue;
      if ((low !== null || high !== null) && (value === null || value < (low ?? -Infinity) - ROUNDED || value > (high ?? Infinity) + ROUNDED)) continue;
      if (text && !texts[row].includes(text)) continue;
      order.push(row);
    }
    sortRows();
    body.scrollTop = current = 0;
    drawTable();
  }

  // From a chart or a list: only these rows, and there.
  function showRows(asked) {
    if (!data) return;
    filters.reset();
    for (const [name, value] of Object.entries(asked)) filters.elements[name].value = value;
    filterRows();
    one("#rows").scrollIntoView();
  }

  // --- one row ---------------------------------------------------------------------------------

  const dialog = one("#row");

  // Where an answer stands in a text: verbatim, the last time; else but for case; else <answer>.
  function spanOf(answer, text) {
    if (!answer) return null;
    let at = text.lastIndexOf(answer);
    if (at >= 0) return [at, at + answer.length];
    at = text.toLowerCase().lastIndexOf(answer.toLowerCase());
    if (at >= 0) return [at, at + answer.length];
    const close = text.lastIndexOf("</answer>");
    const open = text.lastIndexOf("<answer>", close);
    return close > 0 && open >= 0 ? [open + "<answer>".length, close] : null;
  }

  function marked(text, answers) {
    const spans = answers.map((answer) => spanOf(answer, text)).filter(Boolean).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const made = document.createDocumentFragment();
    let end = 0;
    for (const [from, to] of spans) {
      if (from < end || to <= from) continue;
      made.append(text.slice(end, from), element("mark", { textContent: text.slice(from, to) }));
      end = to;
    }
    made.append(text.slice(end));
    return made;
  }

  // Of a text that was cut, the end is searched first: that is where the answer is.
  function completionOf(row, answers) {
    const text = data.text[row];
    if (!Array.isArray(text)) return element("pre", { className: "completion" }, marked(text, answers));
    const [head, leftOut, tail] = text;
    const inTail = answers.filter((answer) => spanOf(answer, tail));
    const inHead = answers.filter((answer) => !inTail.includes(answer));
    const gap = element("span", { className: "left-out", textContent: `… ${counted(leftOut)} characters left out of this page …` });
    return element("pre", { className: "completion" }, marked(head, inHead), gap, marked(tail, inTail));
  }

  function reasonOf([value, component, state, method, answer, gold, why, ungated]) {
    const facts = [["answer", answer], ["gold", gold], ["by", method]].filter(([, text]) => text !== null && string(text) !== "");
    return element(
      "div",
      { className: "reason" },
      element("b", { textContent: shown(value) }),
      ` ${string(component)} ${ungated === null ? "" : `(${shown(ungated)} without its gate) `}`,
      status(string(state)),
      element("p", { textContent: string(why) }),
      element("p", { className: "facts", textContent: facts.map(([name, text]) => `${name} ${string(text)}`).join(" · ") }),
    );
  }

  function detailOf(row) {
    const answers = [...new Set(data.reasons[row].map((reason) => string(reason[4])).filter(Boolean))];
    const parts = [
      element("h3", { textContent: "Prompt" }),
      element("pre", { className: "prompt", textContent: string(data.prompt[row]) || "(none)" }),
      element("h3", { textContent: answers.length ? "Completion, with the extracted answer marked" : "Completion; no answer was read in it" }),
      completionOf(row, answers),
    ];
    if (data.gold[row] !== null) {
      parts.push(element("h3", { textContent: "Gold" }), element("pre", { className: "gold", textContent: string(data.gold[row]) }));
    }
    parts.push(element("h3", { textContent: "Why" }), ...data.reasons[row].map(reasonOf));
    return parts;
  }

  function open(row) {
    const total = shown(data.total[row]);
    one("#row-title").textContent = `Row ${data.id[row]} · total ${total} · group ${string(data.group[row])}`;
    one("#detail").replaceChildren(...detailOf(row));
    dialog.dataset.row = row;
    const place = order.indexOf(row);
    one("#previous").disabled = place <= 0;
    one("#next").disabled = place < 0 || place >= order.length - 1;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  function step(by) {
    const place = order.indexOf(Number(dialog.dataset.row)) + by;
    if (place >= 0 && place < order.length) {
      current = place;
      open(order[place]);
    }
  }

  // --- what people do --------------------------------------------------------------------------

  function moveTo(place) {
    current = Math.max(0, Math.min(order.length - 1, place));
    const top = current * ROW;
    if (top < body.scrollTop) body.scrollTop = top;
    if (top + ROW > body.scrollTop + body.clientHeight) body.scrollTop = top + ROW - body.clientHeight;
    drawBody();
    one(`[data-place="${current}"]`, body)?.focus({ preventScroll: true });
  }

  function listen() {
    const page = () => Math.max(1, Math.floor(body.clientHeight / ROW) - 1);
    const moves = {
      ArrowDown: () => current + 1,
      ArrowUp: () => current - 1,
      PageDown: () => current + page(),
      PageUp: () => current - page(),
      Home: () => 0,
      End: () => order.length - 1,
    };
    body.addEventListener("keydown", (event) => {
      if (event.key === "Enter") open(order[current]);
      else if (event.key in moves) moveTo(moves[event.key]());
      else return;
      event.preventDefault();
    });
    body.addEventListener("click", (event) => {
      const made = event.target.closest("[data-place]");
      if (!made) return;
      current = Number(made.dataset.place);
      open(order[current]);
    });
    let waiting = false;
    body.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        drawBody();
      });
    });
    let timer = 0;
    const changed = (event) => {
      if (event.target.name === "sort") return;
      clearTimeout(timer);
      timer = setTimeout(filterRows, 120);
    };
    filters.addEventListener("input", changed);
    filters.addEventListener("change", changed);
    filters.elements.sort.addEventListener("change", (event) => {
      const [key, way] = event.target.value.split(/ (?=up$|down$)/);
      sortBy(key, way === "down");
    });
    filters.addEventListener("reset", () => setTimeout(filterRows));
    filters.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("click", (event) => {
      const found = event.target.closest("[data-row], [data-group], [data-status], [data-text]");
      if (!found || found === dialog || found.closest("dialog")) return;
      if (found.dataset.group !== undefined) showRows({ group: found.dataset.group });
      else if (found.dataset.status !== undefined) showRows({ status: found.dataset.status });
      else if (found.dataset.text !== undefined) showRows({ text: found.dataset.text });
      else if (data && data.id.includes(Number(found.dataset.row))) open(data.id.indexOf(Number(found.dataset.row)));
    });
    one("#close").addEventListener("click", () => dialog.close());
    one("#previous").addEventListener("click", () => step(-1));
    one("#next").addEventListener("click", () => step(1));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
    });
    addEventListener("resize", drawTable);
  }

  function fillChoices() {
    const option = (value, textContent = value) => element("option", { value, textContent });
    const { status: statuses, component, sort: sorts } = filters.elements;
    statuses.append(...[...new Set(data.status.map(string))].sort().map((name) => option(name)));
    component.append(...data.components.map((name) => option(name)));
    for (const { key, title } of columns) {
      sorts.append(option(`${key} up`, `${title} ↑`), option(`${key} down`, `${title} ↓`));
    }
  }

  async function main() {
    plaudit.onClick(({ filter }, { low, high }) => low !== undefined && showRows({ component: filter, low, high }));
    plaudit.drawCharts();
    data = await unpacked("data");
    // By rows, as they were written; by components is how they are asked for.
    data.values = data.components.map((_, place) => data.values.map((row) => row[place]));
    data.answer = data.id.map((_, row) => answerOf(row));
    columns = tableColumns();
    fillChoices();
    listen();
    filterRows();
    document.documentElement.dataset.ready = "";
  }

  main().catch((error) => {
    one("#found").textContent = `The rows cannot be shown: ${error.message}`;
    throw error;
  });
})();
