"""Keep what a model computes when it reads answers, and guess the goal from each of its layers.

python examples/read_activations.py runs/example MODEL

MODEL is a folder of transformers or an id in its cache. Every answer is read after what was said
before it, without the private fact; kept is the state of the last token in each layer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel, AutoTokenizer

from hipo import UsageError, open_run


def main(folder: Path, name: str) -> None:
    run = open_run(folder)
    try:
        tokenizer = AutoTokenizer.from_pretrained(name)
        model = AutoModel.from_pretrained(name).eval()
    except (OSError, ValueError) as error:
        what = "give a folder of transformers with a model and its tokenizer, or an id in its cache"
        raise UsageError(f"{name}: found no model that can be loaded", what) from error
    states, goals, scenarios, turns = [], [], [], []
    for dialogue in run.dialogues(traces=False):
        for turn in dialogue.answers():
            said = [*dialogue.history(turn.index), (turn.role, turn.text)]
            text = "\n".join(f"{role}: {words}" for role, words in said)
            with torch.inference_mode():
                read = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
            states.append(np.stack([layer[0, -1].float().numpy() for layer in read.hidden_states]))
            goals.append(dialogue.case.goal)
            scenarios.append(dialogue.case.scenario)
            turns.append(f"{dialogue.case.id}/{dialogue.arm}/{turn.index}")
    kept = np.stack(states)  # answers, layers, width
    np.savez(
        "activations.npz", states=kept, goal=goals, scenario=scenarios, turn=turns
    )  # ids as in exported tables of turns
    folds = GroupKFold(min(5, len(set(scenarios))))  # guessed in scenarios that were not learnt
    for layer in range(kept.shape[1]):
        probe = make_pipeline(StandardScaler(), RidgeClassifier(alpha=100.0))
        guessed = cross_val_predict(probe, kept[:, layer], goals, groups=scenarios, cv=folds)
        print(f"layer {layer}: balanced accuracy {balanced_accuracy_score(goals, guessed):.2f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print("usage: python examples/read_activations.py RUN MODEL", file=sys.stderr)
        sys.exit(2)
    try:
        main(Path(sys.argv[1]), sys.argv[2])
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
