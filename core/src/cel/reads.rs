//! What of a device an expression can look at.

use std::collections::BTreeSet;

use super::plan::{Code, Key, Path, Root};
use super::value::Value;

/// One thing that an expression reads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Field {
    /// `device.driver`.
    Driver,
    /// `device.allowMultipleAllocations`.
    AllowMultipleAllocations,
    /// One attribute.
    Attribute {
        /// The domain as written, which stands for the driver's name in attributes without one.
        domain: String,
        /// The name within the domain.
        id: String,
    },
    /// All attributes of a domain: their names and values.
    AttributesOf(String),
    /// All attributes.
    Attributes,
    /// One capacity.
    Capacity {
        /// The domain as written, which stands for the driver's name in capacities without one.
        domain: String,
        /// The name within the domain.
        id: String,
    },
    /// All capacities of a domain.
    CapacityOf(String),
    /// All capacities.
    Capacities,
}

/// What an expression reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reads {
    /// These and nothing else. An attribute whose domain is the driver's name depends on the driver too.
    Fields(BTreeSet<Field>),
    /// Anything: it cannot be told.
    Everything,
}

pub(super) fn reads(code: &Code) -> Reads {
    let mut collector = Collector { fields: BTreeSet::new(), is_everything: false };
    collector.code(code);
    if collector.is_everything { Reads::Everything } else { Reads::Fields(collector.fields) }
}

struct Collector {
    fields: BTreeSet<Field>,
    is_everything: bool,
}

impl Collector {
    fn code(&mut self, code: &Code) {
        match code {
            Code::Const(_) | Code::Failure(_) | Code::Known { .. } => {}
            Code::Path(path) => self.path(path),
            Code::And(sides) | Code::Or(sides) | Code::Equal { sides, .. } | Code::OrElse { sides, .. } => {
                sides.iter().for_each(|side| self.code(side));
            }
            Code::InSet(parts) => self.code(&parts.0),
            Code::Call(call) => call.args.iter().for_each(|arg| self.code(arg)),
            Code::List(items) => items.iter().for_each(|item| self.code(&item.value)),
            Code::Map(items) => items.iter().for_each(|item| {
                self.code(&item.key);
                self.code(&item.value);
            }),
            Code::Fold(fold) => {
                for part in [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result] {
                    self.code(part);
                }
            }
            Code::Bind(bind) => {
                self.code(&bind.init);
                self.code(&bind.body);
            }
            Code::Append { items, .. } => self.code(items),
        }
    }

    fn path(&mut self, path: &Path) {
        for step in &path.steps {
            match &step.key {
                Key::Const(_) => {}
                Key::Path(path) => self.path(path),
                Key::Value(code) => self.code(code),
            }
        }
        match &path.root {
            Root::Slot(_) => {}
            Root::Value(code) => self.code(code),
            Root::Choice(parts) => parts.iter().for_each(|part| self.code(part)),
            Root::Device => self.device(path),
        }
    }

    fn device(&mut self, path: &Path) {
        let mut names = path.steps.iter().map(|step| match &step.key {
            Key::Const(Value::Str(name)) => Some(name.as_str().to_owned()),
            Key::Const(_) | Key::Path(_) | Key::Value(_) => None,
        });
        let (field, domain, id) = (names.next().flatten(), names.next().flatten(), names.next().flatten());
        self.fields.insert(match (field.as_deref(), domain, id) {
            (Some("driver"), _, _) => Field::Driver,
            (Some("allowMultipleAllocations"), _, _) => Field::AllowMultipleAllocations,
            (Some("attributes"), Some(domain), Some(id)) => Field::Attribute { domain, id },
            (Some("attributes"), Some(domain), None) => Field::AttributesOf(domain),
            (Some("attributes"), None, _) => Field::Attributes,
            (Some("capacity"), Some(domain), Some(id)) => Field::Capacity { domain, id },
            (Some("capacity"), Some(domain), None) => Field::CapacityOf(domain),
            (Some("capacity"), None, _) => Field::Capacities,
            _ => {
                self.is_everything = true;
                return;
            }
        });
    }
}
