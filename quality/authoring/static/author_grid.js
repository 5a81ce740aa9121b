"use strict";
// The table of the form that says what each fact does to each claim.
const GRID = { makes_false: "makes it false", misleads: "lets it mislead", makes_true: "makes it true", leaves_open: "leaves it open" };

function grid(author, field) {
  const facts = Array.isArray(author.data.facts) ? author.data.facts : [];
  const claims = Array.isArray(author.data.claims) ? author.data.claims : [];
  if (!facts.length || !claims.length) return author.part("grid", field.name, author.make("p", { class: "hint" }, "Is decided here once there are a fact and a claim."));
  const head = author.make("tr", {}, author.make("td"), ...facts.map((fact) => author.make("th", { scope: "col" }, fact.id || "?", author.make("small", {}, fact.about || ""))));
  const rows = claims.map((claim) => author.make("tr", {}, author.make("th", { scope: "row" }, claim.id || "?", author.make("small", {}, claim.text || "")), ...facts.map((fact) => {
    const select = author.make("select", { "aria-label": `what ${fact.id} does to ${claim.id}` }, author.make("option", { value: "" }, "not decided"), ...Object.entries(GRID).map(([key, name]) => author.make("option", { value: key }, name)));
    select.value = Object.keys(GRID).find((key) => (fact[key] || []).includes(claim.id)) || "";
    select.addEventListener("change", () => {
      for (const key of Object.keys(GRID)) {
        const rest = (fact[key] || []).filter((id) => id !== claim.id);
        if (key === select.value) rest.push(claim.id);
        if (rest.length) fact[key] = rest; else delete fact[key];
      }
      author.changed(false);
    });
    return author.make("td", {}, select);
  })));
  const table = author.make("table", { class: "grid" }, author.make("thead", {}, head), author.make("tbody", {}, ...rows));
  // A browser leaves what has the focus half out of sight where the table is wider than the window.
  table.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) event.target.scrollIntoView({ block: "nearest", inline: "center" }); });
  return author.part("grid", field.name, author.make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": field.name }, table));
}
