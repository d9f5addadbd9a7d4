"""What the scripts of the clients share: checks that print whether results agree with the host's, and their count.

A check is a function without arguments that returns what the client computed and what the host computes:

    @check("sum", tolerance=1e-6)
    def _():
        return device_sum(x), x.sum()
"""

import sys
import traceback

import numpy

_outcomes = []


def check(name, tolerance=0.0):
    """Runs the decorated function at once and prints whether its two results agree, relative to the largest of them."""

    def run(compute):
        try:
            got, expected = (numpy.asarray(result) for result in compute())
            scale = numpy.abs(expected).max(initial=0) or 1
            agrees = got.shape == expected.shape and numpy.allclose(got, expected, rtol=0, atol=tolerance * scale)
        except Exception:
            traceback.print_exc()
            agrees = False
        _outcomes.append(agrees)
        print("agrees " if agrees else "differs", name, flush=True)

    return run


def finish():
    """Prints the count, which is the last line of a script, and ends the process: with 1 if a check differs."""
    print(f"{sum(_outcomes)} of {len(_outcomes)} checks agree", flush=True)
    sys.exit(0 if all(_outcomes) else 1)
