"""# Laws: exact distributions and their limits

The rules here make theorems of their own: from a definition, or from other theorems.
"""

from __future__ import annotations

import sympy

from derivations.kernel.errors import Refusal
from derivations.kernel.expressions import At, E, Expr, SumOf, delta, walk
from derivations.kernel.factors import Entry, Open
from derivations.kernel.hypotheses import Hypothesis, at_least
from derivations.kernel.indices import Index
from derivations.kernel.laws import (
    CentredSphere,
    CharacteristicFunction,
    Density,
    HasLaw,
    LimitInLaw,
    Mixture,
    Normal,
)
from derivations.kernel.scalars import Scalar, scalar
from derivations.kernel.tensors import Tensor
from derivations.kernel.theorem import Line, Theorem, _issue


def primitive_law(tensor: Tensor, name: str, *indices: Index) -> Theorem:
    """
    T iid N(0, σ²) by definition
    ────────────────────────────
           T[i] ~ N(0, σ²)
    """
    if not tensor.is_primitive:
        raise Refusal(f"law of {tensor.name}: it is defined; derive its law", remedy="gaussian_law, sphere_law")
    assert tensor.scale is not None
    statement = HasLaw(tensor[indices], Normal((tensor.scale**2).as_expr()))
    return _issue(name, statement, lines=[Line(statement, (f"definition of {tensor.name}",))])


def gaussian_law(entry: Expr, given: tuple[Tensor, ...], second_moment: Theorem, name: str) -> Theorem:
    """
        X = Σ_i c_i(G) W_i,  W iid Gaussian, independent of G        ⊢ E[X² | G] = v, free of G
        ─────────────────────────────────────────────────────────────────────────────────────────
                             X ~ N(0, v), and X is independent of G

    `second_moment` is the theorem E[X² | G] = v. Refuses when X is not linear in one tensor of Gaussian entries, when
    its coefficients are not known given G, or when v is random.
    """
    if not isinstance(entry, At) or entry.tensor.body is None or entry.tensor.function is not None:
        raise Refusal(f"gaussian_law: {entry!r} is not an entry with a polynomial definition")
    if second_moment.lhs.form != E(entry**2, given).form or second_moment.order is not None:
        raise Refusal(f"gaussian_law: {second_moment.name} does not state E[{entry!r}² | …] exactly")
    if second_moment.rhs.form.as_scalar() is None:
        raise Refusal(
            f"gaussian_law: the conditional variance of {entry!r} is not a number; X is a mixture of Gaussians",
            remedy="integrate out what it depends on, or use mixture_characteristic_function",
        )
    for term in entry.form.rewrite(lambda t: _unfold_all(t, entry.tensor)).opened():
        weights = [
            f
            for f in term.factors
            if isinstance(f, Entry) and f.tensor.is_primitive and not f.tensor.known_given(given)
        ]
        others = [f for f in term.factors if isinstance(f, Entry) and f not in weights]
        if len(weights) != 1 or not all(f.tensor.known_given(given) for f in others):
            raise Refusal(
                f"gaussian_law: {entry!r} is not linear in Gaussian entries with coefficients known given "
                + ", ".join(t.name for t in given)
            )
        if any(weights[0].tensor in t.ancestors for t in given):
            raise Refusal(f"gaussian_law: {weights[0].tensor.name} enters what is given")
    law = Normal(second_moment.rhs.form.as_scalar().as_expr())  # type: ignore[union-attr]
    conditional = HasLaw(entry, law, given)
    statement = HasLaw(entry, law, independent_of=given)
    lines = [
        Line(second_moment.statement, (second_moment.name,)),
        Line(conditional, ("linear in Gaussian entries",)),
        Line(statement, ("the conditional law is constant",)),
    ]
    return _issue(name, statement, second_moment.hypotheses, second_moment.admitted, lines)


def _unfold_all(term: Open, tensor: Tensor) -> list[Open]:
    from derivations.rules.definitions import _unfolded

    return list(_unfolded(term, tensor))


def sphere_law(tensor: Tensor, norm: Theorem, centre: Theorem, name: str) -> Theorem:
    """
        e = LN(x),  x_m iid N(0, σ²)     ⊢ Σ_i e_i² = d     ⊢ Σ_i e_i = 0
        ───────────────────────────────────────────────────────────────────
                 e_m is uniform on the centred sphere of radius √d

    For an orthogonal Q with Q1 = 1, Qx has the law of x and LN(Qx) = Q LN(x): checked on the definition of e, in
    which every feature index of x is free, contracted with another x, or summed alone. The only law on the sphere {Σ
    v = 0, ‖v‖² = d} that is invariant under all such Q is the uniform one.
    """
    if tensor.role is None or tensor.role[0] != "layer norm":
        raise Refusal(f"sphere_law: {tensor.name} is not the output of a LayerNorm")
    source, mean, deviation = tensor.role[1]
    if not source.is_primitive:
        raise Refusal(f"sphere_law: {source.name} is not a tensor of iid Gaussian entries")
    _check_invariance(tensor, source, mean, deviation)
    m, i = Index("m", tensor.sorts[0]), Index("i", tensor.sorts[1])
    size = tensor.sorts[1].size
    assert size is not None
    _check_states(norm, [tensor[m, i] ** 2], scalar(size), "Σ_i e_i² = d", i)
    _check_states(centre, [tensor[m, i]], scalar(0), "Σ_i e_i = 0", i)
    statement = HasLaw(tensor[m, i], CentredSphere(size), row=True)
    lines = [
        Line(norm.statement, (norm.name,)),
        Line(centre.statement, (centre.name,)),
        Line(statement, (f"LN and the law of {source.name} are invariant under rotations about (1, …, 1)",)),
    ]
    hypotheses = norm.hypotheses | centre.hypotheses | {at_least(str(size), 2)}
    return _issue(name, statement, hypotheses, norm.admitted | centre.admitted, lines)


def _check_states(theorem: Theorem, bodies: list[Expr], value, what: str, over: Index) -> None:
    wanted = [SumOf(body, (_whole(over),)).form for body in bodies]
    free = {i for i in theorem.lhs.free if i.sort != over.sort}
    names = {i: Index("m", i.sort) for i in free}
    if theorem.order or theorem.lhs.substitute(names).form not in wanted or theorem.rhs.form.as_scalar() != value:
        raise Refusal(f"sphere_law: {theorem.name} does not state {what}")


def _whole(index: Index):
    from derivations.kernel.expressions import Bound

    return Bound(index)


def _check_invariance(tensor: Tensor, source: Tensor, mean: Tensor, deviation: Tensor) -> None:
    from derivations.rules.definitions import definition

    assert deviation.body is not None and tensor.body is not None
    for body, free_feature in ((deviation.body, None), (tensor.body, tensor.parameters[-1])):
        for term in definition(mean).apply(body).form.opened():
            places: dict[object, int] = {}
            for factor in term.factors:
                if isinstance(factor, Entry) and factor.tensor is source:
                    places[factor.slots[-1]] = places.get(factor.slots[-1], 0) + 1
                elif not (isinstance(factor, Entry) and factor.tensor is deviation):
                    raise Refusal(f"sphere_law: the definition of {tensor.name} is not invariant under rotations")
            if any(times > (1 if slot == free_feature else 2) for slot, times in places.items()):
                raise Refusal(f"sphere_law: the definition of {tensor.name} is not invariant under rotations")


def sphere_marginal(row: Theorem, name: str) -> Theorem:
    """
        e_m uniform on the centred sphere of radius √d
        ───────────────────────────────────────────────────────────────────────────────────────────────  d ≥ 3
        e_mi has density  Γ((d−1)/2) / (√(π(d−1)) Γ((d−2)/2)) · (1 − t²/(d−1))^((d−4)/2)  on |t| < √(d−1)

    In the (d − 1)-dimensional space Σ v = 0 the coordinate v_i is √(1 − 1/d)·⟨v, unit vector⟩, and one coordinate of
    a uniform unit vector of R^n has density ∝ (1 − u²)^((n−3)/2). The constant is the Beta integral. Source: derived
    here.
    """
    statement = row.statement
    if not isinstance(statement, HasLaw) or not isinstance(statement.law, CentredSphere):
        raise Refusal(f"sphere_marginal: {row.name} does not state a law on the centred sphere")
    d = statement.law.size
    t = sympy.Symbol("t", real=True)
    n = d - 1
    radius = sympy.sqrt(d) * sympy.sqrt((d - 1) / d)
    radius = sympy.sqrt(sympy.cancel(radius**2))
    unit = sympy.gamma(n / 2) / (sympy.sqrt(sympy.pi) * sympy.gamma((n - 1) / 2))
    density = unit / radius * (1 - t**2 / radius**2) ** ((n - 3) / 2)
    law = Density(t, density, -radius, radius)
    made = HasLaw(statement.subject, law)
    lines = [Line(statement, (row.name,)), Line(made, ("one coordinate of the uniform law on the sphere",))]
    return _issue(name, made, row.hypotheses | {at_least(str(d), 3)}, row.admitted, lines)


def density_limit(exact: Theorem, parameter: sympy.Symbol, limit: Normal, name: str) -> Theorem:
    """
        X has density f_d        f_d(t) → f(t) for every t, f a density
        ────────────────────────────────────────────────────────────────   Scheffé
                       X → f in law

    The limit is taken by SymPy of log f_d(t) at symbolic t, with √(2π) z^(z−1/2) e^(−z) for Γ(z) as z → ∞
    (Stirling); refuses when it is not log f(t), or cannot be told.
    """
    statement = exact.statement
    if not isinstance(statement, HasLaw) or not isinstance(statement.law, Density):
        raise Refusal(f"density_limit: {exact.name} does not state a density")
    t, f = statement.law.symbol, statement.law.density
    wanted = sympy.exp(-(t**2) / (2 * limit.variance)) / sympy.sqrt(2 * sympy.pi * limit.variance)
    n = sympy.Dummy("n", positive=True)
    kernel, constant = (
        sympy.Mul(*(part for part in sympy.Mul.make_args(f.subs(parameter, n)) if part.has(t) is inside))
        for inside in (True, False)
    )
    if any(sympy.limit(g.args[0], n, sympy.oo) != sympy.oo for g in constant.atoms(sympy.gamma)):
        raise Refusal(f"density_limit: a Γ of {exact.name} stays finite as {parameter} → ∞")
    constant = constant.replace(
        sympy.gamma, lambda z: sympy.sqrt(2 * sympy.pi) * z ** (z - sympy.S.Half) * sympy.exp(-z)
    )
    log_kernel, log_constant = (
        sympy.limit(sympy.expand_log(sympy.log(part), force=True), n, sympy.oo) for part in (kernel, constant)
    )
    found = sympy.exp(log_constant + log_kernel)
    if sympy.simplify(found / wanted - 1) != 0:
        raise Refusal(
            f"density_limit: the density tends to {found}, not to that of {limit.text()}",
            gives=str(sympy.simplify(found)),
        )
    made = LimitInLaw(statement.subject, limit, parameter)
    lines = [Line(statement, (exact.name,)), Line(made, ("pointwise limit of the density, Scheffé",))]
    return _issue(name, made, exact.hypotheses, exact.admitted, lines)


def bilinear_characteristic_function(entry: Expr, left: Theorem, right: Theorem, name: str) -> Theorem:
    """
        s = c Σ_{a ≤ D} q_a k_a     ⊢ E[q_a q_b | e] = δ_ab v     ⊢ E[k_a k_b | e] = δ_ab w     q, k linear in W_q, W_k
        ───────────────────────────────────────────────────────────────────────────────────────────────────────────
                             E exp(i t s) = (1 + c² v w t²)^(−D/2)

    Given e, q and k are Gaussian with iid entries and independent of each other (they are linear in two different
    tensors of weights). Given q too, s is N(0, c² w ‖q‖²), and E exp(−u q_a²/2) = (1 + u v)^(−1/2) for each a.
    Refuses when the weights are shared, or enter what is given. Source: derived here.
    """
    coeff, queries, keys = _bilinear(entry)
    size = queries.tensor.sorts[-1].size
    assert size is not None
    v, w = _iid_variance(left, queries), _iid_variance(right, keys)
    weights = {_weights(queries.tensor), _weights(keys.tensor)}
    given = {t for member in (queries, keys) for t in _given(member.tensor)}
    if len(weights) == 1:
        raise Refusal(f"bilinear_characteristic_function: {queries.tensor} and {keys.tensor} share weights")
    if any(t.ancestors & weights for t in given):
        raise Refusal("bilinear_characteristic_function: the weights enter what is given")
    t = sympy.Symbol("t", real=True)
    function = (1 + (coeff * coeff * v * w).as_expr() * t**2) ** (-size / 2)
    statement = HasLaw(entry, CharacteristicFunction(t, function))
    channel = Index(queries.tensor.parameters[-1].name, queries.tensor.sorts[-1])
    position, head, _ = queries.slots
    assert isinstance(position, Index) and isinstance(head, Index)
    spread = SumOf(queries.tensor[position, head, channel] ** 2, (_whole(channel),))
    lines = [
        Line(left.statement, (left.name,)),
        Line(right.statement, (right.name,)),
        Line(
            HasLaw(entry, Mixture((coeff * coeff * w).as_expr() * spread), (queries.tensor,)),
            ("linear in Gaussian entries",),
        ),
        Line(statement, (f"Gaussian integral over {queries.tensor.name}, channel by channel",)),
    ]
    return _issue(name, statement, left.hypotheses | right.hypotheses, left.admitted | right.admitted, lines)


def _bilinear(entry: Expr) -> tuple[Scalar, Entry, Entry]:
    """(c, q, k) with entry = c Σ_a q_a k_a by its definitions; q stands at the entry's query."""
    from derivations.rules.definitions import definition

    what = f"bilinear_characteristic_function: {entry!r} is not c Σ_a q_a k_a by its definition"
    if not isinstance(entry, At) or len(entry.indices) < 2:
        raise Refusal(what)
    form = entry.form
    while len(list(form.entries())) == 1 and (only := next(form.entries()).tensor).body is not None:
        if only.function is not None:
            raise Refusal(what)
        form = definition(only).apply(form).form
    for term in form.opened():
        members = [f for f in term.factors if isinstance(f, Entry) and f.tensor.body is not None]
        if len(form.terms) != 1 or len(members) != 2 or len(term.factors) != 2 or len(term.ranges) != 1:
            break
        ((bound, limits),) = term.ranges.items()
        whole = limits.sort.size is not None and not limits.uppers
        if whole and all(len(f.slots) == 3 and f.slots[-1] == bound != f.slots[1] for f in members):
            queries, keys = sorted(members, key=lambda f: f.slots[0] != entry.indices[-2])
            return term.coeff, queries, keys
    raise Refusal(what)


def _weights(tensor: Tensor) -> Tensor:
    """The one tensor of Gaussian weights in which `tensor` is linear by its definition."""
    assert tensor.body is not None
    found = {e.tensor for e in tensor.body.entries() if e.tensor.is_primitive}
    once = all(sum(e.tensor in found for e in _entries_of(term)) == 1 for term in tensor.body.opened())
    if len(found) != 1 or not once or tensor.function is not None:
        raise Refusal(f"{tensor.name} is not linear in one tensor of Gaussian weights")
    return found.pop()


def _entries_of(term: Open) -> list[Entry]:
    return [f for f in term.factors if isinstance(f, Entry)]


def _given(tensor: Tensor) -> tuple[Tensor, ...]:
    assert tensor.body is not None
    found = {e.tensor for e in tensor.body.entries() if not e.tensor.is_primitive}
    return tuple(sorted(found, key=lambda x: x.name))


def _iid_variance(theorem: Theorem, member: Entry) -> Scalar:
    """v, if the theorem states E[q_a q_b | e] = δ_ab v with a number v, and q is linear in iid weights."""
    tensor = member.tensor
    _weights(tensor)
    row, head, a = tensor.parameters
    b = Index(a.name + "'", a.sort)
    given = _given(tensor)
    wanted = E(tensor[row, head, a] * tensor[row, head, b], given)
    refusal = Refusal(f"{theorem.name} does not state {wanted!r} = δ v exactly, with v a number")
    entries = [x for x in walk(theorem.lhs) if isinstance(x, At)]
    if len(entries) != 2 or any(x.tensor is not tensor for x in entries) or theorem.order:
        raise refusal
    first, second = (x.indices for x in entries)
    names = {first[0]: row, first[1]: head, second[1]: head, first[2]: a, second[2]: b}
    right = theorem.rhs.substitute(names).form
    variance = right.substitute({b: a}).as_scalar()
    if first[0] != second[0] or theorem.lhs.substitute(names).form != wanted.form or variance is None:
        raise refusal
    if right != delta(a, b).form.scaled(variance) or row.name in variance.free_symbols():
        raise refusal
    return variance


def characteristic_function_limit(
    exact: Theorem,
    path: dict[sympy.Symbol, sympy.Expr],
    parameter: sympy.Symbol,
    fixed: tuple[str, ...],
    name: str,
) -> Theorem:
    """
        X has characteristic function φ_n        φ_n(t) → exp(−v t²/2) for every t
        ─────────────────────────────────────────────────────────────────────────────   Lévy
                              X → N(0, v) in law

    `path` says how the symbols move with the parameter n (σ_q = √(s/d), d = H n: put in one after another),
    everything named in `fixed` stays. Refuses when a symbol is neither, when a size moves to what is none, or when
    a hypothesis sets one that moves.
    """
    statement = exact.statement
    if not isinstance(statement, HasLaw) or not isinstance(statement.law, CharacteristicFunction):
        raise Refusal(f"characteristic_function_limit: {exact.name} does not state a characteristic function")
    t, moving = statement.law.symbol, statement.law.function
    for symbol, value in path.items():
        moving = moving.subs(symbol, value)
        if symbol.is_integer and not (value.is_integer and value.is_positive):
            raise Refusal(f"characteristic_function_limit: {symbol} is a size, {value} is not known to be one")
    moved = {symbol.name for symbol in path}
    stray = moving.free_symbols | {x for value in path.values() for x in value.free_symbols}
    loose = sorted({x.name for x in stray - {t, parameter}} - moved - set(fixed))
    if loose:
        raise Refusal(f"characteristic_function_limit: say whether {', '.join(loose)} moves or stays fixed")
    for h in exact.hypotheses:
        if h.kind == "value" and moved & set(h.subject):
            raise Refusal(f"characteristic_function_limit: hypothesis '{h.text}' restricts what moves")
    base, power = moving.as_base_exp()
    base, power = sympy.expand(sympy.cancel(base)), sympy.cancel(power)
    log_limit = sympy.limit(power * sympy.log(base), parameter, sympy.oo)
    variance = sympy.cancel(-2 * log_limit / t**2)
    if variance.has(t, parameter) or not variance.is_positive:
        raise Refusal(
            "characteristic_function_limit: the limit is not that of a centred normal law",
            gives=str(sympy.exp(log_limit)),
        )
    made = LimitInLaw(statement.subject, Normal(variance), parameter, tuple(path.items()))
    lines = [
        Line(statement, (exact.name,)),
        Line(HasLaw(statement.subject, CharacteristicFunction(t, base**power)), ("along the path",)),
        Line(made, ("pointwise limit of the characteristic function, Lévy",)),
    ]
    hypotheses = exact.hypotheses | {Hypothesis("fixed", fixed)}
    return _issue(name, made, hypotheses, exact.admitted, lines)
