-- Histogram of the durations from a root's start to a leaf's end (ACPD), with bins of equal width.
-- Parameters: from, until (UTC); root, leaf; width_ns.
SELECT intDiv(ns, {width_ns:Int64}) * {width_ns:Int64} AS from_ns, count() AS durations
FROM (
    SELECT toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start) AS ns
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND top = {root:String} AND bitAnd(flags, 4) = 0
      AND if(application = '', class, concat(application, '::', class)) = {leaf:String}
) WHERE ns >= 0
GROUP BY from_ns
ORDER BY from_ns
