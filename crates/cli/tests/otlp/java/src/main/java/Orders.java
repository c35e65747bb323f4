import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * A web shop: a request in one trace, the message it sends consumed in another.
 *
 * <p>Orders PROTOCOL ENDPOINT, with PROTOCOL grpc or http; prints one line of JSON: what was sent.
 */
public final class Orders {
  private final StringJoiner sent = new StringJoiner(",", "{", "}");

  public static void main(String[] arguments) {
    new Orders().run(arguments[0], arguments[1]);
  }

  private void run(String protocol, String endpoint) {
    SdkTracerProvider shop = service("shop", protocol, endpoint);
    SdkTracerProvider stock = service("stock", protocol, endpoint);
    SpanContext message = order(shop.tracerBuilder("shop.web").setInstrumentationVersion("0.9").build());
    consume(stock.get("stock.queue"), message);
    boolean flushed =
        shop.forceFlush().join(20, TimeUnit.SECONDS).isSuccess()
            && stock.forceFlush().join(20, TimeUnit.SECONDS).isSuccess();
    sent.add("\"flushed\":" + flushed);
    System.out.println(sent);
    shop.close();
    stock.close();
  }

  private SpanContext order(Tracer tracer) {
    Span checkout = tracer.spanBuilder("checkout").setSpanKind(SpanKind.SERVER).startSpan();
    note("checkout", checkout);
    try (Scope scope = checkout.makeCurrent()) {
      checkout.setAttribute("http.request.method", "POST");
      checkout.setAttribute("items", 3);
      checkout.setAttribute("discount", 0.25);
      checkout.setAttribute("express", true);
      checkout.setAttribute(AttributeKey.stringArrayKey("tags"), List.of("a", "b"));
      Span price = tracer.spanBuilder("price").startSpan();
      note("price", price);
      price.recordException(new IllegalStateException("no price for article 7"));
      price.setStatus(StatusCode.ERROR, "no price");
      price.end();
      Span send = tracer.spanBuilder("orders send").setSpanKind(SpanKind.PRODUCER).startSpan();
      note("send", send);
      send.setStatus(StatusCode.OK);
      send.end();
      return send.getSpanContext();
    } finally {
      checkout.end();
    }
  }

  private void consume(Tracer tracer, SpanContext message) {
    Attributes about = Attributes.of(AttributeKey.stringKey("messaging.message.id"), "m-1");
    Span process =
        tracer
            .spanBuilder("orders process")
            .setSpanKind(SpanKind.CONSUMER)
            .setNoParent()
            .addLink(message, about)
            .startSpan();
    note("process", process);
    try (Scope scope = process.makeCurrent()) {
      Span reserve = tracer.spanBuilder("reserve").startSpan();
      note("reserve", reserve);
      reserve.end();
    } finally {
      process.end();
    }
  }

  private void note(String name, Span span) {
    SpanContext context = span.getSpanContext();
    sent.add(
        String.format(
            "\"%s\":{\"trace\":\"%s\",\"span\":\"%s\"}",
            name, context.getTraceId(), context.getSpanId()));
  }

  private static SdkTracerProvider service(String name, String protocol, String endpoint) {
    Attributes attributes =
        Attributes.of(
            AttributeKey.stringKey("service.name"), name,
            AttributeKey.stringKey("service.version"), "1.2.3",
            AttributeKey.stringKey("host.name"), "host-of-" + name,
            AttributeKey.longKey("process.pid"), ProcessHandle.current().pid());
    return SdkTracerProvider.builder()
        .setResource(Resource.getDefault().merge(Resource.create(attributes)))
        .addSpanProcessor(BatchSpanProcessor.builder(exporter(protocol, endpoint)).build())
        .build();
  }

  private static SpanExporter exporter(String protocol, String endpoint) {
    if (protocol.equals("grpc")) {
      return OtlpGrpcSpanExporter.builder().setEndpoint(endpoint).setCompression("gzip").build();
    }
    String traces = endpoint + "/v1/traces";
    return OtlpHttpSpanExporter.builder().setEndpoint(traces).setCompression("gzip").build();
  }
}
