-- How many durations from a root's start to a leaf's end (ACPD) are within a limit. This counts what
-- is there: what was lost may have been above the limit, and `chronoscope chains --limit` says so.
-- Parameters: from, until (UTC); root, leaf; limit_ns.
SELECT count() AS durations, countIf(ns <= {limit_ns:Int64}) AS within,
    if(durations = 0, NULL, within / durations) AS share
FROM (
    SELECT toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start) AS ns
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND top = {root:String} AND bitAnd(flags, 4) = 0
      AND if(application = '', class, concat(application, '::', class)) = {leaf:String}
) WHERE ns >= 0
