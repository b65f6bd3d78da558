//! [`Process`]: this program once more, as a client.

use crate::client::{Client, Tally};
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

pub(crate) struct Process {
    child: Child,
    says: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(client: &Client) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.args(client.words()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let says = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self { child, says })
    }

    /// Waits until it is ready.
    pub(crate) fn ready(&mut self) -> Result<()> {
        self.says.read_line(&mut String::new()).map(drop)
    }

    /// Tells it when to begin.
    pub(crate) fn begin(&mut self, at: u64) -> Result<()> {
        writeln!(self.child.stdin.as_mut().expect("it is piped"), "{at}")
    }

    /// What it got, once it has ended.
    pub(crate) fn tally(mut self) -> Option<Tally> {
        let mut text = String::new();
        self.says.read_to_string(&mut text).ok()?;
        self.child.wait().ok()?;
        Tally::read(&text)
    }
}

/// A run that failed leaves no process behind.
impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
