"""Takes orders and publishes each as a message.

publisher.py PORT TRUTH; a command is a line of stdin:
publish QUEUE FIRST COUNT INTERVAL_MS, declare QUEUE, or purge QUEUE. The reply is a line of
stdout: how many messages were published, or are or were in the queue.
"""

import sys
import time

from opentelemetry import trace

import shop


def publish(channel, truth, queue, first, count, interval_ms):
    tracer = trace.get_tracer("shop")
    for number in range(int(first), int(first) + int(count)):
        begun = time.time_ns()
        with tracer.start_as_current_span("place order") as span:
            span.set_attribute("order", number)
            channel.basic_publish("", queue, str(number).encode())
        truth.write(placed=number, from_ns=begun, until_ns=time.time_ns())
        time.sleep(int(interval_ms) / 1000)
    return int(count)


def declare(channel, _truth, queue):
    return channel.queue_declare(queue).method.message_count


def purge(channel, _truth, queue):
    return channel.queue_purge(queue).method.message_count


def main(port, path):
    connection = shop.connect(port)
    channel = connection.channel()
    truth = shop.Truth(path)
    print("ready", flush=True)
    commands = {"publish": publish, "declare": declare, "purge": purge}
    for line in sys.stdin:
        command, *arguments = line.split()
        print(commands[command](channel, truth, *arguments), flush=True)
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
