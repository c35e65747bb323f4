"""The filters of stone_soup.py for tuning: the same equations for all aircraft at once.

Stone Soup takes a millisecond a plot, so that it could be tuned on few flights only; this takes some
microseconds. The positions are Stone Soup's to within what the tuning prints; results in the trial are
Stone Soup's own.
"""

import sys

import numpy as np


class Batch:
    """Plots of all aircraft: by number of the plot of each, with the same aircraft in each column."""

    def __init__(self, plots):
        # The longest first: those that have a k-th plot are the first so many.
        own = sorted(plots.values(), key=len, reverse=True)
        self.numbers, self.times, self.places, self.noises = [], [], [], []
        for k in range(len(own[0]) if own else 0):
            rows = [plots[k] for plots in own if len(plots) > k]
            self.numbers.append([row[0] for row in rows])
            self.times.append(np.array([row[1] for row in rows]))
            self.places.append(np.array([row[2:4] for row in rows]))
            self.noises.append(np.array([[[r[4], r[5]], [r[5], r[6]]] for r in rows]))


def constant_velocity(dt, _, q):
    f = np.tile(np.eye(4), (len(dt), 1, 1))
    f[:, 0, 1] = f[:, 2, 3] = dt
    return f, None, linear_noise(dt, q, 4)


def linear_noise(dt, q, size):
    noise = np.zeros((len(dt), size, size))
    for at in (0, 2):
        noise[:, at, at] = q * dt**3 / 3
        noise[:, at, at + 1] = noise[:, at + 1, at] = q * dt**2 / 2
        noise[:, at + 1, at + 1] = q * dt
    return noise


def singer(dt, _, q, seconds):
    k = 1.0 / seconds
    kt = k * dt
    e = np.exp(-kt)
    f = np.tile(np.eye(6), (len(dt), 1, 1))
    noise = np.zeros((len(dt), 6, 6))
    pp = (1 - e**2 + 2 * kt + 2 * kt**3 / 3 - 2 * kt**2 - 4 * kt * e) / (2 * k**5)
    pv = (kt - (1 - e)) ** 2 / (2 * k**4)
    pa = (1 - e**2 - 2 * kt * e) / (2 * k**3)
    vv = (2 * kt - 4 * (1 - e) + 1 - e**2) / (2 * k**3)
    va = (1 - e) ** 2 / (2 * k**2)
    aa = (1 - e**2) / (2 * k)
    one = np.array([[pp, pv, pa], [pv, vv, va], [pa, va, aa]]).transpose(2, 0, 1)
    for at in (0, 3):
        f[:, at, at + 1] = dt
        f[:, at, at + 2] = (kt - 1 + e) / k**2
        f[:, at + 1, at + 2] = (1 - e) / k
        f[:, at + 2, at + 2] = e
        noise[:, at : at + 3, at : at + 3] = q * one
    return f, None, noise


def turn(dt, state, q, turn_q):
    w = np.where(state[:, 4] == 0.0, np.finfo(float).eps, state[:, 4])
    vx, vy = state[:, 1], state[:, 3]
    sin, cos = np.sin(w * dt), np.cos(w * dt)
    along, aside = sin / w, (1 - cos) / w
    f = np.tile(np.eye(5), (len(dt), 1, 1))
    f[:, 0, 1], f[:, 0, 3] = along, -aside
    f[:, 1, 1], f[:, 1, 3] = cos, -sin
    f[:, 2, 1], f[:, 2, 3] = aside, along
    f[:, 3, 1], f[:, 3, 3] = sin, cos
    ahead = np.einsum("nij,nj->ni", f, state)
    # Derivatives by the rate of turn, which have limits at 0.
    small = np.abs(w * dt) < 1e-4
    by_along = np.where(small, -w * dt**3 / 3, (w * dt * cos - sin) / w**2)
    by_aside = np.where(small, dt**2 / 2, (w * dt * sin - (1 - cos)) / w**2)
    f[:, 0, 4] = vx * by_along - vy * by_aside
    f[:, 1, 4] = -dt * (vx * sin + vy * cos)
    f[:, 2, 4] = vx * by_aside + vy * by_along
    f[:, 3, 4] = dt * (vx * cos - vy * sin)
    noise = linear_noise(dt, q, 5)
    noise[:, 4, 4] = np.radians(turn_q) ** 2 * dt
    return f, ahead, noise


def updated(state, covariance, places, measured, noise):
    """State and covariance after the plots, and the logarithm of their likelihoods."""
    across = covariance[:, :, places]
    expected = across[:, places, :] + noise
    inverse = np.linalg.inv(expected)
    gain = across @ inverse
    off = measured - state[:, places]
    likelihood = -0.5 * (np.einsum("ni,nij,nj->n", off, inverse, off) + np.log(np.linalg.det(expected)))
    covariance = covariance - gain @ expected @ gain.transpose(0, 2, 1)
    return state + np.einsum("nij,nj->ni", gain, off), covariance, likelihood


def mixed(near, far, share):
    """One Gaussian instead of two: after a usual plot, and after one that is an outlier with share."""
    odds = np.log(share / (1.0 - share)) + far[2] - near[2]
    doubt = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
    trust = 1.0 - doubt
    state = trust[:, None] * near[0] + doubt[:, None] * far[0]
    apart = far[0] - near[0]
    spread = (trust * doubt)[:, None, None] * np.einsum("ni,nj->nij", apart, apart)
    return state, trust[:, None, None] * near[1] + doubt[:, None, None] * far[1] + spread


def run(batch, name, values, priors):
    speed, acceleration, rate = priors
    model, places, prior = {
        "cv": (constant_velocity, [0, 2], [0, speed**2] * 2),
        "robust": (constant_velocity, [0, 2], [0, speed**2] * 2),
        "singer": (singer, [0, 3], [0, speed**2, acceleration**2] * 2),
        "turn": (turn, [0, 2], [0, speed**2, 0, speed**2, rate**2]),
    }[name]
    scale = values[-1] ** 2
    *motion, share, factor = values[:-1] if name == "robust" else [*values[:-1], 0.0, 1.0]
    state = covariance = before = None
    out = []
    for numbers, times, measured, noise in zip(
        batch.numbers, batch.times, batch.places, batch.noises
    ):
        count, noise = len(numbers), scale * noise
        if state is None:
            state = np.zeros((count, len(prior)))
            state[:, places] = measured
            covariance = np.tile(np.diag(np.array(prior, dtype=float)), (count, 1, 1))
            covariance[np.ix_(range(count), places, places)] = noise
        else:
            state, covariance = state[:count], covariance[:count]
            f, ahead, spread = model(times - before[:count], state, *motion)
            state = np.einsum("nij,nj->ni", f, state) if ahead is None else ahead
            covariance = f @ covariance @ f.transpose(0, 2, 1) + spread
            near = updated(state, covariance, places, measured, noise)
            if share:
                far = updated(state, covariance, places, measured, factor**2 * noise)
                state, covariance = mixed(near, far, share)
            else:
                state, covariance, _ = near
            covariance = (covariance + covariance.transpose(0, 2, 1)) / 2
        before = times
        x, y = places
        columns = [state[:, x], state[:, y], covariance[:, x, x], covariance[:, x, y], covariance[:, y, y]]
        for number, *row in zip(numbers, *(column.tolist() for column in columns)):
            out.append(",".join(map(str, [number, *row])))
    out.append("\n")
    sys.stdout.write("\n".join(out))
    sys.stdout.flush()
