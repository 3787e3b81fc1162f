//! All schemas in one file, for editors: `web/src/editor/schema.ts`.

use std::fmt::Write as _;

use super::{Era, META, POD_TEMPLATE, Type, field};
use crate::profile::Version;
use crate::validate::{kind, pod_templates};

const HEAD: &str = "\
// Generated from core/src/validate/schema by `UPDATE_SCHEMAS=1 cargo test -p apportion-core --lib schemas_of_the_page`.

/**
 * Object types, each with its fields: a number is one of these types, `[]` a list, `{}` an object whose keys are free, and what follows a
 * space says which Kubernetes has the field.
 */
";

/// What every object has.
static ANY_KIND: Type =
    Type::Object(&[field("apiVersion", Type::Text), field("kind", Type::Text), field("metadata", META)]);

/// Field names of an object type with what they hold, in the order of the schema.
type Fields = Vec<(&'static str, String)>;

/// Each object type once.
#[derive(Default)]
struct Listing(Vec<Fields>);

impl Listing {
    /// What a type is called here. At some paths there are Pod templates.
    fn name(&mut self, of: &'static Type, path: &str, templates: &'static [&'static str]) -> String {
        if templates.contains(&path) {
            return self.name(&POD_TEMPLATE, "-", &[]);
        }
        match of {
            Type::Text => "text".to_owned(),
            Type::Flag => "boolean".to_owned(),
            Type::Int32 | Type::Int64 => "integer".to_owned(),
            Type::Quantity => "quantity".to_owned(),
            Type::Time => "time".to_owned(),
            Type::Any => "any".to_owned(),
            Type::Opt(inner) => self.name(inner, path, templates),
            Type::List(inner) => self.name(inner, &format!("{path}[]"), templates) + "[]",
            Type::Map(inner) => self.name(inner, &format!("{path}{{}}"), templates) + "{}",
            Type::Object(fields) | Type::Open(fields) => self.object(fields, path, templates),
        }
    }

    fn object(&mut self, fields: &'static [super::Field], path: &str, templates: &'static [&'static str]) -> String {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let released = fields.iter().filter(|field| field.is_released());
        let mut own: Fields = released
            .map(|field| (field.name, self.name(&field.holds, &below(field.name), templates) + &era(field.era)))
            .collect();
        for template in templates {
            let name = template.rsplit('.').next().unwrap_or_default();
            if below(name) == *template && own.iter().all(|(known, _)| *known != name) {
                own.push((name, self.name(&POD_TEMPLATE, "-", &[])));
            }
        }
        let number = self.0.iter().position(|known| *known == own).unwrap_or_else(|| {
            self.0.push(own);
            self.0.len() - 1
        });
        number.to_string()
    }
}

fn era(era: Era) -> String {
    match era {
        Era::Since(version) => format!(" since {version}"),
        Era::Until(version) => format!(" until {version}"),
        Era::Only(version) => format!(" in {version} alone"),
        Era::Gone => format!(" before {}", Version::V1_34),
        Era::Always | Era::Proposed => String::new(),
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a generated file is compared and written")]
fn schemas_of_the_page() {
    let mut listing = Listing::default();
    let mut kinds = vec![(String::new(), listing.name(&ANY_KIND, "", &[]))];
    for (api_version, name, shape) in kind::shapes() {
        kinds.push((format!("{api_version} {name}"), listing.name(shape, "", &[])));
    }
    for (group, name, shape, templates) in pod_templates::shapes() {
        kinds.push((format!("{group} {name}"), listing.name(shape, "", templates)));
    }
    let mut text = format!("{HEAD}export const TYPES: readonly Readonly<Record<string, string>>[] = [\n");
    for fields in &listing.0 {
        let fields: Vec<String> = fields.iter().map(|(name, holds)| format!("{name}: {holds:?}")).collect();
        writeln!(text, "  {{ {} }},", fields.join(", ")).unwrap();
    }
    text += "];\n\n/** The type of each kind, by API version and kind, or by group and kind; without a name what every object has. */\n";
    text += "export const KINDS: Readonly<Record<string, number>> = {\n";
    for (name, number) in kinds {
        writeln!(text, "  {name:?}: {number},").unwrap();
    }
    text += "};\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../web/src/editor/schema.ts");
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "run with UPDATE_SCHEMAS=1");
}
