"""An OTLP/HTTP receiver made of OpenTelemetry's generated messages.

Prints its port, answers the first request with 503 and takes the others; when stdin is closed it
prints the spans it got, one line of JSON.
"""

import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

requests = []
spans = []


def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    return getattr(any_value, kind) if kind else None


def pairs(attributes):
    return {pair.key: value(pair.value) for pair in attributes}


def take(body):
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                spans.append(
                    {
                        "resource": pairs(resource.resource.attributes),
                        "scope": scope.scope.name,
                        "name": span.name,
                        "kind": span.kind,
                        "trace": span.trace_id.hex(),
                        "span": span.span_id.hex(),
                        "parent": span.parent_span_id.hex(),
                        "elapsed_ns": span.end_time_unix_nano - span.start_time_unix_nano,
                        "status": span.status.code,
                        "attributes": pairs(span.attributes),
                        "links": [[link.trace_id.hex(), link.span_id.hex()] for link in span.links],
                        "events": [[event.name, pairs(event.attributes)] for event in span.events],
                    }
                )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        assert self.path == "/v1/traces" and self.headers["content-encoding"] == "gzip"
        requests.append(self.headers["authorization"])
        first = len(requests) == 1
        if not first:
            take(gzip.decompress(body))
        answer = b"" if first else ExportTraceServiceResponse().SerializeToString()
        self.send_response(503 if first else 200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
print(json.dumps({"requests": requests, "spans": spans}), flush=True)
