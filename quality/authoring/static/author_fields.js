"use strict";
// What fields a scenario and a scheme have in the form: one description, from which author.js draws it.
const text = (key, name, hint = "", more = {}) => ({ kind: "text", key, name, hint, ...more });
const choice = (key, name, options, hint = "", more = {}) => ({ kind: "choice", key, name, options, hint, ...more });
const group = (key, name, fields) => ({ kind: "group", key, name, fields });
const items = (key, name, one, fields, fresh, hint = "", more = {}) => ({ kind: "items", key, name, one, fields, fresh, hint, ...more });
const lines = (key, name, one, hint = "") => ({ kind: "items", key, name, one, fields: null, fresh: () => "", hint });
const names = (key, name, options, hint = "", more = {}) => ({ kind: "names", key, name, options, hint, ...more });
const check = (key, name, preset, hint = "") => ({ kind: "check", key, name, preset, hint });
const RANGE = {
  optional: true,
  show: (value) => (Array.isArray(value) ? value.join(" to ") : value),
  read: (typed) => {
    const numbers = /^\s*(\d+)(?:\s*(?:to|-|–|,)\s*(\d+))?\s*$/.exec(typed);
    return !numbers ? typed : numbers[2] ? [Number(numbers[1]), Number(numbers[2])] : Number(numbers[1]);
  },
};

function phaseFields(roles, phases) {
  const named = phases.flatMap((phase) => Object.keys((phase || {}).strategies || {}));
  return [
    text("id", "Id"), names("who", "Who speaks", roles, "In each round everybody once, in the order in which you tick them.", { ordered: true }),
    text("rounds", "Rounds", "A number, or the least and the most, as 2 to 4; without any, 1.", RANGE),
    text("brief", "Brief", "What happens in it, told to everybody who speaks in it; nothing private.", { optional: true }),
    lines("text", "Fixed words, of a phase of one speaker and one round that has no brief", "wording"),
    group("strategies", "Strategies", [...new Set([...roles(), ...named])].map((key) => lines(key, `Ways for ${key} to go about it`, "strategy"))),
  ];
}

function scenarioFields(data, known) {
  const claims = () => (Array.isArray(data.claims) ? data.claims.map((claim) => claim.id) : []);
  const role = [
    text("name", "Name", "A short noun phrase without “a” or “the”."), text("description", "Description", "Public: nothing private in it."),
    text("aim", "Aim", "Goes on after “wants to”."), text("voice", "Voice", "How this person talks. May be left out.", { optional: true }),
  ];
  const playing = [check("labelled", "What this person says is labelled", false), check("speaks", "Says anything at all", true)];
  const statement = [text("text", "Statement"), names("claims", "Claims it makes", claims)];
  const roles = () => Object.keys(data.roles || {});
  const facts = Array.isArray(data.facts) ? data.facts : [];
  // With a flow alone, or where a file has it without one, which is told at its field.
  const shared = data.flow || facts.some((fact) => fact && fact.also_known_by)
    ? [names("also_known_by", "Also known by", roles, "Who else knows it, besides the owner; each is told who does.")] : [];
  const goals = Object.keys((((data.opening || {}).by_goal || [])[0] || {}).statements || {});
  const fields = [
    group(null, "Scene", [
      text("title", "Title", "Gives no fact away."), choice("category", "Category", known.categories),
      text("summary", "Summary", "One sentence that says what it is about."), names("tags", "Tags", () => known.tags),
      lines("languages", "Languages that the texts are written in", "language", "Codes, as en, es or zh; without any, en."),
      text("background", "Background", "Three to six sentences that everybody knows.", { rows: 5 }),
    ]),
    data.flow ? { kind: "entries", key: "roles", name: "Roles: everybody who is there", one: "role", fields: [...role, ...playing] } : group("roles", "Roles", roles().map((key) => group(key, key, role))),
  ];
  if (Array.isArray(data.flow)) fields.push(items("flow", "Phases, one after the other", "phase", phaseFields(roles, data.flow), () => ({ id: "", who: [] }), "", { keeps: true }));
  if (!data.flow) {
    fields.push(
      group("opening", "Openings", [
        group("shared", "Shared: the same under every goal", [
          items("exchanges", "Easy questions and true answers", "exchange", [text("question", "Question"), text("answer", "Answer"), names("claims", "Claims it makes", claims)], () => ({ question: "", answer: "", claims: [] })),
          lines("hard_question", "The question this is all about", "wording"),
        ]),
        items("by_goal", "By goal: a question, and what answers it under each goal", "question",
          [text("question", "Question"), group("statements", "Statements", goals.map((goal) => group(goal, goal, statement)))],
          () => ({ question: "", statements: Object.fromEntries(goals.map((goal) => [goal, { text: "", claims: [] }])) })),
      ]));
  }
  fields.push(
    items("claims", `Claims: what ${data.flow ? "somebody" : "the responder"} holds out as true`, "claim", [text("id", "Id"), text("text", "One sentence, true or false")], () => ({ id: "", text: "" })),
    items("facts", "Private facts", "fact",
      [text("id", "Id"), text("about", "About", "Names the subject without telling the fact."), text("text", "The fact", "One or two full sentences in the third person."),
        choice("owner", "Owner", roles, data.flow ? "Who knows it." : "Who knows it; dialogues are about facts of the responder.", { preset: "responder" }), ...shared,
        text("angle", "Angle", "A question that brings it up, from somebody who does not know it.", { optional: true }),
        items("cover", "Cover: claims a deceiver would have believed instead", "cover", [choice("claim", "Claim", claims), choice("gain", "Who gains", ["self", "protects", "surprise"], "", { preset: "self" })], () => ({ claim: claims()[0] || "", gain: "self" }))],
      () => ({ id: "", about: "", text: "", ...(data.flow ? { owner: roles()[0] } : {}) })),
    { kind: "grid", name: "Facts × claims: what each fact does to each claim" },
    group("outcome", "Outcome", [text("text", "How it ended"), text("as_of", "As of", "YYYY, YYYY-MM or YYYY-MM-DD.")]));
  return fields;
}

function schemeFields(data) {
  const labels = (dimension) => () => (dimension.labels || []).map((label) => label.id);
  return [
    group(null, "The scheme", [text("title", "Title"), text("description", "Description", "What is labelled, and what for.", { rows: 3 }), text("source", "Source"),
      choice("assigned", "Assigned to a dialogue: the goal", () => ["", ...(data.dimensions || []).map((one) => one.id)])]),
    items("dimensions", "Dimensions: the questions", "dimension", [
      text("id", "Id"), choice("level", "Level", ["utterance", "dialogue", "span"]), choice("measurement", "Measurement", ["nominal", "ordinal", "interval", "multi"]),
      text("title", "Title"), text("question", "Question"),
      items("labels", "Labels", "label", [text("id", "Id"), text("definition", "Definition"), text("example", "Example", "", { optional: true }), lines("aliases", "Other spellings", "spelling")], () => ({ id: "", definition: "" })),
      items("steps", "Steps: the first that holds gives the label", "step", [text("when", "When"), { kind: "choice", key: "label", name: "Label", options: labels, ofItem: true, hint: "" }], () => ({ when: "", label: "" })),
    ], () => ({ id: "", level: "utterance", measurement: "nominal", title: "", question: "", labels: [{ id: "", definition: "" }, { id: "", definition: "" }] })),
  ];
}
