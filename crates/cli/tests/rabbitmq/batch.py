"""Consumes orders ten at a time: one span for each ten, with a link to each message.

This is how OpenTelemetry's conventions for messaging have a batch; pika has no batches of its own.

batch.py PORT TRUTH QUEUE
"""

import sys
import threading
import time

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind

import shop

SIZE = 10


def link(properties):
    context = propagate.extract(properties.headers)
    return Link(trace.get_current_span(context).get_span_context())


def ship(channel, truth, messages):
    tracer = trace.get_tracer("shop")
    links = [link(properties) for _, properties, _ in messages]
    with tracer.start_as_current_span(
        "ship orders", context=Context(), kind=SpanKind.CONSUMER, links=links
    ):
        for _, _, body in messages:
            truth.write(shipped=int(body), at_ns=time.time_ns())
        channel.basic_ack(messages[-1][0].delivery_tag, multiple=True)


def main(port, path, queue):
    connection = shop.connect(port)
    channel = connection.channel()
    channel.queue_declare(queue)
    truth = shop.Truth(path)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("ready", flush=True)
    messages = []
    while not ended.is_set():
        method, properties, body = channel.basic_get(queue)
        if method is None:
            time.sleep(0.02)
            continue
        messages.append((method, properties, body))
        if len(messages) == SIZE:
            ship(channel, truth, messages)
            messages = []
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
