"""Label the dialogues of a scenario with a scheme of one's own.

python examples/own_scheme.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hipo import generate, load_recipe
from scenarios.pack import LIBRARY

# A scenario names its scheme: the used car is taken over into ours, without the acts of the other.
lines = (LIBRARY / "products" / "used_car.yaml").read_text(encoding="utf-8").splitlines()
ours = {"id: used_car": "id: polite_car", "scheme: hipo": "scheme: politeness"}
pack = Path("politeness_scenarios")
pack.mkdir(exist_ok=True)
(pack / "polite_car.yaml").write_text(
    "\n".join(ours.get(line, line) for line in lines if not line.startswith("felicitous:")) + "\n",
    encoding="utf-8",
)

recipe = load_recipe("hipo-paper").with_changes(
    {
        "scheme": str(Path(__file__).parent / "own_scheme" / "politeness.yaml"),
        "scenario_dirs": [str(pack)],
        "scenarios": ["polite_car"],
        "strategies": ["direct"],
        "tactics": "balanced",
        "n": 8,
        "models": {"default": "offline/rules"},
    }
)
run = generate(recipe, output="runs/polite")
labels = Counter(
    (label.dimension, label.value)
    for dialogue in run.dialogues()
    for turn in dialogue.answers()
    for label in turn.tactic
)
for (dimension, value), count in sorted(labels.items()):
    print(f"{dimension:8} {value:12} {count}")
