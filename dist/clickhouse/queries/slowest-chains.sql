-- The chains that took longest (APCD), with their ids for `chronoscope chain ID`.
-- Parameters: from, until (UTC); root; count.
SELECT lower(concat(leftPad(hex(chain_high), 16, '0'), leftPad(hex(chain_low), 16, '0'))) AS chain,
    started, ns, length(rows) AS transactions
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
)
ORDER BY ns DESC, chain
LIMIT {count:UInt32}
