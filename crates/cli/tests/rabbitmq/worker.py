"""Consumes orders, works on each, and publishes it on.

worker.py PORT FROM_QUEUE TO_QUEUE WORK_MS
"""

import sys
import time

import shop


def main(port, source, target, work_ms):
    def work(channel, method, _properties, body):
        time.sleep(int(work_ms) / 1000)
        channel.basic_publish("", target, body)
        channel.basic_ack(method.delivery_tag)

    shop.consume(port, source, work, declare=[target])


if __name__ == "__main__":
    main(*sys.argv[1:])
