// One row in a window of its own: its texts, why it has its values, and all of its columns.
plaudit.rowWindow = (table) => {
  const { one, element, shown, counted, latex } = plaudit;
  const { data, string, status } = table;
  const dialog = one("#row");
  let source = false; // whether formulas are shown as they were written

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

  const marked = (text, answers) => latex.nodesOf(text, answers.map((answer) => spanOf(answer, text)).filter(Boolean), source);
  const textBox = (name, ...nodes) => element("pre", { className: `${name}${source || !latex.available() ? "" : " rendered"}` }, ...nodes);

  // Of a text that was cut, the end is searched first: that is where the answer is.
  function completionOf(row, answers) {
    const text = data.text[row];
    if (!Array.isArray(text)) return textBox("completion", marked(text, answers));
    const [head, leftOut, tail] = text;
    const inTail = answers.filter((answer) => spanOf(answer, tail));
    const inHead = answers.filter((answer) => !inTail.includes(answer));
    const gap = element("span", { className: "left-out", textContent: `… ${counted(leftOut)} characters left out of this page …` });
    return textBox("completion", marked(head, inHead), gap, marked(tail, inTail));
  }

  function reasonOf([value, component, state, method, answer, gold, why, ungated]) {
    const facts = element("p", { className: "facts" });
    for (const [name, text] of [["answer", answer], ["gold", gold], ["by", method]]) {
      if (text === null || string(text) === "") continue;
      if (facts.hasChildNodes()) facts.append(" · ");
      facts.append(`${name} `, name === "by" ? string(text) : latex.answerNodes(string(text), source));
    }
    return element(
      "div",
      { className: "reason" },
      element("b", { textContent: shown(value) }),
      ` ${string(component)} ${ungated === null ? "" : `(${shown(ungated)} without its gate) `}`,
      status(string(state)),
      element("p", {}, latex.nodesOf(string(why), [], source)),
      facts,
    );
  }

  function whatBothSay(row) {
    const [right, label] = [data.right[row], data.label[row]];
    if (label === null || right === null) return null;
    const word = (value) => (value === 1 ? "right" : "wrong");
    const agree = (right === 1) === (label === 1);
    return element("p", { className: agree ? "facts" : "warning", textContent: `By the reward ${word(right)}, by the label ${word(label)}${agree ? "" : ": they disagree"}.` });
  }

  // The part of the window that is of one run.
  function sideOf(row) {
    const answers = [...new Set(data.reasons[row].map((reason) => string(reason[4])).filter(Boolean))];
    return [
      element("h3", { textContent: answers.length ? "Completion, with the extracted answer marked" : "Completion; no answer was read in it" }),
      completionOf(row, answers),
      element("h3", { textContent: "Why" }),
      ...data.reasons[row].map(reasonOf),
      whatBothSay(row),
    ].filter(Boolean);
  }

  // The picture that the page has of the row, with predicted and gold shapes; none in most rows.
  function pictureOf(row) {
    const picture = one(`.picture[data-row="${data.id[row]}"] img`)?.cloneNode();
    picture?.classList.add("drawn");
    return picture ? [element("h3", { textContent: "Image, with the gold in green and the prediction in orange" }), picture] : [];
  }

  function columnsOf(row) {
    const found = data.columns.map((name, place) => [name, data.others[row][place]]).filter(([, text]) => text !== null);
    if (!found.length) return [];
    const lines = found.map(([name, text]) => element("tr", {}, element("th", { scope: "row", textContent: name }), element("td", { textContent: string(text) })));
    return [element("h3", { textContent: "Other columns" }), element("div", { className: "scroll" }, element("table", { className: "columns" }, element("tbody", {}, ...lines)))];
  }

  function detailOf(row) {
    const parts = [
      element("h3", { textContent: "Prompt" }),
      textBox("prompt", latex.nodesOf(string(data.prompt[row]) || "(none)", [], source)),
    ];
    if (data.gold[row] !== null) {
      parts.push(element("h3", { textContent: "Gold" }), textBox("gold", latex.answerNodes(string(data.gold[row]), source)));
    }
    parts.push(...pictureOf(row));
    const beside = data.pair[row];
    if (beside === null) return [...parts, ...sideOf(row), ...columnsOf(row)];
    const sides = [row, beside].sort((a, b) => data.run[a] - data.run[b]).map((each) => {
      const title = element("h3", { className: "run", textContent: `${data.runs[data.run[each]]} · row ${data.id[each]} · total ${shown(data.total[each])}` });
      return element("section", { className: each === row ? "side current" : "side" }, title, ...sideOf(each));
    });
    return [...parts, element("div", { className: "sides" }, ...sides), ...columnsOf(row)];
  }

  const addressOf = (row) => `#row=${data.id[row]}${data.runs.length > 1 ? `&run=${data.run[row] + 1}` : ""}`;

  function open(row, order) {
    const run = data.runs.length > 1 ? `${data.runs[data.run[row]]} · ` : "";
    one("#row-title").textContent = `${run}Row ${data.id[row]} · total ${shown(data.total[row])} · group ${string(data.group[row])}`;
    one("#detail").replaceChildren(...detailOf(row));
    dialog.dataset.row = row;
    dialog.classList.toggle("two", data.pair[row] !== null);
    const place = order.indexOf(row);
    one("#previous").disabled = place <= 0;
    one("#next").disabled = place < 0 || place >= order.length - 1;
    one("#link").textContent = "Link";
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    history.replaceState(null, "", addressOf(row));
  }

  // The row that the address of the page names; -1 if it is not on the page, null if it names none.
  function named() {
    const asked = new URLSearchParams(location.hash.slice(1));
    if (!asked.has("row")) return null;
    const run = Number(asked.get("run") ?? data.runs.length) - 1;
    return data.id.findIndex((id, row) => String(id) === asked.get("row") && (data.runs.length === 1 || data.run[row] === run));
  }

  async function copyLink() {
    const address = location.href.split("#")[0] + addressOf(Number(dialog.dataset.row));
    try {
      await navigator.clipboard.writeText(address);
      one("#link").textContent = "Copied";
    } catch {
      prompt("A link to this row:", address); // where a page may not write to the clipboard
    }
  }

  one("#link").addEventListener("click", copyLink);
  one("#close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => history.replaceState(null, "", location.href.split("#")[0] + "#rows"));
  one("#source")?.addEventListener("click", (event) => {
    source = !source;
    event.target.ariaPressed = String(source);
    one("#detail").replaceChildren(...detailOf(Number(dialog.dataset.row)));
  });

  return { dialog, open, named };
};
