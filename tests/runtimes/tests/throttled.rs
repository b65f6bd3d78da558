//! Readers and writers with a limited bandwidth.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf, duplex};
use tokio::time::Instant;
use tollgate::{AsyncThrottled, Denied, ManualClock, Quota, Throttled, TokioClock, WaitingTokenBucket};

const MINUTE: Duration = Duration::from_mins(1);

fn bucket(burst: u64) -> WaitingTokenBucket<ManualClock> {
    WaitingTokenBucket::with_clock(Quota::per_second(1).with_burst(burst), MINUTE, ManualClock::new())
}

/// Moves at most so many bytes a call, or fails.
struct Script(VecDeque<io::Result<usize>>, Vec<u8>);

impl Script {
    fn new(calls: impl IntoIterator<Item = io::Result<usize>>) -> Self {
        Self(calls.into_iter().collect(), Vec::new())
    }
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.pop_front().unwrap_or(Ok(0))?.min(buffer.len());
        buffer[..bytes].fill(7);
        Ok(bytes)
    }
}

impl Write for Script {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let bytes = self.0.pop_front().unwrap_or(Ok(usize::MAX))?.min(buffer.len());
        self.1.extend(&buffer[..bytes]);
        Ok(bytes)
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        let before = self.1.len();
        for buffer in buffers {
            self.1.extend(&buffer[..]);
        }
        Ok(self.1.len() - before)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn bytes_that_were_not_read_are_given_back() {
    let bucket = bucket(100);
    let mut reader = Throttled::new(Script::new([Ok(30), Err(ErrorKind::Interrupted.into()), Ok(0)]), &bucket);
    let mut buffer = [0; 80];
    assert_eq!(reader.read(&mut buffer).unwrap(), 30);
    assert_eq!(bucket.available(), 70);
    assert_eq!(reader.read(&mut buffer[..70]).unwrap_err().kind(), ErrorKind::Interrupted);
    assert_eq!(reader.read(&mut buffer[..70]).unwrap(), 0, "the end");
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(bucket.available(), 70);
}

#[test]
fn what_is_longer_than_a_burst_is_written_in_parts() {
    let bucket = bucket(100);
    let mut writer = Throttled::new(Script::new([Ok(1_000), Ok(0), Ok(usize::MAX)]), &bucket);
    assert_eq!(writer.write(&[1; 60]).unwrap(), 60);
    assert_eq!(writer.write(&[]).unwrap(), 0);
    assert_eq!(writer.write(&[3; 40]).unwrap(), 40);
    writer.flush().unwrap();
    assert_eq!((bucket.available(), writer.get_ref().1.len()), (0, 100));

    let bucket = self::bucket(100);
    let mut writer = Throttled::new(Script::new([Ok(usize::MAX)]), &bucket);
    assert_eq!(writer.write(&[1; 1_000]).unwrap(), 100);
    assert_eq!(writer.into_inner().1, [1; 100]);
}

#[test]
fn vectored_writes_are_cut_at_whole_buffers_or_in_the_first() {
    let all = [[1; 40], [2; 40], [3; 40]];
    let buffers = all.each_ref().map(|buffer| IoSlice::new(buffer));
    for (burst, written) in [(1_000, 120), (120, 120), (119, 80), (80, 80), (79, 40), (40, 40), (39, 39), (1, 1)] {
        let bucket = bucket(burst);
        let mut writer = Throttled::new(Script::new([]), &bucket);
        assert_eq!(writer.write_vectored(&buffers).unwrap(), written, "burst {burst}");
        assert_eq!(writer.get_ref().1, all.concat()[..written]);
        assert_eq!(bucket.available(), burst - written as u64);
    }
    let nothing = [IoSlice::new(&[]), IoSlice::new(&[])];
    assert_eq!(Throttled::new(Script::new([]), &bucket(1)).write_vectored(&nothing).unwrap(), 0);
}

#[test]
fn what_the_line_refuses_is_an_error_and_nothing_moves() {
    let bucket = bucket(10);
    let _line: Vec<_> = (0..7).map(|_| bucket.reserve(10).unwrap()).collect();
    let mut reader = Throttled::new(Script::new([Ok(10)]), &bucket);
    let error = reader.read(&mut [0; 10]).unwrap_err();
    let denied = error.get_ref().and_then(|error| error.downcast_ref::<Denied>());
    assert!(matches!(denied, Some(Denied::LineFull(_))));
    assert_eq!(reader.get_ref().0.len(), 1);
    let closed = WaitingTokenBucket::with_clock(Quota::DENY_ALL, MINUTE, ManualClock::new());
    assert!(Throttled::new(Script::new([]), &closed).write(&[1]).is_err());
}

/// Two connections share 1000 bytes a second and 100 at once: 5,000 bytes take exactly 4.9 seconds.
#[tokio::test(start_paused = true)]
async fn connections_share_a_bandwidth() {
    let quota = Quota::per_second(1_000).with_burst(100);
    let bandwidth = Arc::new(WaitingTokenBucket::with_clock(quota, MINUTE, TokioClock));
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for bytes in [2_000_usize, 3_000] {
        let bandwidth = bandwidth.clone();
        tasks.spawn(async move {
            let source = vec![5; bytes];
            let (near, mut far) = duplex(4_096);
            let sends = tokio::spawn(async move {
                far.write_all(&source).await.unwrap();
            });
            let mut received = vec![0; bytes];
            AsyncThrottled::new(near, bandwidth).read_exact(&mut received).await.unwrap();
            sends.await.unwrap();
            assert!(received.iter().all(|byte| *byte == 5));
        });
    }
    tasks.join_all().await;
    assert_eq!(start.elapsed(), Duration::from_millis(4_900));
}

#[tokio::test(start_paused = true)]
async fn writes_are_cut_and_in_order_and_a_dropped_one_leaves_its_place() {
    let quota = Quota::per_second(100).with_burst(10);
    let bandwidth = WaitingTokenBucket::with_clock(quota, MINUTE, TokioClock);
    let start = Instant::now();
    let mut writer = AsyncThrottled::new(Vec::new(), &bandwidth);
    let text: Vec<u8> = (0..95).collect();
    writer.write_all(&text).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_millis(850));
    // It waits, and is dropped; the next has its place.
    assert!(tokio::time::timeout(Duration::from_millis(10), writer.write(&[95; 5])).await.is_err());
    assert_eq!(writer.write(&[95, 96]).await.unwrap(), 2);
    assert_eq!(start.elapsed(), Duration::from_millis(900));
    writer.shutdown().await.unwrap();
    assert_eq!(writer.into_inner(), (0..=96).collect::<Vec<u8>>());
    assert_eq!(bandwidth.available(), 3, "of five, two were used");
}

/// A reader that has nothing yet.
struct Idle;

impl AsyncRead for Idle {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[test]
fn an_idle_reader_holds_nothing() {
    let bucket = bucket(100);
    let mut reader = pin!(AsyncThrottled::new(Idle, &bucket));
    let mut memory = [0; 64];
    let mut buffer = ReadBuf::new(&mut memory);
    assert!(reader.as_mut().poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer).is_pending());
    assert_eq!(bucket.available(), 100);
}
