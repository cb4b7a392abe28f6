"""# Unfolding definitions

`definition(T)`: T[i, j] becomes its body. `relation(z)`: z·B = 1 for a reciprocal z = 1/B, r²·B = 1 for r = B^(−1/2),
solved for the leading term of B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from derivations.kernel.errors import NotationError, Refusal
from derivations.kernel.factors import Entry, Expect, Factor, Open
from derivations.kernel.forms import Form
from derivations.kernel.hypotheses import EPS_POSITIVE, EPS_ZERO, Hypothesis, at_least
from derivations.kernel.scalars import ONE, ZERO
from derivations.kernel.tensors import Tensor, term_entries
from derivations.kernel.theorem import Outcome, Rule
from derivations.rules.rewriting import rewrite_instances


@dataclass(frozen=True)
class Definition(Rule):
    """
        T[i] := B(i)  is a definition
        ─────────────────────────────   by definition of T
          X[T[i]]  =  X[B(i)]

    Refuses when T is primitive or a function (exp, 1/…) of another: there is nothing to unfold.
    """

    tensors: tuple[Tensor, ...]

    @property
    def label(self) -> str:
        from derivations.render import text_name

        return "definition of " + ", ".join(map(text_name, self.tensors))

    def apply(self, form: Form) -> Outcome:
        for tensor in self.tensors:
            if tensor.body is None:
                raise Refusal(f"definition of {tensor.name}: it is primitive", remedy="use its law (isserlis, rows)")
            if tensor.function is not None:
                raise Refusal(
                    f"definition of {tensor.name}: it is the {tensor.function} of another: no polynomial to unfold",
                    remedy=f"relation({tensor.name})",
                )
            form = form.rewrite(partial(_unfolded, tensor=tensor))
        return Outcome(form, _integrability(form))


def _integrability(form: Form) -> frozenset[Hypothesis]:
    """ε > 0 where an expectation holds a factor that is bounded only then. Refuses what is not integrable at all."""
    found: set[Hypothesis] = set()
    for term in form.opened():
        for factor in term.factors:
            for entry in term_entries([factor]) if isinstance(factor, Expect) else ():
                if not entry.tensor.integrable:
                    raise Refusal(
                        f"E[…] would hold {entry.tensor.name}, which is not known to be integrable",
                        remedy="keep the bounded quantity folded inside the expectation",
                    )
                if entry.tensor.needs_eps:
                    found.add(EPS_POSITIVE)
    return frozenset(found)


def _unfolded(term: Open, tensor: Tensor) -> Iterator[Open]:
    pending = [term]
    while pending:
        current = pending.pop()
        entry = next((e for e in term_entries(current.factors) if e.tensor is tensor), None)
        if entry is None:
            yield current
            continue
        for body in tensor.unfold(entry.slots):
            factors, _ = _replace_first(current.factors, entry, body.factors)
            pending.append(Open(current.coeff * body.coeff, {**current.ranges, **body.ranges}, factors))


def _replace_first(factors: list[Factor], entry: Entry, body: list[Factor]) -> tuple[list[Factor], bool]:
    result: list[Factor] = []
    done = False
    for factor in factors:
        if not done and factor == entry:
            result.extend(body)
            done = True
        elif not done and isinstance(factor, Expect):
            inner, done = _replace_first(list(factor.body), entry, body)
            result.append(Expect(factor.given, tuple(inner)))
        else:
            result.append(factor)
    return result, done


@dataclass(frozen=True)
class Relation(Rule):
    """
        z = 1/B              r = B^(−1/2)
        ─────────           ────────────     almost surely
        z·B = 1              r²·B = 1

    The leading term of z·B is replaced by 1 minus the others. With `eps_zero`, ε = 0 becomes a hypothesis, and
    d ≥ 2 with it (B > 0 almost surely).
    """

    tensor: Tensor
    eps_zero: bool

    @property
    def label(self) -> str:
        return f"{self.tensor.name} normalises" + (", ε = 0" if self.eps_zero else "")

    def apply(self, form: Form) -> Outcome:
        tensor = self.tensor
        powers = {"reciprocal": 1, "reciprocal square root": 2}
        if tensor.function not in powers:
            raise Refusal(f"relation({tensor.name}): it is not a reciprocal or a reciprocal square root")
        assert tensor.body is not None
        body, hypotheses = tensor.body, frozenset[Hypothesis]()
        if self.eps_zero:
            body = body.substitute({}, {"ε": ZERO})
            hypotheses = frozenset({EPS_ZERO, at_least("d", 2)})
        unit = Form.collect([Open(ONE, {}, [Entry(tensor, tensor.parameters)] * powers[tensor.function])])
        product = unit * body
        lead = max(product.terms, key=lambda t: (sum(len(c.factors) for c in t), -len(t), "·".join(c.key for c in t)))
        inverse = product.terms[lead].inverse()
        pattern = Form({lead: ONE})
        image = (Form.of(ONE) - product + pattern.scaled(product.terms[lead])).scaled(inverse)
        rewritten = rewrite_instances(form, pattern, image, frozenset(tensor.parameters))
        if rewritten.form == form:
            raise Refusal(
                f"relation({tensor.name}): the sum that it normalises does not occur",
                remedy="unfold the definitions of what is summed",
            )
        return Outcome(rewritten.form, hypotheses)


def definition(*tensors: Tensor) -> Rule:
    """Unfold these tensors, in this order, everywhere."""
    if not tensors or not all(isinstance(t, Tensor) for t in tensors):
        raise NotationError("definition(…): name the tensors to unfold")
    return Definition(tensors)


def relation(tensor: Tensor, eps_zero: bool = False) -> Rule:
    """z·(what it is the reciprocal of) = 1."""
    return Relation(tensor, eps_zero)
