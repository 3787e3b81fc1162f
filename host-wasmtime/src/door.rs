//! What can be asked, whoever answers: the component, or the same code without a border around it.

use apportion_core::allocate::{Answer, Fits, KnownQuestion, Limits, Question};
use apportion_core::ask::Report;
use apportion_core::engine::Engine;
use apportion_core::finding::{Finding, ObjectRef};
use apportion_core::profile::Profile;
use serde_json::Value;

use crate::error::Error;

/// The facts of one cluster: events go in, questions are answered.
///
/// Every call fails with [`Error::Stopped`] when the component stops in the middle of it.
pub trait Door {
    /// Takes objects in, each one JSON text; those with the same key are replaced.
    ///
    /// Findings come per object, in order. An object with an error among its findings is left out.
    ///
    /// # Errors
    ///
    /// See [`Door`]. What was taken in before the stop is kept, the rest is not.
    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error>;

    /// Has the API server of the stated Kubernetes admit objects: as [`Door::apply`], but what it refuses is left out, fields that it
    /// drops are gone, and defaults are set.
    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error>;

    /// Removes an object. False when there is none.
    fn delete(&mut self, object: &ObjectRef) -> Result<bool, Error>;

    /// Allocates claims together on one of the nodes asked for.
    fn allocate(&mut self, question: &Question) -> Result<Answer, Error>;

    /// On which of the nodes asked for the claims of each question fit, without devices and reasons: one call for all of them.
    ///
    /// # Errors
    ///
    /// See [`Door`]; [`Error::Refused`] when a question cannot be read.
    fn fits(&mut self, questions: &[Question]) -> Result<Vec<Fits>, Error>;

    /// Allocates claims that are in the cluster, and has them take the answer if that is asked for; neither they nor a taken answer
    /// cross as JSON. Where the answer is taken, it tells only the devices; [`Door::get`] has the rest.
    ///
    /// # Errors
    ///
    /// See [`Door`]; [`Error::Refused`] when a key is that of no claim.
    fn allocate_known(&mut self, question: &KnownQuestion) -> Result<Answer, Error>;

    /// The same for each claim by itself, one after another, until one finds no place: the answers that the questions about one claim
    /// each would get, at the price of one call.
    fn allocate_each(&mut self, question: &KnownQuestion) -> Result<Vec<Answer>, Error>;

    /// Plays the cluster's controllers and scheduler until nothing changes.
    fn run(&mut self) -> Result<Report, Error>;

    /// Answers a question that changes nothing; see [`apportion_core::ask`] for its shape.
    ///
    /// # Errors
    ///
    /// See [`Door`]; [`Error::Refused`] when the inquiry cannot be read or names what is not there.
    fn inquire(&mut self, inquiry: &Value) -> Result<Value, Error>;

    /// An object as it is now.
    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Error>;
}

/// The core linked into this program, for comparison with the component. Never stops.
#[derive(Debug)]
pub struct Native(Engine);

impl Native {
    /// An empty cluster of a given Kubernetes.
    pub fn new(profile: Profile, limits: Limits) -> Self {
        Self(Engine::new(profile, limits))
    }
}

impl Door for Native {
    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        Ok(self.0.apply(objects.iter().map(String::as_str)))
    }

    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        Ok(self.0.submit(objects.iter().map(String::as_str)))
    }

    fn delete(&mut self, object: &ObjectRef) -> Result<bool, Error> {
        Ok(self.0.delete(object))
    }

    fn allocate(&mut self, question: &Question) -> Result<Answer, Error> {
        Ok(self.0.allocate(question))
    }

    fn fits(&mut self, questions: &[Question]) -> Result<Vec<Fits>, Error> {
        Ok(questions.iter().map(|question| self.0.fits(question)).collect())
    }

    fn allocate_known(&mut self, question: &KnownQuestion) -> Result<Answer, Error> {
        self.0.allocate_known(question).map_err(Error::Refused)
    }

    fn allocate_each(&mut self, question: &KnownQuestion) -> Result<Vec<Answer>, Error> {
        self.0.allocate_each(question).map_err(Error::Refused)
    }

    fn run(&mut self) -> Result<Report, Error> {
        Ok(self.0.run())
    }

    fn inquire(&mut self, inquiry: &Value) -> Result<Value, Error> {
        self.0.inquire(inquiry.clone()).map_err(Error::Refused)
    }

    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Error> {
        Ok(self.0.get(object))
    }
}
