-- Durations from a root's start to a leaf's end (ACPD) minute by minute, out of the sketches: no row is
-- read. Count, smallest, mean and largest are exact, quantiles at most 3.125 % too large. The last two to
-- three minutes have no sketches yet; the minutes of `from` and `until` count whole.
-- Parameters: from, until (UTC); root, leaf.
SELECT toDateTime(minute * 60, 'UTC') AS time, durations, min_ns, mean_ns, max_ns,
    quantiles[1] AS p50_ns, quantiles[2] AS p99_ns
FROM (
    SELECT minute, sum(since_root_count) AS durations,
        minIf(since_root_min, since_root_count > 0) AS min_ns,
        sum(since_root_sum) / durations AS mean_ns, max(since_root_max) AS max_ns,
        sumMap(since_root_buckets, since_root_counts) AS histogram,
        arrayCumSum(histogram.2) AS ranks,
        arrayMap(q -> histogram.1[arrayFirstIndex(
            rank -> rank >= intDiv(durations * q + 9999, 10000), ranks)] + 1, [5000, 9900]) AS next,
        arrayMap(b -> least(max_ns, bitShiftLeft(toUInt64(if(b < 32, b, b % 32 + 32)),
            greatest(intDiv(b, 32), 1) - 1) - 1), next) AS quantiles
    FROM sketches_all
    WHERE minute >= intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
      AND minute * 60 < toUnixTimestamp({until:DateTime64(9, 'UTC')})
      AND (minute, version) IN (SELECT minute, max(version) FROM sketches
          WHERE minute >= intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
            AND minute * 60 < toUnixTimestamp({until:DateTime64(9, 'UTC')}) GROUP BY minute)
      AND top = {root:String} AND foreign_row = 0
      AND if(application = '', class, concat(application, '::', class)) = {leaf:String}
    GROUP BY minute HAVING durations > 0
)
ORDER BY minute
