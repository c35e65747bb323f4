"""Logs in with aprslib, sends one packet, prints what comes. Arguments: host port call filter."""

import sys

import aprslib

host, port, call, wanted = sys.argv[1:]
client = aprslib.IS(call, passwd=str(aprslib.passcode(call)), host=host, port=int(port))
client.set_filter(wanted)
client.connect()
client.sendall(f"{call}>APRS,TCPIP*:>hello")


def show(line):
    # What it takes apart must be what was sent.
    text = line.decode()
    print(aprslib.parse(text)["from"], text, flush=True)


client.consumer(show, raw=True)
