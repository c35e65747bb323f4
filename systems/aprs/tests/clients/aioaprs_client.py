"""Logs in with aioaprs, sends one packet, prints what comes. Arguments: host port call filter."""

import asyncio
import sys

from aioaprs.client import AioAPRSClient
from aioaprs.config import AioAPRSClientConfig

host, port, call, wanted = sys.argv[1:]


async def show(line):
    print(line.split(">")[0], line, flush=True)


async def main():
    config = AioAPRSClientConfig()
    config.host, config.port, config.callsign = host, int(port), call
    config.server_filter = wanted
    client = AioAPRSClient(config, show)
    await client.connect()
    # It has no public way to send.
    await client._write(f"{call}>APRS,TCPIP*:>hello")
    await client.gather()


asyncio.run(main())
