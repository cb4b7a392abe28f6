"""How things look, in text and in LaTeX: every expected string is typed by hand."""

from __future__ import annotations

import pytest
import sympy
from sympy import Max, Min, Rational, gamma, pi, sqrt

from derivations import attention_output, layernorm, qk_product
from derivations.claim.printing import claim_latex, refused_latex, refused_text
from derivations.kernel import E, Proof, Refusal, SumOver, Var, excess_kurtosis
from derivations.model import Wq, e, mu, obar, q, s
from derivations.notation import H, a, d, d_h, h, i, m, n, ε, σ, σ_k, σ_o, σ_q, σ_v, σ_x
from derivations.render import (
    label_latex,
    latex,
    scalar_latex,
    scalar_text,
    statement_text,
    text,
    theorem_latex,
    theorem_text,
)
from derivations.rules import admit, definition, isserlis, set_equal, using

M, N = m.symbol, n.symbol
t, u = sympy.Symbol("t", real=True), sympy.Symbol("u", positive=True)


@pytest.mark.parametrize(
    ("value", "as_text", "as_latex"),
    [
        (sympy.Integer(3), "3", "3"),
        (Rational(1, 2), "1/2", r"\frac{1}{2}"),
        (M**-2, "1/m²", r"\frac{1}{m^{2}}"),
        (-6 / (d + 1), "-6/(d + 1)", r"-\frac{6}{d + 1}"),
        (d**3 * σ**4 / H, "d³·σ⁴/H", r"\frac{d^{3} \sigma^{4}}{H}"),
        (σ_o * σ_v * σ_k * σ_q, "σ_q·σ_k·σ_v·σ_o", r"\sigma_{q} \sigma_{k} \sigma_{v} \sigma_{o}"),
        (1 - t**2 / (d - 1), "1 - t²/(d - 1)", r"1 - \frac{t^{2}}{d - 1}"),
        (1 + 2 / d_h, "1 + 2·H/d", r"1 + \frac{2 H}{d}"),
        (d - 1, "d - 1", "d - 1"),
        (1 - d, "1 - d", "1 - d"),
        (M - d**2, "m - d²", "m - d^{2}"),
        (d / 2 - 2, "(d - 4)/2", r"\frac{d - 4}{2}"),
        (1 / sqrt(d_h), "√(H/d)", r"\sqrt{\frac{H}{d}}"),
        (1 / sqrt(pi * (d - 1)), "1/√(π·(d - 1))", r"\frac{1}{\sqrt{\pi \left(d - 1\right)}}"),
        (gamma(d / 2), "Γ(d/2)", r"\Gamma\left(\frac{d}{2}\right)"),
        (d / Max(M, N), "d/max(m, n)", r"\frac{d}{\max\left(m, n\right)}"),
        (Min(M, N) / (M * N), "min(m, n)/(m·n)", r"\frac{\min\left(m, n\right)}{m n}"),
        ((1 + u) ** (-d / 2), "(1 + u)^(-d/2)", r"\left(1 + u\right)^{-d/2}"),
        (
            sympy.Integral(sympy.exp(-u), (u, 0, sympy.oo)),
            "∫₀^∞ e^(-u) du",
            r"\int_{0}^{\infty} e^{-u} \, du",
        ),
    ],
)
def test_numbers(value, as_text, as_latex):
    assert (scalar_text(value), scalar_latex(value)) == (as_text, as_latex)


def test_products_are_printed_as_they_were_left():
    """A product that the author did not evaluate keeps its two factors."""
    value = sympy.Mul(1 / d_h, d**3 * σ**4 / H**2, evaluate=False)
    assert scalar_text(value) == "(H/d)·(d³·σ⁴/H²)"


@pytest.mark.parametrize(
    ("expression", "as_text", "as_latex"),
    [
        (
            excess_kurtosis(s[h, m, n]),
            "E[s[h,m,n]⁴]/E[s[h,m,n]²]² - 3",
            r"\frac{\mathbb{E}\left[s_{hmn}^{4}\right]}{\mathbb{E}\left[s_{hmn}^{2}\right]^{2}} - 3",
        ),
        (
            d * E(e[m, i]) / (H * E(e[n, i])),
            "d·E[e[m,i]]/(H·E[e[n,i]])",
            r"\frac{d \, \mathbb{E}\left[e_{mi}\right]}{H \, \mathbb{E}\left[e_{ni}\right]}",
        ),
        (
            1 / (E(e[m, i]) + 1),
            "1/(E[e[m,i]] + 1)",
            r"\frac{1}{\mathbb{E}\left[e_{mi}\right] + 1}",
        ),
        (
            Wq[h, a, i] ** 2 * mu[m],
            "Wq[h,a,i]²·μ[m]",
            r"\left(W^q_{hai}\right)^{2} \, \mu_{m}",
        ),
        (
            Var(obar[m, i]),
            "Var(ō[m,i])",
            r"\operatorname{Var}\left(\bar o_{mi}\right)",
        ),
        (
            E(q[m, h, a], given=[e]) - 2 * E(SumOver(s[h, m, n], n.upto(m))),
            "E[q[m,h,a] | e] - 2·E[Σ_{n≤m} s[h,m,n]]",
            r"\mathbb{E}\left[q_{mha} \mid e\right] - 2 \, \mathbb{E}\left[\sum_{n \le m} s_{hmn}\right]",
        ),
        (
            (E(e[m, i]) ** 2) ** 3 * (d**2 * SumOver(e[m, i], i) ** 2),
            "(E[e[m,i]]²)³·d²·(Σ_{i} e[m,i])²",
            r"\left(\mathbb{E}\left[e_{mi}\right]^{2}\right)^{3} \, d^{2} \, \left(\sum_{i} e_{mi}\right)^{2}",
        ),
    ],
)
def test_expressions(expression, as_text, as_latex):
    assert (text(expression), latex(expression)) == (as_text, as_latex)


def test_density():
    assert statement_text(layernorm.layernorm_marginal_law.statement) == (
        "e[m,i] ~ density (1 - t²/(d - 1))^((d - 4)/2)·Γ((d - 1)/2)/(√(π·(d - 1))·Γ((d - 2)/2)) "
        "for t ∈ (-√(d - 1), √(d - 1))"
    )


def test_integral_in_a_statement():
    assert statement_text(layernorm.layernorm_variance_with_eps.statement) == (
        "E[e[m,i]²] = 1 - ε·∫₀^∞ (1 + 2·u·σ_x²/d)^((1 - d)/2)·e^(-u·ε) du"
    )


def test_theorem_in_text():
    """Equal σ's are one chain, what is held fixed stands last, and the order goes with what was set."""
    assert theorem_text(attention_output.output_variance.theorem, derivation=True).splitlines() == [
        "tokens distinct, d ≥ 2, ε = 0, σ_q = σ_k = σ_v = σ_o = σ; d, H, m fixed ⊢ Var(o[m,i]) = d²·σ⁴/m + O(σ⁸)",
        "    Var(o[m,i])",
        f"{'  = E[o[m,i]²]':<72}  (output_mean)",
        f"{'  = d²·σ_v²·σ_o²/m + O(σ_q²·σ_k²·σ_v²·σ_o²)':<72}  (output_second_moment)",
        f"{'  = d²·σ⁴/m + O(σ⁸)':<72}  (σ_q = σ_k = σ_v = σ_o = σ)",
    ]


def test_theorem_in_latex():
    assert theorem_latex(qk_product.scaled_logit_variance.theorem) == "\n".join(
        [
            "$$",
            r"d \ge 2,\ \varepsilon = 0,\ \sigma_{q} = \sigma_{k} = \sigma \vdash "
            r"\operatorname{Var}\left(s_{hmn}\right) = d^{2} \sigma^{4}",
            "$$",
            "",
            "$$",
            r"\begin{aligned}",
            r"& \operatorname{Var}\left(s_{hmn}\right) \\",
            r"& = \mathbb{E}\left[s_{hmn}^{2}\right] && \text{scaled\_logit\_mean} \\",
            r"& = d^{2} \sigma_{q}^{2} \sigma_{k}^{2} && \text{scaled\_logit\_second\_moment} \\",
            r"& = d^{2} \sigma^{4} && \sigma_{q} = \sigma_{k} = \sigma",
            r"\end{aligned}",
            "$$",
        ]
    )


def test_theorem_without_hypotheses_starts_with_the_turnstile():
    theorem = layernorm.centred_row.theorem
    assert theorem_text(theorem) == "⊢ Σ_{i} e[m,i] = 0"
    assert theorem_latex(theorem).startswith("$$\n\\vdash \\sum_{i} e_{mi} = 0\n$$")


def test_admitted_theorem():
    proof = Proof("hope")
    proof.start(E(e[m, i] ** 2))
    proof.step(1, by=admit(1, "seen in a plot"))
    theorem = proof.qed()
    assert theorem_text(theorem) == "⊢ E[e[m,i]²] = 1   [ADMITTED, not proved: seen in a plot]"
    assert theorem_latex(theorem).splitlines()[1] == (
        r"\vdash \mathbb{E}\left[e_{mi}^{2}\right] = 1 \quad \text{[ADMITTED, not proved: seen in } a \text{ plot]}"
    )


def test_refused_chain_in_text():
    """The refused line is marked ✗, the unchecked ones ?."""
    marks = [line[:1] for line in refused_text(qk_product.circulated_scaled_logit_variance.refused).splitlines()]
    assert marks[:4] == [" ", " ", "✗", "?"]
    assert "  the rule gives: d²·σ⁴" in refused_text(qk_product.circulated_scaled_logit_variance.refused)


def test_refused_chain_in_latex():
    """The refused line in red, what the rule gives below it, the rest in grey."""
    assert claim_latex(qk_product.circulated_scaled_logit_variance) == "\n".join(
        [
            "circulated scaled logit variance — circulated, false; as circulated",
            "",
            "$$",
            r"\begin{aligned}",
            r"& \mathbb{E}\left[s_{hmn}^{2}\right] \\",
            r"& = \frac{H}{d} \, \mathbb{E}\left[l_{hmn}^{2}\right] && \text{definition of } s \\",
            r"& {\color{red}{\overset{?}{=} \frac{H}{d} \, \frac{d^{3} \sigma^{4}}{H^{2}}}} "
            r"&& \text{logit\_second\_moment}\textbf{: refused} \\",
            r"& = d^{2} \sigma^{4} && \textbf{what the rule gives} \\",
            r"& {\color{gray}{\overset{?}{=} \frac{d^{2} \sigma^{4}}{H}}} && \text{algebra}",
            r"\end{aligned}",
            "$$",
        ]
    )


def test_refused_chain_whose_rule_gives_nothing():
    """Then the reason stands below the line."""
    from derivations.causal_softmax import circulated_attention_second_moment

    assert (
        r"& && \text{independence: no expectation splits; the factors share } W^k \text{, } W^q \text{, } x"
        in refused_latex(circulated_attention_second_moment.refused)
    )


def test_long_sums_go_on_in_the_next_row():
    from derivations.causal_softmax import attention_second_moment

    rows = theorem_latex(attention_second_moment.theorem).splitlines()
    assert sum(row.startswith(r"& \quad {} + ") or row.startswith(r"& \quad {} - ") for row in rows) == 2


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Isserlis over Wq", r"\text{Isserlis over } W^q"),
        ("definition of μ, ō", r"\text{definition of } \mu \text{, } \bar o"),
        ("exchangeable in n ≤ m", r"\text{exchangeable in } n \le m"),
        ("r normalises, ε = 0", r"r \text{ normalises, } \varepsilon = 0"),
        ("squared_norm", r"\text{squared\_norm}"),
        ("100 % & more", r"100 \text{ \% \& more}"),
    ],
)
def test_labels(label, expected):
    assert label_latex(label) == expected


# --- the order goes with what is set ------------------------------------------------------------------------


def _output_variance_at(values):
    proof = Proof("output variance")
    proof.start(E(attention_output.o[m, i] ** 2))
    proof.step(d**2 * σ_v**2 * σ_o**2 / M, by=using(attention_output.output_second_moment.theorem))
    right = (d**2 * σ_v**2 * σ_o**2 / M).subs(values)
    proof.step(right, by=set_equal(values))
    return proof.qed()


def test_order_follows_the_symbols():
    theorem = _output_variance_at({σ_q: σ, σ_k: σ})
    assert statement_text(theorem.statement) == "E[o[m,i]²] = d²·σ_v²·σ_o²/m + O(σ⁴·σ_v²·σ_o²)"


@pytest.mark.parametrize("value", [sympy.Integer(1), 1 / σ, H])
def test_a_small_symbol_cannot_be_set_to_what_is_not_small(value):
    """O(σ_q² …) holds as σ_q → 0 and says nothing of σ_q = 1."""
    with pytest.raises(Refusal, match=r"σ_q → 0, and .* need not be small"):
        _output_variance_at({σ_q: value})


def test_a_symbol_held_fixed_cannot_be_set():
    """1 − E e² = O(…) + O(ε³) for fixed σ_x: σ_x = ε would make every term of one size."""
    proof = Proof("shortfall")
    layernorm.layernorm_eps_shortfall.derive(proof)
    with pytest.raises(Refusal, match="contradict each other: 'd, σ_x fixed' and 'σ_x = ε'"):
        proof.step(d / (d - 3) / ε - d**2 / ((d - 3) * (d - 5)) / ε**2, by=set_equal({σ_x: ε}))


def test_using_a_definition_and_isserlis_reads_as_on_paper():
    proof = Proof("query variance")
    proof.start(E(q[m, h, a] ** 2))
    with pytest.raises(Refusal) as refused:
        proof.step(σ_q * E(SumOver(e[m, i] ** 2, i)), by=[definition(q), isserlis(Wq)])
    assert refused.value.gives == "σ_q²·E[Σ_{i} e[m,i]²]"
    assert refused.value.gives.latex == r"\sigma_{q}^{2} \, \mathbb{E}\left[\sum_{i} e_{mi}^{2}\right]"
