"""Services measured by OpenTelemetry's own SDK, which send what they measured to ENDPOINT.

otel.py SCENARIO PROTOCOL ENDPOINT [ARGUMENT...]

PROTOCOL is grpc or http. Prints one line of JSON: what was sent.
"""

import json
import os
import subprocess
import sys
import time

from opentelemetry import propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.trace import Link, SpanKind, Status, StatusCode


def exporter(protocol, endpoint):
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from grpc import Compression

        return OTLPSpanExporter(endpoint=endpoint, insecure=True, compression=Compression.Gzip)
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=endpoint + "/v1/traces", compression=Compression.Gzip)


def service(name, protocol, endpoint, processor=BatchSpanProcessor):
    resource = Resource.create(
        {
            "service.name": name,
            "service.version": "1.2.3",
            "host.name": "host-of-" + name,
            "process.pid": os.getpid(),
        }
    )
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(processor(exporter(protocol, endpoint)))
    return provider


def ids(span):
    context = span.get_span_context()
    return {"trace": f"{context.trace_id:032x}", "span": f"{context.span_id:016x}"}


def orders(protocol, endpoint):
    """A web shop: a request in one trace, the message it sends consumed in another."""
    shop, stock = (service(name, protocol, endpoint) for name in ("shop", "stock"))
    tracer = shop.get_tracer("shop.web", "0.9", attributes={"flavour": "test"})
    sent = {}
    with tracer.start_as_current_span("checkout", kind=SpanKind.SERVER) as root:
        sent["checkout"] = ids(root)
        root.set_attribute("http.request.method", "POST")
        root.set_attribute("items", 3)
        root.set_attribute("discount", 0.25)
        root.set_attribute("express", True)
        root.set_attribute("tags", ["a", "b"])
        try:
            with tracer.start_as_current_span("price") as price:
                sent["price"] = ids(price)
                raise ValueError("no price for article 7")
        except ValueError:
            pass
        with tracer.start_as_current_span("orders send", kind=SpanKind.PRODUCER) as send:
            sent["send"] = ids(send)
            send.set_status(Status(StatusCode.OK))
            message = send.get_span_context()
    tracer = stock.get_tracer("stock.queue")
    link = Link(message, {"messaging.message.id": "m-1"})
    with tracer.start_as_current_span("orders process", kind=SpanKind.CONSUMER, links=[link]) as p:
        sent["process"] = ids(p)
        with tracer.start_as_current_span("reserve") as reserve:
            sent["reserve"] = ids(reserve)
    sent["flushed"] = shop.force_flush() and stock.force_flush()
    shop.shutdown()
    stock.shutdown()
    return sent


def steady(protocol, endpoint, count):
    """COUNT spans, each exported by itself, whatever happens to the server meanwhile."""
    provider = service("steady", protocol, endpoint, SimpleSpanProcessor)
    tracer = provider.get_tracer("steady")
    for number in range(int(count)):
        with tracer.start_as_current_span("beat") as span:
            span.set_attribute("number", number)
        if number == 0:
            print("begun", flush=True)
        time.sleep(0.01)
    provider.shutdown()
    return {"beats": int(count)}


def there_and_back(protocol, endpoint, program):
    """Through a program that is measured by our recorder, and back: W3C traceparents on a pipe."""
    shop = service("shop", protocol, endpoint)
    tracer = shop.get_tracer("shop")
    sent = {}
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        with tracer.start_as_current_span("ask", kind=SpanKind.CLIENT) as ask:
            sent["ask"] = ids(ask)
            carrier = {}
            propagate.inject(carrier)
            p.stdin.write(carrier["traceparent"] + "\n")
            p.stdin.flush()
            context = propagate.extract({"traceparent": p.stdout.readline().strip()})
        with tracer.start_as_current_span("called back", context, kind=SpanKind.SERVER) as back:
            sent["back"] = ids(back)
        p.stdin.close()
        sent["ended"] = p.wait(30) == 0
    sent["flushed"] = shop.force_flush()
    shop.shutdown()
    return sent


if __name__ == "__main__":
    scenario, *arguments = sys.argv[1:]
    trace.set_tracer_provider(TracerProvider())
    print(json.dumps(globals()[scenario](*arguments)), flush=True)
