"""What the programs of the shop share: the connection, what they really did, when they end."""

import json
import sys
import threading

import pika


def connect(port):
    """A connection to RabbitMQ. A program that waits for its next command sends no heartbeats."""
    return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", int(port), heartbeat=0))


class Truth:
    """A file with a line for each thing that was done. Lines survive the program's SIGKILL."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


def consume(port, queue, handle, declare=()):
    """Gives messages of a queue to HANDLE until stdin ends; says `ready` when it is attached."""
    connection = connect(port)
    channel = connection.channel()
    for name in (queue, *declare):
        channel.queue_declare(name)
    channel.basic_qos(prefetch_count=10)
    channel.basic_consume(queue, handle)

    def end():
        sys.stdin.read()
        connection.add_callback_threadsafe(channel.stop_consuming)

    threading.Thread(target=end, daemon=True).start()
    print("ready", flush=True)
    channel.start_consuming()
    connection.close()
