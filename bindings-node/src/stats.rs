//! What a memory holds, for your own code: sensitive text, and how much it is.

use std::time::SystemTime;

use memdir::history::{Erased, HistorySize};
use memdir::{Memory, MemoryPath, SensitiveMatch, Stats};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Unknown};
use napi_derive::napi;

use crate::cancel::Cancellation;
use crate::engine::Engine;
use crate::entry::to_millis;
use crate::files::given;
use crate::options::{count, flag, string};
use crate::progress::number;
use crate::thread_pool::Purpose;

/// A place where a rule finds sensitive text.
#[napi(object, object_from_js = false)]
pub(crate) struct FoundSensitive {
    /// The path of the file, or of the directory whose name it is.
    pub path: String,
    /// The number of the line, counted from 1; none if it is in the name.
    #[napi(ts_type = "number | undefined")]
    pub line: Option<i64>,
    /// The id of the rule.
    pub rule: String,
}

impl From<SensitiveMatch> for FoundSensitive {
    fn from(found: SensitiveMatch) -> Self {
        Self { path: found.path.to_string(), line: found.line.map(number), rule: found.rule }
    }
}

/// A file and its size.
#[napi(object, object_from_js = false)]
pub(crate) struct FileSize {
    pub path: String,
    pub bytes: i64,
}

/// A file and a time of it, in milliseconds since 1970.
#[napi(object, object_from_js = false)]
pub(crate) struct FileTime {
    pub path: String,
    pub time: f64,
}

impl From<(MemoryPath, SystemTime)> for FileTime {
    fn from((path, time): (MemoryPath, SystemTime)) -> Self {
        Self { path: path.to_string(), time: to_millis(time) }
    }
}

/// How much a history holds.
#[napi(object, object_from_js = false)]
pub(crate) struct SizeOfHistory {
    pub versions: i64,
    pub bytes: i64,
}

impl From<HistorySize> for SizeOfHistory {
    fn from(size: HistorySize) -> Self {
        Self { versions: number(size.versions), bytes: number(size.bytes) }
    }
}

/// How much a memory holds.
#[napi(object, object_from_js = false)]
pub(crate) struct MemoryStats {
    pub files: i64,
    pub directories: i64,
    pub bytes: i64,
    #[napi(ts_type = "FileSize | undefined")]
    pub largest: Option<FileSize>,
    #[napi(ts_type = "FileTime | undefined")]
    pub oldest: Option<FileTime>,
    #[napi(ts_type = "FileTime | undefined")]
    pub newest: Option<FileTime>,
    #[napi(ts_type = "FileTime | undefined")]
    pub least_recently_used: Option<FileTime>,
    #[napi(ts_type = "SizeOfHistory | undefined")]
    pub history: Option<SizeOfHistory>,
}

impl From<Stats> for MemoryStats {
    fn from(stats: Stats) -> Self {
        let largest = stats.largest;
        Self {
            files: number(stats.files),
            directories: number(stats.directories),
            bytes: number(stats.bytes),
            largest: largest
                .map(|(path, bytes)| FileSize { path: path.to_string(), bytes: number(bytes) }),
            oldest: stats.oldest.map(FileTime::from),
            newest: stats.newest.map(FileTime::from),
            least_recently_used: stats.least_recently_used.map(FileTime::from),
            history: stats.history.map(SizeOfHistory::from),
        }
    }
}

/// How much was erased.
#[napi(object, object_from_js = false)]
pub(crate) struct ErasedMemory {
    pub files: i64,
    pub bytes: i64,
    pub versions: i64,
    pub history_bytes: i64,
}

impl From<Erased> for ErasedMemory {
    fn from(erased: Erased) -> Self {
        Self {
            files: number(erased.files),
            bytes: number(erased.bytes),
            versions: number(erased.versions),
            history_bytes: number(erased.history_bytes),
        }
    }
}

#[napi]
impl Engine {
    /// Removes everything for good, with the whole history.
    #[napi(
        ts_args_type = "dryRun: boolean, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<ErasedMemory>"
    )]
    pub fn erase<'env>(
        &self,
        env: &'env Env,
        dry_run: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let work = move |memory: &Memory| memory.erase(dry_run);
        self.for_own_code(env, Purpose::Change, cancellation, work, ErasedMemory::from)
    }

    /// Where the rules for sensitive text find something.
    #[napi(
        ts_args_type = "path: string, limit: number, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<FoundSensitive>>"
    )]
    pub fn find_sensitive<'env>(
        &self,
        env: &'env Env,
        path: Unknown<'_>,
        limit: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let path = given(env, "path", path, string)?;
        let limit = given(env, "limit", limit, count)?;
        let work = move |memory: &Memory| memory.find_sensitive(&path, limit);
        self.for_own_code(env, Purpose::View, cancellation, work, |found| {
            found.into_iter().map(FoundSensitive::from).collect::<Vec<_>>()
        })
    }

    /// How much the memory holds.
    #[napi(
        ts_args_type = "cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<MemoryStats>"
    )]
    pub fn stats<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.for_own_code(env, Purpose::View, cancellation, Memory::stats, MemoryStats::from)
    }
}
