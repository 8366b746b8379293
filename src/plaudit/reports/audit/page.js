for (const button of document.querySelectorAll("[data-finding]")) {
  button.addEventListener("click", () => {
    const finding = document.getElementById(`finding-${button.dataset.finding}`);
    finding.open = true;
    finding.scrollIntoView({ block: "start" });
    finding.querySelector("summary").focus({ preventScroll: true });
  });
}
