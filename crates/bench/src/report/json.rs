//! All figures as one JSON document.

use serde_json::{Map, Value, json};

use crate::measure::{Figure, Side};
use crate::report::Setting;

/// The document: the machine, the versions, and the figures under the names that a word on the command line selects.
pub fn document(setting: &Setting, figures: &[(&str, Figure)]) -> Value {
    let machine = &setting.machine;
    let versions: Map<String, Value> =
        setting.versions.iter().map(|(name, version)| (name.clone(), Value::from(version.clone()))).collect();
    json!({
        "schema_version": 1,
        "machine": { "cpu": machine.cpu, "cores": machine.cores, "memory_mib": machine.memory_mib },
        "versions": versions,
        "figures": figures.iter().map(|(name, figure)| item(name, figure)).collect::<Vec<_>>(),
    })
}

fn item(name: &str, figure: &Figure) -> Value {
    let Figure { what, bar, peer, result } = figure;
    match result {
        Err(why) => json!({ "name": name, "what": what, "peer": peer, "skipped": why }),
        Ok(pair) => json!({
            "name": name,
            "what": what,
            "peer": peer,
            "rounds": pair.rounds,
            "measured_ms": milliseconds(pair.measured),
            "measured_spread": rounded(pair.measured.spread, 1000.0),
            "against_ms": milliseconds(pair.against),
            "against_spread": rounded(pair.against.spread, 1000.0),
            "ratio": rounded(pair.ratio(), 10_000.0),
            "bar": bar,
            "is_over": figure.is_over(),
        }),
    }
}

fn milliseconds(side: Side) -> f64 {
    rounded(side.median.as_secs_f64() * 1000.0, 100.0)
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::document;
    use crate::measure::Figure;
    use crate::report::{Machine, Setting};

    #[test]
    fn the_document_holds_machine_versions_and_every_figure() {
        let setting = Setting {
            machine: Machine { cpu: "C".into(), cores: 2, memory_mib: 100 },
            versions: vec![("ondatrasql".into(), "0.1.0".into())],
        };
        let times = |ms: [u64; 3]| move |round: usize| Duration::from_millis(ms[round]);
        let figures = [
            ("a b", Figure::measure_times(3, "a / b", 0.2, times([10, 11, 12]), times([100, 90, 110])).against("dbt")),
            (
                "told",
                Figure::measure_times(1, "c / d", None, |_| Duration::from_millis(1), |_| Duration::from_millis(2)),
            ),
            ("gone", Figure::skipped("e / f", "no network".into()).against("sqlmesh")),
        ];
        assert_eq!(
            document(&setting, &figures),
            json!({
                "schema_version": 1,
                "machine": { "cpu": "C", "cores": 2, "memory_mib": 100 },
                "versions": { "ondatrasql": "0.1.0" },
                "figures": [
                    {
                        "name": "a b", "what": "a / b", "peer": "dbt", "rounds": 3,
                        "measured_ms": 11.0, "measured_spread": 0.182,
                        "against_ms": 100.0, "against_spread": 0.2,
                        "ratio": 0.11, "bar": 0.2, "is_over": false
                    },
                    {
                        "name": "told", "what": "c / d", "peer": null, "rounds": 1,
                        "measured_ms": 1.0, "measured_spread": 0.0,
                        "against_ms": 2.0, "against_spread": 0.0,
                        "ratio": 0.5, "bar": null, "is_over": false
                    },
                    { "name": "gone", "what": "e / f", "peer": "sqlmesh", "skipped": "no network" }
                ]
            })
        );
    }
}
