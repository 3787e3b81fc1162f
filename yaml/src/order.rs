//! Sorting by places in a text, through one compiled sort: the standard library's is compiled anew for each type of item.

/// Items by where they begin; those that begin at the same place stay as they stand.
pub(crate) fn in_order<T>(items: Vec<T>, start: impl FnMut(&T) -> usize) -> Vec<T> {
    let mut order: Vec<(usize, usize)> = items.iter().map(start).zip(0..).collect();
    order.sort_unstable();
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.into_iter().filter_map(|(_, at)| items.get_mut(at)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn items_of_one_place_stay_as_they_stand() {
        assert_eq!(
            in_order(vec![(7, 'a'), (3, 'b'), (7, 'c'), (0, 'd')], |item| item.0),
            [(0, 'd'), (3, 'b'), (7, 'a'), (7, 'c')]
        );
        assert!(in_order(Vec::<usize>::new(), |item| *item).is_empty());
    }
}
