//! [`assert_sequential`]: concurrent outcomes that some sequential order explains.

use core::fmt::Debug;

/// Whether some order of all operations, in which each thread's own keep theirs, gives exactly the outcomes seen.
///
/// `histories` has a list of records per thread: an operation and its outcome. `step` does the operation of a record on
/// a state, and says whether the outcome comes out as recorded. `end` judges the state after the last operation.
pub fn explained<S: Clone, R>(
    start: &S,
    histories: &[Vec<R>],
    step: impl Fn(&mut S, &R) -> bool,
    end: impl Fn(&S) -> bool,
) -> bool {
    explained_from(start, &mut vec![0; histories.len()], histories, &step, &end)
}

fn explained_from<S: Clone, R>(
    state: &S,
    done: &mut [usize],
    histories: &[Vec<R>],
    step: &impl Fn(&mut S, &R) -> bool,
    end: &impl Fn(&S) -> bool,
) -> bool {
    if histories.iter().zip(&*done).all(|(history, &done)| history.len() == done) {
        return end(state);
    }
    (0..histories.len()).any(|thread| {
        let Some(record) = histories[thread].get(done[thread]) else { return false };
        let mut next = state.clone();
        if !step(&mut next, record) {
            return false;
        }
        done[thread] += 1;
        let explained = explained_from(&next, done, histories, step, end);
        done[thread] -= 1;
        explained
    })
}

/// Panics with "no sequential order" unless the outcomes are [`explained`].
///
/// # Panics
///
/// See above; the message shows the histories.
pub fn assert_sequential<S: Clone + Debug, R: Debug>(
    start: &S,
    histories: &[Vec<R>],
    step: impl Fn(&mut S, &R) -> bool,
    end: impl Fn(&S) -> bool,
) {
    assert!(
        explained(start, histories, step, end),
        "no sequential order from {start:?} explains the outcomes {histories:?}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that gives out tickets.
    #[allow(clippy::trivially_copy_pass_by_ref)] // as `step` wants it
    fn ticket(next: &mut u32, ticket: &u32) -> bool {
        *next += 1;
        *next - 1 == *ticket
    }

    #[test]
    fn an_order_is_found_across_threads_but_not_against_a_thread() {
        assert!(explained(&0, &[vec![0, 3], vec![1, 2]], ticket, |_| true));
        assert!(!explained(&0, &[vec![3, 0], vec![1, 2]], ticket, |_| true));
        assert!(!explained(&0, &[vec![0], vec![0]], ticket, |_| true));
        assert!(explained::<_, u32>(&0, &[], ticket, |_| true));
    }

    #[test]
    fn the_end_is_judged() {
        assert!(explained(&0, &[vec![0], vec![1]], ticket, |&next| next == 2));
        assert!(!explained(&0, &[vec![0], vec![1]], ticket, |&next| next == 3));
    }
}
