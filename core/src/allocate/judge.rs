//! Selectors evaluated once for all devices that look the same to them.
//!
//! What an expression reads of a device is known from its program. Devices that agree on all of it get the same answer, error
//! included, so one evaluation serves them all, on every node of the question. An error is kept as an answer: it counts only
//! when the search reaches a pair that has it, so sharing neither skips nor invents one. A device with an attribute that fails
//! every expression is always evaluated by itself.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::plan::Plan;
use super::pools::NodeDevice;
use crate::api::claim::DeviceSelector;
use crate::api::slice::AttributeValue;
use crate::cluster::SliceEntry;
use crate::cluster::selectors::{Compiled, SelectorProblem, Selectors};
use crate::profile::Profile;

/// The most steps that the selectors of one question take, also where nobody counts them.
const MOST_STEPS: u64 = 10_000_000;

/// The selectors of one question, with the answers found so far.
pub(super) struct Judge<'c> {
    profile: &'c Profile,
    selectors: Selectors,
    /// Those steps of evaluations that a search has counted.
    counted: u64,
    expressions: SmallVec<[Expression<Answer>; 2]>,
    /// Positions of expressions by their text, in its order.
    by_text: SmallVec<[(&'c str, usize); 4]>,
    /// Expressions that compute attributes, by their text.
    derived: BTreeMap<&'c str, Expression<Value>>,
    /// By class number: the class's expressions.
    of_class: SmallVec<[List; 4]>,
    /// By selection: the request's own expressions.
    of_selection: SmallVec<[List; 4]>,
    /// Expressions of all lists, by their positions.
    lists: SmallVec<[usize; 4]>,
}

/// Where a list begins and how long it is.
type List = (usize, usize);

struct Expression<A> {
    compiled: Compiled,
    answers: Answers<A>,
}

type Answer = Result<bool, SelectorProblem>;
type Value = Result<AttributeValue, SelectorProblem>;

/// Answers by group. Numbers of groups are mostly small.
struct Answers<A> {
    low: SmallVec<[Option<A>; 4]>,
    high: BTreeMap<u32, A>,
}

impl<'c> Judge<'c> {
    /// The selectors of a plan, compiled; whether that worked shows when one is asked.
    pub(super) fn new(plan: &Plan<'c>, profile: &'c Profile, mut selectors: Selectors) -> Self {
        selectors.tidy();
        selectors.steps = 0;
        let mut judge = Self {
            profile,
            selectors,
            counted: 0,
            expressions: SmallVec::new(),
            by_text: SmallVec::new(),
            derived: BTreeMap::new(),
            of_class: SmallVec::with_capacity(plan.classes),
            of_selection: SmallVec::with_capacity(plan.selections),
            lists: SmallVec::new(),
        };
        for unit in &plan.units {
            // Classes and selections are numbered in the order of their first units.
            if unit.class_number == judge.of_class.len() {
                let list = judge.list(unit.class.map_or(&[], |class| &class.spec.selectors));
                judge.of_class.push(list);
            }
            if unit.selection == judge.of_selection.len() {
                let list = judge.list(unit.selectors);
                judge.of_selection.push(list);
            }
        }
        judge
    }

    /// The compiled selectors, for expressions that are not the question's.
    pub(super) fn selectors(&mut self) -> &mut Selectors {
        &mut self.selectors
    }

    /// Steps of evaluations that nobody has counted yet, beyond those that asked.
    pub(super) fn uncounted(&mut self) -> u64 {
        let uncounted = self.selectors.steps.saturating_sub(self.counted);
        self.counted = self.selectors.steps;
        uncounted
    }

    /// The compiled selectors, to be kept.
    pub(super) fn into_selectors(self) -> Selectors {
        self.selectors
    }

    fn list(&mut self, selectors: &'c [DeviceSelector]) -> List {
        let start = self.lists.len();
        for selector in selectors {
            let expression = self.expression(selector.cel.as_ref().map_or("", |cel| &cel.expression));
            self.lists.push(expression);
        }
        (start, selectors.len())
    }

    fn expression(&mut self, text: &'c str) -> usize {
        let place = match self.by_text.binary_search_by_key(&text, |(known, _)| *known) {
            Ok(place) => return self.by_text.get(place).map_or(0, |(_, known)| *known),
            Err(place) => place,
        };
        let position = self.expressions.len();
        let compiled = self.selectors.program(self.profile, text);
        self.expressions.push(Expression::new(compiled));
        self.by_text.insert(place, (text, position));
        position
    }

    /// How many selectors of a class were asked about a device until one refused it; `None` when all accept it.
    ///
    /// # Errors
    ///
    /// The first selector that could not be evaluated, by its position, if none before it refuses.
    pub(super) fn class_refuses(
        &mut self,
        class: usize,
        device: &NodeDevice<'c>,
    ) -> Result<Option<usize>, (usize, SelectorProblem)> {
        let list = self.of_class.get(class).copied().unwrap_or_default();
        self.refuses(list, device)
    }

    /// The same for a request's own selectors.
    ///
    /// # Errors
    ///
    /// As for [`Judge::class_refuses`].
    pub(super) fn selection_refuses(
        &mut self,
        selection: usize,
        device: &NodeDevice<'c>,
    ) -> Result<Option<usize>, (usize, SelectorProblem)> {
        let list = self.of_selection.get(selection).copied().unwrap_or_default();
        self.refuses(list, device)
    }

    /// How many selectors a class has.
    pub(super) fn count_of_class(&self, class: usize) -> usize {
        self.of_class.get(class).map_or(0, |(_, count)| *count)
    }

    /// The devices of a slice by each of the first selectors that a class and then a selection ask: devices of one group in all of
    /// these look the same to all of them. `None` where it is not known which do.
    pub(super) fn groups(
        &self,
        class: usize,
        selection: usize,
        asked: usize,
        entry: &SliceEntry,
    ) -> Option<SmallVec<[&[u32]; 2]>> {
        let lists = [self.of_class.get(class)?, self.of_selection.get(selection)?];
        let expressions = lists.into_iter().flat_map(|(start, count)| self.lists.iter().skip(*start).take(*count));
        let groups = expressions.take(asked).map(|expression| {
            let projection = self.expressions.get(*expression)?.compiled.projection?;
            self.selectors.known_groups(projection, entry)
        });
        groups.collect()
    }

    /// What every selector of a class and of a selection says of a device, each by itself: `tell` gets whether it is one of the
    /// class's, its position and the answer.
    pub(super) fn ask_each(
        &mut self,
        (class, selection): (usize, usize),
        device: &NodeDevice<'c>,
        mut tell: impl FnMut(bool, usize, Result<bool, SelectorProblem>),
    ) {
        let of_class = self.of_class.get(class).copied().unwrap_or_default();
        let own = self.of_selection.get(selection).copied().unwrap_or_default();
        for (is_of_class, (start, count)) in [(true, of_class), (false, own)] {
            for index in 0..count {
                if let Some(expression) = self.lists.get(start + index).copied() {
                    tell(is_of_class, index, self.accepts(expression, device));
                }
            }
        }
    }

    /// What an expression computes of a device.
    pub(super) fn derive(&mut self, text: &'c str, device: &NodeDevice<'c>) -> Value {
        let (profile, selectors) = (self.profile, &mut self.selectors);
        let expression = self.derived.entry(text).or_insert_with(|| Expression::new(selectors.derived(profile, text)));
        expression.ask(selectors, device, |compiled, _, steps| compiled.derive(device.slice, device.device, steps))
    }

    fn refuses(
        &mut self,
        (start, count): List,
        device: &NodeDevice<'c>,
    ) -> Result<Option<usize>, (usize, SelectorProblem)> {
        for index in 0..count {
            let Some(expression) = self.lists.get(start + index).copied() else {
                break;
            };
            match self.accepts(expression, device) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(index + 1)),
                Err(problem) => return Err((index, problem)),
            }
        }
        Ok(None)
    }

    fn accepts(&mut self, expression: usize, device: &NodeDevice<'c>) -> Answer {
        if self.selectors.steps > MOST_STEPS {
            return Err(SelectorProblem::Runtime("operation cancelled: the selectors take too many steps".to_owned()));
        }
        let Some(expression) = self.expressions.get_mut(expression) else {
            return Ok(false);
        };
        expression.ask(&mut self.selectors, device, |compiled, is_usable, steps| {
            compiled.matches(device.slice, device.device, is_usable, steps)
        })
    }
}

impl<A: Clone> Expression<A> {
    fn new(compiled: Compiled) -> Self {
        Self { compiled, answers: Answers { low: SmallVec::new(), high: BTreeMap::new() } }
    }

    /// The answer for a device, found out by `evaluate` unless it is that for an equal one. `evaluate` is told whether the device has no
    /// attribute that fails every expression, and where to add its steps.
    fn ask(
        &mut self,
        selectors: &mut Selectors,
        device: &NodeDevice<'_>,
        evaluate: impl FnOnce(&Compiled, bool, &mut u64) -> A,
    ) -> A {
        let Self { compiled, answers } = self;
        let is_usable = !device.entry.unusable.contains(&device.position);
        let projection = compiled.projection.filter(|_| is_usable);
        let group = projection.and_then(|projection| selectors.group(projection, device.entry, device.position));
        let Selectors { evaluations, steps, .. } = selectors;
        let evaluate = || {
            *evaluations = evaluations.saturating_add(1);
            evaluate(compiled, is_usable, steps)
        };
        match group {
            Some(group) => answers.get_or_find(group, evaluate),
            None => evaluate(),
        }
    }
}

impl<A: Clone> Answers<A> {
    fn get_or_find(&mut self, group: u32, find: impl FnOnce() -> A) -> A {
        const LOW: usize = 256;
        let position = group as usize;
        if position >= LOW {
            return self.high.entry(group).or_insert_with(find).clone();
        }
        if self.low.len() <= position {
            self.low.resize(position + 1, None);
        }
        match self.low.get_mut(position) {
            Some(Some(known)) => known.clone(),
            Some(slot) => slot.insert(find()).clone(),
            None => find(),
        }
    }
}
