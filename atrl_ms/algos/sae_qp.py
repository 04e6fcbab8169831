"""Staged advantages as a quadratic program: soft, hard and penalty form.

With r0 = r - mean(r) and the order cone K = {a : a_i + delta <= a_j for every edge}:

    soft     min 1/2 ||a - r0||^2                                a in K, ||a||^2 <= N
    hard     the same with ||a||^2 = N
    penalty  min 1/2 ||a - r0||^2 + c/(4N) (||a||^2 - N)^2       a in K

Why one routine serves all three: stationarity of each reads a (1 + multiplier) = r0 + E^T mu, so the solution lies on
the path a(s) = projection of s r0 onto K, s > 0, along which rho(s) = ||a(s)||^2 / N never falls:

    soft     s = 1 if rho(1) <= 1, else rho(s) = 1
    hard     rho(s) = 1. Minimising over the sphere is maximising r0 . a, a linear problem whose ball constraint is
             active, hence this is the global optimum although the sphere is not convex
    penalty  s (1 + c (rho(s) - 1)) = 1, a rising function of s wherever it is positive: one root

Edges are orthogonal to the vector of ones, so every a(s) has mean zero by itself. For delta = 0, a(s) = s P with
P = a(1): one projection is all. For delta > 0 the path is piecewise linear and a few projections suffice.

The projection is solved by DAQP, a dual active-set solver. It only gets the constraints that r0 or an earlier
relaxation violates (exact: a relaxation's optimum that meets all constraints is optimal), one connected component at
a time. Samples are merged into classes with weights w (sae_edges); ||a||^2 = sum_c w_c a_c^2, N = sum_c w_c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import daqp
import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Form = Literal["soft", "hard", "penalty"]
FEASIBLE = 1e-10  # edges are met to this; the contract is 1e-8
VANISHING = 1e-8  # norm of the projection below which a direction cannot be scaled up


class QpFailure(Exception):
    """The program has no solution (contradicting edges, norm out of reach) or the solver gave up."""


@dataclass(frozen=True)
class QpSolution:
    """Advantages of the classes (C,), and whether the group carries no direction and must be skipped (then zeros)."""

    advantages: np.ndarray
    skipped: bool


def solve(
    centred: np.ndarray, weights: np.ndarray, edges: np.ndarray, *, form: Form, delta: float = 0.01, c: float = 1.0
) -> QpSolution:
    """Solve one form.

    Args:
        centred: (C,) r0 per class, weighted mean zero.
        weights: (C,) samples per class.
        edges: (M, 2) a_i + delta <= a_j.
        c: weight of the penalty form.

    Raises:
        QpFailure: no feasible point, or the solver did not converge.
    """
    if delta < 0:
        raise ValueError(f"delta must be >= 0, got {delta}")
    total = float(weights.sum())

    def rho(a: np.ndarray) -> float:
        return float(weights @ (a * a)) / total

    if form == "soft":
        a, _ = project(centred, weights, edges, delta)
        if rho(a) <= 1.0:
            return QpSolution(a, False)
        equation: Callable[[float, float], float] = lambda s, rho_s: rho_s - 1.0  # noqa: E731
    else:
        cone, _ = project(centred, weights, edges, 0.0)
        if np.sqrt(total * rho(cone)) < VANISHING and (form == "hard" or delta == 0 or c > 1):
            return QpSolution(np.zeros_like(centred), True)
        if form == "hard":
            equation = lambda s, rho_s: rho_s - 1.0  # noqa: E731
        else:
            equation = lambda s, rho_s: s * (1.0 + c * (rho_s - 1.0)) - 1.0  # noqa: E731
        if delta == 0:
            a = cone
    if delta == 0:
        norm = rho(a)
        return QpSolution(_root(lambda s: equation(s, s * s * norm), 0.0, np.inf, 1.0) * a, False)
    return QpSolution(_follow_path(centred, weights, edges, delta, equation), False)


def project(target: np.ndarray, weights: np.ndarray, edges: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Weighted projection of `target` (C,) onto {x : x_i + delta <= x_j}; also the mask (M,) of binding edges."""
    x = target.astype(np.float64, copy=True)
    pool = np.zeros(len(edges), dtype=bool)
    binding = np.zeros(len(edges), dtype=bool)
    if not len(edges):
        return x, binding
    i, j = edges.T
    tolerance = max(FEASIBLE, 1e-13 * float(np.abs(target).max()))
    while True:
        fresh = (x[j] - x[i] - delta < -tolerance) & ~pool
        if not fresh.any():
            break
        pool |= fresh
        chosen = np.flatnonzero(pool)
        _, label = connected_components(
            coo_array((np.ones(len(chosen)), edges[chosen].T), shape=(len(x), len(x))), directed=False
        )
        order = np.argsort(label[i[chosen]], kind="stable")
        chosen = chosen[order]
        cuts = np.flatnonzero(np.diff(label[i[chosen]])) + 1
        touched = np.zeros(len(x), dtype=bool)
        touched[label[i[fresh]]] = True
        for part in np.split(chosen, cuts):
            if touched[label[i[part[0]]]]:  # components without a new edge keep their solution
                nodes, local = np.unique(edges[part], return_inverse=True)
                x[nodes], binding[part] = _solve_component(
                    target[nodes], weights[nodes], local.reshape(-1, 2), delta, tolerance / 10
                )
    if (x[j] - x[i] - delta).min() < -100 * tolerance:
        raise QpFailure("the solver's point violates an edge")
    return x, binding


def _solve_component(
    target: np.ndarray, weights: np.ndarray, edges: np.ndarray, delta: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """DAQP on y = sqrt(w) x, whose Hessian is the identity; returns x and the mask of edges with a multiplier."""
    root = np.sqrt(weights)
    rows = np.arange(len(edges))
    matrix = np.zeros((len(edges), len(target)))
    matrix[rows, edges[:, 0]] = -1.0 / root[edges[:, 0]]
    matrix[rows, edges[:, 1]] = 1.0 / root[edges[:, 1]]
    y, _, flag, info = daqp.solve(
        np.eye(len(target)),
        -root * target,
        matrix,
        np.full(len(edges), 1e30),
        np.full(len(edges), float(delta)),
        primal_tol=tolerance,
    )
    if flag != 1:
        raise QpFailure(f"DAQP stopped with flag {flag}: no point meets all order constraints")
    return y / root, np.abs(info["lam"]) > 0


def _follow_path(
    centred: np.ndarray,
    weights: np.ndarray,
    edges: np.ndarray,
    delta: float,
    equation: Callable[[float, float], float],
) -> np.ndarray:
    """Find s with equation(s, rho(s)) = 0; on the piece of the path that holds s, a = s u + v with u, v constant."""
    total = float(weights.sum())
    s, low, high = 1.0, 0.0, np.inf
    for _ in range(100):
        a, binding = project(s * centred, weights, edges, delta)
        value = equation(s, float(weights @ (a * a)) / total)
        if value < 0:
            low = s
        else:
            high = s
        u = _component_means(centred, weights, edges[binding])
        v = a - s * u
        quad = np.array([weights @ (u * u), 2 * weights @ (u * v), weights @ (v * v)]) / total
        nearest = _root(lambda t, quad=quad: equation(t, float(np.polyval(quad, t))), low, high, s)  # type: ignore[misc]
        if abs(nearest - s) <= 1e-14 * max(1.0, s) or abs(value) < 1e-13:
            return a
        if high < 1e-9:
            raise QpFailure(f"no advantages with the wanted norm keep a margin of {delta}; lower delta")
        s = nearest
    raise QpFailure("the scale of the advantages did not converge")


def _component_means(x: np.ndarray, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """x averaged over the nodes that binding edges tie together: the direction in which the path moves."""
    _, label = connected_components(coo_array((np.ones(len(edges)), edges.T), shape=(len(x), len(x))), directed=False)
    mass = np.bincount(label, weights)
    return (np.bincount(label, weights * x) / mass)[label]


def _root(function: Callable[[float], float], low: float, high: float, start: float) -> float:
    """Root of `function` in (low, high) near `start`; the middle of the bracket when it shows no change of sign."""
    value = function(start)
    if value == 0:
        return start
    if value > 0:
        other = low
    else:
        other = high
        if np.isinf(high):
            other = 2 * start
            while function(other) < 0 and other < 1e12:
                other *= 4
    if function(other) * value > 0:
        return 0.5 * (start + other) if np.isfinite(high) or value > 0 else 2 * start
    return float(brentq(function, min(start, other), max(start, other), xtol=1e-15, rtol=1e-14))
