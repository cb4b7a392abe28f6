"""Attempts to talk the kernel into a false theorem through its public interface: each is refused, with its message."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest
import sympy

from derivations.causal_softmax import attention_square_sum
from derivations.kernel import Cov, E, NotationError, Proof, Refusal, SumOver, Theorem, Var, delta, instance
from derivations.kernel.expressions import Num
from derivations.kernel.hypotheses import DISTINCT_TOKENS, EPS_ZERO
from derivations.kernel.laws import Normal
from derivations.kernel.scalars import generator
from derivations.kernel.tensors import Space
from derivations.kernel.theorem import Rule
from derivations.layernorm import (
    centred_row,
    distinct_token_product_second_moment,
    layernorm_marginal_law,
    row_law,
    squared_norm,
    squared_norm_with_eps,
)
from derivations.model import MODEL, Wk, Wq, Wv, attention, e, k, l, mu, q, r, s, ubar, v, w, x, z
from derivations.notation import (
    H,
    V,
    a,
    d,
    h,
    i,
    j,
    m,
    n,
    one,
    p,
    σ,
    σ_k,
    σ_q,
    σ_v,
    σ_x,
)
from derivations.projections import query_covariance_given_e, query_law, query_pair_given_e
from derivations.qk_product import logit_second_moment, scaled_logit_second_moment
from derivations.rules import (
    admit,
    algebra,
    condition,
    definition,
    density_limit,
    distinct,
    exchangeable,
    expand,
    fresh,
    gaussian_law,
    independence,
    isserlis,
    relation,
    rows,
    set_equal,
    sphere_law,
    using,
    within,
)

# --- theorems that nobody proved -------------------------------------------------------------------------------


def test_a_theorem_is_not_made_by_hand():
    """The constructor wants a seal."""
    with pytest.raises(TypeError, match="a Theorem is made by a rule"):
        Theorem(None, "forged", squared_norm.theorem.statement, [], [], [])


@pytest.mark.parametrize(
    "forge",
    [
        lambda t: dataclasses.replace(t, _name="forged"),
        lambda t: setattr(t, "_hypotheses", frozenset()),
        lambda t: setattr(t, "extra", 1),
        lambda t: delattr(t, "_hypotheses"),
        lambda t: copy.copy(t),
        lambda t: copy.deepcopy(t),
        lambda t: pickle.dumps(t),
        lambda t: type("Forged", (Theorem,), {}),
        lambda t: t.hypotheses.clear(),
        lambda t: t.lines.append(None),
        lambda t: t.rhs.form.terms.update({}),
        lambda t: setattr(t.rhs.form, "_terms", {}),
        lambda t: setattr(t.statement, "rhs", Num(sympy.Integer(0))),
        lambda t: setattr(t.rhs, "value", sympy.Integer(0)),
    ],
)
def test_a_theorem_is_not_forged_or_changed(forge):
    """Neither copies nor edits: hypotheses, lines, statement and normal forms are read-only."""
    theorem = squared_norm.theorem
    before = repr(theorem)
    with pytest.raises((TypeError, AttributeError)):
        forge(theorem)
    assert repr(theorem) == before


def test_an_empty_theorem_object_is_of_no_use():
    """object.__new__ makes a shell without a statement: no rule takes it."""
    shell = object.__new__(Theorem)
    with pytest.raises(AttributeError):
        Proof().start(E(e[m, i] ** 2)).step(0, by=using(shell))


def test_only_rules_of_the_package_justify_a_step():
    """A function handed in as a rule is not one, and a rule defined elsewhere is refused where it is defined."""
    with pytest.raises(NotationError, match="is not a rule; take one of derivations"):
        Proof().start(E(e[m, i])).step(1, by=lambda form: form)
    with pytest.raises(TypeError, match="rules live in derivations"):

        class Mine(Rule):
            pass


def test_lines_of_a_proof_are_read_only():
    """A line once accepted is not edited: what `lines` gives is a tuple."""
    proof = Proof().start(E(e[m, i]))
    assert isinstance(proof.lines, tuple)
    with pytest.raises(AttributeError):
        proof.lines = ()  # type: ignore[misc]


def test_an_admitted_step_taints_what_is_built_on_it():
    """admit goes through, is printed, and stays with every theorem that uses it."""
    wrong = Proof("doubled").start(E(q[m, h, a] ** 2)).step(2 * d * σ_q**2, by=admit(2 * d * σ_q**2, "by hope")).qed()
    assert wrong.admitted == {"by hope"}
    assert "ADMITTED, not proved: by hope" in repr(wrong)
    child = Proof().start(3 * E(q[m, h, a] ** 2)).step(6 * d * σ_q**2, by=using(wrong)).qed()
    assert child.admitted == {"by hope"}


# --- independence ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("product", "shared"),
    [
        (q[m, h, a] * k[n, h, a], "x"),
        (k[m, h, a] * k[n, h, a], "Wk"),
        (e[m, i] * e[n, j], "x"),
        (l[h, m, n] * l[h, m, p], "Wk, Wq, x"),
    ],
)
def test_dependent_tensors_are_not_independent(product, shared):
    """Independence is read off the primitives: q and k share e, k_m and k_n share W_k, e_m and e_n may be one row."""
    with pytest.raises(Refusal, match=f"no expectation splits; the factors share {shared}"):
        Proof().start(E(product)).step(0, by=independence)


def test_isserlis_refuses_what_depends_on_the_weights():
    """E[W_q q] is not E[W_q] E[q]: q has to be unfolded first."""
    with pytest.raises(Refusal, match="Isserlis over Wq: q depends on Wq, as Wq does"):
        Proof().start(E(Wq[h, a, i] * q[m, h, a])).step(0, by=isserlis(Wq))


def test_isserlis_refuses_a_conditional_expectation_on_the_weights():
    """E[W² | q] is not σ²."""
    with pytest.raises(Refusal, match="conditional on q, which depends on Wq"):
        Proof().start(E(Wq[h, a, i] ** 2, given=[q])).step(σ_q**2, by=isserlis(Wq))


def test_isserlis_does_not_take_tokens_to_be_distinct():
    """Rows of x may coincide: their moments carry the hypothesis on the tokens."""
    with pytest.raises(Refusal, match="its rows are those of tokens, which may coincide"):
        Proof().start(E(x[m, i] * x[n, j])).step(0, by=isserlis(x))


def test_a_fresh_query_needs_one_position():
    """q_m and q_n are not both independent of e."""
    rule = fresh(q, query_covariance_given_e.theorem)
    with pytest.raises(Refusal, match=r"fresh\(q\): it is used at several positions: m, n"):
        Proof().start(E(l[h, m, p] * l[h, n, p])).step(0, by=rule)


def test_a_fresh_query_needs_its_weights_nowhere_else():
    """W_q may enter through q alone."""
    rule = fresh(q, query_covariance_given_e.theorem)
    with pytest.raises(Refusal, match=r"Wq enters Wq elsewhere too"):
        Proof().start(E(l[h, m, p] * Wq[h, a, i])).step(0, by=rule)


def test_a_fresh_query_needs_a_constant_norm():
    """With ⟨e_m, e_n⟩ left in the covariance the conditional law is not constant."""
    with pytest.raises(Refusal, match="does not state that its entries are uncorrelated given e"):
        fresh(q, query_pair_given_e.theorem)


# --- exchangeability -------------------------------------------------------------------------------------------


def test_the_own_row_of_a_query_is_not_exchangeable():
    """E a_mn = 1/m is not had for nothing: row m is the query's as well, and with ‖e‖ not constant it is false."""
    with pytest.raises(Refusal, match="row m of x is used in another role as well"):
        Proof().start(E(attention[h, m, n])).step(
            E(SumOver(attention[h, m, n], n.upto(m))) / m.symbol, by=exchangeable(n, m)
        )


def test_the_end_of_a_sum_is_not_exchangeable():
    """E ubar_m depends on m."""
    with pytest.raises(Refusal, match=r"exchangeable in n ≤ m: (the rows 1..n of x are used|n is the end of a sum)"):
        exchangeable(n, m).apply(E(ubar[n, h, a] ** 2).form)


def test_two_features_are_not_averaged_one_by_one():
    """E e_i e_j is not d⁻¹ Σ_i E e_i e_j."""
    with pytest.raises(Refusal, match="another index of its sort occurs: j"):
        Proof().start(E(e[m, i] * e[m, j])).step(0, by=exchangeable(i))


# --- hypotheses ------------------------------------------------------------------------------------------------


def test_hypotheses_travel():
    """What a rule needs lands on the theorem: tokens distinct, ε = 0."""
    theorem = logit_second_moment.theorem
    assert {DISTINCT_TOKENS, EPS_ZERO} <= theorem.hypotheses


def test_distinct_tokens_and_a_vocabulary_never_meet():
    """Two laws of the tokens contradict each other."""
    first = Proof("one").start(E(x[m, i] * x[n, i])).step(delta(m, n) * σ_x**2, by=rows(x)).qed()
    proof = Proof().start(E(x[m, i] * x[n, i]) + E(x[m, i] ** 2 * x[n, j] ** 2))
    with pytest.raises(Refusal, match="hypotheses contradict each other: 'tokens distinct' and 'tokens iid uniform"):
        proof.step(0, by=[using(first), rows(x, vocabulary=V)])


def test_eps_zero_and_eps_positive_never_meet():
    """‖e‖² = d holds at ε = 0, E r² needs ε > 0."""
    with pytest.raises(Refusal, match="hypotheses contradict each other: 'ε > 0' and 'ε = 0'"):
        Proof().start(E(SumOver(e[m, i] ** 2, i)) * E(r[m] ** 2)).step(d * E(r[m] ** 2), by=using(squared_norm.theorem))


def test_m_differs_from_n_fails_at_m_equals_n():
    """A theorem under m ≠ n has no instance at n = m."""
    with pytest.raises(Refusal, match="hypothesis m ≠ n fails for m = m"):
        instance(distinct_token_product_second_moment.theorem, {n: m})


def test_a_delta_is_dropped_only_with_its_hypothesis():
    """E l_mn l_mp = 0 is refused; with n ≠ p assumed it is a theorem that says so."""
    proof = Proof().start(E(l[h, m, n] * l[h, m, p]))
    with pytest.raises(Refusal, match="the line is not what the rule gives"):
        proof.step(0, by=using(logit_second_moment.theorem))
    theorem = proof.step(0, by=[using(logit_second_moment.theorem), distinct(n, p)]).qed()
    assert "n ≠ p" in {hyp.text for hyp in theorem.hypotheses}


def test_coincidences_are_right_without_a_word():
    """E[l_mn l_mn] = d³σ⁴/H, n = m included: the same theorem at every coincidence."""
    for names in ({p: n}, {p: m, n: m}):
        theorem = instance(logit_second_moment.theorem, names)
        assert theorem.rhs.form.as_scalar() is not None
        assert theorem.rhs.form.as_scalar().as_expr() == d**3 * σ**4 / H


def test_sizes_of_denominators_become_hypotheses():
    """The marginal density needs d ≥ 3, the sphere d ≥ 2; the series in ε as much as its moments do."""
    assert "d ≥ 3" in {hyp.text for hyp in layernorm_marginal_law.theorem.hypotheses}
    assert "d ≥ 2" in {hyp.text for hyp in row_law.theorem.hypotheses}
    with pytest.raises(Refusal, match="hypothesis 'd ≥ 2' restricts d"):
        instance(squared_norm.theorem, values={d: sympy.Integer(1)})


# --- orders ----------------------------------------------------------------------------------------------------


def test_an_order_is_not_dropped():
    """A theorem used inside a derivation passes its remainder on."""
    proof = Proof().start(2 * E(SumOver(attention[h, m, n] ** 2, n.upto(m))))
    theorem = proof.step(2 / m.symbol, by=using(attention_square_sum.theorem)).qed()
    assert theorem.order == attention_square_sum.theorem.order is not None


def test_an_order_does_not_survive_division_by_what_is_small():
    """1/(σ_q σ_k)² times O(σ_q² σ_k²) is not small."""
    proof = Proof().start(E(SumOver(attention[h, m, n] ** 2, n.upto(m))) / (σ_q**2 * σ_k**2))
    with pytest.raises(Refusal, match="the remainder is not small"):
        proof.step(1 / (m.symbol * σ_q**2 * σ_k**2), by=using(attention_square_sum.theorem))


def test_no_remainder_inside_a_quotient():
    """The order of 1/(F + O) is not tracked, so it is refused."""
    proof = Proof().start(1 / E(SumOver(attention[h, m, n] ** 2, n.upto(m))))
    with pytest.raises(Refusal, match="the order of a remainder next to or inside 1/F is not tracked"):
        proof.step(m.symbol, by=expand(attention, 1))


def test_no_remainder_beside_a_random_factor():
    """x · (F + O) has no stated order."""
    proof = Proof().start(x[m, i] * E(SumOver(attention[h, m, n] ** 2, n.upto(m))))
    with pytest.raises(Refusal, match="a remainder next to a random factor has no stated order"):
        proof.step(x[m, i] / m.symbol, by=using(attention_square_sum.theorem))


def test_parity_needs_a_weight_that_enters_nothing_else():
    """E[a W_q W_k …] is odd in s alone: with both weights outside, the order is K + 1, not K + 2."""

    def order(extra):
        proof = Proof().start(E(attention[h, m, one] * extra))
        with pytest.raises(Refusal) as caught:
            proof.step(0, by=expand(attention, 0))
        assert "the rule gives" in str(caught.value)
        return expand(attention, 0).apply(E(attention[h, m, one] * extra).form).order

    even, odd = order(Wv[h, a, i] ** 2), order(Wq[h, a, i] * Wk[h, a, i])
    assert dict(even.powers)["σ_q"] == 2
    assert dict(odd.powers)["σ_q"] <= 2
    assert dict(odd.powers)["σ_q"] == 1


# --- binding ---------------------------------------------------------------------------------------------------


def test_no_index_is_captured():
    """Σ_n a(m, n) at m := n is Σ_n' a(n, n'), not Σ_n a(n, n)."""
    summed = SumOver(s[h, m, n], n.upto(p))
    moved = summed.substitute({m: n})
    assert moved.form == SumOver(s[h, n, p], p.upto(m)).substitute({m: p}).form
    assert moved.form != SumOver(s[h, n, n], n.upto(p)).form


def test_the_same_letter_bound_twice_is_two_indices():
    """(Σ_i e_i)² is Σ_ij e_i e_j, not Σ_i e_i²."""
    assert (SumOver(e[m, i], i) ** 2).form == SumOver(e[m, i] * e[m, j], i, j).form
    assert (SumOver(e[m, i], i) ** 2).form != SumOver(e[m, i] ** 2, i).form


def test_a_position_is_an_index_and_a_number():
    """E ū_m ū_n = dσ²/max(m, n), and not dσ²/m: substituting m changes both."""
    proof = Proof().start(E(ubar[m, h, a] * ubar[n, h, a]))
    by = [definition(ubar, v), isserlis(Wv), rows(e, law=row_law.theorem)]
    with pytest.raises(Refusal, match="the line is not what the rule gives"):
        proof.step(d * σ_v**2 / m.symbol, by=by)
    theorem = proof.step(d * σ_v**2 / sympy.Max(m.symbol, n.symbol), by=by).qed()
    assert instance(theorem, {n: m}).rhs.form.as_scalar().as_expr() == d * σ_v**2 / m.symbol


def test_a_free_index_on_one_side_only():
    """Both sides have the same free indices."""
    with pytest.raises(NotationError, match="index j is free on the new line but not on the left-hand side"):
        Proof().start(E(e[m, i] ** 2)).step(E(e[m, j] ** 2), by=algebra)


def test_a_key_beyond_its_query():
    """a_mn is defined for n ≤ m: a sum over the keys of m ends at m."""
    with pytest.raises(NotationError, match=r"key n is summed beyond the query m; write n.upto\(m\)"):
        Proof().start(SumOver(attention[h, m, n], n.upto(p)))


def test_a_sum_over_positions_has_an_end():
    """There is no last position."""
    with pytest.raises(NotationError, match=r"positions need an upper end; write n.upto\(m\)"):
        SumOver(e[n, i], n)


def test_indices_have_sorts():
    """A head is not a feature; three indices are not two."""
    with pytest.raises(NotationError, match="e: index h is not a feature"):
        _ = e[m, h]
    with pytest.raises(NotationError, match=r"e: 2 indices wanted \(position, feature\), 3 given"):
        _ = e[m, n, i]


def test_one_name_is_one_symbol():
    """d with other assumptions is another quantity: the name is taken."""
    with pytest.raises(ValueError, match="symbol 'd': already declared"):
        generator(sympy.Symbol("d"))


def test_a_tensor_is_defined_once():
    """No redefinition after its ancestry is known, no index out of nowhere."""
    with pytest.raises(NotationError, match="tensor 'q': already defined; definitions are frozen"):
        MODEL.define("q", (m, h, a), (k[m, h, a] * 1).form)
    with pytest.raises(AttributeError, match="tensor q: its definition is frozen"):
        q.body = k.body
    with pytest.raises(NotationError, match="index j is not among its parameters"):
        Space().define("bad", (m,), E(e[m, j]).form)


# --- integrability ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [z[h, m], w[h, m, m]], ids=["1/Σ exp s", "exp s"])
def test_no_mean_of_what_may_have_none(entry):
    """E[z], E[exp s] are not formed: nothing says that they exist."""
    with pytest.raises(NotationError, match="is not known to be integrable"):
        Proof().start(E(entry))


def test_no_reciprocal_of_a_random_quantity():
    """E[W_o/q] has no moments."""
    with pytest.raises(Refusal, match="1/X of a random X has no moments that are known to exist"):
        _ = (1 / q[m, h, a]).form


def test_a_bounded_quantity_is_not_unfolded_into_unbounded_ones():
    """E a is not E[w z]."""
    with pytest.raises(Refusal, match="not known to be integrable"):
        Proof().start(E(attention[h, m, n])).step(E(attention[h, m, n]), by=definition(attention))


# --- equalities that hold somewhere ------------------------------------------------------------------------------


def test_equal_only_at_one_head():
    """d³σ⁴/H² is d³σ⁴/H at H = 1, and refused."""
    with pytest.raises(Refusal, match="the line is not what the rule gives"):
        Proof().start(E(l[h, m, n] ** 2)).step(d**3 * σ_q**2 * σ_k**2 / H**2, by=[using(_raw_logit()), algebra])


def test_equal_only_at_d_equals_H():
    """σ² d and σ² H are not the same number."""
    with pytest.raises(Refusal, match="the rule gives: d·σ_q²"):
        Proof().start(E(q[m, h, a] ** 2)).step(
            H * σ_q**2, by=[definition(q), isserlis(Wq), using(squared_norm.theorem)]
        )


def _raw_logit():
    by = [
        definition(l, q),
        isserlis(Wq),
        definition(k),
        isserlis(Wk),
        using(squared_norm.theorem),
        rows(e, law=row_law.theorem),
    ]
    return Proof("raw").start(E(l[h, m, n] ** 2)).step(d**3 * σ_q**2 * σ_k**2 / H, by=by).qed()


def test_variance_is_not_a_second_moment():
    """Var X drops E[X]² only where it is 0; Cov(X, Y) = E[XY] − E[X]E[Y] in the normal form."""
    assert Var(q[m, h, a]).form != E(q[m, h, a] ** 2).form
    assert Cov(x[m, i], x[m, i]).form == Var(x[m, i]).form


# --- rules outside their conditions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attempt", "wording"),
    [
        (lambda: Proof().start(E(q[m, h, a])).step(0, by=isserlis(q)), "it is defined, not a tensor of iid Gaussian"),
        (lambda: Proof().start(E(x[m, i])).step(0, by=definition(x)), "definition of x: it is primitive"),
        (lambda: Proof().start(r[m] ** 2).step(1, by=definition(r)), "no polynomial to unfold"),
        (lambda: Proof().start(r[m] ** 2).step(1, by=relation(r)), "the sum that it normalises does not occur"),
        (lambda: Proof().start(r[m]).step(1, by=relation(mu)), "it is not a reciprocal"),
        (lambda: Proof().start(E(e[m, i])).step(0, by=using(squared_norm.theorem)), "no instance of"),
        (lambda: Proof().start(E(e[m, i])).step(0, by=using(row_law.theorem)), "it states a law, not an equation"),
        (lambda: Proof().start(E(q[m, h, a])).step(0, by=set_equal({σ_q: σ})), "tensors are left"),
        (lambda: Proof().start(E(e[m, i])).step(0, by=distinct(m, n)), "no δ between them occurs"),
        (lambda: Proof().start(E(e[m, i])).step(0, by=within(n, m)), "no .n ≤ m. occurs"),
        (lambda: Proof().start(E(e[m, i])).step(0, by=expand(attention, 0)), "no expectation holds a"),
        (lambda: Proof().start(E(q[m, h, a])).step(0, by=condition(e)), "the line is not what the rule gives"),
        (lambda: sphere_law(e, squared_norm_with_eps.theorem, centred_row.theorem, "bad"), "does not state Σ_i e_i²"),
        (lambda: sphere_law(q, squared_norm.theorem, centred_row.theorem, "bad"), "is not the output of a LayerNorm"),
        (lambda: gaussian_law(l[h, m, n], (e,), scaled_logit_second_moment.theorem, "bad"), "does not state"),
        (lambda: density_limit(layernorm_marginal_law.theorem, d, Normal(2 * sympy.S.One), "bad"), "the density tends"),
        (lambda: density_limit(query_law.theorem, d, Normal(sympy.Integer(1)), "bad"), "does not state a density"),
        (lambda: instance(squared_norm.theorem, values={σ_q: -σ}), "is positive, -σ is not known to be"),
    ],
)  # fmt: skip
def test_a_rule_refuses_outside_its_conditions(attempt, wording):
    """Each says why, in words that are tested."""
    with pytest.raises((Refusal, NotationError), match=wording):
        attempt()


def test_a_mixture_of_gaussians_is_not_gaussian():
    """l given e is not normal: it is a product. Even with its second moment known, the law is refused."""
    second = Proof("l²").start(E(l[h, m, n] ** 2, given=[e]))
    second.step(
        d**3 * σ_q**2 * σ_k**2 / H,
        by=[
            definition(l, q),
            isserlis(Wq),
            using(squared_norm.theorem),
            definition(k),
            isserlis(Wk),
            using(squared_norm.theorem),
        ],
    )
    with pytest.raises(Refusal, match="is not linear in Gaussian entries"):
        gaussian_law(l[h, m, n], (e,), second.qed(), "bad")


def test_a_sum_is_not_dropped_when_a_theorem_is_used_under_it():
    """Σ_{n≤m} E s_mn² = m d²σ_q²σ_k²: an index of the theorem that is summed in the line stays summed."""
    proof = Proof().start(E(SumOver(s[h, m, n] ** 2, n.upto(m))))
    with pytest.raises(Refusal, match="the line is not what the rule gives"):
        proof.step(d**2 * σ_q**2 * σ_k**2, by=using(scaled_logit_second_moment.theorem))
    proof.step(m.symbol * d**2 * σ_q**2 * σ_k**2, by=using(scaled_logit_second_moment.theorem))


def test_a_refused_step_says_from_to_and_what_the_rule_gives():
    """The whole message."""
    with pytest.raises(Refusal) as caught:
        Proof().start(E(Wq[h, a, i] ** 2)).step(σ_q, by=isserlis(Wq))
    assert str(caught.value) == (
        "step refused: the line is not what the rule gives\n"
        "  from: E[Wq[h,a,i]²]\n"
        "  to:   σ_q\n"
        "  by:   Isserlis over Wq\n"
        "  the rule gives: σ_q²\n"
        "  try: write that line, or name the rule that leads to yours"
    )


def test_a_refused_step_leaves_the_proof_where_it_was():
    """After a refusal the right line is still accepted."""
    proof = Proof().start(E(Wq[h, a, i] ** 2))
    with pytest.raises(Refusal):
        proof.step(σ_q, by=isserlis(Wq))
    assert proof.step(σ_q**2, by=isserlis(Wq)).qed().rhs.form.as_scalar().as_expr() == σ_q**2
