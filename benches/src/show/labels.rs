//! Where labels go that must not cover each other.

/// Labels that touch: the first one's place, how many, and the sum of where they want the first one to be.
struct Cluster {
    first: f64,
    size: usize,
    pull: f64,
}

/// Places for labels that want to stand at `wanted`, at least `gap` apart and within `range`, in the order of `wanted`.
///
/// Neighbours that are too close form a cluster that is centred on where its members wanted to be. If there is not room
/// for all, they stand evenly, closer than `gap`.
#[allow(clippy::cast_precision_loss)] // a few labels
pub fn spread(wanted: &[f64], gap: f64, range: (f64, f64)) -> Vec<f64> {
    let gap = if wanted.len() > 1 { gap.min((range.1 - range.0) / (wanted.len() - 1) as f64) } else { gap };
    let span = |size: usize| size as f64 * gap;
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));

    let mut clusters: Vec<Cluster> = Vec::new();
    for &index in &order {
        let mut next = Cluster { first: wanted[index].clamp(range.0, range.1), size: 1, pull: wanted[index] };
        while let Some(above) = clusters.pop_if(|above| above.first + span(above.size) > next.first) {
            next.pull += above.pull - span(above.size) * next.size as f64;
            next.size += above.size;
            let last = (range.1 - span(next.size - 1)).max(range.0);
            next.first = (next.pull / next.size as f64).clamp(range.0, last);
        }
        clusters.push(next);
    }
    let stacked = clusters.iter().flat_map(|cluster| (0..cluster.size).map(move |place| cluster.first + span(place)));
    let mut places = vec![0.0; wanted.len()];
    for (index, place) in order.into_iter().zip(stacked) {
        places[index] = place;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_near(places: &[f64], expected: &[f64]) -> bool {
        places.len() == expected.len()
            && places.iter().zip(expected).all(|(place, wanted)| (place - wanted).abs() < 1e-6)
    }

    #[test]
    fn labels_with_room_stay_where_they_want_to_be() {
        assert!(are_near(&spread(&[50.0, 10.0, 90.0], 10.0, (0.0, 100.0)), &[50.0, 10.0, 90.0]));
        assert!(spread(&[], 10.0, (0.0, 100.0)).is_empty());
    }

    #[test]
    fn labels_that_touch_are_spread_around_their_middle() {
        assert!(are_near(&spread(&[50.0; 3], 10.0, (0.0, 100.0)), &[40.0, 50.0, 60.0]));
        assert!(are_near(&spread(&[50.0, 52.0, 10.0], 10.0, (0.0, 100.0)), &[46.0, 56.0, 10.0]));
    }

    #[test]
    fn any_crowd_keeps_its_order_its_gap_and_its_range() {
        let mut random = fastrand::Rng::with_seed(7);
        for count in 1..=20 {
            let wanted: Vec<_> = (0..count).map(|_| f64::from(random.u32(..300))).collect();
            let places = spread(&wanted, 14.0, (0.0, 299.0));
            for a in 0..wanted.len() {
                assert!((-1e-6..=299.0 + 1e-6).contains(&places[a]), "{wanted:?} {places:?}");
                for b in 0..a {
                    assert!((places[a] - places[b]).abs() >= 14.0 - 1e-6, "{wanted:?} {places:?}");
                    assert!(
                        wanted[a].total_cmp(&wanted[b]).is_eq() || (wanted[a] < wanted[b]) == (places[a] < places[b])
                    );
                }
            }
        }
        let crowd = spread(&[5.0; 50], 14.0, (0.0, 98.0));
        assert!(crowd.iter().all(|place| (-1e-6..=98.0 + 1e-6).contains(place)));
    }
}
