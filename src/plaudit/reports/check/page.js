"use strict";
// Finds findings by their text: what does not hold all the words is hidden.
(() => {
  const field = plaudit.one("#find");
  if (field) {
    const items = plaudit.all(".lines li").map((item) => [item, item.textContent.toLowerCase()]);
    const sections = plaudit.all("main section[id]");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const [item, text] of items) {
        item.hidden = !words.every((word) => text.includes(word));
        shown += item.hidden ? 0 : 1;
      }
      for (const section of sections) {
        section.hidden = !plaudit.one(".lines li:not([hidden])", section);
        for (const more of plaudit.all("details", section)) {
          more.open = words.length > 0;
          more.hidden = !plaudit.one("li:not([hidden])", more);
        }
      }
      const all = `${plaudit.counted(shown)} of ${plaudit.counted(items.length)} on this page`;
      plaudit.one("#found").textContent = words.length ? all : "";
    });
  }
  document.documentElement.dataset.ready = "";
})();
