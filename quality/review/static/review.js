"use strict";
// The page works without this script; with it, it is quick by keyboard and loses nothing.
document.documentElement.classList.add("js");

// What the page says in another language; {names} stand for what varies.
const words = JSON.parse(document.querySelector('meta[name="hipo-words"]')?.content || "{}");
const told = (text, values = {}) => (words[text] || text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

const typing = (element) =>
  element instanceof HTMLTextAreaElement ||
  element instanceof HTMLSelectElement ||
  (element instanceof HTMLInputElement && !["radio", "checkbox", "button", "submit"].includes(element.type));

const keysOn = () => localStorage.getItem("hipo:keys") !== "off";

function keySwitch() {
  document.documentElement.classList.toggle("no-keys", !keysOn());
  const box = document.getElementById("keys-on");
  if (!box) return;
  box.checked = keysOn();
  box.addEventListener("change", () => {
    localStorage.setItem("hipo:keys", box.checked ? "on" : "off");
    document.documentElement.classList.toggle("no-keys", !box.checked);
  });
}

class AnswerForm {
  constructor(form) {
    this.form = form;
    this.sections = [...form.querySelectorAll("[data-section]")];
    this.state = document.getElementById("save-state");
    this.alarm = document.getElementById("alarm");
    this.forward = document.getElementById("forward");
    this.storageKey = `hipo:draft:${form.dataset.code}:${form.dataset.item}:${form.dataset.stage}`;
    this.edits = Number(form.dataset.edits);
    this.lead = Number(form.elements.lead_ms.value);
    this.since = document.visibilityState === "visible" ? performance.now() : null;
    this.past = [];
    this.unsaved = false;
    this.sending = false;
    this.step = 0;
    form.dataset.steps = this.sections.length;
    this.restore();
    this.last = this.values();
    this.showConditional();
    this.show(this.firstOpenStep(), false);
    this.listen();
  }

  // What is filled in

  values() {
    const own = ["csrf", "lead_ms", "edits", "stage"];
    return [...new FormData(this.form)].filter(([name]) => !own.includes(name));
  }

  fill(values) {
    for (const input of this.form.elements) {
      if (!input.name || input.type === "hidden") continue;
      const given = values.filter(([name]) => name === input.name).map(([, value]) => value);
      if (input.type === "radio" || input.type === "checkbox") input.checked = given.includes(input.value);
      else input.value = given.length ? given[0] : "";
    }
    this.showConditional();
  }

  restore() {
    let kept = null;
    try { kept = JSON.parse(localStorage.getItem(this.storageKey)); } catch { kept = null; }
    if (kept && kept.edits > this.edits) {
      this.fill(kept.values);
      this.edits = kept.edits;
      this.lead = Math.max(this.lead, kept.lead);
      this.unsaved = true;
      this.queueDraft();
    }
  }

  changed() {
    this.past.push(this.last);
    this.last = this.values();
    this.edits += 1;
    this.unsaved = true;
    this.alarm.textContent = "";
    this.keep();
    this.showConditional();
    this.queueDraft();
  }

  keep() {
    const kept = { edits: this.edits, values: this.values(), lead: Math.round(this.leadNow()) };
    try { localStorage.setItem(this.storageKey, JSON.stringify(kept)); } catch { /* no room: the server keeps it */ }
  }

  leadNow() { return this.lead + (this.since === null ? 0 : performance.now() - this.since); }

  body() {
    this.form.elements.lead_ms.value = Math.round(this.leadNow());
    this.form.elements.edits.value = this.edits;
    return new URLSearchParams(new FormData(this.form));
  }

  // Questions

  questions() {
    return [...this.sections[this.step].querySelectorAll("fieldset[data-field]")].filter((q) => !q.hidden);
  }

  answered(question) {
    if (question.dataset.kind === "number") return question.querySelector("input").value.trim() !== "";
    return question.querySelector("input:checked:enabled") !== null;
  }

  // A condition is name=value, or an object of names with the values of which one has to be chosen.
  holds(condition) {
    if (!condition.startsWith("{")) {
      const [name, value] = condition.split("=");
      return this.form.querySelector(`[name="${name}"][value="${value}"]:checked`) !== null;
    }
    return Object.entries(JSON.parse(condition)).every(([name, values]) =>
      [...this.form.querySelectorAll(`[name="${CSS.escape(name)}"]:checked`)].some(
        (input) => !input.disabled && values.includes(input.value)));
  }

  showConditional() {
    for (const part of this.form.querySelectorAll("[data-when]")) {
      const on = this.holds(part.dataset.when) && !part.parentElement.closest("[data-when][hidden]");
      part.hidden = !on;
      for (const input of part.querySelectorAll("input, textarea")) input.disabled = !on;
    }
  }

  current() {
    const focused = document.activeElement && document.activeElement.closest("fieldset[data-field]");
    const questions = this.questions();
    if (focused && questions.includes(focused)) return focused;
    return questions.find((q) => !this.answered(q)) || questions[questions.length - 1];
  }

  mark() {
    for (const q of this.form.querySelectorAll(".question.current")) q.classList.remove("current");
    const current = this.current();
    if (current) current.classList.add("current");
  }

  firstOpenStep() {
    for (let i = 0; i < this.sections.length; i += 1) {
      this.step = i;
      if (this.questions().some((q) => !this.answered(q))) return i;
    }
    return this.sections.length - 1;
  }

  show(step, move = true) {
    this.step = step;
    this.sections.forEach((section, i) => section.classList.toggle("active", i === step));
    const turn = this.sections[step].dataset.turn;
    for (const line of document.querySelectorAll(".utterance")) {
      if (line.dataset.turn === turn) {
        line.setAttribute("aria-current", "true");
        const box = line.closest(".reading");
        // Only the panel scrolls; the page stays where it is.
        if (box.scrollHeight > box.clientHeight) {
          const shift = line.getBoundingClientRect().top - box.getBoundingClientRect().top;
          box.scrollTop += shift - (box.clientHeight - line.offsetHeight) / 2;
        }
      } else line.removeAttribute("aria-current");
    }
    const label = this.forward.querySelector("span");
    label.textContent = step < this.sections.length - 1 ? told("Next") : this.forward.dataset.submit;
    if (move) { window.scrollTo({ top: 0 }); this.focusQuestion(this.questions()[0]); }
    this.mark();
  }

  focusQuestion(question, scroll = true) {
    if (!question) { this.forward.focus(); return; }
    const input = question.querySelector("input:checked:enabled") || question.querySelector("input:enabled") || question.querySelector("input");
    input.focus({ preventScroll: true });
    if (scroll) {
      question.scrollIntoView({ block: "nearest" });
      (input.closest(".choice") || input).scrollIntoView({ block: "nearest" }); // of a question that is higher than the window
    }
    this.mark();
  }

  choose(key) {
    const question = this.current();
    const input = question && question.querySelector(`input[data-key="${key}"]`);
    if (!input || input.disabled) return;
    if (input.type === "checkbox") input.checked = !input.checked;
    else if (!input.checked) input.checked = true;
    this.clear(input);
    this.changed();
    if (input.type === "checkbox") { input.focus(); return; }
    const next = this.questions().find((q) => !this.answered(q));
    if (next) this.focusQuestion(next);
    else { input.focus({ preventScroll: true }); this.forward.focus(); this.mark(); }
  }

  // "None of them" stands alone: it clears the others, and each of them clears it.
  clear(input) {
    if (input.type !== "checkbox" || !input.checked) return;
    for (const other of this.form.querySelectorAll(`[name="${CSS.escape(input.name)}"]`))
      if (other !== input && (input.dataset.alone ?? other.dataset.alone) !== undefined) other.checked = false;
  }

  // Moving

  go() {
    const missing = this.questions().filter((q) => !this.answered(q));
    for (const q of this.sections[this.step].querySelectorAll("fieldset")) this.tell(q, missing.includes(q) ? told("not answered") : "");
    if (missing.length) {
      this.alarm.textContent = told("Some questions are not answered yet.");
      this.focusQuestion(missing[0]);
      return;
    }
    this.alarm.textContent = "";
    if (this.step < this.sections.length - 1) this.show(this.step + 1);
    else this.send();
  }

  tell(question, problem) {
    question.querySelector(".problem").textContent = problem;
    if (problem) question.setAttribute("aria-invalid", "true");
    else question.removeAttribute("aria-invalid");
  }

  back() {
    if (this.step > 0) { this.show(this.step - 1); return; }
    const before = document.getElementById("back").dataset.back;
    if (before) this.leave(before);
    else this.say(told("This is the first item."), false);
  }

  undo() {
    if (!this.past.length) { this.leave("/undo"); return; }
    const before = this.past.pop();
    const changedName = this.last.concat(before).map(([name]) => name).find(
      (name) => JSON.stringify(this.last.filter(([n]) => n === name)) !== JSON.stringify(before.filter(([n]) => n === name)));
    this.fill(before);
    this.last = this.values();
    this.edits += 1;
    this.unsaved = true;
    this.keep();
    this.queueDraft();
    const question = changedName && this.form.querySelector(`fieldset[data-field="${changedName}"]`);
    if (question) {
      const section = this.sections.findIndex((s) => s.contains(question));
      if (section !== this.step) this.show(section, false);
      this.focusQuestion(question);
    }
    this.say(told("Undone."), false);
  }

  async leave(path) {
    await this.saveDraft();
    window.location.assign(path);
  }

  // Saving

  // Read aloud, unless it is quiet: what comes after every choice would be heard all day.
  say(text, good, quiet = false) {
    this.state.setAttribute("aria-live", quiet ? "off" : "polite");
    this.state.textContent = text;
    this.state.classList.toggle("good", good);
  }

  queueDraft() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.saveDraft(), 400);
  }

  async post(path, body) {
    const response = await fetch(path, {
      method: "POST", body, headers: { accept: "application/json" }, signal: AbortSignal.timeout(15000),
    });
    const type = response.headers.get("content-type") || "";
    const answer = type.startsWith("application/json") ? await response.json() : {};
    return { ok: response.ok, status: response.status, ...answer };
  }

  async saveDraft() {
    clearTimeout(this.timer);
    if (!this.unsaved || this.sending) return;
    const edits = this.edits;
    try {
      this.flight = this.post(`${this.form.action}/draft`, this.body());
      const answer = await this.flight;
      if (answer.ok && answer.saved) {
        if (edits === this.edits) this.unsaved = false;
        this.say(told("Draft saved at {time}.", { time: new Date().toLocaleTimeString() }), true, true);
        if (this.alarm.dataset.kind === "draft") this.alarm.textContent = "";
      } else if (edits === this.edits) {
        this.say("", false);
        this.warn(told("Draft not saved: {why}", { why: told(answer.message || "the server refused it") }), "draft", answer.status);
      }
    } catch {
      this.say("", false);
      this.warn(told("Not saved: there is no connection. Your answers are kept in this browser; trying again."), "draft");
      this.timer = setTimeout(() => this.saveDraft(), 3000);
    }
  }

  // What this form is for is over (409): the only way is on. The session may have ended (401, 403): nothing is lost.
  warn(text, kind, status = 0) {
    this.alarm.textContent = text;
    this.alarm.dataset.kind = kind;
    if (status === 401 || status === 403) this.alarm.append(" ", told("Your answers are kept in this browser: come in again in another window, then reload this page."));
    if (status !== 409) return;
    const on = document.createElement("a");
    on.href = "/next";
    on.textContent = told("Go on");
    this.alarm.append(" ", on);
  }

  async send() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.sending = true;
    this.forward.disabled = true;
    this.say(told("Sending …"), false);
    // A draft on its way must not arrive after what replaces it.
    await Promise.resolve(this.flight).catch(() => null);
    try {
      const answer = await this.post(this.form.action, this.body());
      if (answer.ok && answer.saved) {
        this.unsaved = false;
        localStorage.removeItem(this.storageKey);
        this.say(told("Saved."), true);
        window.location.assign(answer.next);
        return;
      }
      this.say("", false);
      this.warn(told("Not saved: {why}", { why: told(answer.message || "the server refused it") }), "send", answer.status);
      for (const [name, problem] of Object.entries(answer.fields || {})) {
        const said = document.getElementById(`${name}-problem`);
        if (said) this.tell(said.closest("fieldset"), told(problem));
      }
    } catch {
      this.say("", false);
      this.warn(told("Not saved: there is no connection. Your answers are kept here; press Enter to try again."), "send");
    }
    this.sending = false;
    this.forward.disabled = false;
    (this.alarm.querySelector("a") || this.form.querySelector(".section.active [aria-invalid] input:enabled") || this.forward).focus();
  }

  // Events

  listen() {
    this.form.addEventListener("change", (event) => { this.clear(event.target); this.changed(); this.mark(); });
    this.form.addEventListener("input", (event) => { if (typing(event.target)) { this.unsaved = true; this.edits += 1; this.keep(); this.queueDraft(); } });
    this.form.addEventListener("focusin", () => this.mark());
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.go(); });
    document.getElementById("back").addEventListener("click", () => this.back());
    document.getElementById("undo").addEventListener("click", () => this.undo());
    const leaving = document.querySelector("form.leave");
    // Whoever logs out may come in again elsewhere: what is filled in has to be there, too.
    leaving.addEventListener("submit", async (event) => { event.preventDefault(); await this.saveDraft(); leaving.submit(); });
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("visibilitychange", () => this.seen());
    window.addEventListener("pagehide", () => this.beacon());
    window.addEventListener("online", () => this.saveDraft());
    setInterval(() => {
      if (document.visibilityState === "visible") { this.unsaved = true; this.saveDraft(); }
    }, 60000);
  }

  seen() {
    if (document.visibilityState === "visible") this.since = performance.now();
    else if (this.since !== null) { this.lead = this.leadNow(); this.since = null; this.beacon(); }
  }

  beacon() {
    if (this.unsaved && !this.sending) navigator.sendBeacon(`${this.form.action}/draft`, this.body());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    if (event.key === "Escape" && typing(target)) { target.blur(); this.focusQuestion(this.current()); return; }
    if (typing(target) || !keysOn()) return;
    const pressable = target.closest && target.closest("button, a, summary");
    if (event.key === "Enter") {
      if (pressable && pressable !== this.forward) return;
      event.preventDefault();
      if (!event.repeat) this.go();
      return;
    }
    const actions = { b: () => this.back(), u: () => this.undo(), n: () => this.form.elements.note && this.form.elements.note.focus() };
    if (/^[0-9]$/.test(event.key)) { event.preventDefault(); this.choose(event.key); }
    else if (actions[event.key] && !event.repeat) { event.preventDefault(); actions[event.key](); }
  }
}

keySwitch();
const answers = document.getElementById("answers");
if (answers) {
  const page = new AnswerForm(answers);
  page.focusQuestion(page.current(), false);
}
