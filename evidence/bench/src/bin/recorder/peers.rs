//! Equivalents by peers: a timed span that is collected.

use crate::measure::Case;
use chronoscope_clock as clock;
use fastrace::Span as FastSpan;
use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::LocalSpan;
use hdrhistogram::Histogram;
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use std::sync::Mutex;
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// All of them.
pub(crate) fn all() -> anyhow::Result<Vec<Case>> {
    Ok(vec![fastrace_case(), tracing_case()?, opentelemetry_case()])
}

struct Nowhere;

impl Reporter for Nowhere {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        std::hint::black_box(spans.len());
    }
}

/// Local spans, a hundred under each root, as its own benches have them.
fn fastrace_case() -> Case {
    fastrace::set_reporter(Nowhere, Config::default());
    let run = |count: u64| {
        for _ in 0..count.div_ceil(100) {
            let root = FastSpan::root("root", SpanContext::random());
            let _here = root.set_local_parent();
            for _ in 0..100 {
                let _span = LocalSpan::enter_with_local_parent("pair");
            }
        }
    };
    Case::new("fastrace: local span, 100 a root", run)
}

/// Counts the elapsed times of closed spans.
struct Collect {
    elapsed_ns: Mutex<Histogram<u64>>,
}

struct Begun(u64);

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collect {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Begun(clock::monotonic_ns()));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let extensions = span.extensions();
        if let (Some(begun), Ok(mut all)) = (extensions.get::<Begun>(), self.elapsed_ns.lock()) {
            all.saturating_record(clock::monotonic_ns() - begun.0);
        }
    }
}

fn tracing_case() -> anyhow::Result<Case> {
    let elapsed_ns = Mutex::new(Histogram::new_with_bounds(1, 60_000_000_000, 3)?);
    let subscriber = Registry::default().with(Collect { elapsed_ns });
    let dispatch = tracing::Dispatch::new(subscriber);
    Ok(Case::new("tracing: span into a histogram", move |count| {
        tracing::dispatcher::with_default(&dispatch, || {
            for _ in 0..count {
                let _span = tracing::info_span!("pair").entered();
            }
        });
    }))
}

#[derive(Debug)]
struct Null;

impl SpanExporter for Null {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        std::hint::black_box(batch.len());
        Ok(())
    }
}

fn opentelemetry_case() -> Case {
    let provider = SdkTracerProvider::builder().with_batch_exporter(Null).build();
    let tracer = provider.tracer("bench");
    Case::new("OpenTelemetry SDK: batch, null exporter", move |count| {
        let _alive = &provider;
        for _ in 0..count {
            let mut span = tracer.start("pair");
            span.end();
        }
    })
}
