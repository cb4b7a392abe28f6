"""# Embedding

Setting: x_m is the row of an embedding table of iid N(0, σ_x²) entries that the token at position m selects.
Tokens are distinct, or iid uniform on V words; two positions then share a word, and so a row, with
probability 1/V.
Main results: `embedding_law`, `embedding_covariance`, `embedding_covariance_vocabulary`.
Notation: m, n positions, i, j features.
"""

from __future__ import annotations

from derivations.claim import CHI2023, CIRCULATED, CIRCULATED_NOTE, DERIVED, EXACT, claim
from derivations.kernel import E, SumOver, delta
from derivations.model import x
from derivations.notation import V, d, i, j, m, n, σ_x
from derivations.rules import linearity, primitive_law, rows


@claim(source=CHI2023, says=EXACT)
def embedding_law(proof):
    """x_mi ~ N(0, σ_x²), whatever the tokens."""
    return primitive_law(x, proof.name, m, i)


@claim(source=DERIVED, says=EXACT)
def embedding_mean(proof):
    """E x_mi = 0, so second moments are covariances on this page."""
    proof.start(E(x[m, i]))
    proof.step(0, by=rows(x))
    return proof.qed()


@claim(source=CHI2023, says=EXACT, headline=True)
def embedding_covariance(proof):
    """E[x_mi x_nj] = δ_mn δ_ij σ_x² when the tokens are distinct."""
    proof.start(E(x[m, i] * x[n, j]))
    proof.step(delta(m, n) * delta(i, j) * σ_x**2, by=rows(x))
    return proof.qed()


@claim(source=DERIVED, says=EXACT, headline=True)
def embedding_covariance_vocabulary(proof):
    """E[x_mi x_nj] = (δ_mn + (1 − δ_mn)/V) δ_ij σ_x² with V words: a repeated word repeats its row."""
    proof.start(E(x[m, i] * x[n, j]))
    proof.step(
        delta(m, n) * delta(i, j) * σ_x**2 + 1 / V * (1 - delta(m, n)) * delta(i, j) * σ_x**2,
        by=rows(x, vocabulary=V),
    )
    proof.step((delta(m, n) + 1 / V * (1 - delta(m, n))) * delta(i, j) * σ_x**2, by=linearity)
    return proof.qed()


@claim(source=DERIVED, says=EXACT)
def embedding_squared_norm(proof):
    """E‖x_m‖² = d σ_x²."""
    proof.start(E(SumOver(x[m, i] ** 2, i)))
    proof.step(SumOver(E(x[m, i] ** 2), i), by=linearity)
    proof.step(d * σ_x**2, by=rows(x))
    return proof.qed()


@claim(source=CIRCULATED_NOTE, says=CIRCULATED)
def circulated_independent_positions(proof):
    """E[x_mi x_nj] = δ_mn δ_ij σ_x² with V words too: positions taken as independent, though words repeat."""
    proof.start(E(x[m, i] * x[n, j]))
    proof.step(delta(m, n) * delta(i, j) * σ_x**2, by=rows(x, vocabulary=V))
    return proof.qed()
