"""Generate, verify, export and report: the whole way from Python, with any model.

python examples/generate.py --model offline/rules --judge offline/judge --any -o runs/example

offline/judge does not agree with all labels of every dialogue of offline/rules: --any exports the
others, too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hipo import RunError, UsageError, estimate, export, generate, load_recipe, report, verify


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="offline/rules", help="who plays both roles")
    parser.add_argument("--judge", default="offline/judge", help="who judges")
    parser.add_argument("-n", type=int, default=24, help="how many dialogues")
    parser.add_argument("--budget-usd", type=float, default=5.0)
    parser.add_argument("--any", action="store_true", help="export what is not accepted, too")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/example"))
    arguments = parser.parse_args()

    recipe = load_recipe("hipo-paper").with_changes(
        {
            "n": arguments.n,
            "strategies": ["direct"],
            "tactics": "balanced",
            "models": {"default": arguments.model},
            "budget_usd": arguments.budget_usd,
        }
    )
    try:
        cost = estimate(recipe, output=arguments.output).cost_usd
        print("it will cost about", "an unknown amount" if cost is None else f"${cost:.2f}")
        run = generate(recipe, output=arguments.output)
        if run.outcome is not None and run.outcome.stopped:
            print("stopped:", run.outcome.stopped)
        verify(run, judges=[arguments.judge], budget_usd=arguments.budget_usd)
        verdict = "any" if arguments.any else "accepted"
        data = export(run, "sft", arguments.output / "sft", verdict=verdict, overwrite=True)
    except UsageError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    except RunError as error:
        print(error, file=sys.stderr)
        return 1
    state = run.state()
    print(f"{state.generated} dialogues, verdicts: {dict(state.verification.verdicts)}")
    print(f"rows: {data.rows} in {data.folder}")
    print(f"report: {report(run, embeddings=False).path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
