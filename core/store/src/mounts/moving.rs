//! Renames from one store into another, which cannot be done in one step.
//!
//! The copy is made under a hidden name and compared with the original, then renamed to its destination. The original is
//! then renamed to a hidden name, so no other caller can change it, and compared again. If it still equals the copy, it is
//! deleted. If not, it is put back, the copy is deleted, and the move starts again ([`taking`]). At every moment one
//! complete copy is at its path, and every acknowledged edit is in one of them.
//!
//! A store can fail before, after or in the middle of each step. So the copy is deleted only if the original is certainly
//! complete and at its path. Otherwise both stay, and the error says that the outcome is unknown. The same holds if a store does not
//! answer: it may carry out the step later.

use super::snapshot::{Snapshot, SnapshotError, Snapshotter, from_above, is_part};
use super::taking::{self, Stopped, Taken, temporary_path};
use crate::path::MemoryPath;
use crate::{Condition, Context, EntryKind, InContext, Mutation, Node, Store, StoreError};

/// The limit of attempts for a move whose source is being changed.
const MAX_ATTEMPTS: usize = 20;

/// One end of a rename.
pub(super) struct End<'m> {
    pub(super) store: &'m dyn Store,
    /// The path within the store.
    pub(super) inside: MemoryPath,
    /// The path in the whole tree.
    pub(super) path: &'m MemoryPath,
    /// Whether it is a mount point or above one.
    pub(super) fixed: bool,
}

/// Moves a file or directory into another store. With a condition it moves only a file, and only if its content meets the
/// condition. Returns whether it did.
pub(super) fn rename(
    context: &Context,
    from: &End<'_>,
    to: &End<'_>,
    mut condition: Option<&mut Condition<'_>>,
) -> Result<bool, StoreError> {
    for _ in 0..MAX_ATTEMPTS {
        let mut accepted = None;
        if let Some(condition) = &mut condition {
            accepted = accepted_content(context, from, condition)?;
            if accepted.is_none() {
                return Ok(false);
            }
        }
        if attempt(context, from, to, accepted.as_deref())? {
            return Ok(true);
        }
    }
    Err(failed(from, "it was changed each time when it had been copied").unchanged())
}

/// The content of the file to move, if it meets the condition.
pub(super) fn accepted_content(
    context: &Context,
    from: &End<'_>,
    condition: &mut Condition<'_>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let read = from.store.read_in(context, &from.inside);
    let content = read.map_err(|error| error.about_source().unchanged())?;
    Ok(condition(&content).then_some(content))
}

/// Checks the conditions of a rename in the order of [`Store::rename`]. Returns the path that the rename creates: the
/// topmost missing directory above the destination, or the destination itself.
pub(super) fn check(
    context: &Context,
    from: &End<'_>,
    to: &End<'_>,
) -> Result<MemoryPath, StoreError> {
    let moves_directory =
        is_directory(context, from.store, &from.inside).map_err(StoreError::about_source)?;
    if to.fixed {
        return Err(StoreError::AlreadyExists);
    }
    match is_directory(context, to.store, &to.inside) {
        Ok(_) => return Err(StoreError::AlreadyExists),
        Err(error) if error.is_failure() => return Err(error),
        // The destination's own rename reports all other errors.
        Err(_) => {}
    }
    if from.store.info().is_read_only {
        return Err(StoreError::ReadOnly.about_source());
    }
    if to.store.info().is_read_only {
        return Err(StoreError::ReadOnly);
    }
    if moves_directory && (from.path.is_above(to.path) || holds(from, to)) {
        return Err(StoreError::IntoItself);
    }
    let mut new = to.inside.clone();
    while let Some(above) = new.parent() {
        match is_directory(context, to.store, &above) {
            Ok(true) => break,
            Ok(false) => return Err(StoreError::NotADirectory),
            Err(StoreError::NotFound) => new = above,
            Err(error) => return Err(error),
        }
    }
    Ok(new)
}

/// Whether the destination is inside the source, through any mount of the same store.
fn holds(from: &End<'_>, to: &End<'_>) -> bool {
    let at = |end: &End<'_>| match end.store.info().locations.as_slice() {
        [only] => Some(only.below(&end.inside)),
        _ => None,
    };
    at(from).zip(at(to)).is_some_and(|(from, to)| from.holds(&to))
}

/// For a rename within a store that is not mounted at the root. Paths in the whole tree are longer than in the store, so
/// this refuses a rename that would make a path in the whole tree too long or too deep.
pub(super) fn check_paths_below(
    context: &Context,
    from: &End<'_>,
    to: &End<'_>,
) -> Result<(), StoreError> {
    let longer = to.path.as_str().len() > from.path.as_str().len()
        || to.path.names().count() > from.path.names().count();
    if !longer || from.path == &from.inside {
        return Ok(());
    }
    let mut directories = vec![from.inside.clone()];
    while let Some(directory) = directories.pop() {
        // The store's own rename reports errors of the source.
        for entry in from.store.list_in(context, &directory).unwrap_or_default() {
            if entry.path.moved(&from.inside, to.path).is_err() {
                let checked = check(context, from, to).map_err(StoreError::unchanged);
                return checked.and(Err(StoreError::NameTooLong));
            }
            if entry.kind == EntryKind::Directory {
                directories.push(entry.path);
            }
        }
    }
    Ok(())
}

/// Attempts the move once. Returns `false` if the source was changed meanwhile; then nothing has changed. If `accepted` is
/// given, moves only a file with that content.
fn attempt(
    context: &Context,
    from: &End<'_>,
    to: &End<'_>,
    accepted: Option<&[u8]>,
) -> Result<bool, StoreError> {
    let new = check(context, from, to).map_err(StoreError::unchanged)?;
    let snapshotter = Snapshotter::new();
    let temporary_path = temporary_path()?;
    let fits = |below: &MemoryPath| below.moved(&MemoryPath::root(), to.path).is_ok();
    let (source, destination) =
        (InContext::new(from.store, context), InContext::new(to.store, context));
    let copied = snapshotter
        .copy((&source, &from.inside), (&destination, &temporary_path), fits)
        .and_then(|seen| match accepted {
            Some(content) if seen != snapshotter.of_file(content) => Err(SnapshotError::Changed),
            _ => Ok(seen),
        })
        .map(|seen| (seen, taking::rename(context, to.store, &temporary_path, &to.inside)));
    // The call can be cancelled up to here. The next steps must complete as a whole.
    let context = &context.to_the_end();
    let clean = || {
        // No other caller knows this hidden name. If the deletion fails, the copy stays invisible.
        let _ = to.store.mutate(context, Mutation::Delete { path: &temporary_path });
    };
    match copied {
        Ok((seen, Ok(()))) => remove_original(context, from, to, &snapshotter, &new, &seen),
        // The store may put the copy in its place later, unless it is gone by then.
        Ok((_, Err(Stopped::Halfway(error)))) if error.is_unanswered() => {
            clean();
            Err(failed(from, error))
        }
        Ok((seen, Err(Stopped::Halfway(error)))) => {
            let undone = undo(context, &snapshotter, to, &new, &seen, is_part);
            clean();
            Err(match undone {
                Ok(()) => error.unchanged(),
                Err(_) => failed(from, format!("a part of the copy may be there: {error}")),
            })
        }
        Ok((_, Err(Stopped::Before(error)))) => {
            clean();
            Err(not_copied(from, error))
        }
        Err(error) => {
            clean();
            match error {
                SnapshotError::Changed => Ok(false),
                SnapshotError::Source(error) => Err(error.about_source().unchanged()),
                SnapshotError::Destination(error) => Err(not_copied(from, error)),
            }
        }
    }
}

/// The error if the destination has no copy and nothing has changed.
fn not_copied(from: &End<'_>, error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound | StoreError::Source(_) => {
            failed(from, "the copy was removed before it was in its place").unchanged()
        }
        error => error.unchanged(),
    }
}

/// Removes the original, now that the copy is at the destination. If that fails, removes the copy.
fn remove_original(
    context: &Context,
    from: &End<'_>,
    to: &End<'_>,
    snapshotter: &Snapshotter,
    new: &MemoryPath,
    seen: &Snapshot,
) -> Result<bool, StoreError> {
    match taking::take(context, snapshotter, from.store, &from.inside, &|there| there == seen)? {
        Taken::Gone => Ok(true),
        Taken::Stays(reason) => {
            undo(context, snapshotter, to, new, seen, Snapshot::eq)
                .map_err(|error| failed(from, format!("there are two copies now: {error}")))?;
            reason.map_or(Ok(false), |error| Err(error.about_source().unchanged()))
        }
    }
}

/// Removes the copy, and the parents that were created for it, unless another caller has already changed it: `is_ours`
/// compares it with the copied content.
fn undo(
    context: &Context,
    snapshotter: &Snapshotter,
    to: &End<'_>,
    new: &MemoryPath,
    seen: &Snapshot,
    is_ours: fn(&Snapshot, &Snapshot) -> bool,
) -> Result<(), StoreError> {
    let below = to.inside.moved(new, &MemoryPath::root()).map_err(|_| StoreError::NameTooLong)?;
    let with_parents = from_above(seen, &below)?;
    match taking::take(context, snapshotter, to.store, new, &|there| is_ours(there, &with_parents))?
    {
        Taken::Gone | Taken::Stays(Some(StoreError::NotFound)) => return Ok(()),
        Taken::Stays(_) => {}
    }
    // Another caller has created something beside the copy, so the parents stay.
    match taking::take(context, snapshotter, to.store, &to.inside, &|there| is_ours(there, seen))? {
        Taken::Gone | Taken::Stays(Some(StoreError::NotFound)) => Ok(()),
        Taken::Stays(Some(error)) => Err(error),
        Taken::Stays(None) => {
            Err(StoreError::failed(format!("removing {}", to.path), "it was changed meanwhile"))
        }
    }
}

fn is_directory(
    context: &Context,
    store: &dyn Store,
    path: &MemoryPath,
) -> Result<bool, StoreError> {
    match store.open_in(context, path, 1) {
        Ok(node) => Ok(matches!(node, Node::Directory(_))),
        Err(StoreError::NotADirectory) => Err(StoreError::NotFound),
        Err(error) => Err(error),
    }
}

fn failed(
    from: &End<'_>,
    problem: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::failed(format!("moving {} to another store", from.path), problem)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::settings::OnExisting;
    use crate::{Cancellation, Effect, InProcess, Layer};

    /// A store whose caller cancels at one of its operations. The store checks for cancellation before it changes anything.
    struct Watched<'w> {
        store: InProcess,
        caller: &'w Cancellation,
        operations: &'w AtomicUsize,
        leaves_at: usize,
    }

    impl Layer for Watched<'_> {
        fn inner(&self) -> &dyn Store {
            &self.store
        }

        fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
            if matches!(mutation, Mutation::SetModified { .. } | Mutation::RecordAccess { .. }) {
                return self.store.mutate(context, mutation);
            }
            if self.operations.fetch_add(1, Ordering::Relaxed) == self.leaves_at {
                self.caller.cancel();
            }
            context.check()?;
            self.store.mutate(context, mutation)
        }
    }

    #[test]
    fn a_caller_that_goes_away_leaves_all_as_it_was_or_all_of_it_moved() {
        let at = |path: &str| MemoryPath::parse(path).unwrap();
        let (mut cancelled, mut done) = (0, 0);
        for leaves_at in 0.. {
            let (caller, operations) = (Cancellation::new(), AtomicUsize::new(0));
            let watched = || Watched {
                store: InProcess::new(),
                caller: &caller,
                operations: &operations,
                leaves_at,
            };
            let (source, destination) = (watched(), watched());
            for name in ["a", "b", "c"] {
                let path = at("/memories/d").join(name).unwrap();
                source.store.write(&path, name.as_bytes(), OnExisting::Error).unwrap();
            }
            let (from, to) = (at("/memories/d"), at("/memories/new/d"));
            let end = |store, path| End { store, inside: Clone::clone(path), path, fixed: false };
            let context = Context::new().cancelled_by(&caller);
            let result = rename(&context, &end(&source, &from), &end(&destination, &to), None);
            let count = |store: &InProcess| {
                let mut files = 0;
                store.files(&mut |_| files += 1).unwrap();
                (files, store.list(&MemoryPath::root()).unwrap().len())
            };
            let (left, arrived) = (count(&source.store), count(&destination.store));
            match result {
                Ok(_) => assert_eq!((left, arrived), ((0, 0), (3, 1)), "{leaves_at}"),
                Err(StoreError::Cancelled) => {
                    cancelled += 1;
                    assert_eq!((left, arrived), ((3, 1), (0, 0)), "{leaves_at}");
                }
                Err(other) => panic!("{leaves_at}: {other}"),
            }
            if !caller.is_cancelled() {
                break;
            }
            done += usize::from(left.0 == 0);
        }
        // Cancellation works while the files are copied and while the copy is renamed; later it is too late.
        assert!(cancelled >= 4 && done >= 2, "{cancelled} {done}");
    }

    /// A store that leaves some of its operations unanswered. It makes them at once, later, or never.
    struct Unanswering<'u> {
        store: InProcess,
        operations: &'u AtomicUsize,
        silent: std::ops::Range<usize>,
        when: When,
        late: Mutex<Vec<Late>>,
    }

    type Late = Box<dyn FnOnce(&InProcess) + Send>;

    #[derive(Debug, Clone, Copy, PartialEq)]
    enum When {
        AtOnce,
        Later,
        Never,
    }

    impl Layer for Unanswering<'_> {
        fn inner(&self) -> &dyn Store {
            &self.store
        }

        fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
            if !self.silent.contains(&self.operations.fetch_add(1, Ordering::Relaxed)) {
                return self.store.mutate(context, mutation);
            }
            let late: Late = match mutation {
                Mutation::Write { path, content, existing } => {
                    let (path, content) = (path.clone(), content.to_vec());
                    Box::new(move |store| drop(store.write(&path, &content, existing)))
                }
                Mutation::Delete { path } => {
                    let path = path.clone();
                    Box::new(move |store| drop(store.delete(&path)))
                }
                Mutation::Rename { from, to } => {
                    let (from, to) = (from.clone(), to.clone());
                    Box::new(move |store| drop(store.rename(&from, &to)))
                }
                Mutation::MakeDirectory { path } => {
                    let path = path.clone();
                    Box::new(move |store| drop(store.make_directory(&path)))
                }
                // The times of the copy, which are not compared here.
                other => return other.apply_to(&self.store),
            };
            match self.when {
                When::AtOnce => late(&self.store),
                When::Later => self.late.lock().unwrap().push(late),
                When::Never => {}
            }
            Err(StoreError::unanswered("testing"))
        }
    }

    #[test]
    fn what_a_store_makes_of_a_move_after_it_was_given_up_contradicts_no_reply() {
        let at = |path: &str| MemoryPath::parse(path).unwrap();
        let mut unknown = 0;
        for (when, lasts) in [When::AtOnce, When::Later, When::Never]
            .into_iter()
            .flat_map(|when| [1, usize::MAX].map(|lasts| (when, lasts)))
        {
            for first in 0_usize.. {
                let operations = AtomicUsize::new(0);
                let silent = first..first.saturating_add(lasts);
                let unanswering = || Unanswering {
                    store: InProcess::new(),
                    operations: &operations,
                    silent: silent.clone(),
                    when,
                    late: Mutex::default(),
                };
                let (source, destination) = (unanswering(), unanswering());
                let names = ["a", "b", "c"];
                let (from, to) = (at("/memories/d"), at("/memories/new/d"));
                for name in names {
                    let path = from.join(name).unwrap();
                    source.store.write(&path, name.as_bytes(), OnExisting::Error).unwrap();
                }
                let end =
                    |store, path| End { store, inside: Clone::clone(path), path, fixed: false };
                let (old, new) = (end(&source, &from), end(&destination, &to));
                let result = rename(&Context::new(), &old, &new, None);
                // How many of the files are in their place.
                let count = |store: &InProcess, directory: &MemoryPath| {
                    let holds = |name: &&str| {
                        let read = store.read(&directory.join(name).unwrap());
                        read.is_ok_and(|content| content == name.as_bytes())
                    };
                    names.iter().filter(|name| holds(name)).count()
                };
                for is_later in [false, true] {
                    let context = format!("{when:?} {silent:?} {is_later} {result:?}");
                    match (&result, count(&source.store, &from), count(&destination.store, &to)) {
                        (Ok(true), 0, 3) => {}
                        (Err(StoreError::Failed { effect: Effect::Unchanged, .. }), 3, 0) => {}
                        (Err(error), left, arrived) if error.may_have_changed() => {
                            assert!(error.is_unanswered(), "{context}");
                            assert!(left == 3 || arrived == 3, "{context} {left} {arrived}");
                            unknown += 1;
                        }
                        (_, left, arrived) => panic!("{context} {left} {arrived}"),
                    }
                    for store in [&source, &destination] {
                        for late in store.late.lock().unwrap().drain(..) {
                            late(&store.store);
                        }
                    }
                }
                if operations.into_inner() <= first {
                    assert!(matches!(result, Ok(true)));
                    break;
                }
            }
        }
        // The copy or the original was on its way to its place, or out of it.
        assert!(unknown >= 12, "{unknown}");
    }
}
