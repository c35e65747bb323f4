-- Rows and chains of every minute, by their roots' starts; foreign rows by their own.
-- Parameters: from, until (UTC).
SELECT toDateTime(minute * 60, 'UTC') AS time, count() AS rows,
    uniqExact(chain_high, chain_low) AS chains
FROM transactions_all
WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                 AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
  AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
GROUP BY minute
ORDER BY minute
