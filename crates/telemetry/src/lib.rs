//! What a run tells other systems of itself: traces as OTLP over HTTP, metrics as a text file for Prometheus.
//!
//! Boundary: knows spans and samples, no models and no runs; reads no environment variable and prints nothing. What
//! it is given is sent as it is: who hands in texts has taken secrets out of them.

mod exporter;
mod ids;
mod metrics;
mod metrics_file;
mod otlp;
mod pairs;
mod sampler;
mod settings;
mod span;

pub use exporter::{Exporter, PATIENCE};
pub use ids::{SpanId, TraceContext, TraceId};
pub use metrics::Metrics;
pub use metrics_file::{MetricsFile, MetricsFileError};
pub use sampler::Sampler;
pub use settings::{Encoding, TraceSettings, Tracing};
pub use span::{Outcome, Span, SpanEvent, Value};
