"""Stone Soup's multi-target tracker on plots from stdin; see stone_soup.rs.

In: turn,time_s,x_m,y_m. Out: turn,track,time_s,x_m,y_m,vx,vy for every track after
every turn, and at the end cpu_s,SECONDS of the tracking alone.
"""

import datetime
import sys
import time

import numpy as np
from stonesoup.dataassociator.tree import DetectionKDTreeGNN2D
from stonesoup.deleter.time import UpdateTimeStepsDeleter
from stonesoup.hypothesiser.distance import DistanceHypothesiser
from stonesoup.initiator.simple import MultiMeasurementInitiator
from stonesoup.measures import Mahalanobis
from stonesoup.models.measurement.linear import LinearGaussian
from stonesoup.models.transition.linear import (
    CombinedLinearGaussianTransitionModel,
    ConstantVelocity,
)
from stonesoup.predictor.kalman import KalmanPredictor
from stonesoup.tracker.simple import MultiTargetTracker
from stonesoup.types.array import CovarianceMatrix, StateVector
from stonesoup.types.detection import Detection
from stonesoup.types.state import GaussianState
from stonesoup.updater.kalman import KalmanUpdater

# Noise of the plots, each way.
SIGMA_M = 100.0
# One model has to serve straight flight and turns of 5 m/s²: between the two of ours (0.1 and 160).
ACCELERATION_Q = 60.0
# As ours: six standard deviations, three plots (ours asks for six of those that nothing
# identifies), five turns, 180 m/s before the speed is known.
GATE = 6
PLOTS_MIN = 3
TURNS_MAX = 5
SPEED_SIGMA = 180.0
# The nearest plots of a track that are looked at.
NEIGHBOURS = 5
REACH_M = 10_000.0

EPOCH = datetime.datetime(2020, 1, 1)


def stamp(seconds):
    return EPOCH + datetime.timedelta(seconds=seconds)


def read():
    model = LinearGaussian(4, (0, 2), CovarianceMatrix(np.diag([SIGMA_M**2, SIGMA_M**2])))
    turns = {}
    for line in sys.stdin:
        turn, time_s, x, y = map(float, line.split(","))
        at = stamp(time_s)
        detection = Detection(StateVector([x, y]), timestamp=at, measurement_model=model)
        turns.setdefault(int(turn), (at, set()))[1].add(detection)
    return turns


class Turns:
    """What the tracker takes for a detector."""

    def __init__(self, turns):
        self.turns = turns

    def __iter__(self):
        return iter(self.turns.values())


def main():
    turns = read()
    transition = CombinedLinearGaussianTransitionModel(
        [ConstantVelocity(ACCELERATION_Q), ConstantVelocity(ACCELERATION_Q)]
    )
    predictor = KalmanPredictor(transition)
    updater = KalmanUpdater(None)
    hypothesiser = DistanceHypothesiser(
        predictor, updater, measure=Mahalanobis(), missed_distance=GATE
    )

    def associator():
        return DetectionKDTreeGNN2D(
            hypothesiser,
            predictor,
            updater,
            number_of_neighbours=NEIGHBOURS,
            max_distance=REACH_M,
        )

    prior = GaussianState(
        StateVector([0, 0, 0, 0]),
        CovarianceMatrix(np.diag([0, SPEED_SIGMA**2, 0, SPEED_SIGMA**2])),
        timestamp=EPOCH,
    )
    initiator = MultiMeasurementInitiator(
        prior_state=prior,
        deleter=UpdateTimeStepsDeleter(2),
        data_associator=associator(),
        updater=updater,
        min_points=PLOTS_MIN,
    )
    tracker = MultiTargetTracker(
        initiator=initiator,
        deleter=UpdateTimeStepsDeleter(TURNS_MAX),
        detector=Turns(turns),
        data_associator=associator(),
        updater=updater,
    )
    numbers = {}
    lines = []
    cpu_s = 0.0
    steps = iter(tracker)
    for turn in turns:
        begin = time.process_time()
        _, tracks = next(steps)
        states = [(track.id, track.state) for track in tracks]
        cpu_s += time.process_time() - begin
        for name, state in states:
            number = numbers.setdefault(name, len(numbers) + 1)
            x, vx, y, vy = (float(value) for value in state.state_vector)
            time_s = (state.timestamp - EPOCH).total_seconds()
            lines.append(f"{turn},{number},{time_s},{x},{y},{vx},{vy}")
    print("\n".join(lines))
    print(f"cpu_s,{cpu_s}")


if __name__ == "__main__":
    main()
