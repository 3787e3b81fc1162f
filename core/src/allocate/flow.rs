//! Whether demands can be met from classes of equal devices at all.

/// Devices wanted from any of some classes; no device counts twice for one demand.
pub(super) struct Demand {
    pub(super) count: u64,
    /// Positions of the classes.
    pub(super) classes: Vec<usize>,
}

/// A class of devices that are all alike.
#[derive(Clone, Copy)]
pub(super) struct Supply {
    pub(super) count: u64,
    /// Whether a device may serve several demands.
    pub(super) is_shared: bool,
}

/// Whether every demand can get its devices when nothing but the number of devices matters.
///
/// The largest flow from demands to classes, found by augmenting one device at a time.
pub(super) fn can_meet(demands: &[Demand], supplies: &[Supply]) -> bool {
    let mut flow = Flow {
        demands,
        given: demands.iter().map(|demand| vec![0; demand.classes.len()]).collect(),
        left: supplies.iter().map(|supply| if supply.is_shared { u64::MAX } else { supply.count }).collect(),
        supplies,
    };
    demands.iter().enumerate().all(|(index, demand)| {
        let wanted = demand.count.min(u64::from(u32::MAX));
        (0..wanted).all(|_| flow.augment(index))
    })
}

struct Flow<'a> {
    demands: &'a [Demand],
    supplies: &'a [Supply],
    /// By demand and index into its classes: devices given so far.
    given: Vec<Vec<u64>>,
    /// By class: devices left.
    left: Vec<u64>,
}

impl Flow<'_> {
    /// Gives one more device to a demand, moving others' devices where needed. Breadth first, so no recursion.
    fn augment(&mut self, start: usize) -> bool {
        // For each demand reached: from which demand, and through which class that one would take its device.
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; self.demands.len()];
        let mut seen = vec![false; self.supplies.len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(demand) = queue.pop_front() {
            for class in self.open_classes(demand) {
                if let Some(left) = self.left.get_mut(class)
                    && *left > 0
                {
                    *left -= 1;
                    self.shift(start, demand, class, &reached);
                    return true;
                }
                if std::mem::replace(seen.get_mut(class).unwrap_or(&mut true), true) {
                    continue;
                }
                for other in 0..self.demands.len() {
                    let is_new = other != start && reached.get(other).is_some_and(Option::is_none);
                    if is_new && self.given_to(other, class).is_some_and(|given| *given > 0) {
                        if let Some(slot) = reached.get_mut(other) {
                            *slot = Some((demand, class));
                        }
                        queue.push_back(other);
                    }
                }
            }
        }
        false
    }

    /// Classes of which a demand has not yet got every device.
    fn open_classes(&self, demand: usize) -> Vec<usize> {
        let (Some(wanted), Some(given)) = (self.demands.get(demand), self.given.get(demand)) else {
            return Vec::new();
        };
        let is_open = |class: usize, given: u64| self.supplies.get(class).is_some_and(|supply| given < supply.count);
        let open = wanted.classes.iter().zip(given).filter(|(class, given)| is_open(**class, **given));
        open.map(|(class, _)| *class).collect()
    }

    fn given_to(&mut self, demand: usize, class: usize) -> Option<&mut u64> {
        let index = self.demands.get(demand)?.classes.iter().position(|own| *own == class)?;
        self.given.get_mut(demand)?.get_mut(index)
    }

    /// Gives a device of `class` to `demand`; if that is not the start, its device of the class through which it was reached
    /// goes one demand back, and so on.
    fn shift(&mut self, start: usize, mut demand: usize, mut class: usize, reached: &[Option<(usize, usize)>]) {
        loop {
            if let Some(given) = self.given_to(demand, class) {
                *given += 1;
            }
            if demand == start {
                return;
            }
            let Some((before, through)) = reached.get(demand).copied().flatten() else {
                return;
            };
            if let Some(given) = self.given_to(demand, through) {
                *given = given.saturating_sub(1);
            }
            (demand, class) = (before, through);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn can(demands: &[(u64, &[usize])], supplies: &[u64]) -> bool {
        let demands: Vec<Demand> =
            demands.iter().map(|(count, classes)| Demand { count: *count, classes: classes.to_vec() }).collect();
        let supplies: Vec<Supply> = supplies.iter().map(|count| Supply { count: *count, is_shared: false }).collect();
        can_meet(&demands, &supplies)
    }

    #[test]
    fn devices_are_moved_between_demands() {
        assert!(can(&[(2, &[0, 1]), (2, &[0])], &[2, 2]));
        assert!(can(&[(1, &[0, 1]), (1, &[1, 2]), (1, &[0])], &[1, 1, 1]));
        assert!(!can(&[(1, &[0, 1]), (1, &[0, 1]), (1, &[0, 1])], &[1, 1]));
        assert!(!can(&[(3, &[0])], &[2]));
        assert!(can(&[(0, &[])], &[]));
    }

    #[test]
    fn a_shared_device_serves_many_demands_but_each_only_once() {
        let demand = |count| Demand { count, classes: vec![0] };
        let supply = [Supply { count: 1, is_shared: true }];
        assert!(can_meet(&[demand(1), demand(1), demand(1)], &supply));
        assert!(!can_meet(&[demand(2)], &supply));
    }
}
