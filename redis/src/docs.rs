//! The essay: one limit over many machines.
//!
//! # When to use it
//!
//! A limit over several processes can be kept in four ways:
//!
//! | way | a decision costs | errs by |
//! |---|---|---|
//! | a share of the limit for each process, for good | nothing | what a busy process lacks while another is idle |
//! | a counter or GCRA in the store | a round trip | nothing (GCRA); twice the limit around a boundary (a counter) |
//! | counting in memory, and telling the others now and then | nothing | what all admit between two messages |
//! | leases | nothing, and a round trip for each batch | nothing above the bound; batches that are not spent |
//!
//! Leases pay where a process spends many tokens in the time of many round trips: then each trip stands for hundreds of
//! decisions. Where a process's part of what falls due in a lease is less than some ten tokens, batches are so small
//! that there is nearly a trip for each decision anyway; the exact mode (a lease of zero) does the same with all of the burst.
//!
//! # Sizes
//!
//! Let a limit have `burst` and `rate`, and leases of length `L`; let `n` processes use it.
//!
//! * **Lease.** The store hands out from a burst of `burst - rate * L - 1`, so `L` is at most half of `burst / rate`; an eighth
//!   is a good choice. It should be ten round trips or more, and the timeout of the [`Store`](crate::Store) at most a
//!   half of it: an answer that comes after the lease has ended is worth nothing. Everything that goes wrong lasts as long as
//!   a lease: the start, a fail-over, tokens in a process that was killed.
//! * **Batch.** The default, what falls due in a lease, lets one process have the whole rate. `with_batch` sets less where
//!   unspent tokens matter more than round trips. Whatever is asked for, a process gets no more than what there is divided
//!   by the processes seen lately, so a large batch starves nobody.
//! * **Round trips.** A steady demand of `d` tokens per second takes about `d / batch` trips per second over all processes, and
//!   at least two for each process and lease while it is in use. Where more is asked for than falls due, a process asks
//!   again only when a quarter of a batch is there, and refuses from memory until then.
//!
//! For example, 10 000 per second, burst 8 000: leases of 100 ms keep 1 000 of the burst back; 8 processes get 125 tokens in
//! each. For 100 per second, burst 100, and 8 processes a lease of 100 ms would hold one token: take the exact mode, or, where
//! bursts of 800 are bearable, that burst and a lease of a second.
//!
//! **By key**, [`DistributedKeyedLimiter`](crate::DistributedKeyedLimiter) has a bucket for each key. Limits of one client are mostly small, so
//! the exact mode fits; refusals are from memory in both. Choose the capacity above the keys that are in use at a time.
//!
//! # The bound
//!
//! *In any `[s, t]` all processes together admit at most `burst + rate * (t - s)`.* Tokens are positions on a line along which the
//! store advances with time. A draw takes a stretch of it; no position is drawn twice, unless it came back unspent. A token
//! that is spent at `u` was drawn after `u - L`: the holder noted its clock before it sent the request, so for the holder the
//! lease ends before `L` has passed since the draw, however long the request, the answer or the process itself was held up
//! on the way. Hence everything that is spent in `[s, t]` was drawn in `[s - L, t]`, and that is at most what the store had
//! saved up at `s - L`, which is its burst, and what fell due since: `Bc + rate * (t - s + L)`. With `Bc = burst - rate * L`
//! that is the bound. [`centre`](crate::centre) has the rules by number, and the proof with rounding, losses of the store
//! and fail-over.
//!
//! The instants are those at which a call reads the clock, or in exact mode the store's: a thread that sleeps between the
//! decision and what it decided on is late, as with any limiter.
//!
//! # What is assumed, and what breaks it
//!
//! * **Clocks go at about the same rate**: that of each process and that of the store differ by less than 1 %. No clock needs
//!   to show the right time. On Linux a process counts the time in which its machine is suspended (`CLOCK_BOOTTIME`).
//!   Elsewhere, and in a virtual machine that is paused or moved while its clock stands still, a process may spend a lease
//!   after its end: at most two batches, each time.
//! * **A process is one process.** Memory that is copied holds the same leases twice: make the bucket after `fork`, and do not
//!   run a virtual machine twice from one snapshot that was taken in use. That is two batches for each copy.
//! * **The store forgets nothing.** With `maxmemory-policy noeviction` a full server refuses to write, and calls get a
//!   [`StoreError::Refused`](crate::StoreError::Refused). With any other it may drop a limit, which is then full. Each new
//!   connection asks, and a server that forgets is refused; where it does not say,
//!   [`Eviction::Unknown`](crate::Eviction::Unknown), look yourself.
//!   `DEL` of a limit by hand has the same effect. `DEL` of the namespace's marker is safe: it begins a new epoch.
//! * **The store's clock is not set forward.** Each second forward lets `rate` tokens fall due, up to the burst. If it is set back,
//!   the limit stands still until it has caught up; to go on at once, delete the marker.
//! * **One server executes at a time**; see below.
//!
//! # Losses and fail-over
//!
//! A marker in each namespace names the epoch and the server that began it. A server without it (a lost store, `FLUSHALL`), or
//! with that of another (a replica that was promoted; a restart, with persistence or without) begins a new epoch: empty, and
//! filling after one lease. So whatever the last server had handed out has ended before the new one hands out anything. The cost is a pause of
//! a lease, and a burst that has to fill again.
//!
//! That takes a server that says who it is: `INFO replication`, from a script, whose `master_replid` is another after each start
//! and each promotion. (It is also another an hour after a primary's last replica has left: a new epoch, once.) Where a provider forbids this, a replica that lags
//! goes on from an older state; then clients show the highest state that they have seen, the script never goes below
//! it, and what was lost may be admitted twice until the first of them speaks.
//!
//! A primary that is cut off and still reached by some processes hands out as its successor does: `rate` twice, for as long as
//! that lasts. `min-replicas-to-write 1` on the primary bounds it.
//!
//! # Degraded modes
//!
//! While the store is away, what is leased is spent; then [`Degraded`](crate::Degraded) decides.
//!
//! * `Deny`: calls get a [`Refused::Store`](crate::Refused::Store). The bound holds. Choose it where the limit protects something that breaks.
//! * `Share(quota)`: each process admits by a limiter of its own, which adds at most `burst + rate * (t - s)` of that
//!   quota for each process. Choose it where refusing everybody is worse than admitting too much: with `n` processes, a
//!   share of the rate divided by `n` and a small burst about doubles the bound at worst.
//!
//! Attempts to reach the store are spaced, with jitter, up to two seconds; calls in between fail at once and wait for nothing.
//!
//! # Changing a quota
//!
//! Processes that use one name with other terms are refused, by
//! [`StoreError::OtherTerms`](crate::StoreError::OtherTerms), until nobody has drawn by the old ones for as long as the burst
//! takes to fill. So put a version into the name (`orders.v2`), and roll it out: the new name starts empty, and while both
//! are in use each keeps its own bound. Two lengths of lease in one namespace are no problem; each limit has its own terms.
//!
//! # What to watch
//!
//! | what | where | what it says |
//! |---|---|---|
//! | refusals by kind | [`Refused`](crate::Refused) that your service counts | `TryAfter`: the limit is reached. `Store`: it is decided without the store |
//! | tokens drawn | `HGET {namespace}:limit:name position`, its growth per second | against what your service admitted: the difference is void, so leases are too long or batches too large |
//! | epochs | `HGET {namespace}:marker epoch`, an instant in microseconds | each change is a loss, a restart or a fail-over, and a pause of a lease |
//! | terms | `HGET {namespace}:limit:name terms`: tokens, microseconds, burst and lease of the store | what processes agreed on |
//! | trips | `INFO commandstats`, `evalsha`: calls and time | load on the store and its one thread |
//! | memory | `maxmemory`, `used_memory`, `evicted_keys` | four small keys for each limit in use; evictions must stay 0 |
//! | the clock | offset of the store's machine, by its time daemon | steps |

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
