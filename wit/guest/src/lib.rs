//! The component: the core through the contract in `apportion.wit`. It translates and decides nothing.

#![expect(unsafe_code, reason = "the generated bindings pass memory across the component's border")]

mod from_wire;
mod to_wire;

use std::cell::RefCell;

use apportion_core::engine::Engine;
use bindings::exports::apportion::dra::decisions::{
    Answer, Cluster, Finding, Guest, GuestCluster, Limits, ObjectRef, Profile, Question, Report,
};
use bindings::exports::apportion::dra::selectors;

mod bindings {
    wit_bindgen::generate!({ path: "../apportion.wit", world: "dra" });
}

struct Component;

impl Guest for Component {
    type Cluster = Session;
}

/// One cluster; the host calls its methods one at a time.
struct Session(RefCell<Engine>);

impl GuestCluster for Session {
    fn create(profile: Profile, limits: Limits) -> Result<Cluster, Vec<Finding>> {
        let profile = from_wire::profile(&profile).map_err(to_wire::findings)?;
        let limits = apportion_core::allocate::Limits { max_steps: limits.max_steps };
        Ok(Cluster::new(Self(RefCell::new(Engine::new(profile, limits)))))
    }

    fn apply(&self, objects: Vec<String>) -> Vec<Vec<Finding>> {
        let findings = self.0.borrow_mut().apply(objects.iter().map(String::as_str));
        findings.into_iter().map(to_wire::findings).collect()
    }

    fn delete(&self, object: ObjectRef) -> bool {
        self.0.borrow_mut().delete(&from_wire::object_ref(object))
    }

    fn allocate(&self, question: Question) -> Result<Answer, Vec<Finding>> {
        let question = from_wire::question(question).map_err(to_wire::findings)?;
        Ok(to_wire::answer(self.0.borrow_mut().allocate(&question)))
    }

    fn run(&self) -> Report {
        to_wire::report(self.0.borrow_mut().run())
    }

    fn get(&self, object: ObjectRef) -> Option<String> {
        self.0.borrow().get(&from_wire::object_ref(object)).map(|value| value.to_string())
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

bindings::export!(Component with_types_in bindings);
