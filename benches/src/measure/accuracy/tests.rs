use super::*;
use tollgate_replay::Algorithm;

const ZIPF: Zipf = Zipf { arrivals: 20_000, keys: 1_000, windows: 5.0 };

fn measure(name: &str) -> Measured {
    let scenario = traffic::scenarios(1, ZIPF).into_iter().find(|scenario| scenario.name == name).unwrap();
    Measured::stream(&scenario).unwrap()
}

#[test]
fn what_a_boundary_attack_lets_through() {
    let measured = measure("boundary-attack");
    assert_eq!(measured.log.admitted, 100);
    assert_eq!(measured.tally(Algorithm::FixedWindow).unwrap().admitted, 200);
    assert_eq!(measured.tally(Algorithm::Interval).unwrap().admitted, 200);
    assert_eq!(measured.tally(Algorithm::SlidingCounter).unwrap().admitted, 101);
    // 0.601 s at 100 a minute bring one token.
    assert_eq!(measured.tally(Algorithm::TokenBucket).unwrap().admitted, 101);
    for algorithm in Algorithm::SINGLE {
        let tally = measured.tally(algorithm).unwrap();
        assert!(algorithm != Algorithm::SlidingLog || tally.admitted == 100);
        assert_eq!((tally.over, tally.under), (tally.admitted - 100, 0), "{}", algorithm.name());
        assert_eq!(tally.most_in_a_period, tally.admitted, "{}", algorithm.name());
    }
}

#[test]
fn the_counter_errs_in_both_directions() {
    let at_start = measure("packed-at-start");
    let counter = at_start.tally(Algorithm::SlidingCounter).unwrap();
    assert!(counter.under > 10 * counter.over, "{counter:?}");
    let at_end = measure("packed-at-end");
    let counter = at_end.tally(Algorithm::SlidingCounter).unwrap();
    assert!(counter.over > 20_000 && counter.under == 0, "{counter:?}");
}

#[test]
fn the_log_keeps_every_window_and_the_others_keep_theirs() {
    for name in ["packed-at-start", "packed-at-end", "poisson-1.5", "bursty-0.8"] {
        let measured = measure(name);
        let most = |algorithm| measured.tally(algorithm).unwrap().most_in_a_period;
        assert_eq!(measured.log.most_in_a_period, 100, "{name}");
        assert_eq!(measured.tally(Algorithm::SlidingLog), Some(&measured.log), "{name}");
        for algorithm in Algorithm::SINGLE {
            assert!(most(algorithm) <= 201, "{name}: {} admitted {}", algorithm.name(), most(algorithm));
        }
        assert!(most(Algorithm::TokenBucket) <= 200 && most(Algorithm::FixedWindow) <= 200, "{name}");
    }
}

#[test]
fn algorithms_that_decide_alike_are_shown_together() {
    let measured = [measure("boundary-attack"), measure("zipf-100")];
    let groups = measured::groups(&measured);
    assert!(groups.contains(&vec![Algorithm::TokenBucket, Algorithm::LeakyBucket]), "{groups:?}");
    assert!(groups.contains(&vec![Algorithm::FixedWindow, Algorithm::Interval]), "{groups:?}");
    assert_eq!(groups.concat().len(), Algorithm::SINGLE.len());
}

#[test]
fn tables_rows_and_the_plot_name_every_stream_and_algorithm() {
    let measured = [measure("boundary-attack"), measure("zipf-100")];
    let (text, svg) = (table::text(&measured), plot::svg(&measured));
    let rows = Row::all(&measured, 1);
    assert_eq!(rows.len(), 2 * (Algorithm::SINGLE.len() + 1) + 1, "one of the streams is of one key: sharded, too");
    for one in &measured {
        assert!(text.contains(&one.name) && svg.contains(&one.name));
    }
    for algorithm in Algorithm::SINGLE.map(Algorithm::name) {
        assert!(text.contains(algorithm), "{algorithm}");
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn idle_periods_cost_a_sharded_bucket_its_reserve_each_time() {
    let measured = measure("drained-136");
    let bucket = measured.tally(Algorithm::TokenBucket).unwrap();
    assert_eq!((measured.log.admitted, bucket.admitted), (68_000, 68_000));
    let sharded = measured.sharded.as_ref().unwrap();
    assert_eq!((sharded.admitted, sharded.over, sharded.under), (59_500, 0, 8_500), "119 of 136, 500 times");
    let measured = measure("poisson-1.5");
    let bucket = measured.tally(Algorithm::TokenBucket).unwrap();
    assert_eq!(measured.sharded.as_ref().unwrap().admitted, bucket.admitted, "a burst that is not divided");
}
