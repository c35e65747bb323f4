// Services measured by OpenTelemetry's own SDK for JavaScript, which sends JSON to ENDPOINT.
//
// node otel.cjs ENDPOINT, with NODE_PATH naming its packages. Prints one line of JSON: what was sent.
"use strict";

const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = require("@opentelemetry/api");
const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { BatchSpanProcessor, NodeTracerProvider } = require("@opentelemetry/sdk-trace-node");

const [endpoint] = process.argv.slice(2);

function service(name) {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, compression: "gzip" });
  const resource = resourceFromAttributes({
    "service.name": name,
    "service.version": "1.2.3",
    "host.name": `host-of-${name}`,
    "process.pid": process.pid,
  });
  return new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
}

const ids = (span) => ({ trace: span.spanContext().traceId, span: span.spanContext().spanId });
const under = (span) => trace.setSpan(ROOT_CONTEXT, span);

/// A web shop: a request in one trace, the message it sends consumed in another.
async function orders() {
  const [shop, stock] = [service("shop"), service("stock")];
  const sent = {};

  let tracer = shop.getTracer("shop.web", "0.9");
  const root = tracer.startSpan("checkout", { kind: SpanKind.SERVER }, ROOT_CONTEXT);
  root.setAttributes({
    "http.request.method": "POST",
    items: 3,
    discount: 0.25,
    express: true,
    tags: ["a", "b"],
  });
  const price = tracer.startSpan("price", {}, under(root));
  price.recordException(new Error("no price for article 7"));
  price.setStatus({ code: SpanStatusCode.ERROR });
  price.end();
  const send = tracer.startSpan("orders send", { kind: SpanKind.PRODUCER }, under(root));
  send.setStatus({ code: SpanStatusCode.OK });
  send.end();
  root.end();
  const attributes = { "messaging.message.id": "m-1" };
  const links = [{ context: send.spanContext(), attributes }];
  tracer = stock.getTracer("stock.queue");
  const consumed = tracer.startSpan(
    "orders process",
    { kind: SpanKind.CONSUMER, links },
    ROOT_CONTEXT,
  );
  const reserve = tracer.startSpan("reserve", {}, under(consumed));
  reserve.end();
  consumed.end();

  Object.assign(sent, {
    checkout: ids(root),
    price: ids(price),
    send: ids(send),
    process: ids(consumed),
    reserve: ids(reserve),
  });
  await Promise.all([shop.forceFlush(), stock.forceFlush()]);
  await Promise.all([shop.shutdown(), stock.shutdown()]);
  return sent;
}

orders().then((sent) => console.log(JSON.stringify(sent)));
