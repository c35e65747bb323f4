"""A real pvAccess server on loopback: prints its configuration as JSON, serves until its input ends."""

import json
import sys

from p4p.nt import NTScalar
from p4p.server import Server, StaticProvider
from p4p.server.thread import SharedPV

SCALAR = NTScalar("d")


class Twice:
    """Replies to a remote procedure call with twice the argument."""

    def rpc(self, _pv, operation):
        operation.done(SCALAR.wrap(2 * operation.value().value))


provider = StaticProvider("chronoscope")
provider.add("chronoscope:value", SharedPV(initial=SCALAR.wrap(42.0), nt=SCALAR))
provider.add("chronoscope:twice", SharedPV(initial=SCALAR.wrap(0.0), handler=Twice()))
with Server(providers=[provider], isolate=True) as server:
    print(json.dumps(server.conf()), flush=True)
    sys.stdin.read()
