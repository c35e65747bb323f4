-- Rows that end before their root starts, by the two hosts: their clocks disagree at least so much.
-- Parameters: from, until (UTC).
SELECT ifNull(root_host, '') AS root, host, count() AS rows, min(ns) AS earliest_ns
FROM (
    SELECT root_host, host, toUnixTimestamp64Nano(start) + elapsed_ns - toUnixTimestamp64Nano(root_start) AS ns
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND bitAnd(flags, 4) = 0
) WHERE ns < 0
GROUP BY root_host, host
ORDER BY rows DESC, root, host
