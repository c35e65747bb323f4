"""Round trips by EPICS pvAccess, for `chronoscope net rtt 'exec:python3 ask.py get NAME'`.

ask.py get|rpc NAME [CONFIGURATION as JSON; else the environment's, EPICS_PVA_ADDR_LIST and such]

Asks by get, or by RPC with the number 21. One client for all requests: the first has the search
for the server and the making of the connection and of the channel in it.
"""

import json
import sys
import time

from p4p.client.thread import Context
from p4p.nt import NTScalar

how, name, *rest = sys.argv[1:]
configuration = json.loads(rest[0]) if rest else None
context = Context("pva", conf=configuration, useenv=configuration is None)
argument = NTScalar("d").wrap(21.0)
print("ready", flush=True)
for line in sys.stdin:
    number = line.strip()
    began_ns = time.perf_counter_ns()
    try:
        if how == "rpc":
            context.rpc(name, argument, timeout=5)
        else:
            context.get(name, timeout=5)
    except Exception as error:  # of any kind: the round trip is lost, and the next one is due
        print(number, "lost", " ".join(str(error).split()), flush=True)
    else:
        print(number, "ok", time.perf_counter_ns() - began_ns, "ns", flush=True)
