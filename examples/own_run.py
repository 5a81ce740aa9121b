"""Make, verify and export a run with a strategy, a gate and a scenario of one's own."""

from pathlib import Path

from hipo import export, generate, load_recipe, verify

recipe = load_recipe(Path(__file__).parent / "own_run" / "recipe.yaml")
run = generate(recipe, output="runs/own")
done = verify(run)
data = export(run, "sft", "sets/own", verdict="any", split_by="fact", fractions=(1, 0, 1))
promises = [f for record in run.verdicts() for f in record.flags if f.code == "promise"]
print(f"{done.outcome.done} verified, {len(promises)} promises, rows: {data.rows}")
