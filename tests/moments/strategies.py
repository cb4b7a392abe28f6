"""What the tests of this folder draw."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, settings

EXACT_TESTS = settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

REFUSED_TRIANGLE = re.compile("positions up to a bound position is not supported|it stands as a number in the summand")
