"use strict";
// Settling an item by keyboard; what is typing and whether keys are used is told by review.js.
const adjudication = document.getElementById("adjudication");

// Where work begins: what is wrong, what nobody is in the majority about, the verdict.
function firstToSettle() {
  return adjudication.querySelector("select[aria-invalid], input[aria-invalid], [aria-invalid] input") ||
    [...adjudication.querySelectorAll("tr.differs td.final select")].find((one) => !one.value) ||
    adjudication.querySelector('input[name="verdict"]') || document.getElementById("settle");
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || !keysOn()) return;
  if (event.key === "Enter" && !event.target.closest("button, a, summary")) {
    event.preventDefault();
    if (!event.repeat) adjudication.requestSubmit();
  }
  if (event.key === "n") { event.preventDefault(); adjudication.elements.note.focus(); }
  const verdict = adjudication.querySelector(`input[name="verdict"][data-key="${CSS.escape(event.key)}"]`);
  if (verdict) { event.preventDefault(); verdict.checked = true; verdict.focus(); }
});

// Below this width the dialogue is above the answers, and is read first.
firstToSettle().focus({ preventScroll: !window.matchMedia("(min-width: 60rem)").matches });
