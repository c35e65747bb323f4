-- Each class: how often, how long, what it cost. As `chronoscope classes`.
-- Parameters: from, until (UTC).
SELECT if(application = '', class, concat(application, '::', class)) AS name,
    count() AS rows, sum(elapsed_ns) AS elapsed_ns_sum, avg(elapsed_ns) AS elapsed_ns_mean,
    min(elapsed_ns) AS elapsed_ns_min, max(elapsed_ns) AS elapsed_ns_max,
    sum(cpu_ns) AS cpu_ns_sum, countIf(status != 'GOOD') AS not_good
FROM transactions_all
WHERE minute BETWEEN intDiv(toUnixTimestamp({from:DateTime64(9, 'UTC')}), 60)
                 AND intDiv(toUnixTimestamp({until:DateTime64(9, 'UTC')}), 60)
  AND root_start >= {from:DateTime64(9, 'UTC')} AND root_start < {until:DateTime64(9, 'UTC')}
GROUP BY application, class
ORDER BY rows DESC, name
