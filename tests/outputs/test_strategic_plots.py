"""Pictures of strategic metrics that one trial is too small to have."""

from __future__ import annotations

from outputs.strategic_plots import write_strategic_plots
from quality.strategic.outcome_model import OutcomeModel


def test_roc_curves_of_models_that_could_be_fitted_are_drawn_beside_guessing(tmp_path):
    fitted = OutcomeModel("all answers", 9, 4, 0, auc=0.8, roc=((0.0, 0.0), (0.2, 0.8), (1.0, 1.0)))
    unfit = OutcomeModel("reason logic", 3, 3, 0, note="every answer went to the witness")
    (_, drawn) = write_strategic_plots(tmp_path, [], [], [], [fitted, unfit])
    assert drawn.name == "roc.svg"
    text = drawn.read_text()
    assert "all answers: 0.80" in text
    assert "guessing: 0.50" in text
    assert "reason logic" not in text
    for axis in ("share of lost answers that are taken for won", "↑ share of won answers that are"):
        assert axis in text
    assert "…" not in text
    write_strategic_plots(tmp_path / "none", [], [], [], [unfit])
    assert not (tmp_path / "none" / "roc.svg").exists()
