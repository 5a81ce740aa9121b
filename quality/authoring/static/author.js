"use strict";
// One form for scenarios and one for schemes, from the description of their fields in author_fields.js.
// What the form does not know stays in `data` as it came. Texts only ever become text nodes.
const form = document.getElementById("author");

const GO_ON = "What you wrote stays in this window: start hipo author again if it has ended, open the link that it prints in another window of this browser, and save here.";
const CONTROLS = "input, textarea, select, button, [tabindex]";

const isPart = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listed = (value) => (Array.isArray(value) ? value : typeof value === "string" ? [value] : []);

class AuthorForm {
  constructor() {
    this.data = JSON.parse(form.dataset.data);
    this.known = JSON.parse(form.dataset.known);
    this.version = form.dataset.version;
    this.saved = JSON.stringify(this.data);
    this.root = document.getElementById("fields");
    this.state = document.getElementById("state");
    this.count = 0;
    this.asked = 0;
    this.pressed = false;
    this.stale = false;
    this.saving = Promise.resolve();
    this.removals = new Removals(document.getElementById("removed"), (path) => this.changed(true, path));
    this.draw();
    this.check();
    form.addEventListener("submit", (event) => { event.preventDefault(); this.save(); });
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") { event.preventDefault(); this.save(); }
    });
    window.addEventListener("beforeunload", (event) => { if (this.isChanged()) event.preventDefault(); });
    document.addEventListener("pointerdown", () => { this.pressed = true; });
    for (const over of ["pointerup", "pointercancel"]) document.addEventListener(over, () => { this.pressed = false; this.drawLater(); });
    document.getElementById("first").addEventListener("click", () => this.goToFirst());
    const drawing = document.getElementById("draw");
    if (drawing) drawing.addEventListener("click", () => this.showDrawing());
    const preview = document.getElementById("preview");
    if (preview) preview.addEventListener("click", () => this.showPreview());
  }

  isChanged() { return JSON.stringify(this.data) !== this.saved; }

  // Building

  make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    element.append(...children);
    return element;
  }

  // Draws the form anew; the focus goes to the n-th control of a part, or to the first one there.
  draw(path = null, place = 0, marked = null) {
    const fields = form.dataset.kind === "scheme" ? schemeFields(this.data) : scenarioFields(this.data, this.known);
    this.root.replaceChildren(...fields.map((field) => this.field(field, this.data, "")));
    this.stale = false;
    const controls = path === null ? [] : [...this.root.querySelectorAll(`[data-path="${CSS.escape(path)}"] :is(${CONTROLS})`)];
    const target = controls[place] || controls[0];
    if (target) target.focus();
    if (target && marked) target.setSelectionRange(...marked);
    if (this.problems) this.showProblems(this.problems);
  }

  // Draws anew what other parts say of an id, unless something is being pressed, which has to stay there for that.
  drawLater() {
    setTimeout(() => { if (this.stale && !this.pressed) this.draw(...this.focused()); }, 0);
  }

  // Where the focus is: the part of the form, which of its controls, and what is marked in a text.
  focused() {
    const at = document.activeElement;
    const part = at && at.closest("[data-path]");
    if (!part || !this.root.contains(part)) return [];
    const place = [...part.querySelectorAll(CONTROLS)].indexOf(at);
    return [part.dataset.path, place, at.tagName === "TEXTAREA" ? [at.selectionStart, at.selectionEnd] : null];
  }

  path(path, key) {
    if (key === null) return path;
    if (typeof key === "number") return `${path}[${key}]`;
    return /^[A-Za-z0-9_-]+$/.test(key) ? (path ? `${path}.${key}` : key) : `${path}['${key}']`;
  }

  field(field, holder, path) {
    const here = field.key === undefined ? path : this.path(path, field.key);
    if (field.kind === "group") {
      let inner = holder;
      if (field.key !== null) {
        if (typeof holder[field.key] !== "object" || holder[field.key] === null) {
          return this.part(here, field.name, this.adds(`Add ${field.name.toLowerCase()}`, () => { holder[field.key] = {}; this.changed(true, here); }));
        }
        inner = holder[field.key];
      }
      return this.part(here, field.name, ...field.fields.map((one) => this.field(one, inner, here)));
    }
    if (field.kind === "items") return this.list(field, holder, here);
    if (field.kind === "names") return this.checks(field, holder, here);
    if (field.kind === "check") return this.tick(field, holder, here);
    if (field.kind === "entries") return this.entries(field, holder, here);
    if (field.kind === "grid") return grid(this, field);
    return this.input(field, holder, here);
  }

  part(path, name, ...children) {
    const id = this.freshId();
    return this.make("fieldset", { class: "field", "data-path": path, "aria-describedby": `${id}-said` }, this.make("legend", {}, name), this.saidHere(id), ...children);
  }

  freshId() { return `f${(this.count += 1)}`; }

  // What is read aloud of a field after its name: the hint, and what is wrong.
  told(field, id) { return `${field.hint ? `${id}-hint ` : ""}${id}-said`; }

  saidHere(id) { return this.make("div", { class: "said-here", id: `${id}-said` }); }

  hints(field, id = null) { return field.hint ? [this.make("span", { class: "hint", id }, field.hint)] : []; }

  adds(name, act) {
    const button = this.make("button", { type: "button", class: "adds" }, name);
    button.addEventListener("click", act);
    return button;
  }

  input(field, holder, path) {
    const id = this.freshId();
    const value = holder[field.key] === undefined ? field.preset : holder[field.key];
    let control;
    if (field.kind === "choice") {
      const given = field.ofItem ? field.options(this.owner)() : typeof field.options === "function" ? field.options() : field.options;
      if (!given.length) return this.input({ ...field, kind: "text" }, holder, path);
      const options = given.includes(value === undefined ? "" : value) ? given : [value === undefined ? "" : value, ...given];
      control = this.make("select", { id }, ...options.map((one) => this.make("option", { value: one }, one === "" ? "none" : one)));
    } else {
      control = this.make("textarea", { id, rows: field.rows || 1 });
    }
    control.value = value === undefined || value === null ? "" : String(field.show ? field.show(value) : value);
    control.setAttribute("aria-describedby", this.told(field, id));
    control.addEventListener(field.kind === "choice" ? "change" : "input", () => {
      if (control.value === "" && (field.optional || field.kind === "choice")) delete holder[field.key];
      else holder[field.key] = (field.read || String)(control.value.replace(/\s*\n\s*/g, " "));
      if (field.touched) field.touched();
      this.changed(false);
    });
    // Other parts of the form name this id: they are drawn anew once the focus has gone on.
    if (field.key === "id") control.addEventListener("change", () => { this.stale = true; this.drawLater(); });
    return this.make("div", { class: "field", "data-path": path }, this.make("label", { for: id }, field.name), ...this.hints(field, `${id}-hint`), control, this.saidHere(id));
  }

  checks(field, holder, path) {
    const given = () => listed(holder[field.key]);
    const chosen = given();
    const every = [...new Set([...field.options(), ...chosen])];
    if (!every.length) return this.list({ ...field, kind: "items", one: "entry", fields: null, fresh: () => "" }, holder, path);
    const boxes = every.map((one, place) => {
      const box = this.make("input", { type: "checkbox" });
      box.checked = chosen.includes(one);
      box.addEventListener("change", () => {
        holder[field.key] = box.checked ? [...given(), one] : given().filter((name) => name !== one);
        if (field.ordered) this.draw(path, place);
        this.changed(false);
      });
      const turn = field.ordered && chosen.length > 1 && chosen.includes(one) ? ` (${chosen.indexOf(one) + 1})` : "";
      return this.make("label", {}, box, ` ${one}${turn}`);
    });
    const id = this.freshId();
    return this.make("div", { class: "field", "data-path": path, role: "group", "aria-label": field.name, "aria-describedby": this.told(field, id) }, this.make("span", { class: "name" }, field.name), ...this.hints(field, `${id}-hint`), this.make("div", { class: "checks" }, ...boxes), this.saidHere(id));
  }

  tick(field, holder, path) {
    const id = this.freshId();
    const box = this.make("input", { type: "checkbox", "aria-describedby": `${id}-said` });
    box.checked = holder[field.key] === undefined ? field.preset : holder[field.key] === true;
    box.addEventListener("change", () => {
      if (box.checked === field.preset) delete holder[field.key]; else holder[field.key] = box.checked;
      this.changed(false);
    });
    return this.make("div", { class: "field", "data-path": path }, this.make("div", { class: "checks" }, this.make("label", {}, box, ` ${field.name}`)), this.saidHere(id));
  }

  // Parts that are known by their ids, as roles are: one is added under the id that is typed.
  entries(field, holder, path) {
    const held = isPart(holder[field.key]) ? holder[field.key] : {};
    const parts = Object.keys(held).map((key) => {
      const here = this.path(path, key);
      const remove = this.adds(`Remove this ${field.one}`, () => {
        this.removals.keep(`${field.one} ${key}`, here, held, key, ((part) => () => part)(held[key]));
        delete held[key];
        this.changed(true, path);
      });
      const box = this.part(here, key, ...(isPart(held[key]) ? field.fields.map((one) => this.field(one, held[key], here)) : []), this.make("div", { class: "buttons" }, remove));
      box.classList.add("item");
      return box;
    });
    const id = this.freshId();
    const typed = this.make("input", { id, type: "text", maxlength: "64", "aria-describedby": `${id}-said` });
    const said = this.make("p", { class: "problem", id: `${id}-said`, role: "alert" });
    const add = this.adds(`Add a ${field.one}`, () => {
      const key = typed.value.trim();
      if (!/^[a-z][a-z0-9_]*$/.test(key)) said.textContent = "An id has lower-case letters, digits and _, and begins with a letter.";
      else if (Object.hasOwn(held, key)) said.textContent = `There is a ${field.one} ${key} already.`;
      else { held[key] = {}; holder[field.key] = held; this.changed(true, this.path(path, key)); return; }
      typed.focus();
    });
    typed.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); add.click(); } });
    const adding = this.make("div", { class: "field adding" }, this.make("label", { for: id }, `Id of another ${field.one}`), typed, said, add);
    return this.part(path, field.name, ...parts, adding);
  }

  list(field, holder, path) {
    const list = listed(holder[field.key]);
    // One text may stand for a list of it, and does until it is changed here.
    const touched = () => { holder[field.key] = list; };
    const parts = list.map((item, index) => {
      const here = `${path}[${index}]`;
      let inside;
      if (field.fields === null) {
        inside = [this.input(text(index, `${field.one} ${index + 1}`, "", { touched }), list, here)];
      } else if (typeof item === "object" && item !== null) {
        const before = this.owner;
        if (field.key === "dimensions") this.owner = item;
        inside = field.fields.map((one) => this.field(one, item, here));
        this.owner = before;
      } else inside = [];
      const title = `${field.one} ${index + 1}${item && item.id ? `: ${item.id}` : ""}`;
      const remove = this.adds(`Remove this ${field.one}`, () => {
        this.removals.keep(title, here, holder, field.key, () => listed(holder[field.key]).toSpliced(index, 0, item));
        list.splice(index, 1);
        touched();
        if (!list.length && !field.keeps) delete holder[field.key];
        this.changed(true, path);
      });
      const buttons = this.make("div", { class: "buttons" }, remove);
      if (field.fields === null) return this.make("div", { class: "item" }, ...inside, buttons);
      const box = this.part(here, title, ...inside, buttons);
      box.classList.add("item");
      return box;
    });
    const add = this.adds(`Add ${/^[aeiou]/.test(field.one) ? "an" : "a"} ${field.one}`, () => {
      holder[field.key] = [...list, field.fresh()];
      this.changed(true, `${path}[${list.length}]`);
    });
    return this.part(path, field.name, ...this.hints(field), ...parts, add);
  }

  // Checking and saving

  changed(redraw, path = null) {
    if (redraw) this.draw(path);
    this.say(this.isChanged() ? "Not saved yet." : "");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), 400);
  }

  async reach(path, more = {}) {
    try { return await fetch(path, { headers: { accept: "application/json" }, ...more }); }
    catch { throw new Error(`there is no connection. ${GO_ON}`); }
  }

  async post(action, more = {}) {
    const name = form.dataset.name.split("/").map(encodeURIComponent).join("/");
    const send = (csrf) => this.reach(`/${action}/${name}`, {
      method: "POST", body: new URLSearchParams({ csrf, data: JSON.stringify(this.data), ...more }),
    });
    const before = form.dataset.csrf;
    let answer = await send(before);
    if (answer.status === 403 && (await this.renew(before))) answer = await send(form.dataset.csrf);
    if (answer.status === 401) throw new Error(`hipo author was started anew. ${GO_ON}`);
    const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
    const said = isJson ? await answer.json() : { text: await answer.text() };
    if (!answer.ok) throw new Error(said.message || said.text || "the server refused it");
    return said;
  }

  // Whoever came in by the link of a page that was started anew goes on in a window of before; false: they have not.
  // A check and a save may be refused at once: what counts is the token each of them was sent with.
  async renew(before) {
    const page = await this.reach(window.location.pathname, { headers: { accept: "text/html" } });
    const there = new DOMParser().parseFromString(await page.text(), "text/html").getElementById("author");
    if (!page.ok || !there || there.dataset.csrf === before) return false;
    form.dataset.csrf = there.dataset.csrf;
    return true;
  }

  async check() {
    const asked = (this.asked += 1);
    try {
      const answer = await this.post("check");
      if (asked !== this.asked) return;
      this.problems = answer.problems;
      this.showProblems(answer.problems);
    } catch (error) {
      if (asked === this.asked) document.getElementById("summary").textContent = `Not checked: ${error.message}`;
    }
  }

  showProblems(problems) {
    for (const part of this.root.querySelectorAll("[data-wrong]")) part.removeAttribute("data-wrong");
    for (const control of this.root.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
    for (const said of this.root.querySelectorAll(".said-here")) said.replaceChildren();
    const elsewhere = document.getElementById("elsewhere");
    elsewhere.replaceChildren();
    for (const problem of problems) {
      const words = `found ${problem.found}, expected ${problem.expected}${problem.hint ? `; ${problem.hint}` : ""}`;
      let path = problem.field;
      let part = null;
      while (path && !part) {
        part = this.root.querySelector(`[data-path="${CSS.escape(path)}"]`);
        if (!part) path = path.replace(/(\.[^.[\]]+|\[[^\]]*\]|^[^.[\]]+)$/, "");
      }
      const exact = part && path === problem.field;
      const line = this.make("p", { class: `problem ${problem.severity}` }, `${problem.severity === "warning" ? "Warning: " : ""}${exact ? "" : `${problem.field}: `}${words}`);
      if (part) {
        if (problem.severity === "error" || !part.dataset.wrong) part.dataset.wrong = problem.severity;
        part.querySelector(":scope > .said-here").append(line);
        if (problem.severity === "error") part.querySelector(":scope > :is(textarea, select)")?.setAttribute("aria-invalid", "true");
      } else elsewhere.append(this.make("li", {}, line));
    }
    document.getElementById("first").hidden = !this.root.querySelector("[data-wrong]");
    const errors = problems.filter((problem) => problem.severity === "error").length;
    const warnings = problems.length - errors;
    document.getElementById("summary").textContent = problems.length ? `${errors} error${errors === 1 ? "" : "s"}, ${warnings} warning${warnings === 1 ? "" : "s"}, each at its field.` : "No problem, no warning.";
  }

  // Goes to the first error, or else to the first warning: far from the end of the form without a mouse.
  goToFirst() {
    const part = this.root.querySelector("[data-wrong=error]") || this.root.querySelector("[data-wrong]");
    const control = part && part.querySelector(CONTROLS);
    if (control) control.focus();
  }

  say(text, look = "hint") {
    this.state.textContent = text;
    this.state.className = look;
  }

  // A second save waits for the first: it is sent with the version that this one has made.
  save() { this.saving = this.saving.then(() => this.saveNow()); }

  async saveNow() {
    this.say("Saving …");
    const sent = JSON.stringify(this.data);
    try {
      const answer = await this.post("save", { version: this.version });
      this.version = answer.version;
      this.saved = sent;
      this.say("Saved.");
    } catch (error) {
      this.say(`Not saved: ${error.message}`, "problem");
    }
  }

  // Showing

  show(...children) {
    const shown = document.getElementById("shown");
    shown.replaceChildren(...children);
    shown.hidden = false;
    shown.focus({ preventScroll: true });
    shown.scrollIntoView({ block: "start" });
  }

  async showDrawing() {
    try {
      const answer = await this.post("draw");
      const svg = new DOMParser().parseFromString(answer.text, "image/svg+xml").documentElement;
      this.show(this.make("h2", {}, "Who knows, claims and reveals what"), this.make("div", { class: "drawing", tabindex: "0" }, document.importNode(svg, true)));
    } catch (error) { this.show(this.make("p", { class: "problem" }, `Not drawn: ${error.message}`)); }
  }

  async showPreview() {
    this.show(this.make("p", {}, "Playing one dialogue for each goal …"));
    try {
      const { dialogues } = await this.post("preview");
      this.show(this.make("h2", {}, `Preview by ${this.known.model}`), ...dialogues.map((one) => this.make("section", { class: "card" },
        this.make("h2", {}, one.goal || "no goal"), ...(one.error ? [this.make("p", { class: "problem" }, one.error)] : []),
        ...one.turns.map((turn) => this.make("div", { class: `said${turn.labels ? " labelled" : ""}` }, this.make("b", {}, turn.name), turn.text, ...(turn.labels ? [this.make("div", { class: "hint" }, turn.labels)] : []))))));
    } catch (error) { this.show(this.make("p", { class: "problem" }, `Not played: ${error.message}`)); }
  }
}

if (form) new AuthorForm();
