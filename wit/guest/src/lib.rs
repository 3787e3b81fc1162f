//! The component: the core through the contract in `apportion.wit`. It translates and decides nothing.

#![expect(
    unsafe_code,
    reason = "the generated bindings pass memory across the component's border; bytes are compared in `memory`"
)]

mod answers;
mod control;
mod from_wire;
mod inspection;
mod life;
#[cfg(target_arch = "wasm32")]
mod memory;
mod to_wire;

use std::cell::RefCell;

use apportion_core::allocate;
use apportion_core::engine::{Engine, parse};
use apportion_core::finding::{Code, Finding as CoreFinding};
use apportion_core::validate::too_large;
use bindings::exports::apportion::dra::decisions::{
    Answer, Answers, Asked, Cluster, ClusterBorrow, Finding, Guest, GuestCluster, KnownQuestion, Limits, ObjectRef,
    Places, Profile, Question, Report,
};
use bindings::exports::apportion::dra::{batches, explanations, selectors, validation};

mod bindings {
    wit_bindgen::generate!({ path: "../apportion.wit", world: "dra" });
}

use apportion_heap as _;

struct Component;

impl Guest for Component {
    type Cluster = Session;
}

/// One cluster; the host calls its methods one at a time.
struct Session(RefCell<Engine>);

impl Session {
    /// Asks each of some questions that can be read.
    fn each<T>(
        &self,
        asked: Vec<Asked>,
        ask: impl Fn(&mut Engine, &allocate::Question) -> T,
    ) -> Vec<Result<T, Vec<Finding>>> {
        let mut engine = self.0.borrow_mut();
        let one = |asked| {
            let question = from_wire::asked(&engine, asked).map_err(to_wire::findings)?;
            Ok(ask(&mut engine, &question))
        };
        asked.into_iter().map(one).collect()
    }
}

impl GuestCluster for Session {
    fn create(profile: Profile, limits: Limits) -> Result<Cluster, Vec<Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let limits = allocate::Limits { max_steps: limits.max_steps };
        Ok(Cluster::new(Self(RefCell::new(Engine::new(profile, limits)))))
    }

    fn apply(&self, objects: Vec<String>) -> Vec<Vec<Finding>> {
        let findings = self.0.borrow_mut().apply(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn submit(&self, objects: Vec<String>) -> Vec<Vec<Finding>> {
        let findings = self.0.borrow_mut().submit(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn delete(&self, object: ObjectRef) -> bool {
        self.0.borrow_mut().delete(&from_wire::object_ref(object))
    }

    fn allocate(&self, question: Question) -> Result<Answer, Vec<Finding>> {
        let question = from_wire::question(question).map_err(to_wire::findings)?;
        Ok(to_wire::answer(self.0.borrow_mut().allocate(&question)))
    }

    fn allocate_all(&self, questions: Vec<Asked>) -> Vec<Result<Answer, Vec<Finding>>> {
        self.each(questions, |engine, question| to_wire::answer(engine.allocate(question)))
    }

    fn fits(&self, questions: Vec<Asked>) -> Vec<Result<Places, Vec<Finding>>> {
        self.each(questions, |engine, question| to_wire::places(engine.fits(question)))
    }

    fn prepare(&self, question: Question) -> Result<u32, Vec<Finding>> {
        let question = from_wire::question(question).map_err(to_wire::findings)?;
        let number = self.0.borrow_mut().prepare(question);
        let none = || CoreFinding::new(Code::ReadBadSettings, "", "all numbers were given");
        number.ok_or_else(|| to_wire::findings(vec![none()]))
    }

    fn forget(&self, prepared: u32) -> bool {
        self.0.borrow_mut().forget(prepared)
    }

    fn allocate_known(&self, question: KnownQuestion) -> Result<Answers, Vec<Finding>> {
        let question = from_wire::known_question(question).map_err(to_wire::findings)?;
        let answer = self.0.borrow_mut().allocate_known(&question).map_err(to_wire::findings)?;
        Ok(answers::answer(answer))
    }

    fn allocate_each(&self, question: KnownQuestion) -> Result<Answers, Vec<Finding>> {
        let question = from_wire::known_question(question).map_err(to_wire::findings)?;
        let answers = self.0.borrow_mut().allocate_each(&question).map_err(to_wire::findings)?;
        Ok(answers::answers(answers))
    }

    fn run(&self) -> Report {
        to_wire::report(self.0.borrow_mut().run())
    }

    fn get(&self, object: ObjectRef) -> Option<String> {
        self.0.borrow().get(&from_wire::object_ref(object)).map(|value| value.to_string())
    }

    fn fork(&self) -> Cluster {
        Cluster::new(Self(RefCell::new(self.0.borrow().fork())))
    }

    fn commit(&self, fork: ClusterBorrow<'_>) -> bool {
        // It may be this very one.
        let fork = fork.get::<Self>().0.borrow().clone();
        self.0.borrow_mut().commit(&fork)
    }

    fn revert(&self) -> bool {
        self.0.borrow_mut().revert()
    }
}

impl selectors::Guest for Component {
    fn evaluate(
        expression: String,
        device: String,
        environment: selectors::Environment,
        version: selectors::Version,
        features: selectors::Features,
    ) -> Result<selectors::Evaluation, Vec<Finding>> {
        let device = from_wire::device(&device).map_err(to_wire::findings)?;
        let environment = from_wire::environment(environment, version, features);
        Ok(to_wire::evaluation(apportion_core::evaluate::evaluate(&expression, &device, &environment)))
    }
}

impl validation::Guest for Component {
    fn validate(submissions: Vec<validation::Submission>, profile: Profile) -> Result<Vec<Vec<Finding>>, Vec<Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let answer = |submission: validation::Submission| {
            if let Some(finding) = too_large(&submission.object) {
                return vec![finding];
            }
            match from_wire::submission(submission) {
                Ok(submission) => apportion_core::validate::validate(submission, &profile),
                Err(finding) => vec![finding],
            }
        };
        Ok(submissions.into_iter().map(answer).map(to_wire::findings).collect())
    }

    fn validate_set(objects: Vec<String>, profile: Profile) -> Result<Vec<Vec<Finding>>, Vec<Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let findings = apportion_core::validate::validate_set(&objects, &profile);
        Ok(findings.into_iter().map(to_wire::findings).collect())
    }

    fn convert(object: String, version: String) -> Result<String, Vec<Finding>> {
        let object = parse(&object).map_err(|finding| to_wire::findings(vec![finding]))?;
        match apportion_core::validate::convert(object, &version) {
            Ok(converted) => Ok(converted.to_string()),
            Err(findings) => Err(to_wire::findings(findings)),
        }
    }
}

impl explanations::Guest for Component {
    fn inquire(cluster: ClusterBorrow<'_>, inquiry: String) -> Result<String, Vec<Finding>> {
        let inquiry = parse(&inquiry).map_err(|finding| to_wire::findings(vec![finding]))?;
        let answer = cluster.get::<Session>().0.borrow().inquire(inquiry);
        answer.map(|answer| answer.to_string()).map_err(to_wire::findings)
    }
}

impl batches::Guest for Component {
    fn answer(line: String, index: u64, defaults: String) -> String {
        apportion_core::wire::batch::answer(&line, index, &defaults).to_string()
    }
}

bindings::export!(Component with_types_in bindings);
