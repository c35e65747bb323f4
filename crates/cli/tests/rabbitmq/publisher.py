"""Takes orders and publishes each as a message.

publisher.py PORT TRUTH; a command is a line of stdin:

publish QUEUE FIRST COUNT INTERVAL_MS    to one queue
announce EXCHANGE FIRST COUNT INTERVAL_MS    to all queues that are bound
declare QUEUE, purge QUEUE, exchange EXCHANGE, bind QUEUE EXCHANGE, unbind QUEUE EXCHANGE

The reply is a line of stdout: how many messages were published or purged, else `done`.
"""

import sys
import time

from opentelemetry import trace

import shop


class Commands:
    """What it is told to do."""

    def __init__(self, channel, truth):
        self.channel = channel
        self.truth = truth

    def place(self, exchange, key, first, count, interval_ms):
        tracer = trace.get_tracer("shop")
        for number in range(int(first), int(first) + int(count)):
            begun = time.time_ns()
            with tracer.start_as_current_span("place order") as span:
                span.set_attribute("order", number)
                self.channel.basic_publish(exchange, key, str(number).encode())
            self.truth.write(placed=number, from_ns=begun, until_ns=time.time_ns())
            time.sleep(int(interval_ms) / 1000)
        return int(count)

    def publish(self, queue, *orders):
        return self.place("", queue, *orders)

    def announce(self, exchange, *orders):
        return self.place(exchange, "", *orders)

    def declare(self, queue):
        self.channel.queue_declare(queue)

    def purge(self, queue):
        return self.channel.queue_purge(queue).method.message_count

    def exchange(self, exchange):
        self.channel.exchange_declare(exchange, "fanout")

    def bind(self, queue, exchange):
        self.channel.queue_bind(queue, exchange)

    def unbind(self, queue, exchange):
        self.channel.queue_unbind(queue, exchange)


def main(port, path):
    connection = shop.connect(port)
    channel = connection.channel()
    commands = Commands(channel, shop.Truth(path))
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = line.split()
        reply = getattr(commands, command)(*arguments)
        print("done" if reply is None else reply, flush=True)
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
