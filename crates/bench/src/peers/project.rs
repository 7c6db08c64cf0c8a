//! A peer's project in a temporary folder, with a lake in it like that of ondatrasql's own.

use std::fs::{self, File};

use super::Environment;
use crate::workspace::Project;

const DBT_PROJECT: &str = include_str!("../../peers/dbt/dbt_project.yml");
const DBT_PROFILES: &str = include_str!("../../peers/dbt/profiles.yml");
const SQLMESH_CONFIG: &str = include_str!("../../peers/sqlmesh/config.yaml");

/// A peer's project.
pub struct PeerProject {
    /// The folder, with the lake.
    pub lake: Project,
    environment: &'static Environment,
    program: &'static str,
}

impl PeerProject {
    /// dbt, without models.
    pub fn dbt(environment: &'static Environment) -> Self {
        let lake = Project::new();
        lake.write("dbt_project.yml", DBT_PROJECT);
        lake.write("profiles.yml", DBT_PROFILES);
        Self { lake, environment, program: "dbt" }
    }

    /// `SQLMesh`, without models.
    pub fn sqlmesh(environment: &'static Environment) -> Self {
        let lake = Project::new();
        lake.write("config.yaml", SQLMESH_CONFIG);
        Self { lake, environment, program: "sqlmesh" }
    }

    /// Runs the peer, which must succeed; what it says is shown if it does not.
    pub fn run(&self, args: &[&str]) {
        let said = self.lake.dir.path().join("said.txt");
        let output = File::create(&said).unwrap();
        let mut command = self.environment.command(self.program);
        command.args(args).current_dir(self.lake.dir.path()).stderr(output.try_clone().unwrap()).stdout(output);
        let status = command.status().unwrap();
        assert!(status.success(), "{} {args:?}:\n{}", self.program, fs::read_to_string(said).unwrap());
    }
}
