//! What agents can ask: one table, from which the schemas for clients are made, and by which calls are read.

use serde_json::{Map, Value, json};

/// A tool: a command of the program.
pub(super) struct Tool {
    /// As the command is called.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) what: &'static str,
    parameters: &'static [&'static [Parameter]],
}

/// A parameter of a tool.
pub(super) struct Parameter {
    /// As the option of the command is called, with `_` for `-`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) what: &'static str,
}

/// What a parameter holds, and where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A text that stands on the line without a flag, and has to be given.
    Plain,
    /// `KIND/NAME`, which stands on the line without a flag.
    Subject,
    /// `--name=TEXT`.
    Text,
    /// The same, several times.
    Texts,
    /// `--name=NUMBER`.
    Number,
    /// `--name=WORD`.
    Choice(&'static [&'static str]),
    /// Manifests as text.
    Manifests,
    /// Manifests that are added before the question is answered.
    With,
    /// Which of the files of the server.
    Files,
    /// How much is said.
    Detail,
}

const fn parameter(name: &'static str, kind: Kind, what: &'static str) -> Parameter {
    Parameter { name, kind, what }
}

const INPUT: &[Parameter] = &[
    parameter(
        "manifests",
        Kind::Manifests,
        "Manifests as YAML or JSON text, several documents or a List. They come on top of the server's files and cluster, and \
         replace objects of the same name there.",
    ),
    parameter(
        "files",
        Kind::Files,
        "Which of the files that the server was started with are read, as it names them; also a folder of them. All where left \
         out, none with [].",
    ),
];

const DETAIL: &[Parameter] = &[parameter(
    "detail",
    Kind::Detail,
    "short: cause and remedy. full: everything, as the command line shows it with -v. json: the machine format apportion/v1.",
)];

const VERSION: &[Parameter] = &[
    parameter(
        "kubernetes_version",
        Kind::Text,
        "The Kubernetes that answers: 1.34 to 1.37, a patch such as 1.36.2, 1.38 (a preview), or all (the newest released with all feature gates on).",
    ),
    parameter(
        "feature_gates",
        Kind::Texts,
        "Feature gates that differ from the version's defaults, each as GATE=true or GATE=false.",
    ),
];

const SEARCH: &[Parameter] = &[
    parameter(
        "mode",
        Kind::Choice(&["sound", "reference"]),
        "reference: with the known defects of that version. sound: without, which is usual.",
    ),
    parameter(
        "placement",
        Kind::Choice(&["first", "scores"]),
        "Which node a Pod gets, of those that fit. scores: the one that kube-scheduler's default profile scores best, which is usual. first: the first by name.",
    ),
    parameter("max_steps", Kind::Number, "Devices that one search may try before it gives up; the server has a limit."),
];

const CHANGES: &[Parameter] = &[
    parameter("with", Kind::With, "Manifests as text that are added, or replace objects of the same name."),
    parameter(
        "without",
        Kind::Texts,
        "Objects that go, each as KIND/NAME or KIND/NAMESPACE/NAME; with a node go its slices and Pods.",
    ),
    parameter(
        "taint",
        Kind::Texts,
        "Device taints, each as DEVICES=KEY[=VALUE]:EFFECT, where devices are DRIVER, DRIVER/POOL or DRIVER/POOL/DEVICE.",
    ),
    parameter("cordon", Kind::Texts, "Nodes that take no new Pods."),
];

/// All tools, the one that is asked first at the front.
pub(super) static TOOLS: [Tool; 8] = [
    Tool {
        name: "explain",
        title: "Why is it Pending?",
        what: "Says why a Pod, ResourceClaim, PodGroup or workload is Pending, and which single changes would help; each was \
               carried out in a simulated control plane first. Without a subject: everything that is Pending. The first tool to ask.",
        parameters: &[
            &[
                parameter(
                    "subject",
                    Kind::Subject,
                    "What is explained, as kubectl names it: pod/ml/train, resourceclaim/ml/gpu.",
                ),
                parameter(
                    "node",
                    Kind::Texts,
                    "Only these nodes; with detail full every device of them is listed with all reasons against it.",
                ),
                parameter("device", Kind::Text, "Only this device: DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE."),
                parameter(
                    "apply",
                    Kind::Number,
                    "Gives the changed manifests of the suggestion with this number, or the setting.",
                ),
            ],
            INPUT,
            DETAIL,
            VERSION,
            SEARCH,
        ],
    },
    Tool {
        name: "run",
        title: "What does Kubernetes do with these manifests?",
        what: "Places all Pods as kube-scheduler would and says which get a node and devices, and why the rest is Pending.",
        parameters: &[INPUT, DETAIL, VERSION, SEARCH],
    },
    Tool {
        name: "validate",
        title: "Would the API server accept them?",
        what: "Checks the manifests as the API server of that version would, and their references to each other; each finding \
               has its line, field, code and hint. Needs manifests or files; a cluster is not asked.",
        parameters: &[INPUT, DETAIL, VERSION],
    },
    Tool {
        name: "fit",
        title: "How many more fit?",
        what: "Counts how many more of a claim fit, per node, pool or class, and what runs out first. Needs claim_template, \
               claim or class.",
        parameters: &[
            &[
                parameter("claim_template", Kind::Text, "A ResourceClaimTemplate, as NAMESPACE/NAME."),
                parameter("claim", Kind::Text, "A ResourceClaim, as NAMESPACE/NAME."),
                parameter("class", Kind::Text, "A DeviceClass, for a claim that is not written anywhere."),
                parameter("count", Kind::Number, "With class: how many devices the claim has."),
                parameter("selector", Kind::Texts, "With class: CEL expressions that hold for its devices."),
                parameter("per", Kind::Choice(&["node", "pool", "class"]), "What is counted."),
            ],
            CHANGES,
            INPUT,
            DETAIL,
            VERSION,
            SEARCH,
        ],
    },
    Tool {
        name: "what-if",
        title: "What would change?",
        what: "Says which Pods and claims would change if objects came or went, devices were tainted or nodes cordoned.",
        parameters: &[CHANGES, INPUT, DETAIL, VERSION, SEARCH],
    },
    Tool {
        name: "usage",
        title: "What is used, free, stranded?",
        what: "Counts devices, counters and shared capacity: total, used, free, and stranded (free, but no claim can get it).",
        parameters: &[
            &[parameter("per", Kind::Choice(&["class", "model", "node", "namespace"]), "Only devices by this.")],
            INPUT,
            DETAIL,
            VERSION,
            SEARCH,
        ],
    },
    Tool {
        name: "cel",
        title: "What does a selector say of the devices?",
        what: "Evaluates a CEL expression on devices: value, type, cost and the values of its parts.",
        parameters: &[
            &[
                parameter(
                    "expression",
                    Kind::Plain,
                    "The expression, such as device.attributes[\"gpu.example.com\"].model == \"a\".",
                ),
                parameter(
                    "device",
                    Kind::Text,
                    "DEVICE, POOL/DEVICE or DRIVER/POOL/DEVICE; every device where left out.",
                ),
            ],
            INPUT,
            DETAIL,
            VERSION,
            SEARCH,
        ],
    },
    Tool {
        name: "explain-code",
        title: "What does a code mean?",
        what: "Says what the code of a finding means and what to do about it.",
        parameters: &[&[parameter("code", Kind::Plain, "The code, such as alloc/unknown-class.")], DETAIL],
    },
];

/// How much is said.
pub(super) const DETAILS: [&str; 3] = ["short", "full", "json"];

impl Tool {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// All parameters, its own first.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// The schema of a call's arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let properties: Map<String, Value> =
            self.parameters().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
        let required: Vec<&str> = self
            .parameters()
            .filter(|parameter| parameter.kind == Kind::Plain)
            .map(|parameter| parameter.name)
            .collect();
        Map::from_iter([
            ("type".to_owned(), json!("object")),
            ("properties".to_owned(), Value::Object(properties)),
            ("required".to_owned(), json!(required)),
            ("additionalProperties".to_owned(), json!(false)),
        ])
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Plain | Kind::Subject | Kind::Text | Kind::Manifests | Kind::With => json!({ "type": "string" }),
            Kind::Texts | Kind::Files => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Number => json!({ "type": "integer", "minimum": 1 }),
            Kind::Choice(words) => json!({ "type": "string", "enum": words }),
            Kind::Detail => json!({ "type": "string", "enum": DETAILS, "default": "short" }),
        };
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".to_owned(), json!(self.what));
        }
        schema
    }
}
