"""The Python package `sle` as user, by orders on standard input: SESSION ORDER ARGUMENT...

The first order of a session makes it (`user`, service, settings), `forget` ends it. What happens is
said in lines of JSON, as the driver of the Java peer says it.
"""

import json
import select
import socket
import sys
import threading
import time
import types

import sle.proxy.transport
from sle.constants import SleState
from sle.service.cltu import CltuServiceUser
from sle.service.raf import RafServiceUser

SERVICES = {"fcltu": CltuServiceUser, "raf": RafServiceUser}
OPERATIONS = {
    "BindReturn": "BIND-RETURN",
    "UnbindReturn": "UNBIND-RETURN",
    "StartReturn": "START-RETURN",
    "StopReturn": "STOP-RETURN",
    "GetParameterReturn": "GET-PARAMETER-RETURN",
    "ScheduleStatusReportReturn": "SCHEDULE-STATUS-REPORT-RETURN",
    "StatusReportInvocation": "STATUS-REPORT",
    "TransferDataReturn": "TRANSFER-DATA-RETURN",
    "ThrowEventReturn": "THROW-EVENT-RETURN",
    "AsyncNotifyInvocation": "NOTIFY",
}
saying = threading.Lock()


class OneMessage(socket.socket):
    """Gives its reader one message a call: the package handles one for each call, whatever it got."""

    left = 0

    def recv(self, size, flags=0):
        if self.left == 0:
            header = super().recv(8, socket.MSG_WAITALL)
            if len(header) < 8:
                time.sleep(0.05)  # the end, at which the package asks again and again
                return b""
            self.left = int.from_bytes(header[4:8], "big")
            return header
        octets = super().recv(min(size, self.left))
        self.left -= len(octets)
        return octets


sle.proxy.transport.socket = types.SimpleNamespace(
    socket=OneMessage,
    AF_INET=socket.AF_INET,
    SOCK_STREAM=socket.SOCK_STREAM,
    error=socket.error,
)


retired = set()  # threads of the package that nobody needs any more


def patient(reading, *others):
    """The package asks without a pause where it has no connection, and for ever."""
    if threading.current_thread() in retired:
        raise SystemExit
    if reading[0] is None:
        time.sleep(0.02)
        return [], [], []
    return select.select(reading, *others)


sle.proxy.transport.select = types.SimpleNamespace(select=patient)


class Session:
    """One session."""

    def __init__(self, name):
        self.name = name
        self.user = None
        self.said = "UNBOUND"

    def say(self, event, **rest):
        with saying:
            print(json.dumps({"event": event, "session": self.name, **rest}), flush=True)

    def order(self, words):
        try:
            if words[0] == "user":
                self.make(words[1], dict(word.split("=", 1) for word in words[2:]))
            else:
                getattr(self, "do_" + words[0])(*words[1:])
            self.say("done", order=words[0])
        except Exception as why:  # of the package, or of the order: the test decides
            self.say("failed", order=words[0], why=repr(why))

    def make(self, service, settings):
        instance = {
            "fcltu": "sagr=1.spack=VST-PASS0001.fsl-fg=1.cltu=cltu1",
            "raf": "sagr=1.spack=VST-PASS0001.rsl-fg=1.raf=onlc1",
        }
        session = self

        class Watched(SERVICES[service]):
            def sle_pdu_indication(self, pdu, authentication_result, decoding_result):
                super().sle_pdu_indication(pdu, authentication_result, decoding_result)
                session.received(pdu, authentication_result and decoding_result)

        self.user = Watched(
            service_instance_identifier=instance[service],
            responder_host="127.0.0.1",
            responder_port=int(settings["port"]),
            auth_level=settings["auth"],
            local_identifier=settings["user"],
            peer_identifier=settings["provider"],
            responder_port_identifier=settings["port-id"],
            local_password=settings["user-password"],
            peer_password=settings["provider-password"],
            version_number=int(settings["version"]),
            hash_algorithm=settings["hash"].upper(),
        )

    def received(self, pdu, is_good):
        if not is_good:
            self.say("error", why="could not take " + str(pdu))
            return
        key = pdu.getName()
        if key == "annotatedFrame":
            frame = pdu.getComponent()
            self.say(
                "frame",
                quality=int(frame["deliveredFrameQuality"]),
                octets=frame["data"].asOctets().hex(),
            )
        elif not key.endswith("TransferBuffer"):
            short = key[3:] if key.startswith("raf") else key[4:]
            # A notification in a transfer buffer is its bare choice.
            name = OPERATIONS.get(short, "NOTIFY" if key == "syncNotification" else key)
            self.say("pdu", name=name, text=pdu[key].prettyPrint())
        if self.user.state.strip() != self.said:
            self.said = self.user.state.strip()
            self.say("state", state=self.said)

    def do_bind(self):
        self.user.bind()

    def do_unbind(self):
        self.user.unbind("end")

    def do_start(self):
        if isinstance(self.user, CltuServiceUser):
            self.user._cltu_id = 1
        self.user.start()

    def do_stop(self):
        self.user.stop()

    def do_parameter(self, name):
        self.user.get_parameter(name)

    def do_report(self):
        self.user.schedule_status_report("immediately")

    def do_cltu(self, _number, notify, octets):
        self.user.transfer_data(bytes.fromhex(octets), notify=notify == "notify")

    def do_event(self, _number, event, qualifier):
        self.user.throw_event(int(event), bytes.fromhex(qualifier))

    def do_forget(self):
        if self.user:
            transport = self.user._proxy.transport
            retired.add(transport._message_thread)
            if self.user.state != SleState.UNBOUND:
                transport.tml_disconnect_request()


def main():
    sessions = {}
    for line in sys.stdin:
        name, *words = line.split()
        if name not in sessions:
            sessions[name] = Session(name)
        sessions[name].order(words)
        if words[0] == "forget":
            del sessions[name]


main()
