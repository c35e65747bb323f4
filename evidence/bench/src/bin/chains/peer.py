"""The peer: durations of chains in SQL, over the same Parquet files.

Usage: peer.py QUERY DIR THREADS. Prints one JSON object: count, sum, quantiles (discrete, so
nearest rank), and the CPU and wall seconds of the query alone, without starting Python.
"""

import json
import resource
import sys
import time

import duckdb

query, directory, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
native = f"read_parquet('{directory}/segments/*-native-*.parquet')"
foreign = f"read_parquet('{directory}/segments/*-foreign-*.parquet')"

# Nanoseconds as numbers, whatever the type of the time stamps.
END = "epoch_ns({0}.start) + {0}.elapsed_ns"

STEPS = [
    ("MRTS", "decodePlots"),
    ("MRTS", "Correlate"),
    ("MSG", "TrackStore_updateTrack"),
    ("CWP", "TrackStore_updateTrack"),
    ("CWP", "TargetView_redraw"),
]


def is_class(alias, step):
    application, name = STEPS[step]
    return f"{alias}.application = '{application}' and {alias}.class = '{name}'"


def joins(rows):
    """One self-join for every level."""
    tables = [f"{rows} t4"]
    where = [is_class("t4", 4)]
    for step in (3, 2, 1, 0):
        tables.append(f"join {rows} t{step} on t{step}.id = t{step + 1}.parent")
        where.append(is_class(f"t{step}", step))
    return (
        f"select {END.format('t4')} - epoch_ns(t0.start) as v from "
        + " ".join(tables)
        + " where "
        + " and ".join(where)
    )


def recursive(rows):
    """Any level, any shape."""
    return f"""
        with recursive below as (
            select r.id, epoch_ns(r.start) as root_start, r.application, r.class,
                   {END.format('r')} as stop
            from {rows} r where {is_class('r', 0)}
            union all
            select c.id, b.root_start, c.application, c.class, {END.format('c')}
            from below b join {rows} c on c.parent = b.id
        )
        select stop - root_start as v from below b where {is_class('b', 4)}
    """


QUERIES = {
    "acpd-stored-root": f"""
        select {END.format('r')} - epoch_ns(r.root_start) as v from {native} r
        where {is_class('r', 4)}
          and r.root_application = 'MRTS' and r.root_class = 'decodePlots'
    """,
    "acpd-joins": joins(native),
    "acpd-recursive": recursive(native),
    "acpd-foreign-joins": joins(foreign),
    "acpd-foreign-recursive": recursive(foreign),
    "apcd-stored-links": f"""
        select {END.format('r')} - epoch_ns(r.root_start) as v from {native} r
        where r.links & 2 = 2 and r.root_application = 'MRTS' and r.root_class = 'decodePlots'
    """,
    "apcd-grouped": f"""
        select arg_max({END.format('r')} - epoch_ns(r.root_start), (r.start, r.elapsed_ns)) as v
        from {native} r where {is_class('r', 4)} group by r.chain_high, r.chain_low
    """,
}

connection = duckdb.connect()
connection.execute(f"set threads = {threads}")
connection.execute("set timezone = 'UTC'")


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


cpu, wall = used(), time.monotonic()
count, total, quantiles = connection.execute(
    f"""
    select count(v), sum(v::hugeint)::varchar,
           quantile_disc(v, [0.5, 0.9, 0.99, 0.9973, 0.999]) from ({QUERIES[query]})
    """
).fetchone()
print(
    json.dumps(
        {
            "count": count,
            "sum_ns": total,
            "quantiles_ns": quantiles,
            "cpu_s": used() - cpu,
            "wall_s": time.monotonic() - wall,
        }
    )
)
