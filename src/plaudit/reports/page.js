// The table of rows: filtered, sorted, opened, downloaded.
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
  let onlyPrompt = null; // the prompt whose rows alone are shown
  let rowWindow = null;
  let resetting = 0;

  const string = (place) => (place === null ? "" : data.strings[place]);
  const textOf = (row) => (Array.isArray(data.text[row]) ? data.text[row][0] + " … " + data.text[row][2] : data.text[row]);

  // The answer that a row is shown with: of the first component that read one.
  function answerOf(row) {
    const reason = data.reasons[row].find((found) => found[4] !== null);
    return reason ? string(reason[4]) : "";
  }

  // What the first component that names a gold read as it; else the table's column.
  function goldOf(row) {
    const reason = data.reasons[row].find((found) => found[5] !== null);
    return reason ? string(reason[5]) : string(data.gold[row]);
  }

  // A value of another column, to sort by: as a number if it is one.
  function sortable(place) {
    const text = string(place);
    return text.trim() !== "" && !isNaN(text) ? Number(text) : text;
  }

  function tableColumns() {
    const narrow = innerWidth <= 760;
    const values = data.components.map((name, place) => ({
      key: `component ${name}`, title: name, short: name.replace(/_reward$/, ""), width: "minmax(4.5rem, 7.6rem)", number: true, wide: true, value: (row) => data.values[place][row],
    }));
    const shownValues = values.slice(0, 4).map((column) => column.key);
    const run = { key: "run", title: "run", width: narrow ? "4.6rem" : "minmax(4.5rem, 8rem)", value: (row) => data.runs[data.run[row]] };
    const label = { key: "label", title: "label", width: "3.4rem", number: true, wide: true, value: (row) => data.label[row] };
    const found = [
      ...(data.runs.length > 1 ? [run] : []),
      { key: "id", title: "row", width: "4.2rem", number: true, wide: true, value: (row) => data.id[row] },
      { key: "total", title: "total", width: narrow ? "4.9rem" : "5rem", number: true, value: (row) => data.total[row] },
      ...values,
      ...(data.label.some((value) => value !== null) ? [label] : []),
      { key: "status", title: "status", width: narrow ? "5.4rem" : "5.6rem", value: (row) => string(data.status[row]), cell: (row) => status(string(data.status[row])) },
      { key: "answer", title: "extracted answer", short: narrow ? "answer" : undefined, width: narrow ? "1fr" : "minmax(5rem, 1fr)", value: (row) => data.answer[row] },
      { key: "gold", title: "gold", width: "minmax(4rem, 1fr)", wide: true, value: goldOf },
      { key: "prompt", title: "prompt", width: "minmax(7rem, 2fr)", wide: true, value: (row) => string(data.prompt[row]) },
      { key: "length", title: "length", width: "4.2rem", number: true, wide: true, value: (row) => data.length[row] },
      { key: "group", title: "group", wide: true, hidden: true, value: (row) => string(data.group[row]) },
      { key: "completion", title: "completion", hidden: true, value: textOf },
      ...data.columns.map((name, place) => ({ key: `column ${name}`, title: name, hidden: true, value: (row) => sortable(data.others[row][place]) })),
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
    one("#found").textContent = `${counted(order.length)} of ${counted(data.id.length)} ${data.id.length === 1 ? "row" : "rows"}${onlyPrompt === null ? "" : ", of one prompt"}`;
    one("#csv").disabled = !order.length;
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
      if (typeof x !== typeof y) return typeof x === "number" ? -sign : sign;
      return x < y ? -sign : sign;
    });
  }

  function searched(row) {
    const reasons = data.reasons[row].flatMap((reason) => [reason[4], reason[5], reason[6]].map(string));
    return [string(data.prompt[row]), textOf(row), string(data.gold[row]), ...reasons].join("\n").toLowerCase();
  }

  // Whether the total of a row rose from the first run to the second.
  function changeOf(row) {
    const beside = data.pair[row];
    if (beside === null) return "alone";
    const [earlier, later] = data.run[row] === 0 ? [row, beside] : [beside, row];
    const [a, b] = [data.total[earlier], data.total[later]];
    if (a === null || b === null) return a === b ? "same" : "";
    return Math.abs(b - a) <= ROUNDED ? "same" : b > a ? "higher" : "lower";
  }

  function agreementOf(row) {
    const [right, label] = [data.right[row], data.label[row]];
    if (right === null || label === null) return "";
    return right === label ? "agree" : right === 1 ? "paid" : "refused";
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
    const column = data.columns.indexOf(asked.column);
    const wanted = column < 0 ? "" : asked.value.trim().toLowerCase();
    order = [];
    for (let row = 0; row < data.id.length; row++) {
      const value = values[row];
      if (asked.status && string(data.status[row]) !== asked.status) continue;
      if (group && !inGroup(string(data.group[row]).toLowerCase())) continue;
      if ((low !== null || high !== null) && (value === null || value < (low ?? -Infinity) - ROUNDED || value > (high ?? Infinity) + ROUNDED)) continue;
      if (wanted && string(data.others[row][column]).toLowerCase() !== wanted) continue;
      if (asked.run && String(data.run[row]) !== asked.run) continue;
      if (asked.change && changeOf(row) !== asked.change) continue;
      if (asked.agreement && agreementOf(row) !== asked.agreement) continue;
      if (onlyPrompt !== null && data.prompt[row] !== onlyPrompt) continue;
      if (text && !texts[row].includes(text)) continue;
      order.push(row);
    }
    sortRows();
    body.scrollTop = current = 0;
    drawTable();
  }

  // From a chart or a list: only these rows, and there.
  function showRows(asked, prompt = null) {
    if (!data) return;
    filters.reset();
    clearTimeout(resetting);
    onlyPrompt = prompt;
    for (const [name, value] of Object.entries(asked)) filters.elements[name].value = value;
    filterRows();
    one("#rows").scrollIntoView();
  }

  // --- what people do --------------------------------------------------------------------------

  const open = (row) => rowWindow.open(row, order);

  function step(by) {
    const place = order.indexOf(Number(rowWindow.dialog.dataset.row)) + by;
    if (place >= 0 && place < order.length) {
      current = place;
      open(order[place]);
    }
  }

  // The row that the page's address names, so that a link can be sent to somebody.
  function openNamed() {
    const row = rowWindow.named();
    if (row === null) return;
    if (row >= 0) open(row);
    else one("#found").textContent = "The row of this link is not on this page, which holds a sample of the rows.";
  }

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
    filters.addEventListener("reset", () => {
      onlyPrompt = null;
      resetting = setTimeout(filterRows); // once the fields are empty
    });
    filters.elements.column?.addEventListener("change", fillValues);
    one("#csv").addEventListener("click", () => plaudit.download("rows.csv", plaudit.csvOf(csvColumns(), order)));
    addEventListener("hashchange", openNamed);
    filters.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("click", (event) => {
      const found = event.target.closest("[data-row], [data-group], [data-status], [data-text], [data-column], [data-agreement], [data-prompt]");
      if (!found || !data || found.closest("dialog")) return;
      const { row, run, group, status: state, text, column, value, agreement, prompt: promptOf } = found.dataset;
      const place = (id, which) => data.id.findIndex((other, at) => other === Number(id) && data.run[at] === which);
      if (group !== undefined) showRows({ group });
      else if (state !== undefined) showRows({ status: state });
      else if (text !== undefined) showRows({ text });
      else if (column !== undefined) showRows({ column, value });
      else if (agreement !== undefined) showRows({ agreement });
      else if (promptOf !== undefined) showRows({}, data.prompt[place(promptOf, 1)] ?? null);
      else if (place(row, Number(run ?? 0)) >= 0) open(place(row, Number(run ?? 0)));
    });
    one("#previous").addEventListener("click", () => step(-1));
    one("#next").addEventListener("click", () => step(1));
    rowWindow.dialog.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
    });
    addEventListener("resize", drawTable);
  }

  // What the filter by a column offers: its values on this page, the most frequent first.
  function fillValues() {
    const column = data.columns.indexOf(filters.elements.column.value);
    const counts = new Map();
    if (column >= 0) for (const others of data.others) counts.set(others[column], (counts.get(others[column]) ?? 0) + 1);
    const often = [...counts].filter(([place]) => place !== null).sort((a, b) => b[1] - a[1]).slice(0, 100);
    one("#values").replaceChildren(...often.map(([place]) => element("option", { value: string(place) })));
  }

  // The columns of the table as a file: title and value of a row.
  function csvColumns() {
    const of = (name) => (row) => (data[name][row] === null ? null : string(data[name][row]));
    const joined = (row) => data.reasons[row].map((reason) => `${string(reason[1])}: ${string(reason[6])}`).join("\n");
    return [
      ...(data.runs.length > 1 ? [["run", (row) => data.runs[data.run[row]]]] : []),
      ["row_id", (row) => data.id[row]],
      ["group_id", of("group")],
      ["total", (row) => data.total[row]],
      ...data.components.map((name, place) => [name, (row) => data.values[place][row]]),
      ["status", of("status")],
      ["right", (row) => data.right[row]],
      ["extracted_answer", (row) => data.answer[row]],
      ["gold", goldOf],
      ["prompt", of("prompt")],
      ["completion", textOf],
      ["why", joined],
      ...data.columns.map((name, place) => [name, (row) => (data.others[row][place] === null ? null : string(data.others[row][place]))]),
    ];
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
    for (const place of plaudit.all(".formulas")) place.replaceChildren(plaudit.latex.nodesOf(place.textContent));
    data = await unpacked("data");
    // By rows, as they were written; by components is how they are asked for.
    data.values = data.components.map((_, place) => data.values.map((row) => row[place]));
    data.answer = data.id.map((_, row) => answerOf(row));
    columns = tableColumns();
    rowWindow = plaudit.rowWindow({ data, string, status });
    fillChoices();
    listen();
    filterRows();
    openNamed();
    document.documentElement.dataset.ready = "";
  }

  main().catch((error) => {
    one("#found").textContent = `The rows cannot be shown: ${error.message}`;
    throw error;
  });
})();
