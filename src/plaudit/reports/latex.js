// Formulas: where they are in a text, and how they are shown, by KaTeX if the page has it.
// A formula is text that a model wrote: KaTeX gets no trust, and bounds on sizes and macros.
plaudit.latex = (() => {
  const OPTIONS = { throwOnError: false, trust: false, strict: false, maxSize: 20, maxExpand: 200, output: "html", errorColor: "inherit" };
  const LONGEST = 2000; // characters of a formula
  const MOST = 400; // formulas of a text
  const BUDGET = 400; // milliseconds for a text; what is left is shown as it was written
  const ENVIRONMENTS = /^(equation|align|aligned|alignat|gather|gathered|multline|split|cases|array|[pbvBV]?matrix|smallmatrix)\*?$/;
  const PAIRS = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false]];

  // Where the brace that opens at a place closes; -1 if it does not, within the length of a formula.
  function closingBrace(text, open) {
    let depth = 0;
    const end = Math.min(text.length, open + LONGEST);
    for (let at = open; at < end; at++) {
      if (text[at] === "\\") at++;
      else if (text[at] === "{") depth++;
      else if (text[at] === "}" && --depth === 0) return at;
    }
    return -1;
  }

  // A dollar closes on its line, before no digit and after no blank: "$5 and $6" is no formula.
  function closingDollar(text, open) {
    if (/\s|\$/.test(text[open + 1] ?? " ")) return -1;
    for (let at = open + 1; at < text.length && text[at] !== "\n"; at++) {
      if (text[at] === "\\") at++;
      else if (text[at] === "$") return /\s/.test(text[at - 1]) || /\d/.test(text[at + 1] ?? "") ? -1 : at;
    }
    return -1;
  }

  // The formula that begins at a place: {from, to, tex, display}; null if none does.
  function formulaAt(text, at, missing) {
    for (const [open, close, display] of PAIRS) {
      if (!text.startsWith(open, at) || missing.has(close)) continue;
      const end = text.indexOf(close, at + open.length);
      if (end < 0) missing.add(close);
      else if (end > at + open.length) return { from: at, to: end + close.length, tex: text.slice(at + open.length, end), display };
    }
    if (text[at] === "$") {
      const end = closingDollar(text, at);
      return end < 0 ? null : { from: at, to: end + 1, tex: text.slice(at + 1, end), display: false };
    }
    const command = /^\\(boxed|fbox)\s*(?=\{)|^\\begin\{([a-zA-Z]+\*?)\}/.exec(text.slice(at, at + 40));
    if (command?.[1]) {
      const end = closingBrace(text, at + command[0].length);
      const isEmpty = !text.slice(at + command[0].length + 1, end).trim(); // as prompts ask for it
      return end < 0 || isEmpty ? null : { from: at, to: end + 1, tex: text.slice(at, end + 1), display: false };
    }
    if (command && ENVIRONMENTS.test(command[2]) && !missing.has(command[2])) {
      const close = `\\end{${command[2]}}`;
      const end = text.indexOf(close, at);
      if (end >= 0) return { from: at, to: end + close.length, tex: text.slice(at, end + close.length), display: true };
      missing.add(command[2]);
    }
    return null;
  }

  // The formulas of a text, in order. Each character is looked at once, but for what never closes.
  function formulas(text) {
    const found = [];
    const missing = new Set(); // what is closed nowhere in the rest of the text
    const signs = /[\\$]/g;
    for (let sign = signs.exec(text); sign && found.length < MOST; sign = signs.exec(text)) {
      const at = sign.index;
      const formula = formulaAt(text, at, missing);
      if (formula && formula.tex.length <= LONGEST && formula.tex.trim()) {
        found.push(formula);
        signs.lastIndex = formula.to;
      } else if (text[at] === "\\" || text[at + 1] === "$") signs.lastIndex = at + 2;
    }
    return found;
  }

  function drawn({ tex, display }, written) {
    const place = plaudit.element("span", { className: display ? "formula display" : "formula", title: written });
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", tex);
    try {
      katex.render(tex, place, { ...OPTIONS, displayMode: display });
    } catch {
      place.textContent = written; // nested too deeply to be drawn
    }
    return place;
  }

  const available = () => typeof katex !== "undefined";

  // A text as nodes: its formulas drawn, unless `source`, and the spans [from, to] marked.
  function nodesOf(text, spans = [], source = false) {
    const made = document.createDocumentFragment();
    const end = performance.now() + BUDGET;
    const found = source || !available() ? [] : formulas(text);
    const marks = spans.filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const plain = (from, to) => {
      for (const [start, stop] of marks) {
        const [low, high] = [Math.max(start, from), Math.min(stop, to)];
        if (low >= high) continue;
        made.append(text.slice(from, low), plaudit.element("mark", { textContent: text.slice(low, high) }));
        from = high;
      }
      made.append(text.slice(from, to));
    };
    let at = 0;
    for (const formula of found) {
      if (performance.now() > end) break;
      // A displayed formula has lines of its own: the line breaks around it would be empty lines.
      const before = formula.display ? text.slice(at, formula.from).trimEnd().length : formula.from - at;
      plain(at, at + before);
      const place = drawn(formula, text.slice(formula.from, formula.to));
      const isMarked = marks.some(([from, to]) => from < formula.to && to > formula.from);
      made.append(isMarked ? plaudit.element("mark", { className: formula.display ? "display" : "" }, place) : place);
      at = formula.to;
      if (formula.display) at += /^\s*/.exec(text.slice(at, at + LONGEST))[0].length;
    }
    plain(at, text.length);
    return made;
  }

  // An answer or a gold: a formula even without signs around it, if it has a command or a power in it.
  function answerNodes(text, source = false) {
    const bare = !source && available() && text.length <= LONGEST && /\\[a-zA-Z]|\w\^[\w{]/.test(text) && !/[$\n]|\\[[(]/.test(text);
    if (!bare) return nodesOf(text, [], source);
    const made = document.createDocumentFragment();
    made.append(drawn({ tex: text, display: false }, text));
    return made;
  }

  return { available, formulas, nodesOf, answerNodes };
})();
