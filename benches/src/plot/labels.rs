//! Where labels go that must not cover each other.

/// Labels that touch: the first one's place, how many, and the sum of where they want the first one to be.
struct Cluster {
    first: i32,
    size: i32,
    pull: i32,
}

/// Places for labels that want to stand at `wanted`, at least `gap` apart and within `range`, in the order of `wanted`.
///
/// Neighbours that are too close form a cluster that is centred on where its members wanted to be. If there is not room
/// for all, they stand evenly, closer than `gap`.
///
/// # Panics
///
/// With more labels than an `i32` can count.
pub fn spread(wanted: &[i32], gap: i32, range: (i32, i32)) -> Vec<i32> {
    let count = i32::try_from(wanted.len()).expect("a few labels");
    let gap = if count > 1 { gap.min((range.1 - range.0) / (count - 1)) } else { gap };
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);

    let mut clusters: Vec<Cluster> = Vec::new();
    for &index in &order {
        let mut next = Cluster { first: wanted[index], size: 1, pull: wanted[index] };
        next.first = next.first.clamp(range.0, range.1);
        while let Some(above) = clusters.pop_if(|above| above.first + above.size * gap > next.first) {
            next.pull = above.pull + next.pull - next.size * above.size * gap;
            next.size += above.size;
            next.first = (next.pull / next.size).clamp(range.0, (range.1 - (next.size - 1) * gap).max(range.0));
        }
        clusters.push(next);
    }
    let stacked = clusters.iter().flat_map(|cluster| (0..cluster.size).map(move |place| cluster.first + place * gap));
    let mut places = vec![0; wanted.len()];
    for (index, place) in order.into_iter().zip(stacked) {
        places[index] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay_where_they_want_to_be() {
        assert_eq!(spread(&[50, 10, 90], 10, (0, 100)), [50, 10, 90]);
        assert_eq!(spread(&[], 10, (0, 100)), [0; 0]);
    }

    #[test]
    fn labels_that_touch_are_spread_around_their_middle() {
        assert_eq!(spread(&[50, 50, 50], 10, (0, 100)), [40, 50, 60]);
        assert_eq!(spread(&[50, 52, 10], 10, (0, 100)), [46, 56, 10]);
    }

    #[test]
    fn any_crowd_keeps_its_order_its_gap_and_its_range() {
        let mut seed = 7_u32;
        for count in 1..=20 {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                i32::try_from(seed >> 16).unwrap() % 300
            };
            let wanted: Vec<_> = (0..count).map(|_| next()).collect();
            let places = spread(&wanted, 14, (0, 299));
            for a in 0..wanted.len() {
                assert!((0..=299).contains(&places[a]), "{wanted:?} {places:?}");
                for b in 0..a {
                    assert!((places[a] - places[b]).abs() >= 14, "{wanted:?} {places:?}");
                    assert!(wanted[a] == wanted[b] || (wanted[a] < wanted[b]) == (places[a] < places[b]));
                }
            }
        }
        let crowd = spread(&[5; 50], 14, (0, 98));
        assert!(crowd.iter().all(|place| (0..=98).contains(place)));
    }
}
