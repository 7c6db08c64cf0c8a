//! Which traces are recorded (`OTEL_TRACES_SAMPLER`).

use crate::{TraceContext, TraceId};

/// Decides for a whole trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Whether a parent decides, where there is one.
    asks_parent: bool,
    root: Root,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Root {
    Always,
    Never,
    /// A share of all traces, from 0 to 1.
    Share(f64),
}

impl Default for Sampler {
    fn default() -> Self {
        Self { asks_parent: true, root: Root::Always }
    }
}

impl Sampler {
    /// The sampler of a name, with its argument: the share of `traceidratio`, 1 without it. `None` for a name that is
    /// not known, or a share that is none.
    pub fn parse(name: &str, argument: Option<&str>) -> Option<Self> {
        let (asks_parent, root) = match name.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (false, name),
        };
        let root = match root {
            "always_on" => Root::Always,
            "always_off" => Root::Never,
            "traceidratio" => {
                let share = argument.map_or(Some(1.0), |text| text.trim().parse().ok());
                Root::Share(share.filter(|share| (0.0..=1.0).contains(share))?)
            }
            _ => return None,
        };
        Some(Self { asks_parent, root })
    }

    /// Whether a trace is recorded.
    pub fn records(self, trace: TraceId, parent: Option<&TraceContext>) -> bool {
        match (parent, self.root) {
            (Some(parent), _) if self.asks_parent => parent.is_sampled,
            (_, Root::Always) => true,
            (_, Root::Never) => false,
            (_, Root::Share(share)) => is_within(trace, share),
        }
    }
}

/// The id's last 56 bits are random and the same for all who see the trace, so that all decide alike.
fn is_within(trace: TraceId, share: f64) -> bool {
    let value = trace.0[9..].iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    // What such a number cannot hold of the last bits is nothing in a share.
    #[allow(clippy::cast_precision_loss)]
    let place = value as f64 / (1_u64 << 56) as f64;
    place < share
}

#[cfg(test)]
mod tests {
    use super::Sampler;
    use crate::{SpanId, TraceContext, TraceId};

    #[test]
    fn a_parent_decides_where_it_is_asked() {
        let trace = TraceId::random();
        let parent = |is_sampled| TraceContext { trace, span: SpanId::random(), is_sampled };
        for (name, alone, below_sampled, below_other) in [
            ("always_on", true, true, true),
            ("always_off", false, false, false),
            ("parentbased_always_on", true, true, false),
            ("parentbased_always_off", false, true, false),
        ] {
            let sampler = Sampler::parse(name, None).unwrap();
            assert_eq!(sampler.records(trace, None), alone, "{name}");
            assert_eq!(sampler.records(trace, Some(&parent(true))), below_sampled, "{name}");
            assert_eq!(sampler.records(trace, Some(&parent(false))), below_other, "{name}");
        }
        assert_eq!(Sampler::parse("parentbased_always_on", None), Some(Sampler::default()));
    }

    #[test]
    fn a_share_of_traces_is_recorded() {
        let share = |share: &str| Sampler::parse("traceidratio", Some(share));
        let mut low = [0xff; 16];
        low[9..].fill(0);
        for (text, of_low, of_high) in [("0", false, false), ("0.5", true, false), ("1", true, true)] {
            let sampler = share(text).unwrap();
            assert_eq!(sampler.records(TraceId(low), None), of_low, "{text}");
            assert_eq!(sampler.records(TraceId([0xfe; 16]), None), of_high, "{text}");
        }
        assert!(Sampler::parse("traceidratio", None).unwrap().records(TraceId([0xfe; 16]), None));
        for bad in ["-1", "1.1", "x", "NaN"] {
            assert_eq!(share(bad), None, "{bad}");
        }
        assert_eq!(Sampler::parse("xray", None), None);
    }
}
