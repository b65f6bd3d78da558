use super::*;
use crate::engine::label::Label;
use tokio::task::yield_now;
use tollgate::Quota;

const SHORT: Duration = Duration::from_millis(60);

#[test]
fn every_limiter_keeps_its_bound_and_stands_in_the_table_the_plot_and_the_rows() {
    let (rows, faults) = measure(SHORT).unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    let (text, svg) = (table::text(&rows), plot::plot(&rows).svg());
    let names = ["waiting-token-bucket", "waiting-turns", "governor", "leaky-bucket-crate", "semaphore-refilled"];
    for (row, name) in rows.iter().zip(names.into_iter().cycle()) {
        assert_eq!(row.engine, name);
        assert!(row.verified && row.admitted > 0);
        assert!(text.contains(name) && svg.contains(name), "{text}");
    }
    assert_eq!(rows.len(), 15);
    assert!(rows.iter().all(|row| row.load == Load::Storm || row.dropped == 0));
    let ours = rows.iter().find(|row| row.load == Load::Steady).unwrap();
    let (bytes, timer) = ours.bytes_per_wait.zip(ours.timer_bytes).unwrap();
    assert_eq!(timer as usize, size_of::<tokio::time::Sleep>());
    assert!(bytes > f64::from(timer));

    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).unwrap();
    let csv = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    assert!(csv.starts_with("bench,load,engine,version,clock,tokens,per_ns,burst,tasks,seconds,admitted,"), "{csv}");
    assert!(csv.contains("\nwaiting,storm,waiting-token-bucket,"), "{csv}");

    // What is read back makes the same table.
    let folder = std::env::temp_dir().join(format!("tollgate-bench-waiting-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    assert_eq!(recorded(&folder).unwrap(), None);
    std::fs::write(folder.join("waiting.csv"), csv).unwrap();
    let again = recorded(&folder).unwrap().unwrap();
    assert!(again.contains(text.trim_end()), "{again}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// Admits whoever comes.
struct Open;

impl Waiting for Open {
    const LABEL: Label = Label::peer("open", "test", "none");

    fn build(_: Quota) -> Self {
        Self
    }

    async fn wait(&self) {
        yield_now().await;
    }
}

/// Admits nobody.
struct Closed;

impl Waiting for Closed {
    const LABEL: Label = Label::peer("closed", "test", "none");

    fn build(_: Quota) -> Self {
        Self
    }

    async fn wait(&self) {
        core::future::pending::<()>().await;
    }
}

#[test]
fn who_admits_too_much_or_nothing_is_found_out() {
    for load in Load::ALL {
        let (row, verdict) = drive::run::<Open>(load, SHORT).unwrap();
        assert!(!row.verified && verdict.clone().unwrap_err().contains("at most"), "{verdict:?}");
        assert!(table::text(std::slice::from_ref(&row)).contains("WRONG COUNT"));
        assert!(!plot::plot(&[row]).svg().contains("open"), "what was not verified is not drawn");
        let (row, verdict) = drive::run::<Closed>(load, SHORT).unwrap();
        assert!(!row.verified && verdict.unwrap_err().contains("nothing"));
        assert_eq!(row.dropped > 0, load == Load::Storm);
    }
    assert!(verified(vec!["open, steady: one too many".into()]).unwrap_err().to_string().contains("one too many"));
}

#[test]
fn no_time_is_an_error() {
    for seconds in [0.0, -1.0, 0.001, f64::NAN] {
        let args = Args { seconds, csv: None, svg: PathBuf::new() };
        assert!(command(&args).unwrap_err().to_string().contains("at least 0.01"), "{seconds}");
    }
}
