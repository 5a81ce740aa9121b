"use strict";
// What was removed from the form, the latest first, and the bar that puts it back where it was.
class Removals {
  constructor(bar, shown) {
    this.bar = bar;
    this.said = bar.querySelector("span");
    this.shown = shown;
    this.parts = [];
    bar.querySelector("button").addEventListener("click", () => this.undo());
  }

  // Keeps how a part is put back, and its name and path for people; `holder[key]` is about to change.
  keep(name, path, holder, key, back) {
    const order = Object.keys(holder);
    this.parts.push({ name, path, back: () => inOrder(holder, key, back(), order) });
    this.tell();
  }

  undo() {
    const { name, path, back } = this.parts.pop();
    back();
    this.shown(path);
    if (this.parts.length) this.tell();
    else {
      this.bar.querySelector("button").hidden = true;
      this.said.textContent = `${name} is back.`;
    }
  }

  tell() {
    this.bar.querySelector("button").hidden = false;
    this.said.textContent = `Removed ${this.parts.at(-1).name}.`;
  }
}

// Gives a part a value, and its keys the order that they had, so that the file is as it was.
function inOrder(holder, key, value, order) {
  const all = { ...holder, [key]: value };
  for (const name of Object.keys(holder)) delete holder[name];
  for (const name of [...order, ...Object.keys(all)]) if (name in all) holder[name] = all[name];
}
