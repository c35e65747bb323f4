"""Stone Soup's filters on the plots of single aircraft, from stdin; see peers.rs.

In: plot,aircraft,time_s,x_m,y_m,xx,xy,yy in order of time; the aircraft of each plot is known, which
a tracker would have to find out. Arguments: filters, as cv:0.3, singer:1 or turn:0.3, the number
being the noise density. Out: filter,plot,x_m,y_m, the state after each plot.
"""

import datetime
import sys

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
# Of Singer's model: acceleration lasts for 20 s, and is some 3 m/s² at first.
DAMPING = 1.0 / 20.0
ACCELERATION_SIGMA = 3.0
# Of the turn's: rate of turn before it is known, and its noise beside that of the speed.
TURN_SIGMA = np.radians(0.5)
TURN_Q_EACH = np.radians(0.03) ** 2

EPOCH = datetime.datetime(2020, 1, 1)


def build(name, q):
    """Predictor, updater, size of the state, where positions are in it, and the prior's variances."""
    if name == "cv":
        model = CombinedLinearGaussianTransitionModel([ConstantVelocity(q), ConstantVelocity(q)])
        return KalmanPredictor(model), KalmanUpdater(None), 4, (0, 2), [0, SPEED_SIGMA**2] * 2
    if name == "singer":
        model = CombinedLinearGaussianTransitionModel([Singer(q, DAMPING), Singer(q, DAMPING)])
        prior = [0, SPEED_SIGMA**2, ACCELERATION_SIGMA**2] * 2
        return KalmanPredictor(model), KalmanUpdater(None), 6, (0, 3), prior
    if name == "turn":
        model = ConstantTurn(
            linear_noise_coeffs=np.array([q, q]), turn_noise_coeff=TURN_Q_EACH * max(q, 0.01)
        )
        prior = [0, SPEED_SIGMA**2, 0, SPEED_SIGMA**2, TURN_SIGMA**2]
        return ExtendedKalmanPredictor(model), ExtendedKalmanUpdater(None), 5, (0, 2), prior
    raise SystemExit(f"unknown filter {name}")


def main():
    plots = {}
    for line in sys.stdin:
        number, aircraft, *values = line.split(",")
        plots.setdefault(int(aircraft), []).append((int(number), *map(float, values)))
    for config in sys.argv[1:]:
        name, q = config.split(":")
        predictor, updater, size, places, variances = build(name, float(q))
        for own in plots.values():
            state = None
            for number, time_s, x, y, xx, xy, yy in own:
                at = EPOCH + datetime.timedelta(seconds=time_s)
                noise = CovarianceMatrix(np.array([[xx, xy], [xy, yy]]))
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
                print(f"{config},{number},{float(vector[places[0]])},{float(vector[places[1]])}")


if __name__ == "__main__":
    main()
