-- Durations of whole chains: from the root's start to the end of the leaf that starts last (APCD).
-- As `chronoscope chains --root ROOT --apcd` of native chains with all their rows.
-- Parameters: from, until (UTC); root.
SELECT count() AS chains, min(ns) AS min_ns, avg(ns) AS mean_ns, max(ns) AS max_ns
FROM (
    SELECT chain_high, chain_low, min(root_start) AS started,
        groupArray((toUnixTimestamp64Nano(start), elapsed_ns, id)) AS rows,
        groupUniqArray(parent) AS parents,
        arrayLast(x -> true, arraySort(arrayFilter(x -> NOT has(parents, x.3), rows))) AS last_leaf,
        last_leaf.1 + last_leaf.2 - toUnixTimestamp64Nano(started) AS ns
    FROM transactions_all
    WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                     AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
      AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
      AND top = {root:String} AND bitAnd(flags, 4) = 0
    GROUP BY chain_high, chain_low
) WHERE ns >= 0
