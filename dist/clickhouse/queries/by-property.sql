-- Transactions of a class by the value of a property; '' where it has none.
-- Parameters: from, until (UTC); class; key.
SELECT properties[{key:String}] AS value, count() AS rows, avg(elapsed_ns) AS elapsed_ns_mean,
    max(elapsed_ns) AS elapsed_ns_max
FROM transactions_all
WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                 AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
  AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
  AND if(application = '', class, concat(application, '::', class)) = {class:String}
GROUP BY value
ORDER BY rows DESC, value
