//! The binary on a terminal of its own, with as many columns as a test says.

use std::process::Stdio;

use testkit::Project;

/// What a command shows on a terminal of so many columns, and its exit code.
pub(crate) fn on_terminal(project: &Project, columns: usize, args: &[&str]) -> (String, i32) {
    on_terminal_with(project, columns, ("TERM", "xterm"), args)
}

/// The same with a variable.
pub(crate) fn on_terminal_with(
    project: &Project,
    columns: usize,
    variable: (&str, &str),
    args: &[&str],
) -> (String, i32) {
    // The command's words go through the environment, so that no shell reads them a second time.
    let command = project.command(args);
    let words = (1..=args.len()).map(|at| format!("\"$W{at}\"")).collect::<Vec<_>>().join(" ");
    let line = format!("stty rows 40 cols {columns}; \"$W0\" {words}");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(project.root()).env_clear().stdin(Stdio::null());
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env(variable.0, variable.1).env("W0", command.get_program());
    for (at, arg) in args.iter().enumerate() {
        script.env(format!("W{}", at + 1), arg);
    }
    let output = script.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    (shown, output.status.code().unwrap())
}
