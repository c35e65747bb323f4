"""Recorded flights of several days as smooth paths, for the tracker's trial.

Usage: days.py WHEEL OUT. WHEEL is the Python package traffic 2.13, whose samples are of the OpenSky
network; OUT gets gzipped CSV: set,flight,utc_s,lat_deg,lon_deg,flight_level, a point every 10 s.

Sets, by the days on which they were recorded; a tracker may be tuned on the first two only:
* train-route: 2018-08-01, Switzerland, en route, a point every 10 s, where they were flown;
* train-mixed: single flights of eleven days of 2017 to 2020 with climbs and turns;
* test-paris: 2021-10-07, Paris, terminal area and above, a point a second, where they were flown;
* test-mixed: the flights of an aircraft on days of March and April 2022;
* final-mixed: single flights of some thirty other days, calibration, survey and display flights with
  many turns, chosen by their names before any tracker had seen them.
The flights of the mixed sets are moved as a whole, in place and time, to within 120 km of one point
and into one hour, so that one radar sees them; numbers for it come from their names.

Positions are cubic fits over 40 s either way (15 s where there is a point a second), because the
recordings' points lag and catch up; on the ground and below 45 m/s nothing is kept.
"""

import gzip
import hashlib
import json
import math
import sys
import zipfile

FOLDER = "traffic/data/samples/"
SETS = {
    "train-route": ["collections/switzerland"],
    "train-mixed": [
        "featured/airbus_tree",
        "featured/belevingsvlucht",
        "featured/dreamliner_airfrance",
        "featured/elal747",
        "featured/qantas747",
        "featured/turkish_flag",
        "featured/zero_gravity",
        "military/inflight_refuelling",
        "calibration/ajaccio",
        "calibration/vancouver",
        "calibration/liege_sprimont",
        "noisy/noisy_landing",
    ],
    "test-paris": ["collections/quickstart"],
    "test-mixed": ["collections/savan"],
    "final-mixed": [
        "calibration/bornholm",
        "calibration/brussels_ils",
        "calibration/brussels_vor",
        "calibration/cardiff",
        "calibration/funchal",
        "calibration/guatemala",
        "calibration/kingston",
        "calibration/kiruna",
        "calibration/kota_kinabalu",
        "calibration/lisbon",
        "calibration/london_gatwick",
        "calibration/london_heathrow",
        "calibration/monastir",
        "calibration/montreal",
        "calibration/munich",
        "calibration/nice",
        "calibration/noumea",
        "calibration/perth",
        "calibration/sydney",
        "calibration/toulouse",
        "calibration/vienna",
        "featured/anzac_day",
        "featured/dreamliner_boeing",
        "featured/easter_rabbit",
        "featured/kiwi",
        "featured/texas_longhorn",
        "featured/thankyou",
        "military/aircraft_carrier",
        "performance/fuelflow_a320",
        "surveillance/border_control",
        "surveys/georeal_fyn_island",
        "surveys/ign_fontainebleau",
        "surveys/indiana",
        "surveys/liguria",
        "surveys/mecsek_mountains",
        "surveys/texas",
    ],
}
# Middle of the mixed sets, and the beginning of their hour: 2020-01-01 12:00.
CENTRE = (48.0, 8.0)
BEGIN_S = 1_577_880_000
REACH_M = 60_000.0
EARTH_M = 6_371_000.0
STEP_S = 10
GAP_S = 40
SPEED_M_S = (45.0, 420.0)
POINTS_MIN = 19


def number(*words):
    """In [0, 1), from words."""
    digest = hashlib.sha256("/".join(map(str, words)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


def columns(document):
    """Points of one of the two layouts that pandas writes."""
    if isinstance(document, list):
        return document
    names = list(document)
    keys = document["timestamp"].keys()
    return [{name: document[name].get(key) for name in names} for key in keys]


def flights(points):
    """Lists of (time, lat, lon, level) without repetitions, leaps and gaps."""
    by_name = {}
    for point in points:
        if point.get("latitude") is None or point.get("longitude") is None:
            continue
        name = (point.get("icao24"), (point.get("callsign") or "").strip())
        by_name.setdefault(name, []).append(point)
    for (icao24, callsign), own in sorted(by_name.items(), key=str):
        own.sort(key=lambda point: point["timestamp"])
        run = []
        level = None
        for point in own:
            if isinstance(point.get("altitude"), (int, float)) and -500 < point["altitude"] < 46_000:
                level = point["altitude"] / 100.0
            at = (point["timestamp"] / 1000.0, point["latitude"], point["longitude"], level)
            if level is None or point.get("onground"):
                continue
            if run and at[0] - run[-1][0] > GAP_S:
                yield icao24, callsign, run
                run = []
            if run:
                if at[0] <= run[-1][0] or at[1:3] == run[-1][1:3]:
                    continue  # a point that was held
                far = EARTH_M * math.hypot(
                    math.radians(at[1] - run[-1][1]),
                    math.radians(at[2] - run[-1][2]) * math.cos(math.radians(at[1])),
                )
                if far > SPEED_M_S[1] * (at[0] - run[-1][0]) + 500.0:
                    continue
            run.append(at)
        yield icao24, callsign, run


def solve(rows, right):
    """Gauss's elimination; None when singular."""
    size = len(rows)
    for i in range(size):
        best = max(range(i, size), key=lambda k: abs(rows[k][i]))
        if abs(rows[best][i]) < 1e-9:
            return None
        rows[i], rows[best] = rows[best], rows[i]
        right[i], right[best] = right[best], right[i]
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            for j in range(i, size):
                rows[k][j] -= factor * rows[i][j]
            right[k] = [a - factor * b for a, b in zip(right[k], right[i])]
    result = [None] * size
    for i in reversed(range(size)):
        rest = list(right[i])
        for j in range(i + 1, size):
            rest = [a - rows[i][j] * b for a, b in zip(rest, result[j])]
        result[i] = [a / rows[i][i] for a in rest]
    return result


def fitted(run, first, at_s, half_s):
    """Latitude and longitude of the cubic through the points around, and whether it is inside."""
    powers = [0.0] * 7
    sums = [[0.0, 0.0] for _ in range(4)]
    count = before = 0
    lat0, lon0 = run[first][1:3]
    for point in run[first:]:
        t = (point[0] - at_s) / half_s
        if t > 1.0:
            break
        count += 1
        before += t <= 0.0
        term = 1.0
        for k in range(7):
            powers[k] += term
            if k < 4:
                sums[k][0] += term * (point[1] - lat0)
                sums[k][1] += term * (point[2] - lon0)
            term *= t
    if count < 6 or before < 2 or count - before < 2:
        return None
    rows = [[powers[i + j] for j in range(4)] for i in range(4)]
    found = solve(rows, sums)
    return found and (lat0 + found[0][0], lon0 + found[0][1])


def smoothed(run):
    """Paths of points every STEP_S on whole steps."""
    if len(run) < POINTS_MIN:
        return
    typical = sorted(b[0] - a[0] for a, b in zip(run, run[1:]))[len(run) // 2]
    half_s = 15.0 if typical <= 3.0 else 40.0
    path = []
    first = 0
    at_s = math.ceil(run[0][0] / STEP_S) * STEP_S
    while at_s <= run[-1][0]:
        while run[first][0] < at_s - half_s:
            first += 1
        place = fitted(run, first, at_s, half_s)
        near = [p for p in run[first : first + 200] if abs(p[0] - at_s) <= half_s]
        levels = sorted(p[3] for p in near if abs(p[0] - at_s) <= 6.0) or [
            p[3] for p in sorted(near, key=lambda p: abs(p[0] - at_s))[:1]
        ]
        if place and levels:
            if path:
                last = path[-1]
                far = EARTH_M * math.hypot(
                    math.radians(place[0] - last[1]),
                    math.radians(place[1] - last[2]) * math.cos(math.radians(place[0])),
                )
                speed = far / STEP_S
            if path and not (
                at_s - path[-1][0] == STEP_S and SPEED_M_S[0] <= speed <= SPEED_M_S[1]
            ):
                yield path
                path = []
            path.append((at_s, place[0], place[1], levels[len(levels) // 2]))
        at_s += STEP_S
    yield path


def moved(name, path):
    """The path near CENTRE and within the hour, straight from where it was."""
    lat0 = sum(p[1] for p in path) / len(path)
    lon0 = sum(p[2] for p in path) / len(path)
    far = REACH_M * math.sqrt(number(name, "far"))
    angle = 2.0 * math.pi * number(name, "angle")
    shift_s = BEGIN_S - path[0][0] + STEP_S * int(120 * number(name, "time"))
    east_scale = math.cos(math.radians(lat0))
    for at_s, lat, lon, level in path:
        north = EARTH_M * math.radians(lat - lat0) + far * math.cos(angle)
        east = EARTH_M * math.radians(lon - lon0) * east_scale + far * math.sin(angle)
        new_lat = CENTRE[0] + math.degrees(north / EARTH_M)
        new_lon = CENTRE[1] + math.degrees(east / EARTH_M / math.cos(math.radians(CENTRE[0])))
        yield at_s + shift_s, new_lat, new_lon, level


def pieces(path):
    """Parts of at most 40 minutes: a whole flight leaves any radar's range."""
    length = 40 * 60 // STEP_S
    return [path[i : i + length] for i in range(0, len(path), length)]


def main():
    wheel, out = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive, gzip.GzipFile(out, "wb", mtime=0) as raw:
        raw.write(b"set,flight,utc_s,lat_deg,lon_deg,flight_level\n")
        for name, files in SETS.items():
            count = 0
            for file in files:
                packed = archive.read(f"{FOLDER}{file}.json.gz")
                points = columns(json.loads(gzip.decompress(packed)))
                for icao24, callsign, run in flights(points):
                    for path in smoothed(run):
                        whole = pieces(path) if name.endswith("mixed") else [path]
                        for part in whole:
                            if len(part) < POINTS_MIN:
                                continue
                            count += 1
                            if name.endswith("mixed"):
                                part = list(moved(f"{file}/{icao24}/{callsign}/{count}", part))
                            for at_s, lat, lon, level in part:
                                line = f"{name},{count},{at_s:.0f},{lat:.6f},{lon:.6f},{level:.2f}\n"
                                raw.write(line.encode())
            print(f"{name}: {count} flights", file=sys.stderr)


if __name__ == "__main__":
    main()
