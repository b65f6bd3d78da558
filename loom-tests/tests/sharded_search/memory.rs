//! [`Memory`]: atomic words as the memory model has them, stale reads included.

/// The most words and threads there can be.
const WORDS: usize = 8;
const THREADS: usize = 3;

/// How much of each word's history has been seen: an index into it, per word.
type View = [u8; WORDS];

/// A value in a word's modification order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Message {
    value: i16,
    /// What an acquiring reader of it has seen from then on.
    released: View,
}

/// Atomic words. A load may return any value that is not older than what its thread has seen, as a relaxed load may.
///
/// Values of one word are totally ordered. A read-modify-write reads the last one, and adds its own after it. A release
/// attaches what its thread has seen; whoever acquires that value has then seen it too. A read-modify-write carries on
/// what was attached to the value before it (a release sequence).
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Memory {
    words: [Vec<Message>; WORDS],
    views: [View; THREADS],
}

/// Values are small, or minus a little when taken as signed.
fn narrow(value: u64) -> i16 {
    value.cast_signed().try_into().expect("a small value")
}

fn index(index: usize) -> u8 {
    index.try_into().expect("a short history")
}

impl Memory {
    pub(crate) fn new(values: [u64; WORDS]) -> Self {
        let words = values.map(|value| vec![Message { value: narrow(value), released: [0; WORDS] }]);
        Self { words, views: [[0; WORDS]; THREADS] }
    }

    /// The last value in the word's modification order.
    pub(crate) fn last(&self, word: usize) -> u64 {
        i64::from(self.words[word][self.words[word].len() - 1].value).cast_unsigned()
    }

    /// Every value that a load could return, and the memory after that.
    pub(crate) fn loads(&self, thread: usize, word: usize, acquire: bool) -> impl Iterator<Item = (u64, Self)> {
        let seen = self.views[thread][word];
        (seen..index(self.words[word].len())).map(move |at| {
            let mut memory = self.clone();
            let Message { value, released } = self.words[word][usize::from(at)];
            let view = &mut memory.views[thread];
            if acquire {
                *view = join(*view, released);
            }
            view[word] = view[word].max(at);
            (i64::from(value).cast_unsigned(), memory)
        })
    }

    /// Replaces the last value.
    pub(crate) fn update(&mut self, thread: usize, word: usize, value: u64, release: bool) {
        let carried = self.words[word][self.words[word].len() - 1].released;
        self.append(thread, word, value, release, carried);
    }

    /// Puts a value after the last one, whatever that is.
    pub(crate) fn store(&mut self, thread: usize, word: usize, value: u64) {
        self.append(thread, word, value, false, [0; WORDS]);
    }

    fn append(&mut self, thread: usize, word: usize, value: u64, release: bool, carried: View) {
        let view = &mut self.views[thread];
        view[word] = index(self.words[word].len());
        let released = if release { join(carried, *view) } else { carried };
        self.words[word].push(Message { value: narrow(value), released });
    }

    /// Forgets the view of threads that have nothing more to do, and values that nobody can read any more.
    pub(crate) fn forget(&mut self, done: impl Fn(usize) -> bool) {
        for word in 0..WORDS {
            let last = index(self.words[word].len() - 1);
            for (thread, view) in self.views.iter_mut().enumerate() {
                if done(thread) {
                    view[word] = last;
                }
            }
            let oldest = self.views.map(|view| view[word]).into_iter().min().unwrap_or(0);
            if oldest > 0 {
                self.words[word].drain(..usize::from(oldest));
                let released = self.words.iter_mut().flatten().map(|message| &mut message.released);
                for view in self.views.iter_mut().chain(released) {
                    view[word] = view[word].saturating_sub(oldest);
                }
            }
        }
    }
}

fn join(a: View, b: View) -> View {
    core::array::from_fn(|word| a[word].max(b[word]))
}
