-- Durations from a root's start to a leaf's end (ACPD) by the classes between them.
-- Parameters: from, until (UTC); root, leaf.
SELECT path, count() AS durations, min(ns) AS min_ns, avg(ns) AS mean_ns, max(ns) AS max_ns
FROM (
    SELECT toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start) AS ns, path
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND top = {root:String} AND bitAnd(flags, 4) = 0
      AND if(application = '', class, concat(application, '::', class)) = {leaf:String}
) WHERE ns >= 0
GROUP BY path
ORDER BY durations DESC, path
