"""Durations of chains in SQL, by an engine that knows nothing of ours.

Usage: ask_duckdb.py DIR. Prints one JSON object: by question the sorted durations in nanoseconds.
The chains are those of world/mod.rs: only roots are of class X::a.
"""

import json
import sys

import duckdb

connection = duckdb.connect()
connection.execute("set timezone = 'UTC'")
connection.execute(
    f"""
    create view r as
    select *, epoch_ns("start") as begin, epoch_ns("start") + elapsed_ns as stop,
           application || '::' || class as name, flags & 4 = 4 as foreign_row
    from read_parquet('{sys.argv[1]}/segments/*.parquet')
    """
)

QUESTIONS = {
    # The root's start came with the row.
    "native": """
        select stop - epoch_ns(root_start) as v from r
        where not foreign_row and name = 'Y::c'
          and (root_application || '::' || root_class) = 'X::a'
    """,
    # Rows without ancestors: up to the root, step by step, over rows of either kind.
    "foreign": """
        with recursive up as (
            select chain_high, chain_low, stop, parent from r where foreign_row and name = 'Y::c'
            union all
            select u.chain_high, u.chain_low, u.stop, p.parent from up u
            join r p on p.id = u.parent and p.chain_low = u.chain_low and p.chain_high = u.chain_high
            where p.name <> 'X::a' and p.foreign_row
        )
        select u.stop - case when p.foreign_row then p.begin else epoch_ns(p.root_start) end as v
        from up u
        join r p on p.id = u.parent and p.chain_low = u.chain_low and p.chain_high = u.chain_high
        where p.name = 'X::a' or not p.foreign_row
    """,
    # An inner root two steps up, by joins.
    "inner": """
        select leaf.stop - root.begin as v from r leaf
        join r middle on middle.id = leaf.parent
        join r root on root.id = middle.parent
        where leaf.name = 'Y::d' and root.name = 'X::b'
    """,
    # The leaf of each native chain that starts last; where leaves start together the longest.
    "apcd": """
        with chains as (
            select chain_high, chain_low from r group by all having not bool_or(foreign_row)
        ), leaves as (
            select r.* from r join chains using (chain_high, chain_low)
            where not exists (select 1 from r child where child.parent = r.id)
        )
        select arg_max(stop - epoch_ns(root_start), (begin, elapsed_ns, id)) as v
        from leaves group by chain_high, chain_low
    """,
    "sync": "select elapsed_ns as v from r where name = 'Y::e'",
}

print(
    json.dumps(
        {
            name: [
                v
                for (v,) in connection.execute(
                    f"select v from ({sql}) where v >= 0 order by v"
                ).fetchall()
            ]
            for name, sql in QUESTIONS.items()
        }
    )
)
