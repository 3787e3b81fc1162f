//! A cluster inside the component.

use apportion_core::allocate::{Answer, Fits, KnownQuestion, Limits, Question};
use apportion_core::ask::Report;
use apportion_core::finding::{Finding, ObjectRef, Severity};
use apportion_core::profile::Profile;
use serde_json::Value;
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Dra;
use crate::bindings::exports::apportion::dra::decisions::{
    Asked, Finding as WitFinding, GuestCluster, Limits as WitLimits, Profile as WitProfile,
};
use crate::cache::Cache;
use crate::door::Door;
use crate::error::Error;
use crate::from_wit;
use crate::guard::{self, Guard, HostLimits};
use crate::runner::Runner;
use crate::session::Session;
use crate::to_wit;

/// Text that crosses the border in one call, in bytes: what is copied at once, and what one trap can cost.
const BATCH: usize = 1 << 20;

/// The facts of one cluster, kept in an instance of the component.
///
/// A call that makes the component stop fails, and the instance is dropped. The next call finds a fresh one with all
/// objects that were applied; what [`Door::run`] made of them is not in it.
#[derive(Debug)]
pub struct Cluster {
    session: Session,
    profile: WitProfile,
    limits: WitLimits,
    cache: Cache,
    /// Whether objects were submitted, so that a fresh instance has to admit them again.
    submits: bool,
}

impl Cluster {
    pub(crate) fn new(
        runner: Runner,
        profile: &Profile,
        limits: Limits,
        host_limits: HostLimits,
    ) -> Result<Self, Error> {
        let mut cluster = Self {
            session: Session::new(runner, host_limits),
            profile: to_wit::profile(profile),
            limits: WitLimits { max_steps: limits.max_steps },
            cache: Cache::default(),
            submits: false,
        };
        cluster.call(|_, _, _| Ok(()))?;
        Ok(cluster)
    }

    /// How often the component stopped in the middle of a call.
    pub fn stops(&self) -> u64 {
        self.session.stops
    }

    /// Asks the live instance, or else a fresh one, about its cluster.
    fn call<T>(
        &mut self,
        ask: impl FnOnce(GuestCluster<'_>, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.call_instance(|instance, store, handle| ask(instance.apportion_dra_decisions().cluster(), store, handle))
    }

    /// Asks the live instance, or else a fresh one.
    fn call_instance<T>(
        &mut self,
        ask: impl FnOnce(&Dra, &mut Store<Guard>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        let Self { session, profile, limits, cache, submits } = self;
        let make = |instance: &Dra, store: &mut Store<Guard>| {
            let cluster = instance.apportion_dra_decisions().cluster();
            let handle = match cluster.call_create(&mut *store, profile, *limits)? {
                Ok(handle) => handle,
                refused => return Ok(refused),
            };
            for batch in batches(&cache.objects()) {
                guard::start(store);
                match submits {
                    true => cluster.call_submit(&mut *store, handle, batch)?,
                    false => cluster.call_apply(&mut *store, handle, batch)?,
                };
            }
            Ok(Ok(handle))
        };
        session.call(make, ask)
    }

    /// Has the component take objects in, and keeps those without errors.
    fn take(
        &mut self,
        objects: &[String],
        take: impl Fn(GuestCluster<'_>, &mut Store<Guard>, ResourceAny, &[String]) -> wasmtime::Result<Vec<Vec<WitFinding>>>,
    ) -> Result<Vec<Vec<Finding>>, Error> {
        let mut findings = Vec::with_capacity(objects.len());
        for batch in batches(objects) {
            let found = self.call(|cluster, store, handle| take(cluster, store, handle, batch))?;
            for (text, found) in batch.iter().zip(found) {
                let found = from_wit::findings(found);
                if found.iter().all(|finding| finding.severity != Severity::Error) {
                    self.cache.insert(text.as_str());
                }
                findings.push(found);
            }
        }
        Ok(findings)
    }
}

impl Door for Cluster {
    fn apply(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        self.take(objects, |cluster, store, handle, batch| cluster.call_apply(store, handle, batch))
    }

    fn submit(&mut self, objects: &[String]) -> Result<Vec<Vec<Finding>>, Error> {
        self.submits = true;
        self.take(objects, |cluster, store, handle, batch| cluster.call_submit(store, handle, batch))
    }

    fn delete(&mut self, object: &ObjectRef) -> Result<bool, Error> {
        // Out of the cache first: whatever happens to the call, the object is not to come back.
        self.cache.remove(object);
        let object = to_wit::object_ref(object);
        self.call(|cluster, store, handle| cluster.call_delete(store, handle, &object))
    }

    fn allocate(&mut self, question: &Question) -> Result<Answer, Error> {
        let question = to_wit::question(question);
        self.call(|cluster, store, handle| cluster.call_allocate(store, handle, &question))?
            .map_err(from_wit::findings)
            .and_then(from_wit::answer)
            .map_err(Error::Refused)
    }

    fn fits(&mut self, questions: &[Question]) -> Result<Vec<Fits>, Error> {
        let asked: Vec<Asked> = questions.iter().map(to_wit::question).map(Asked::Question).collect();
        let answers = self.call(|cluster, store, handle| cluster.call_fits(store, handle, &asked))?;
        let refused = |findings| Error::Refused(from_wit::findings(findings));
        answers.into_iter().map(|answer| answer.map(from_wit::places).map_err(refused)).collect()
    }

    fn allocate_known(&mut self, question: &KnownQuestion) -> Result<Answer, Error> {
        let asked = to_wit::known_question(question);
        let answer = self
            .call(|cluster, store, handle| cluster.call_allocate_known(store, handle, &asked))?
            .map_err(from_wit::findings)
            .and_then(from_wit::known_answer)
            .map_err(Error::Refused)?;
        if question.take {
            self.cache.take(question.keys().zip(answer.allocations()));
        }
        Ok(answer)
    }

    fn allocate_each(&mut self, question: &KnownQuestion) -> Result<Vec<Answer>, Error> {
        let asked = to_wit::known_question(question);
        let answers = self
            .call(|cluster, store, handle| cluster.call_allocate_each(store, handle, &asked))?
            .map_err(from_wit::findings)
            .and_then(from_wit::answers)
            .map_err(Error::Refused)?;
        if question.take {
            self.cache.take(question.keys().zip(answers.iter().flat_map(Answer::allocations)));
        }
        Ok(answers)
    }

    fn run(&mut self) -> Result<Report, Error> {
        self.call(|cluster, store, handle| cluster.call_run(store, handle)).map(from_wit::report)
    }

    fn inquire(&mut self, inquiry: &Value) -> Result<Value, Error> {
        let inquiry = inquiry.to_string();
        let answer = self.call_instance(|instance, store, handle| {
            instance.apportion_dra_explanations().call_inquire(store, handle, &inquiry)
        })?;
        let text = answer.map_err(|findings| Error::Refused(from_wit::findings(findings)))?;
        from_wit::json(&text).map_err(|finding| Error::Refused(vec![finding]))
    }

    fn get(&mut self, object: &ObjectRef) -> Result<Option<Value>, Error> {
        let object = to_wit::object_ref(object);
        let text = self.call(|cluster, store, handle| cluster.call_get(store, handle, &object))?;
        text.map(|text| from_wit::json(&text)).transpose().map_err(|finding| Error::Refused(vec![finding]))
    }
}

/// Cuts a list of texts into pieces of at most [`BATCH`] bytes, or one text.
pub(crate) fn batches<T: AsRef<str>>(mut objects: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let mut bytes = 0_usize;
        let fits = objects.iter().take_while(|text| {
            bytes = bytes.saturating_add(text.as_ref().len());
            bytes <= BATCH
        });
        let count = fits.count().max(1).min(objects.len());
        let (batch, rest) = objects.split_at_checked(count)?;
        objects = rest;
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_cover_everything_in_order() {
        let objects: Vec<String> = [1, BATCH, BATCH + 5, 3, 4].iter().map(|length| "x".repeat(*length)).collect();
        let lengths: Vec<Vec<usize>> = batches(&objects).map(|batch| batch.iter().map(String::len).collect()).collect();
        assert_eq!(lengths, [vec![1], vec![BATCH], vec![BATCH + 5], vec![3, 4]]);
        assert_eq!(batches::<String>(&[]).count(), 0);
    }
}
