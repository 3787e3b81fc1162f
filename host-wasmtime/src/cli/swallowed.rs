//! Options with several values, which would take the manifests behind them for values.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Arguments with what such an option would swallow put before all options. The first value is the option's own.
pub(crate) fn freed(definition: &Command, given: Vec<OsString>, is_path: impl Fn(&str) -> bool) -> Vec<OsString> {
    let mut command = definition;
    let mut given = given.into_iter().peekable();
    let mut arguments: Vec<OsString> = given.next().into_iter().collect();
    while let Some(below) = given.peek().and_then(|name| command.find_subcommand(name)) {
        command = below;
        arguments.extend(given.next());
    }
    if command.get_positionals().next().is_none() {
        return arguments.into_iter().chain(given).collect();
    }
    let (mut freed, mut rest): (Vec<OsString>, Vec<OsString>) = Default::default();
    // The option with several values that is open, and whether it has one.
    let mut open: Option<(&Arg, bool)> = None;
    let mut is_over = false;
    for argument in given {
        let text = argument.to_str().unwrap_or_default();
        is_over |= text == "--";
        if is_over || (text.starts_with('-') && text != "-") {
            let several = command.get_opts().find(|option| !is_over && takes_several(option) && is_named(option, text));
            open = several.map(|option| (option, false));
        } else if let Some((option, has_value)) = &mut open {
            if *has_value && is_freed(option, text, &is_path) {
                freed.push(argument);
                continue;
            }
            *has_value = true;
        }
        rest.push(argument);
    }
    arguments.into_iter().chain(freed).chain(rest).collect()
}

fn takes_several(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|values| values.max_values() > 1)
}

fn is_named(option: &Arg, text: &str) -> bool {
    match text.strip_prefix("--") {
        Some(long) => option.get_long_and_visible_aliases().is_some_and(|names| names.contains(&long)),
        None => option.get_short().is_some_and(|short| text.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]))),
    }
}

/// Whether a further value cannot be one: the names of nodes have no slash.
fn is_freed(option: &Arg, text: &str, is_path: &impl Fn(&str) -> bool) -> bool {
    let is_of = |name: &str| option.get_value_names().is_some_and(|names| names.iter().any(|value| value == name));
    !is_of("PATH") && (is_path(text) || is_of("NODE") && text.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::definition;

    fn free(line: &str) -> String {
        let given = line.split(' ').map(OsString::from).collect();
        let is_path = |text: &str| text == "-" || text.ends_with(".yaml") || text == "manifests";
        let arguments = freed(&definition(), given, is_path);
        arguments.iter().map(|one| one.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn manifests_behind_an_option_with_several_values_are_the_input() {
        let cases = [
            ("a fit --node-like n1 n2 x.yaml n3 --copies 2", "a fit x.yaml --node-like n1 n2 n3 --copies 2"),
            ("a what-if --cordon n1 manifests -o json", "a what-if manifests --cordon n1 -o json"),
            ("a what-if --taint d=k:NoExecute -", "a what-if - --taint d=k:NoExecute"),
            ("a what-if --without pod/x x.yaml", "a what-if x.yaml --without pod/x"),
            ("a explain x.yaml --node n1 pod/x", "a explain pod/x x.yaml --node n1"),
            ("a allocate -c one two x.yaml", "a allocate x.yaml -c one two"),
        ];
        for (given, meant) in cases {
            assert_eq!(free(given), meant);
        }
    }

    #[test]
    fn values_stay_with_their_option() {
        for line in [
            "a fit x.yaml --node-like n1 n2",
            "a fit --node-like manifests -f x.yaml y.yaml",
            "a fit --cordon=n1 x.yaml",
            "a fit --class gpu x.yaml",
            "a what-if --without pod/x node/n1 -- x.yaml",
            "a validate -f x.yaml y.yaml",
            "a controller --parts claims",
            "a",
        ] {
            assert_eq!(free(line), line);
        }
    }
}
