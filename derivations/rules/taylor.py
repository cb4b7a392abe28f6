"""# Softmax as a series in the logits

a_n = exp s_n / Σ_{p ≤ m} exp s_p is expanded along s ↦ τ s at τ = 0:

    a_n = m⁻¹ (1 + s_n + …) (1 + s̄ + …)⁻¹,     s̄^{(j)} = m⁻¹ Σ_{p ≤ m} s_p^j / j!

For fixed m the (K+1)-st derivative in τ is bounded by C_K max_p |s_p|^{K+1}, uniformly in τ (it is a polynomial in the
weights a, which lie in [0, 1], and in the s_p). Its mean is O((σ_q σ_k)^{K+1}), for the logits are linear in W_q
and in W_k, with all moments. When nothing else depends on W_q, the mean is even in τ (W_q → −W_q), and
an odd remainder moves up by one order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import factorial

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import Hypothesis, Order, coarser
from derivations.kernel.indices import Index, Range, Slot
from derivations.kernel.scalars import ONE, scalar
from derivations.kernel.tensors import Tensor, instantiate, term_entries
from derivations.kernel.theorem import Outcome, Rule
from derivations.rules._terms import edit_expectations, refuse_inverse


def softmax_series(tensor: Tensor, degree: int) -> list[Form]:
    """The homogeneous parts of a[…, m, n] in s, degrees 0 … `degree`, as forms in its parameters."""
    if tensor.role is None or tensor.role[0] != "softmax":
        raise Refusal(f"softmax_series: {tensor.name} is not the output of a softmax")
    logits = tensor.role[1][0]
    *_, query, key = tensor.parameters
    share = query.number.inverse()

    def power(times: int) -> Form:
        return Form.collect([Open(scalar(factorial(times)).inverse(), {}, [Entry(logits, tensor.parameters)] * times)])

    whole = Range(key.sort, frozenset({query}))
    means = [power(j).sum_over(key, whole).scaled(share) for j in range(degree + 1)]
    inverse = [Form.of(ONE)]
    for k in range(1, degree + 1):
        total = Form({})
        for j in range(1, k + 1):
            total = total - means[j] * inverse[k - j]
        inverse.append(total)
    parts = []
    for k in range(degree + 1):
        total = Form({})
        for j in range(k + 1):
            total = total + power(j) * inverse[k - j]
        parts.append(total.scaled(share))
    return parts


@dataclass(frozen=True)
class SoftmaxSeries(Rule):
    """
        a = softmax(s),  s linear in W_q and in W_k;  Y has all moments;  m, d, H fixed
        ───────────────────────────────────────────────────────────────────────────────
        E[a_n a_p … Y]  =  Σ_{degrees ≤ K} E[(…)_k Y]  +  O((σ_q σ_k)^{K+1})

    and O((σ_q σ_k)^{K+2}) when K + 1 is odd and Y does not depend on both W_q and W_k. Refuses a query that is summed
    over (m stands as a number). Source: derived here.
    """

    tensor: Tensor
    degree: int

    @property
    def label(self) -> str:
        return f"{self.tensor.name} to order {self.degree} in the logits"

    def apply(self, form: Form) -> Outcome:
        refuse_inverse(self.label, form)
        parts = softmax_series(self.tensor, self.degree)
        scales = self._scales()
        order: Order | None = None
        fixed: set[str] = set()

        def edit(term: Open, found: Expect, others: list[Factor]) -> Iterable[Open] | None:
            nonlocal order
            mine = [f for f in found.body if isinstance(f, Entry) and f.tensor is self.tensor]
            rest = [f for f in found.body if f not in mine]
            if not mine:
                return None
            if any(isinstance(f, Expect) for f in others) or found.given:
                raise Refusal(f"{self.label}: expand where it stands in one unconditional expectation")
            for entry in mine:
                query = entry.slots[-2]
                if not isinstance(query, Index):
                    raise Refusal(f"{self.label}: the query is summed over, and m stands as a number in the series")
                fixed.update({query.name} if query.value is None else ())
            remainder = self.degree + 1
            if remainder % 2 and self._odd_in_some_weight(rest):
                remainder += 1
            powers = dict.fromkeys(scales, remainder)
            order = coarser(order, Order.of(powers).times(term.coeff))
            return self._expanded(term, others, rest, mine, parts)

        result = edit_expectations(form, edit)
        if order is None:
            raise Refusal(f"{self.label}: no expectation holds {self.tensor.name}")
        return Outcome(result, frozenset({Hypothesis("fixed", ("d", "H", *sorted(fixed)))}), order)

    def _expanded(
        self, term: Open, others: list[Factor], rest: list[Factor], mine: list[Entry], parts: list[Form]
    ) -> Iterator[Open]:
        pending = [(0, Open(term.coeff, dict(term.ranges), []))]
        for entry in mine:
            names: dict[Slot, Slot] = dict(zip(self.tensor.parameters, entry.slots, strict=True))
            grown = []
            for degree, partial in pending:
                for more in range(self.degree - degree + 1):
                    for piece in parts[more].opened():
                        made = instantiate(piece, names)
                        grown.append(
                            (
                                degree + more,
                                Open(
                                    partial.coeff * made.coeff,
                                    {**partial.ranges, **made.ranges},
                                    partial.factors + made.factors,
                                ),
                            )
                        )
            pending = grown
        for _, made in pending:
            yield Open(made.coeff, made.ranges, [*others, Expect(frozenset(), (*rest, *made.factors))])

    def _weights(self) -> list[Tensor]:
        assert self.tensor.role is not None
        logits = self.tensor.role[1][0]
        return [w for w in sorted(logits.primitives, key=lambda t: t.name) if _is_linear_in(logits, w)]

    def _scales(self) -> list[str]:
        """The standard deviations of the weights in which the logits are linear."""
        names: list[str] = []
        for weight in self._weights():
            assert weight.scale is not None
            names.extend(n for n in weight.scale.names() if n.startswith("σ"))
        if not names:
            raise Refusal(f"{self.label}: the logits are not linear in any weights, so there is nothing small")
        return sorted(set(names))

    def _odd_in_some_weight(self, rest: list[Factor]) -> bool:
        """Whether some weight, in which the logits are linear, enters nothing else: then the mean is even."""
        made_of = {p for e in term_entries(rest) for p in e.tensor.primitives}
        return any(w not in made_of for w in self._weights())


def _is_linear_in(tensor: Tensor, weight: Tensor) -> bool:
    """Whether every term of the definition holds exactly one factor made of `weight`, linearly."""
    if tensor is weight:
        return True
    if tensor.body is None or tensor.function is not None or tensor.bounded:
        return False
    for term in tensor.body.opened():
        holding = [e for e in term_entries(term.factors) if weight in e.tensor.ancestors]
        if len(holding) != 1 or not _is_linear_in(holding[0].tensor, weight):
            return False
    return True


def expand(tensor: Tensor, degree: int) -> Rule:
    """Expand the attention weights to this degree in the scaled logits."""
    if degree < 0:
        raise NotationError(f"expand({tensor.name}, {degree}): the degree is at least 0")
    return SoftmaxSeries(tensor, degree)
