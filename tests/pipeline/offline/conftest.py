"""Prompts in the layout the engine reads, for three small scenes of different kinds."""

from __future__ import annotations

import pytest

HIPO = {
    "intention": ("Inform", "Convince", "Motivate", "Affect"),
    "veracity": ("Quantity", "Quality", "Relevance", "Manner", "None"),
    "illocutionary": (
        "Representatives", "Directives", "Commissives", "Expressives", "Declarations",
    ),
}  # fmt: skip
GOALS = ("deception", "truthful non-disclosure")

SCENES = {
    "boat": {
        "situation": "A retired couple wants to buy a sailing boat. The price is agreed and the "
        "contract lies on the table. The insurance still has to be arranged.",
        "you": ("owner", "Has sailed the boat for ten years.", "sell the boat this week"),
        "other": ("buyer", "Careful with money."),
        "aim": "find out whether the hull has ever been damaged",
        "about": "a repair below the waterline",
        "fact": "Three summers ago the owner ran onto a reef, and a cousin patched the hull with "
        "a plastic sheet.",
        "question": "The hull looks patched near the keel. What happened there?",
        "statement": "The boat has always been in perfect shape. I check the hull each spring.",
    },
    "office": {
        "situation": "The committee reviews the budget of a research group. A report is due on "
        "Friday and the press has asked for an interview.",
        "you": ("head of the group", "Runs the laboratory.", "keep the grant"),
        "other": ("auditor", "Has time and a red pencil."),
        "aim": "get the missing invoices on the table",
        "about": "who signed the travel claims",
        "fact": "The head signed eleven travel claims for trips that never took place; the "
        "secretary was told to file them under training.",
        "question": "Some of these trips have no tickets. Who travelled?",
        "statement": "My people travel a great deal and they keep their papers in order.",
    },
    "flatmates": {
        "situation": "Two students share a flat and a kitchen. The rent is due tomorrow and the "
        "landlord wants to see both of them about the lease.",
        "you": ("Jo", "Tired and short of cash.", "get through the month"),
        "other": ("Kim", "Keeps the shopping list."),
        "aim": "learn where the money for the rent has gone",
        "about": "the envelope in the drawer",
        "fact": "The envelope is empty because the money went to a dentist.",
        "question": "I wanted to count the rent money. Do you have the envelope?",
        "statement": "The envelope is where it always is.",
    },
}


def skeleton(dimensions, goals=GOALS, goal_key="goal"):
    lines = ['  "utterance": "<text>"', f'  "{goal_key}": "<one of: {" | ".join(goals)}>"']
    for name, spec in dimensions.items():
        value = f'"<one of: {" | ".join(spec)}>"' if isinstance(spec, tuple) else spec
        lines += [f'  "{name}_rationale": "<text>"', f'  "{name}": {value}']
    return "{\n" + ",\n".join(lines) + "\n}"


def system(answer):
    return f"# Task\nTalk.\n\n# Rules\n- Be brief.\n\n# Answer format\nOne object.\n{answer}\n"


def private(scene, goal):
    return (
        f"# Your goal\nGoal: {goal}\nIt means something.\n\n# What only you know\n"
        f"It concerns: {scene['about']}\nFact: {scene['fact']}\n\n"
    )


def scenery(scene, manner=()):
    role, description, aim = scene["you"]
    lines = "# Way of speaking\n" + "\n".join(manner) + "\n\n" if manner else ""
    return (
        f"# Situation\n{scene['situation']}\n\n# You\nRole: {role}\nDescription: {description}\n"
        f"Aim: {aim}\n\n# The other person\nRole: {scene['other'][0]}\n"
        f"Description: {scene['other'][1]}\n\n{lines}# Language\nWrite in: en (English)\n\n"
    )


def talk(scene, history=None):
    said = history or (("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"]),
                       ("INITIATOR", "And what exactly does that mean for the contract?"))  # fmt: skip
    return "# Conversation so far\n" + "\n".join(f"{who}: {text}" for who, text in said) + "\n\n"


class Prompts:
    """Builds (role, content) messages for each task."""

    scenes = SCENES
    goals = GOALS
    hipo = HIPO

    def responder(self, scene, goal, wanted=(), *, history=None, manner=(), open_acts=(),
                  dimensions=HIPO, draft="", answer=None):  # fmt: skip
        scene = SCENES[scene] if isinstance(scene, str) else scene
        acts = f"# Acts open to you\nOpen to you: {' | '.join(open_acts)}\n\n" if open_acts else ""
        ask = "".join(f"Wanted {name}: {label}\n" for name, label in wanted)
        user = (
            scenery(scene, manner) + private(scene, goal) + acts + talk(scene, history) + draft
            + f"# Now\nWrite what the RESPONDER says next.\n{ask}"
        )  # fmt: skip
        return [("system", system(answer or skeleton(dimensions))), ("user", user)]

    def initiator(self, scene, *, history=None, manner=()):
        scene = SCENES[scene] if isinstance(scene, str) else scene
        own = {**scene, "you": (scene["other"][0], scene["other"][1], scene["aim"]),
               "other": scene["you"][:2]}  # fmt: skip
        said = history or (("INITIATOR", scene["question"]), ("RESPONDER", scene["statement"]))
        user = scenery(own, manner) + talk(scene, said) + "# Now\nWrite what comes next.\n"
        return [("system", system('{\n  "utterance": "<text>"\n}')), ("user", user)]

    def draft(self, text, labels):
        lines = "".join(f"Declared {k}: {v}\nRationale {k}: because.\n" for k, v in labels.items())
        return f"# The draft\nUtterance: {text}\n{lines}\n"

    def revise(self, scene, goal, text, labels, wanted=()):
        critique = "# Critique\n" + "".join(f"{k}: not carried: too weak\n" for k in labels) + "\n"
        return self.responder(scene, goal, wanted, draft=self.draft(text, labels) + critique)

    def reflect(self, scene, goal, text, labels, wanted=()):
        keys = [f'  "{k}_reason": "<text>",\n  "{k}_carried": <true or false>' for k in HIPO]
        answer = "{\n" + ",\n".join(keys) + "\n}"
        return self.responder(scene, goal, wanted, draft=self.draft(text, labels), answer=answer)


@pytest.fixture(scope="session")
def prompts():
    return Prompts()
