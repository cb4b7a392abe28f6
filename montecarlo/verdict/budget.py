"""# The error budget of a suite"""

from __future__ import annotations

from collections import Counter

from montecarlo.verdict.arguments import check_alpha

__all__ = ["TOTAL", "Budget"]

TOTAL = 1e-6


class Budget:
    """P(any false alarm in the suite) ≤ total: each of claims × evaluations verdicts gets total/(claims ·
    evaluations).

    Every evaluation counts, those of shrinking and the one on fresh seeds too. The looks of one verdict share
    its α already. A share is spent when it is asked for, whatever comes of it.

    Args:
        claims: how many claims the suite checks.
        evaluations: the most verdicts on one claim.
        total: false-alarm rate of the suite.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(self, *, claims: int, evaluations: int, total: float = TOTAL) -> None:
        """Divide; spend nothing yet."""
        check_alpha(total)
        for name, number in (("claims", claims), ("evaluations", evaluations)):
            if number < 1:
                raise ValueError(f"{name}={number!r} leaves nothing to divide among. Use a whole number of 1 or more.")
        self.total, self.claims, self.evaluations = total, claims, evaluations
        self._spent: Counter[str] = Counter()

    @property
    def each(self) -> float:
        """α of one verdict."""
        return self.total / (self.claims * self.evaluations)

    @property
    def of_claim(self) -> float:
        """α of all verdicts on one claim together."""
        return self.total / self.claims

    @property
    def spent(self) -> float:
        """Σ α handed out so far: a bound on the false-alarm rate of the run."""
        return self.each * self._spent.total()

    @property
    def by_claim(self) -> dict[str, float]:
        """The same for each claim, in the order in which they first asked."""
        return {name: self.each * count for name, count in self._spent.items()}

    def left(self, claim: str) -> int:
        """How many verdicts the claim may still ask for."""
        if claim not in self._spent and len(self._spent) >= self.claims:
            return 0
        return self.evaluations - self._spent[claim]

    def share(self, claim: str, evaluations: int = 1) -> float:
        """α for the next `evaluations` verdicts on a claim together, spent herewith.

        Raises:
            ValueError: the budget has no room for them.
        """
        if evaluations < 1:
            raise ValueError(f"evaluations={evaluations!r} asks for nothing. Use a whole number of 1 or more.")
        if self.left(claim) < evaluations:
            raise ValueError(
                f"the budget of {self.claims:,} claims with {self.evaluations:,} evaluations each has "
                f"{self.left(claim):,} left for {claim!r}, and {evaluations:,} are asked for. "
                "Plan for more of them when the suite begins."
            )
        self._spent[claim] += evaluations
        return self.each * evaluations
