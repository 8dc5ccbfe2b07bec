"""Differences between counts and counters that are understood: each with the number that it must be, and why."""

import re
from collections import namedtuple

# run and kernel are patterns; `measured` is the number that is understood, from the row of counts.
Explanation = namedtuple("Explanation", "run kernel quantity measured why")

EXPLANATIONS = []


def explanation(launch, quantity, counted, measured):
    """Why a launch's counter differs from the count, if that is known and the counter is what it then must be."""
    for one in EXPLANATIONS:
        if re.fullmatch(one.run, launch.run) and re.fullmatch(one.kernel, launch.kernel) and quantity == one.quantity:
            if one.measured(counted, launch) == measured:
                return one.why
    return None
