//! The command line.

use std::path::PathBuf;

use crate::policy::Policy;
use crate::read::source::Source;

/// See what a limit would have done to the traffic in a log
///
/// FILE is CSV with the fields `t_ms,key[,cost]`, or in the Common or Combined Log Format of web servers. `t_ms` is in
/// milliseconds from any origin. A first line of names is taken as a header: the first column is then the time, the
/// second the key, and the one named `cost` the cost, wherever it stands; a third column of another name is no cost.
/// Lines that cannot be read are reported and skipped. The file is read as a stream; memory goes by the number of keys,
/// about 1 kB for each with one algorithm and 2.5 kB with all.
#[derive(clap::Parser, Clone, Debug)]
#[command(version)]
pub struct Args {
    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) policy: Policy,

    /// How many of the worst keys to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) worst: usize,

    /// Write the results as CSV to this file
    #[arg(long, value_name = "PATH")]
    pub(crate) csv: Option<PathBuf>,
}
