//! The doors: the same question as JSON, answered by the native core, the component, the npm package or the Go package.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
#[cfg(feature = "hosts")]
use apportion::{HostLimits, Play, Runner, Validate as _};
use apportion_core::allocate::Limits;
use apportion_core::decision::Time;
use apportion_core::engine::Engine;
use apportion_core::evaluate::evaluate;
use apportion_core::finding::Finding;
use apportion_core::profile::Profile;
use apportion_core::wire;
use apportion_core::{control_plane::Simulation, wire::simulation as life_wire};
use serde_json::{Value, json};

/// What every door is asked.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    /// Settings of the engine, as `wire::settings` reads them.
    pub settings: Value,
    /// Objects of the cluster.
    pub objects: Vec<Value>,
    /// The question: `{"allocate": ..}` as `wire::question` reads it, `{"evaluate": ..}` as `wire::selector`
    /// does, or `{"validate": ..}` as `wire::submission` does.
    pub question: Question,
}

/// One question.
#[derive(Clone, PartialEq, Debug)]
pub enum Question {
    /// Allocate claims; as `wire::question` reads it.
    Allocate(Value),
    /// Evaluate a selector; as `wire::selector` reads it.
    Evaluate(Value),
    /// Validate a manifest; as `wire::submission` reads it.
    Validate(Value),
}

/// One way to ask the engine.
pub trait Door {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// The canonical JSON text of the answer.
    ///
    /// # Errors
    ///
    /// When the door itself breaks; a question that cannot be read is an answer, `{"status": "unreadable"}`.
    fn ask(&mut self, asked: &Asked) -> Result<String>;

    /// Makes a simulation, which takes the place of the one before (`{"settings": .., "nowMillis": 0}`), or asks it
    /// (`{"call": .., "argument": ..}`, as `simulate::life::wire::call` describes); the canonical JSON text of the answer.
    ///
    /// # Errors
    ///
    /// When the door itself breaks.
    fn life(&mut self, asked: &Value) -> Result<String>;
}

/// What a simulation is asked, in JSON.
enum Life {
    /// A new one.
    Create(Profile, Limits, Time),
    /// A call.
    Call(String, Value),
}

impl Life {
    fn read(asked: &Value) -> Result<Self> {
        if let Some(name) = asked.get("call").and_then(Value::as_str) {
            return Ok(Self::Call(name.to_owned(), asked.get("argument").cloned().unwrap_or_default()));
        }
        let settings = asked.get("settings").cloned().unwrap_or_else(|| json!({}));
        let now = asked.get("nowMillis").and_then(Value::as_i64).unwrap_or_default();
        match wire::settings(settings) {
            Ok((profile, limits)) => Ok(Self::Create(profile, limits, Time::from_millis(now))),
            Err(findings) => bail!("settings: {}", json!(findings)),
        }
    }
}

/// Opens a door by name.
///
/// # Errors
///
/// When the name is unknown or the door cannot be opened.
pub fn open(name: &str, root: &Path) -> Result<Box<dyn Door>> {
    Ok(match name {
        "native" => Box::new(Native { simulation: None }),
        #[cfg(feature = "hosts")]
        "component" => Box::new(Component { runner: Runner::new()?, play: None }),
        "npm" => Box::new(Process::npm(root)?),
        "go" => Box::new(Process::go(root)?),
        other => bail!("no engine `{other}`: choose native, component, npm or go"),
    })
}

/// The core, linked into this program.
struct Native {
    simulation: Option<Simulation>,
}

impl Door for Native {
    fn name(&self) -> &'static str {
        "native"
    }

    fn ask(&mut self, asked: &Asked) -> Result<String> {
        match &asked.question {
            Question::Evaluate(question) => Ok(text(
                wire::selector(question.clone())
                    .map(|question| evaluate(&question.expression, &question.device, &question.environment).to_json()),
            )),
            Question::Validate(question) => Ok(text(
                wire::validation(json!({ "settings": asked.settings, "submission": question }))
                    .map(wire::ValidationQuestion::answer),
            )),
            Question::Allocate(question) => {
                let (profile, limits) = match wire::settings(asked.settings.clone()) {
                    Ok(settings) => settings,
                    Err(findings) => return Ok(text(Err(findings))),
                };
                let mut engine = Engine::new(profile, limits);
                let texts: Vec<String> = asked.objects.iter().map(Value::to_string).collect();
                engine.apply(texts.iter().map(String::as_str));
                Ok(text(wire::question(question.clone()).map(|question| engine.allocate(&question).to_json())))
            }
        }
    }

    fn life(&mut self, asked: &Value) -> Result<String> {
        match Life::read(asked)? {
            Life::Create(profile, limits, now) => {
                self.simulation = Some(Simulation::new(profile, limits, now));
                Ok("{}".to_owned())
            }
            Life::Call(name, argument) => {
                let simulation = self.simulation.as_mut().context("there is no simulation")?;
                let Ok(answer) = life_wire::call(simulation, &name, argument);
                Ok(answer.to_string())
            }
        }
    }
}

/// The component in wasmtime.
#[cfg(feature = "hosts")]
struct Component {
    runner: Runner,
    play: Option<Play>,
}

#[cfg(feature = "hosts")]
impl Door for Component {
    fn name(&self) -> &'static str {
        "component"
    }

    fn ask(&mut self, asked: &Asked) -> Result<String> {
        match &asked.question {
            Question::Evaluate(question) => Ok(text(match wire::selector(question.clone()) {
                Err(findings) => Err(findings),
                Ok(question) => {
                    let answer = self.runner.evaluate(&question.expression, &question.device, &question.environment);
                    Ok(answer?.to_json())
                }
            })),
            Question::Allocate(question) => {
                let (profile, limits) = match wire::settings(asked.settings.clone()) {
                    Ok(settings) => settings,
                    Err(findings) => return Ok(text(Err(findings))),
                };
                let mut cluster = self.runner.cluster(&profile, limits, HostLimits::default())?;
                let texts: Vec<String> = asked.objects.iter().map(Value::to_string).collect();
                apportion::Door::apply(&mut cluster, &texts)?;
                Ok(text(match wire::question(question.clone()) {
                    Ok(question) => Ok(apportion::Door::allocate(&mut cluster, &question)?.to_json()),
                    Err(findings) => Err(findings),
                }))
            }
            Question::Validate(question) => self.validate(asked, question),
        }
    }

    fn life(&mut self, asked: &Value) -> Result<String> {
        match Life::read(asked)? {
            Life::Create(profile, limits, now) => {
                self.play = Some(self.runner.play(&profile, limits, HostLimits::default(), Some(now), &[])?);
                Ok("{}".to_owned())
            }
            Life::Call(name, argument) => {
                let play = self.play.as_mut().context("there is no simulation")?;
                Ok(life_wire::call(play, &name, argument)?.to_string())
            }
        }
    }
}

#[cfg(feature = "hosts")]
impl Component {
    fn validate(&mut self, asked: &Asked, question: &Value) -> Result<String> {
        let asked = wire::settings(asked.settings.clone())
            .and_then(|(profile, _)| Ok((profile, wire::submission(question.clone())?)));
        let (profile, submission) = match asked {
            Ok(asked) => asked,
            Err(findings) => return Ok(text(Err(findings))),
        };
        let mut validator = self.runner.validator(&profile, HostLimits::default());
        let findings = validator.validate(vec![submission.into()])?.pop().unwrap_or_default();
        Ok(json!({ "findings": findings }).to_string())
    }
}

fn text(answer: Result<Value, Vec<Finding>>) -> String {
    answer.unwrap_or_else(|findings| json!({ "status": "unreadable", "findings": findings })).to_string()
}

/// A package in a program of its own language: one line of JSON in, one line out.
struct Process {
    name: &'static str,
    /// What to do when it ends.
    way_out: &'static str,
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// The npm package in Node.js.
    fn npm(root: &Path) -> Result<Self> {
        let mut node = Command::new("node");
        node.arg(root.join("npm/test/door.mjs"));
        let way_out = "is the package built? run `cargo xtask npm`";
        Self::start("npm", way_out, node).context("Node.js does not start: install Node.js 20 or newer")
    }

    /// The Go package, with the module that it embeds.
    fn go(root: &Path) -> Result<Self> {
        let program = root.join("target/go-door");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg("./internal/door");
        let built = go.current_dir(root.join("host-go")).env("CGO_ENABLED", "0").status();
        ensure!(
            built.context("Go does not start")?.success(),
            "the Go package does not build: see above, or run `cargo xtask module`"
        );
        Self::start("go", "see above", Command::new(program)).context("the Go program does not start")
    }

    fn start(name: &'static str, way_out: &'static str, mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("it has no output")?);
        Ok(Self { name, way_out, child, questions, answers })
    }
}

impl Door for Process {
    fn name(&self) -> &'static str {
        self.name
    }

    fn ask(&mut self, asked: &Asked) -> Result<String> {
        let line = match &asked.question {
            Question::Evaluate(question) => json!({ "evaluate": question }),
            Question::Validate(question) => {
                json!({ "validate": { "settings": asked.settings, "submission": question } })
            }
            Question::Allocate(question) => {
                json!({ "settings": asked.settings, "objects": asked.objects, "question": question })
            }
        };
        self.exchange(&line)
    }

    fn life(&mut self, asked: &Value) -> Result<String> {
        self.exchange(&json!({ "life": asked }))
    }
}

impl Process {
    fn exchange(&mut self, line: &Value) -> Result<String> {
        let questions = self.questions.as_mut().context("it was closed")?;
        writeln!(questions, "{line}")?;
        questions.flush()?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            bail!("the engine {} ended: {}", self.name, self.way_out);
        }
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.questions = None;
        // The process ends by itself when its input does.
        drop(self.child.wait());
    }
}
