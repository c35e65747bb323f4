"""Stone Soup's filters on the plots of single aircraft; see peers.rs.

In: lines plot,aircraft,time_s,x_m,y_m,xx,xy,yy in order of time; the aircraft of each plot is known,
which a tracker would have to find out. After an empty line one filter a line, with its parameters:
cv q scale, singer q seconds scale, turn q turn_q scale, or robust q share factor scale, which is cv
where that share of the plots has so many times the usual noise. q is the noise density, m²/s³; scale
multiplies the standard deviations of the plots. Out for each filter: plot,x_m,y_m,xx,xy,yy, the state
after each plot and its covariance, and an empty line. With the word fast before it a filter is computed by fast.py, for tuning.
"""

import datetime
import sys

import fast
import numpy as np
from scipy.stats import multivariate_normal
from stonesoup.functions import gm_reduce_single
from stonesoup.models.measurement.linear import LinearGaussian
from stonesoup.models.transition.linear import (
    CombinedLinearGaussianTransitionModel,
    ConstantVelocity,
    Singer,
)
from stonesoup.models.transition.nonlinear import ConstantTurn
from stonesoup.predictor.kalman import ExtendedKalmanPredictor, KalmanPredictor
from stonesoup.types.array import CovarianceMatrix, StateVector, StateVectors
from stonesoup.types.detection import Detection
from stonesoup.types.hypothesis import SingleHypothesis
from stonesoup.types.state import GaussianState
from stonesoup.updater.kalman import ExtendedKalmanUpdater, KalmanUpdater

# As our tracker before the speed is known.
SPEED_SIGMA = 180.0
# Of Singer's model: acceleration is some 3 m/s² at first.
ACCELERATION_SIGMA = 3.0
# Of the turn's: rate of turn before it is known.
TURN_SIGMA = np.radians(0.5)

# Without it rounding grows to 200 m of Singer's model in half an hour.
SYMMETRIC = {"force_symmetric_covariance": True}

EPOCH = datetime.datetime(2020, 1, 1)


def build(name, values):
    """Predictor, updater, size of the state, where positions are in it, and the prior's variances."""
    q = values[0]
    if name in ("cv", "robust"):
        model = CombinedLinearGaussianTransitionModel([ConstantVelocity(q), ConstantVelocity(q)])
        updater = KalmanUpdater(None, **SYMMETRIC)
        return KalmanPredictor(model), updater, 4, (0, 2), [0, SPEED_SIGMA**2] * 2
    if name == "singer":
        damping = 1.0 / values[1]
        model = CombinedLinearGaussianTransitionModel([Singer(q, damping), Singer(q, damping)])
        prior = [0, SPEED_SIGMA**2, ACCELERATION_SIGMA**2] * 2
        return KalmanPredictor(model), KalmanUpdater(None, **SYMMETRIC), 6, (0, 3), prior
    if name == "turn":
        model = ConstantTurn(
            linear_noise_coeffs=np.array([q, q]), turn_noise_coeff=np.radians(values[1]) ** 2
        )
        prior = [0, SPEED_SIGMA**2, 0, SPEED_SIGMA**2, TURN_SIGMA**2]
        updater = ExtendedKalmanUpdater(None, **SYMMETRIC)
        return ExtendedKalmanPredictor(model), updater, 5, (0, 2), prior
    raise SystemExit(f"unknown filter {name}")


def update(updater, prediction, detection):
    expected = updater.predict_measurement(prediction, detection.measurement_model)
    state = updater.update(SingleHypothesis(prediction, detection, expected))
    likelihood = multivariate_normal.logpdf(
        detection.state_vector.ravel(), expected.mean.ravel(), expected.covar
    )
    return state, likelihood


def mixed(near, far, share):
    """One Gaussian instead of two: after a usual plot, and after one that is an outlier with share."""
    odds = np.log(share / (1.0 - share)) + far[1] - near[1]
    doubt = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
    means = StateVectors([near[0].state_vector, far[0].state_vector])
    covariances = np.stack([near[0].covar, far[0].covar], axis=2)
    mean, covariance = gm_reduce_single(means, covariances, np.array([1.0 - doubt, doubt]))
    return GaussianState(mean, CovarianceMatrix(covariance), near[0].timestamp)


def run(plots, name, values):
    predictor, updater, size, places, variances = build(name, values)
    scale = values[-1] ** 2
    for own in plots.values():
        state = None
        for number, time_s, x, y, xx, xy, yy in own:
            at = EPOCH + datetime.timedelta(seconds=time_s)
            noise = CovarianceMatrix(scale * np.array([[xx, xy], [xy, yy]]))
            model = LinearGaussian(size, places, noise)
            if state is None:
                covariance = np.diag(np.array(variances, dtype=float))
                covariance[np.ix_(places, places)] = noise
                mean = np.zeros((size, 1))
                mean[places[0]], mean[places[1]] = x, y
                state = GaussianState(StateVector(mean), CovarianceMatrix(covariance), at)
            else:
                place = StateVector([x, y])
                prediction = predictor.predict(state, timestamp=at)
                detection = Detection(place, timestamp=at, measurement_model=model)
                near = update(updater, prediction, detection)
                state = near[0]
                if name == "robust":
                    share, factor = values[1:3]
                    wide = LinearGaussian(size, places, CovarianceMatrix(factor**2 * noise))
                    detection = Detection(place, timestamp=at, measurement_model=wide)
                    state = mixed(near, update(updater, prediction, detection), share)
            (x, y), vector, covariance = places, state.state_vector, state.covar
            row = [vector[x], vector[y], covariance[x, x], covariance[x, y], covariance[y, y]]
            print(",".join(map(str, [number, *map(float, row)])))
    print(flush=True)


def main():
    plots = {}
    for line in sys.stdin:
        if not line.strip():
            break
        number, aircraft, *values = line.split(",")
        plots.setdefault(int(aircraft), []).append((int(number), *map(float, values)))
    batch = None
    priors = (SPEED_SIGMA, ACCELERATION_SIGMA, TURN_SIGMA)
    for line in sys.stdin:
        name, *values = line.split()
        if name == "fast":
            name, *values = values
            batch = batch or fast.Batch(plots)
            fast.run(batch, name, [float(value) for value in values], priors)
        else:
            run(plots, name, [float(value) for value in values])


if __name__ == "__main__":
    main()
