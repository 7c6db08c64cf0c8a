//! Where traces go and which: the variables that OpenTelemetry names for it. An empty value is none.

use std::path::PathBuf;
use std::time::Duration;

use crate::pairs::pairs;
use crate::{Sampler, TraceContext};

/// Where a collector listens unless something else is said.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const SERVICE: &str = "ondatrasql";

/// How spans are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// `http/protobuf`
    Protobuf,
    /// `http/json`
    Json,
}

/// Where traces go, and which.
#[derive(Clone, PartialEq)]
pub struct TraceSettings {
    /// The URL that is posted to.
    pub url: String,
    /// Headers of each request; they may hold secrets.
    pub headers: Vec<(String, String)>,
    /// How spans are written.
    pub encoding: Encoding,
    /// How long a request may take.
    pub timeout: Duration,
    /// A file of roots to trust instead of the system's.
    pub root_file: Option<PathBuf>,
    /// Files of the client's certificate and its key.
    pub client_files: Option<(PathBuf, PathBuf)>,
    /// What produces the spans: names and values.
    pub resource: Vec<(String, String)>,
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// The span that caused this process.
    pub parent: Option<TraceContext>,
}

impl TraceSettings {
    /// The URL without what may be a secret in it: a user, a password, a query.
    pub(crate) fn shown_url(&self) -> String {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = place.rsplit('@').next().unwrap_or_default();
        if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") }
    }
}

/// What the variables say of traces.
#[derive(Default)]
pub struct Tracing {
    /// How they are exported; `None` if they are not.
    pub settings: Option<TraceSettings>,
    /// What of it is not understood. Values are not shown: they may be secrets.
    pub warnings: Vec<String>,
}

impl Tracing {
    /// Reads the variables. Traces are on where an endpoint is named, or where `OTEL_TRACES_EXPORTER` asks for `otlp`;
    /// `version` is that of the program.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>, version: &str) -> Self {
        let mut reading = Reading { variable, warnings: Vec::new() };
        let settings = reading.settings(version);
        Self { settings, warnings: reading.warnings }
    }
}

struct Reading<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    warnings: Vec<String>,
}

impl Reading<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.variable)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// `OTEL_EXPORTER_OTLP_TRACES_…`, or else `OTEL_EXPORTER_OTLP_…`, with its name.
    fn exporter(&self, what: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
        names.into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    fn settings(&mut self, version: &str) -> Option<TraceSettings> {
        if self.get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let url = self.url()?;
        let encoding = self.encoding()?;
        Some(TraceSettings {
            url,
            encoding,
            headers: self.headers(),
            timeout: self.timeout(),
            root_file: self.exporter("CERTIFICATE").map(|(_, path)| path.into()),
            client_files: self.client_files(),
            resource: self.resource(version),
            sampler: self.sampler(),
            parent: self.parent(),
        })
    }

    /// Where spans are posted to: the endpoint of traces as it is, or `v1/traces` below that of all signals.
    fn url(&mut self) -> Option<String> {
        let below = |endpoint: &str| format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let named = self
            .get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
            .or_else(|| self.get("OTEL_EXPORTER_OTLP_ENDPOINT").map(|endpoint| below(&endpoint)));
        let exporters = self.get("OTEL_TRACES_EXPORTER");
        let Some(exporters) = exporters else { return named };
        let mut exporters = exporters.split(',').map(str::trim);
        if exporters.clone().any(|name| name == "otlp") {
            return named.or_else(|| Some(below(DEFAULT_ENDPOINT)));
        }
        if let Some(other) = exporters.find(|&name| name != "none") {
            self.warnings.push(format!("OTEL_TRACES_EXPORTER is {other:?}: there is only otlp; no traces are sent"));
        }
        None
    }

    fn encoding(&mut self) -> Option<Encoding> {
        let Some((name, protocol)) = self.exporter("PROTOCOL") else { return Some(Encoding::Protobuf) };
        match protocol.as_str() {
            "http/protobuf" => Some(Encoding::Protobuf),
            "http/json" => Some(Encoding::Json),
            other => {
                self.warnings.push(format!(
                    "{name} is {other:?}: there are http/protobuf and http/json, which collectors take at port 4318; \
                     no traces are sent"
                ));
                None
            }
        }
    }

    fn headers(&mut self) -> Vec<(String, String)> {
        let Some((name, text)) = self.exporter("HEADERS") else { return Vec::new() };
        let (headers, bad) = pairs(&text);
        self.warn_of_pairs(&name, bad);
        headers
    }

    fn warn_of_pairs(&mut self, name: &str, bad: usize) {
        if bad > 0 {
            self.warnings.push(format!("{name}: {bad} member(s) are no key=value, and left out"));
        }
    }

    fn timeout(&mut self) -> Duration {
        let Some((name, text)) = self.exporter("TIMEOUT") else { return DEFAULT_TIMEOUT };
        let read = text.parse().ok().filter(|&milliseconds| milliseconds > 0).map(Duration::from_millis);
        read.unwrap_or_else(|| {
            self.warnings.push(format!("{name} is {text:?}, which is no number of milliseconds: 10000 it is"));
            DEFAULT_TIMEOUT
        })
    }

    fn client_files(&mut self) -> Option<(PathBuf, PathBuf)> {
        match (self.exporter("CLIENT_CERTIFICATE"), self.exporter("CLIENT_KEY")) {
            (Some((_, certificate)), Some((_, key))) => Some((certificate.into(), key.into())),
            (None, None) => None,
            (Some((name, _)), None) | (None, Some((name, _))) => {
                self.warnings.push(format!("{name} is left out: a client has a certificate and a key"));
                None
            }
        }
    }

    /// What was named, and what is always told; the service's own variable wins.
    fn resource(&mut self, version: &str) -> Vec<(String, String)> {
        let (named, bad) = pairs(&self.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default());
        self.warn_of_pairs("OTEL_RESOURCE_ATTRIBUTES", bad);
        let own = [
            ("telemetry.sdk.name", SERVICE),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.version", version),
            ("service.version", version),
            ("service.name", SERVICE),
        ];
        let service = self.get("OTEL_SERVICE_NAME").map(|name| ("service.name".to_owned(), name));
        let mut resource: Vec<(String, String)> = Vec::new();
        for (key, value) in
            own.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().chain(named).chain(service)
        {
            resource.retain(|(known, _)| *known != key);
            resource.push((key, value));
        }
        resource
    }

    fn sampler(&mut self) -> Sampler {
        let Some(name) = self.get("OTEL_TRACES_SAMPLER") else { return Sampler::default() };
        Sampler::parse(&name, self.get("OTEL_TRACES_SAMPLER_ARG").as_deref()).unwrap_or_else(|| {
            self.warnings.push(format!(
                "OTEL_TRACES_SAMPLER is {name:?}, or its argument is no share from 0 to 1: parentbased_always_on it is"
            ));
            Sampler::default()
        })
    }

    fn parent(&mut self) -> Option<TraceContext> {
        let text = self.get("TRACEPARENT")?;
        let parent = TraceContext::parse(&text);
        if parent.is_none() {
            self.warnings.push("TRACEPARENT is no trace context: the run begins a trace of its own".to_owned());
        }
        parent
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Encoding, TraceSettings, Tracing};
    use crate::Sampler;

    fn read(variables: &[(&str, &str)]) -> Tracing {
        let find = |name: &str| variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        Tracing::from_variables(&find, "1.2.3")
    }

    const ON: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/");

    #[track_caller]
    fn settings(variables: &[(&str, &str)]) -> TraceSettings {
        let Tracing { settings, warnings } = read(&[&[ON], variables].concat());
        assert_eq!(warnings, [""; 0]);
        settings.unwrap()
    }

    #[test]
    fn an_endpoint_turns_traces_on() {
        assert_eq!(settings(&[]).url, "http://c:4318/v1/traces");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/x");
        assert_eq!(settings(&[own]).url, "http://t/x");
        for variables in [
            &[][..],
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            &[ON, ("OTEL_SDK_DISABLED", "True")],
            &[ON, ("OTEL_TRACES_EXPORTER", "none")],
        ] {
            let Tracing { settings, warnings } = read(variables);
            assert!(settings.is_none() && warnings.is_empty(), "{variables:?}: {warnings:?}");
        }
        let asked = read(&[("OTEL_TRACES_EXPORTER", "console, otlp")]).settings.unwrap();
        assert_eq!(asked.url, "http://localhost:4318/v1/traces");
    }

    #[test]
    fn the_url_is_shown_without_secrets() {
        let shown = |url| settings(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url)]).shown_url();
        assert_eq!(shown("https://user:pass@c:1/v1/x?key=secret"), "https://c:1/v1/x");
        assert_eq!(shown("http://c"), "http://c");
        assert_eq!(shown("c@d"), "d");
    }

    #[test]
    fn what_traces_have_of_their_own_wins() {
        let found = settings(&[
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key=s%20t"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "250"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "c.pem"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "k.pem"),
        ]);
        assert_eq!(found.encoding, Encoding::Json);
        assert_eq!(found.headers, [("api-key".to_owned(), "s t".to_owned())]);
        assert_eq!(found.timeout, Duration::from_millis(250));
        assert_eq!(found.root_file, Some("ca.pem".into()));
        assert_eq!(found.client_files, Some(("c.pem".into(), "k.pem".into())));
    }

    #[test]
    fn the_resource_names_the_service_and_what_was_added() {
        let named = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,deployment.environment.name=prod");
        let value = |settings: &TraceSettings, key: &str| {
            settings.resource.iter().filter(|(own, _)| own == key).map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(value(&settings(&[]), "service.name"), ["ondatrasql"]);
        assert_eq!(value(&settings(&[named]), "service.name"), ["x"]);
        let both = settings(&[named, ("OTEL_SERVICE_NAME", "shop")]);
        assert_eq!(value(&both, "service.name"), ["shop"]);
        assert_eq!(value(&both, "deployment.environment.name"), ["prod"]);
        assert_eq!(value(&both, "service.version"), ["1.2.3"]);
    }

    #[test]
    fn a_parent_and_a_sampler_are_read() {
        let parent = ("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        let found = settings(&[parent, ("OTEL_TRACES_SAMPLER", "always_off")]);
        assert_eq!(found.parent.unwrap().span.to_string(), "00f067aa0ba902b7");
        assert_eq!(found.sampler, Sampler::parse("always_off", None).unwrap());
        let ratio = settings(&[("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.25")]);
        assert_eq!(ratio.sampler, Sampler::parse("traceidratio", Some("0.25")).unwrap());
    }

    #[test]
    fn what_is_not_understood_is_told_without_its_value() {
        for (name, value, sends, told) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", false, "port 4318"),
            ("OTEL_TRACES_EXPORTER", "zipkin", false, "only otlp"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", true, "milliseconds"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2", true, "1 member(s)"),
            ("OTEL_RESOURCE_ATTRIBUTES", "hunter2", true, "1 member(s)"),
            ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "k.pem", true, "certificate and a key"),
            ("OTEL_TRACES_SAMPLER", "xray", true, "parentbased_always_on"),
            ("TRACEPARENT", "hunter2", true, "trace of its own"),
        ] {
            let Tracing { settings, warnings } = read(&[ON, (name, value)]);
            assert_eq!(settings.is_some(), sends, "{name}");
            let [warning] = &warnings[..] else { panic!("{name}: {warnings:?}") };
            assert!(warning.contains(name) && warning.contains(told) && !warning.contains("hunter2"), "{warning}");
        }
    }
}
