"use strict";
// Every page works without this script; with it, it is quick by keyboard and shows a live run live.

const POLL_MS = 2000;

const isTyping = (element) =>
  element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement || element instanceof HTMLInputElement;

const keysOn = () => localStorage.getItem("hipo:keys") !== "off";

const follow = (selector) => {
  const link = document.querySelector(selector);
  if (link) link.click();
  return Boolean(link);
};

// Moves the focus among the links of the list; it begins at the first.
function move(step) {
  const links = [...document.querySelectorAll("#list a")];
  if (!links.length) return false;
  const now = links.indexOf(document.activeElement);
  const next = now < 0 ? (step > 0 ? 0 : links.length - 1) : Math.min(Math.max(now + step, 0), links.length - 1);
  links[next].focus();
  links[next].scrollIntoView({ block: "nearest" });
  return true;
}

function toggleAll() {
  const all = [...document.querySelectorAll("main details:not(.folded)")];
  const open = all.some((one) => !one.open);
  all.forEach((one) => { one.open = open; });
  return all.length > 0;
}

function search() {
  const field = document.getElementById("text");
  if (!field) return false;
  const folded = field.closest("details");
  if (folded) folded.open = true;
  field.focus();
  field.select();
  return true;
}

const KEYS = {
  "/": search,
  j: () => move(1),
  k: () => move(-1),
  n: () => follow('a[rel="next"]'),
  p: () => follow('a[rel="prev"]'),
  u: () => follow("#up"),
  o: toggleAll,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const act = keysOn() && KEYS[event.key];
  if (act && act()) event.preventDefault();
});

// Keys of one character get in the way of whoever dictates, and can be switched off.
const keySwitch = document.getElementById("keys-on");
if (keySwitch) {
  keySwitch.checked = keysOn();
  keySwitch.addEventListener("change", () => localStorage.setItem("hipo:keys", keySwitch.checked ? "on" : "off"));
}

// What is not asked for does not stand in the address.
for (const form of document.querySelectorAll("form.filters")) {
  form.addEventListener("submit", () => {
    for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
  });
}
window.addEventListener("pageshow", () => {
  for (const field of document.querySelectorAll("form.filters [disabled]")) field.disabled = false;
});

if (window.matchMedia("(max-width: 60rem)").matches) {
  for (const folded of document.querySelectorAll(".folded")) folded.open = false;
}

async function poll(region) {
  try {
    const answer = await fetch(region.dataset.part, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    // Only while nobody is at work in it; the server has escaped all of it.
    if (!region.contains(document.activeElement)) region.innerHTML = await answer.text();
  } catch {
    return; // the server is gone, or will be back
  } finally {
    const state = region.querySelector("[data-live]");
    if (state && state.dataset.live === "yes") setTimeout(poll, POLL_MS, region);
  }
}

const now = document.getElementById("now");
if (now && now.querySelector('[data-live="yes"]')) setTimeout(poll, POLL_MS, now);
