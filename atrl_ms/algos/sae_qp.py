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

The projection is solved by DAQP, a dual active-set solver, one violated connected component at a time. Samples are
merged into classes with weights w (sae_edges); ||a||^2 = sum_c w_c a_c^2, N = sum_c w_c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import daqp
import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

Form = Literal["soft", "hard", "penalty"]
FEASIBLE = 1e-10  # edges are met to this; the contract is 1e-8
SMALL = 200  # edges of a component that are given to the solver at once
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
    cone = OrderCone(weights, edges)

    def rho(a: np.ndarray) -> float:
        return float(weights @ (a * a)) / total

    def equation(s: float, rho_s: float) -> float:
        return s * (1.0 + c * (rho_s - 1.0)) - 1.0 if form == "penalty" else rho_s - 1.0

    a, binding = cone.project(centred, delta)
    if form == "soft" and rho(a) <= 1.0:
        return QpSolution(a, False)
    # a lies in the cone without margin as well, so the norm of that projection P is at least r0 . a / ||a||.
    bound = float(weights @ (centred * a)) / max(np.sqrt(total * rho(a)), VANISHING)
    if bound < VANISHING and (form == "hard" or delta == 0 or c > 1):
        direction = a if delta == 0 else cone.project(centred, 0.0)[0]
        if np.sqrt(total * rho(direction)) < VANISHING:
            return QpSolution(np.zeros_like(centred), True)
    if delta == 0:
        norm = rho(a)
        return QpSolution(_root(lambda s: equation(s, s * s * norm), 0.0, np.inf, 1.0) * a, False)
    return QpSolution(_follow_path(centred, cone, delta, equation, a, binding), False)


def _follow_path(
    centred: np.ndarray,
    cone: OrderCone,
    delta: float,
    equation: Callable[[float, float], float],
    a: np.ndarray,
    binding: np.ndarray,
) -> np.ndarray:
    """Find s with equation(s, rho(s)) = 0, from a = a(1); on a piece of the path a(s) = s u + v with u, v constant."""
    weights, total = cone.weights, float(cone.weights.sum())
    s, low, high = 1.0, 0.0, np.inf
    for _ in range(100):
        value = equation(s, float(weights @ (a * a)) / total)
        if abs(value) < 1e-13:
            return a
        low, high = (s, high) if value < 0 else (low, s)
        u = cone.collapse(centred, binding)
        v = a - s * u
        uu, uv, vv = weights @ (u * u) / total, 2 * weights @ (u * v) / total, weights @ (v * v) / total
        nearest = _root(lambda t, uu=uu, uv=uv, vv=vv: equation(t, (uu * t + uv) * t + vv), low, high, s)  # type: ignore[misc]
        if abs(nearest - s) <= 1e-14 * max(1.0, s):
            return a
        if high < 1e-9:
            raise QpFailure(f"no advantages with the wanted norm keep a margin of {delta}; lower delta")
        s = nearest
        a, binding = cone.project(s * centred, delta)
    raise QpFailure("the scale of the advantages did not converge")


@dataclass
class _Component:
    """A connected part of the constraints, in local indices."""

    nodes: np.ndarray  # (n,) classes
    rows: np.ndarray  # (m,) edges
    matrix: np.ndarray  # (m, n) constraint matrix for y = sqrt(w) x
    root: np.ndarray  # (n,) sqrt(w)
    identity: np.ndarray  # (n, n)


class OrderCone:
    """The set {x : x_i + delta <= x_j for every edge} and weighted projections onto it."""

    def __init__(self, weights: np.ndarray, edges: np.ndarray) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.i, self.j = np.asarray(edges, dtype=np.int64).reshape(-1, 2).T
        self.components: list[_Component] = []
        if not len(self.i):
            return
        count = len(weights)
        order = np.argsort(self.i, kind="stable")
        starts = np.searchsorted(self.i[order], np.arange(count + 1))
        adjacency = csr_array((np.ones(len(order)), self.j[order], starts), shape=(count, count))
        _, label = connected_components(adjacency, directed=False)
        by_label = np.argsort(label[self.i], kind="stable")
        root, local = np.sqrt(self.weights), np.empty(count, dtype=np.int64)
        for rows in np.split(by_label, np.flatnonzero(np.diff(label[self.i[by_label]])) + 1):
            nodes = np.unique(np.concatenate([self.i[rows], self.j[rows]]))
            local[nodes] = np.arange(len(nodes))
            matrix = np.zeros((len(rows), len(nodes)))
            matrix[np.arange(len(rows)), local[self.i[rows]]] -= 1.0 / root[self.i[rows]]
            matrix[np.arange(len(rows)), local[self.j[rows]]] += 1.0 / root[self.j[rows]]
            self.components.append(_Component(nodes, rows, matrix, root[nodes], np.eye(len(nodes))))

    def project(self, target: np.ndarray, delta: float) -> tuple[np.ndarray, np.ndarray]:
        """The point (C,) nearest to `target` in the weighted norm, and the mask (M,) of edges that hold it there."""
        x = target.astype(np.float64, copy=True)
        binding = np.zeros(len(self.i), dtype=bool)
        if not self.components:
            return x, binding
        tolerance = max(FEASIBLE, 1e-13 * float(np.abs(target).max()))
        violated = x[self.j] - x[self.i] - delta < -tolerance
        for part in self.components:
            if violated[part.rows].any():
                y, multipliers = _solve_component(part, part.root * x[part.nodes], delta, tolerance / 10)
                x[part.nodes] = y / part.root
                binding[part.rows] = np.abs(multipliers) > 0
        if (x[self.j] - x[self.i] - delta).min() < -100 * tolerance:
            raise QpFailure("the solver's point violates an edge")
        return x, binding

    def collapse(self, x: np.ndarray, binding: np.ndarray) -> np.ndarray:
        """x averaged over the classes that binding edges tie together: the direction in which the path moves."""
        leader = list(range(len(x)))

        def find(k: int) -> int:
            while leader[k] != k:
                leader[k] = leader[leader[k]]
                k = leader[k]
            return k

        for i, j in zip(self.i[binding].tolist(), self.j[binding].tolist(), strict=True):
            leader[find(i)] = find(j)
        label = np.array([find(k) for k in range(len(x))])
        mass = np.bincount(label, self.weights, minlength=len(x))
        return (np.bincount(label, self.weights * x, minlength=len(x)))[label] / mass[label]


def _solve_component(
    part: _Component, target: np.ndarray, delta: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """DAQP on y = sqrt(w) x, whose Hessian is the identity: y (n,) and the multipliers (m,).

    A large component starts from the constraints that the target violates and adds those that the relaxation
    violates: exact, since a relaxation's optimum that meets all constraints is optimal.
    """
    if len(part.rows) <= SMALL:
        return _nearest(part.identity, target, part.matrix, delta, tolerance)
    pool = part.matrix @ target < delta
    y, multipliers = target.copy(), np.zeros(len(part.rows))
    while True:
        matrix = part.matrix[pool]
        used = np.flatnonzero(matrix.any(axis=0))
        n = len(used)
        y[used], multipliers[pool] = _nearest(part.identity[:n, :n], target[used], matrix[:, used], delta, tolerance)
        fresh = (part.matrix @ y < delta - 10 * tolerance) & ~pool
        if not fresh.any():
            return y, multipliers
        pool |= fresh


def _nearest(
    identity: np.ndarray, target: np.ndarray, matrix: np.ndarray, delta: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """The point (n,) nearest to `target` with matrix @ y >= delta, and the multipliers (m,)."""
    count = len(matrix)
    solution, _, flag, info = daqp.solve(
        np.ascontiguousarray(identity),
        -target,
        np.ascontiguousarray(matrix),
        np.full(count, 1e30),
        np.full(count, float(delta)),
        primal_tol=tolerance,
    )
    if flag != 1:
        raise QpFailure(f"DAQP stopped with flag {flag}: no point meets all order constraints")
    return solution, info["lam"]


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
