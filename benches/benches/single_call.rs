//! One call by one thread that has the limiter to itself: every engine under every load, with the floor in each group.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tollgate_bench::engine::load::Load;
use tollgate_bench::engine::registry::engines;
use tollgate_bench::measure::single::Single;

fn single_call(criterion: &mut Criterion) {
    for load in Load::ALL {
        let mut group = criterion.benchmark_group(load.name());
        group.throughput(Throughput::Elements(1));
        for entry in engines::<Single>() {
            let id = BenchmarkId::new(entry.label.name, entry.label.clock);
            group.bench_function(id, |bencher| bencher.iter_custom(|calls| (entry.work)(load, calls)));
        }
        group.finish();
    }
}

criterion_group!(benches, single_call);
criterion_main!(benches);
