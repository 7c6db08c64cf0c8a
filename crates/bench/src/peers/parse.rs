//! Checking five thousand models against reading them into dbt, which checks less of them.

use std::path::Path;

use super::project::PeerProject;
use super::{DBT, against};
use crate::measure::{Figure, time};
use crate::validate::{Templates, files, project};

const MODELS: usize = 5_000;

const OF_DBT: Templates = Templates {
    raw: include_str!("../../peers/dbt/validate/raw.sql"),
    staging: include_str!("../../peers/dbt/validate/staging.sql"),
    mart: include_str!("../../peers/dbt/validate/mart.sql"),
};

pub fn parse_dbt(binary: &Path) -> Figure {
    let what = "validate 5,000 models / cold dbt parse";
    against(&DBT, what, |environment| {
        let (ours, peer) = (project(MODELS), PeerProject::dbt(environment));
        peer.lake.write("models/sources.yml", include_str!("../../peers/dbt/validate/sources.yml"));
        for (path, text) in files(MODELS, &OF_DBT) {
            peer.lake.write(&path, &text);
        }
        let parse = || peer.run(&["parse", "--no-partial-parse"]);
        Figure::measure_times(3, what, 0.05, |_| time(|| ours.command(binary, &["validate"])), |_| time(parse))
    })
}
