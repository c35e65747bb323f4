"""Stone Soup's filters on the plots of single aircraft; see peers.rs.

In: lines plot,aircraft,time_s,x_m,y_m,xx,xy,yy in order of time; the aircraft of each plot is known,
which a tracker would have to find out. After an empty line one filter a line, with its parameters:
cv q scale, singer q seconds scale, or turn q turn_q scale. q is the noise density, m²/s³; scale
multiplies the standard deviations of the plots. Out for each filter: plot,x_m,y_m, the state after
each plot, and an empty line. With the word fast before it a filter is computed by fast.py, for tuning.
"""

import datetime
import sys

import fast
import numpy as np
from stonesoup.models.measurement.linear import LinearGaussian
from stonesoup.models.transition.linear import (
    CombinedLinearGaussianTransitionModel,
    ConstantVelocity,
    Singer,
)
from stonesoup.models.transition.nonlinear import ConstantTurn
from stonesoup.predictor.kalman import ExtendedKalmanPredictor, KalmanPredictor
from stonesoup.types.array import CovarianceMatrix, StateVector
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
    if name == "cv":
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
                detection = Detection(StateVector([x, y]), timestamp=at, measurement_model=model)
                prediction = predictor.predict(state, timestamp=at)
                expected = updater.predict_measurement(prediction, model)
                state = updater.update(SingleHypothesis(prediction, detection, expected))
            vector = state.state_vector
            print(f"{number},{float(vector[places[0]])},{float(vector[places[1]])}")
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
