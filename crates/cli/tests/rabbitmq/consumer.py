"""The last one: consumes orders and ships them, each in the span that pika's instrumentation makes.

consumer.py PORT TRUTH QUEUE
"""

import sys
import time

import shop


def main(port, path, queue):
    truth = shop.Truth(path)

    def ship(channel, method, _properties, body):
        truth.write(shipped=int(body), at_ns=time.time_ns())
        channel.basic_ack(method.delivery_tag)

    shop.consume(port, queue, ship)


if __name__ == "__main__":
    main(*sys.argv[1:])
