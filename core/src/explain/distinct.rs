//! How many devices several requests can have at once where each device serves only one of them.

/// Most requests of which every choice is looked at.
const MOST: usize = 6;

/// Numbers of devices by the units that they could serve, one bit for each unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Supply(Vec<(u64, u64)>);

/// Units, as bits, that have to do with too few devices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scarce {
    /// The units.
    pub(crate) units: u64,
    /// Devices that they need together.
    pub(crate) needed: u64,
    /// Devices that could serve any of them.
    pub(crate) there: u64,
}

impl Supply {
    /// Adds devices that could serve some units.
    pub(crate) fn add(&mut self, units: u64, devices: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == units) {
            Some((_, number)) => *number = number.saturating_add(devices),
            None => self.0.push((units, devices)),
        }
    }

    /// The fewest units that lack the most devices together, given what each needs; `None` where all have enough.
    ///
    /// What they lack is what cannot be had of everything that is needed (the theorem of Hall and König).
    pub(crate) fn scarce(&self, needs: &[(u64, u64)]) -> Option<Scarce> {
        let choices = choices(needs.len());
        let sums = choices.map(|choice| {
            let chosen = needs.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1).map(|(_, need)| need);
            let (units, needed) =
                chosen.fold((0, 0u64), |(units, sum), (unit, need)| (units | unit, sum.saturating_add(*need)));
            let serving = self.0.iter().filter(|(serves, _)| serves & units != 0);
            Scarce { units, needed, there: serving.fold(0, |sum: u64, (_, number)| sum.saturating_add(*number)) }
        });
        let lacking = sums.filter(|sum| sum.needed > sum.there);
        lacking.max_by_key(|sum| (sum.lack(), std::cmp::Reverse(sum.units.count_ones())))
    }
}

impl Scarce {
    /// Devices that are missing.
    pub(crate) fn lack(&self) -> u64 {
        self.needed.saturating_sub(self.there)
    }
}

/// Choices of some things, one bit for each: every choice of a few, else each one and all.
fn choices(count: usize) -> impl Iterator<Item = u64> {
    let bit = |at: usize| u32::try_from(at).ok().and_then(|at| 1u64.checked_shl(at)).unwrap_or_default();
    let all = bit(count).wrapping_sub(1);
    let every = (1..=all).take(if count <= MOST { usize::MAX } else { 0 });
    let single = (0..count.min(64)).map(bit).chain([all]).filter(move |_| count > MOST);
    every.chain(single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_share_devices_lack_them_together() {
        let mut supply = Supply::default();
        supply.add(0b011, 4);
        supply.add(0b100, 1);
        let scarce = |needs: &[(u64, u64)]| supply.scarce(needs).map(|one| (one.units, one.needed, one.there));
        assert_eq!(scarce(&[(0b001, 3), (0b010, 1), (0b100, 1)]), None);
        assert_eq!(scarce(&[(0b001, 3), (0b010, 2), (0b100, 1)]), Some((0b011, 5, 4)));
        assert_eq!(scarce(&[(0b001, 1), (0b010, 1), (0b100, 2)]), Some((0b100, 2, 1)));
        let many: Vec<(u64, u64)> = (0..8).map(|_| (0b001, 1)).collect();
        assert_eq!(scarce(&many), Some((0b001, 8, 4)));
    }
}
