-- Durations from a root's start to the end of a leaf of a class (ACPD), exactly. As
-- `chronoscope chains --root ROOT --leaf LEAF` of native rows whose root is there.
-- Quantiles are the nearest rank. Negative durations (hosts' clocks disagree) are left out.
-- Parameters: from, until (UTC); root, leaf (as in MRTS::decodePlots).
SELECT length(sorted) AS durations, arrayMin(sorted) AS min_ns, arrayAvg(sorted) AS mean_ns,
    arrayMax(sorted) AS max_ns, sorted[intDiv(length(sorted) * 5000 + 9999, 10000)] AS p50_ns,
    sorted[intDiv(length(sorted) * 9500 + 9999, 10000)] AS p95_ns,
    sorted[intDiv(length(sorted) * 9900 + 9999, 10000)] AS p99_ns,
    sorted[intDiv(length(sorted) * 9973 + 9999, 10000)] AS p99_73_ns
FROM (SELECT arraySort(groupArray(ns)) AS sorted FROM (
    SELECT toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start) AS ns
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND top = {root:String} AND bitAnd(flags, 4) = 0
      AND if(application = '', class, concat(application, '::', class)) = {leaf:String}
) WHERE ns >= 0)
