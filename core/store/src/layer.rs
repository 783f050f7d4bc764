//! [`Layer`]: a store that wraps another one and overrides some of its methods.

use std::time::SystemTime;

use super::access::Times;
use super::batch::{
    BatchError, FileToDelete, FileToWrite, delete_each_unused, times_of_each, write_each,
};
use super::notes::Notes;
use super::{
    Context, Entry, MountTable, Mutation, Node, Problem, Sealing, Store, StoreError, StoreInfo,
    methods_by_mutate, reads_in_context,
};
use crate::path::MemoryPath;

/// Generates the trait and its implementation of [`Store`] from one list of methods, so both have all methods.
macro_rules! layer {
    ($(#[$about:meta])* {
        $(fn $method:ident(&self $(, $argument:ident: $type:ty)*) -> $returns:ty;)*
    }) => {
        $(#[$about])*
        pub trait Layer: Send + Sync {
            /// The wrapped store.
            fn inner(&self) -> &dyn Store;

            $(
                #[doc = concat!("[`Store::", stringify!($method), "`]; by default that of the store beneath.")]
                #[allow(clippy::missing_errors_doc, reason = "they are those of the store's method")]
                fn $method(&self $(, $argument: $type)*) -> $returns {
                    self.inner().$method($($argument),*)
                }
            )*

            /// [`Store::write_batch`]. By default the files go through [`mutate`](Layer::mutate), one after another, so the layer
            /// sees every change. A layer that changes nothing about writes passes the batch to the store beneath.
            #[allow(clippy::missing_errors_doc, reason = "they are those of the store's method")]
            fn write_batch(
                &self,
                context: &Context,
                files: &[FileToWrite<'_>],
            ) -> Result<(), BatchError> {
                let tracks_access = || self.info().tracks_access;
                write_each(context, files, tracks_access, &mut |change| self.mutate(context, change))
            }

            /// [`Store::delete_unused_batch`]. By default the files go through [`mutate`](Layer::mutate), one after another, so the layer
            /// sees every change. A layer that changes nothing about deletions passes the batch to the store beneath.
            #[allow(clippy::missing_errors_doc, reason = "they are those of the store's method")]
            fn delete_unused_batch(
                &self,
                context: &Context,
                files: &[FileToDelete<'_>],
                since: SystemTime,
                visit: &mut dyn FnMut(bool),
            ) -> Result<(), StoreError> {
                let mut mutate = |change: Mutation<'_>| self.mutate(context, change);
                delete_each_unused(context, files, since, &mut mutate, visit)
            }

            /// [`Store::read_batch`]. By default the files are read with [`read_in`](Layer::read_in), one after another, so the layer
            /// sees every read. A layer that changes nothing about reads passes the batch to the store beneath.
            #[allow(clippy::missing_errors_doc, reason = "they are those of the store's method")]
            fn read_batch(
                &self,
                context: &Context,
                paths: &[&MemoryPath],
                visit: &mut dyn FnMut(Vec<u8>),
            ) -> Result<(), StoreError> {
                paths.iter().try_for_each(|path| self.read_in(context, path).map(&mut *visit))
            }

            /// [`Store::read_times`]. By default they are those of [`modified`](Layer::modified) and [`accessed`](Layer::accessed), one after
            /// another.
            #[allow(clippy::missing_errors_doc, reason = "they are those of the store's method")]
            fn read_times(
                &self,
                context: &Context,
                paths: &[&MemoryPath],
            ) -> Result<Vec<Times>, StoreError> {
                let (modified, accessed) =
                    (|path: &_| self.modified(path), |path: &_| self.accessed(path));
                times_of_each(context, paths, self.info().tracks_access, modified, accessed)
            }

            /// [`Store::mounts`]. By default `None`, because access to the mounted stores would bypass the layer.
            fn mounts(&self) -> Option<&dyn MountTable> {
                None
            }
        }

        // A method with the default of `Store` would bypass the wrapped store.
        #[deny(clippy::missing_trait_methods)]
        impl<L: Layer> Store for L {
            methods_by_mutate!();
            reads_in_context!();

            $(
                fn $method(&self $(, $argument: $type)*) -> $returns {
                    Layer::$method(self $(, $argument)*)
                }
            )*

            fn write_batch(
                &self,
                context: &Context,
                files: &[FileToWrite<'_>],
            ) -> Result<(), BatchError> {
                Layer::write_batch(self, context, files)
            }

            fn delete_unused_batch(
                &self,
                context: &Context,
                files: &[FileToDelete<'_>],
                since: SystemTime,
                visit: &mut dyn FnMut(bool),
            ) -> Result<(), StoreError> {
                Layer::delete_unused_batch(self, context, files, since, visit)
            }

            fn read_batch(
                &self,
                context: &Context,
                paths: &[&MemoryPath],
                visit: &mut dyn FnMut(Vec<u8>),
            ) -> Result<(), StoreError> {
                Layer::read_batch(self, context, paths, visit)
            }

            fn read_times(
                &self,
                context: &Context,
                paths: &[&MemoryPath],
            ) -> Result<Vec<Times>, StoreError> {
                Layer::read_times(self, context, paths)
            }

            fn mounts(&self) -> Option<&dyn MountTable> {
                Layer::mounts(self)
            }
        }
    };
}

layer! {
    /// A store that wraps another one. Every method that you do not override is forwarded to [`inner`](Layer::inner).
    ///
    /// Every layer is a [`Store`]. If a wrapper implements [`Store`] itself and omits a method, it gets that method's default
    /// instead of the wrapped store's better implementation.
    ///
    /// All changes go through one method, [`mutate`](Layer::mutate), so a layer that forbids or records changes sees every
    /// change. Reads that may wait go through the methods with a context: [`read_in`](Layer::read_in),
    /// [`list_in`](Layer::list_in), [`open_in`](Layer::open_in), [`files_in`](Layer::files_in). A layer that overrides one of
    /// them passes the context on.
    ///
    /// All other methods are forwarded as well. If a layer hides or translates something, check each method. A wrapper that
    /// translates paths, as encryption does, should implement [`Store`] itself, so it does not forward a new method by accident.
    ///
    /// Implement only one of the two traits, and import only the one whose methods you call: their methods have the same names.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use memdir::store::{Context, InProcess, Layer, Mutation, Store, StoreError};
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// /// Nothing is ever deleted.
    /// struct KeepsAll<S>(S);
    ///
    /// impl<S: Store> Layer for KeepsAll<S> {
    ///     fn inner(&self) -> &dyn Store {
    ///         &self.0
    ///     }
    ///
    ///     fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
    ///         match mutation {
    ///             Mutation::Delete { .. }
    ///             | Mutation::DeleteIf { .. }
    ///             | Mutation::DeleteUnused { .. }
    ///             | Mutation::Clear => Err(StoreError::PermissionDenied),
    ///             other => self.inner().mutate(context, other),
    ///         }
    ///     }
    /// }
    ///
    /// let memory = Memory::with_store(Arc::new(KeepsAll(InProcess::new())), MemoryOptions::default());
    /// memory.create("/memories/a.md", "one")?;
    /// assert!(memory.delete("/memories/a.md").is_err());
    /// # Ok::<(), memdir::Error>(())
    /// ```
    {
        fn info(&self) -> StoreInfo;
        fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError>;
        fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError>;
        fn open_in(&self, context: &Context, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError>;
        fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError>;
        fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>>;
        fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError>;
        fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError>;
        fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError>;
        fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError>;
        fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError>;
        fn revision(&self) -> Result<Option<String>, StoreError>;
        fn notes(&self) -> Option<&dyn Notes>;
        fn sealing(&self) -> Option<&dyn Sealing>;
        fn can_keep(&self, path: &MemoryPath) -> bool;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{Condition, Edit, InContext, OnExisting, ReadOnly};

    /// Records the names of the called methods. Methods that can fail return an error.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<&'static str>>);

    macro_rules! recorder {
        ($($method:ident($($type:ty),*) -> $returns:ty = $answer:expr;)*) => {
            #[deny(clippy::missing_trait_methods)]
            impl Store for &'static Recorder {
                $(
                    fn $method(&self $(, _: $type)*) -> $returns {
                        self.0.lock().unwrap().push(stringify!($method));
                        $answer
                    }
                )*

                fn mounts(&self) -> Option<&dyn MountTable> {
                    None
                }
            }
        };
    }

    recorder! {
        info() -> StoreInfo = StoreInfo::default();
        read(&MemoryPath) -> Result<Vec<u8>, StoreError> = Err(StoreError::Busy);
        list(&MemoryPath) -> Result<Vec<Entry>, StoreError> = Err(StoreError::Busy);
        open(&MemoryPath, usize) -> Result<Node<'_>, StoreError> = Err(StoreError::Busy);
        open_nowait(&MemoryPath, usize) -> Option<Result<Node<'_>, StoreError>> = None;
        files(&mut dyn FnMut(Entry)) -> Result<(), StoreError> = Err(StoreError::Busy);
        read_in(&Context, &MemoryPath) -> Result<Vec<u8>, StoreError> = Err(StoreError::Busy);
        list_in(&Context, &MemoryPath) -> Result<Vec<Entry>, StoreError> = Err(StoreError::Busy);
        open_in(&Context, &MemoryPath, usize) -> Result<Node<'_>, StoreError> = Err(StoreError::Busy);
        files_in(&Context, &mut dyn FnMut(Entry)) -> Result<(), StoreError> = Err(StoreError::Busy);
        write(&MemoryPath, &[u8], OnExisting) -> Result<(), StoreError> = Err(StoreError::Busy);
        write_unique(&MemoryPath, &[u8]) -> Result<(), StoreError> = Err(StoreError::Busy);
        update(&MemoryPath, &mut Edit<'_>) -> Result<(), StoreError> = Err(StoreError::Busy);
        delete(&MemoryPath) -> Result<(), StoreError> = Err(StoreError::Busy);
        rename(&MemoryPath, &MemoryPath) -> Result<(), StoreError> = Err(StoreError::Busy);
        clear() -> Result<(), StoreError> = Err(StoreError::Busy);
        modified(&MemoryPath) -> Result<Option<SystemTime>, StoreError> = Err(StoreError::Busy);
        set_modified(&MemoryPath, SystemTime) -> Result<(), StoreError> = Err(StoreError::Busy);
        accessed(&MemoryPath) -> Result<Option<SystemTime>, StoreError> = Err(StoreError::Busy);
        record_access(&MemoryPath, SystemTime) -> Result<(), StoreError> = Err(StoreError::Busy);
        unused(Vec<Entry>, SystemTime) -> Result<Vec<Entry>, StoreError> = Err(StoreError::Busy);
        delete_unused(&MemoryPath, SystemTime) -> Result<bool, StoreError> = Err(StoreError::Busy);
        delete_if(&MemoryPath, &mut Condition<'_>) -> Result<bool, StoreError> = Err(StoreError::Busy);
        rename_if(&MemoryPath, &MemoryPath, &mut Condition<'_>) -> Result<bool, StoreError> = Err(StoreError::Busy);
        make_directory(&MemoryPath) -> Result<(), StoreError> = Err(StoreError::Busy);
        remove_directory(&MemoryPath) -> Result<bool, StoreError> = Err(StoreError::Busy);
        mutate(&Context, Mutation<'_>) -> Result<bool, StoreError> = Err(StoreError::Busy);
        write_batch(&Context, &[FileToWrite<'_>]) -> Result<(), BatchError> =
            Err(BatchError { written: 0, error: StoreError::Busy });
        delete_unused_batch(&Context, &[FileToDelete<'_>], SystemTime, &mut dyn FnMut(bool)) ->
            Result<(), StoreError> = Err(StoreError::Busy);
        read_batch(&Context, &[&MemoryPath], &mut dyn FnMut(Vec<u8>)) -> Result<(), StoreError> =
            Err(StoreError::Busy);
        read_times(&Context, &[&MemoryPath]) -> Result<Vec<Times>, StoreError> = Err(StoreError::Busy);
        inspect(&mut dyn FnMut(Problem)) -> Result<(), StoreError> = Err(StoreError::Busy);
        revision() -> Result<Option<String>, StoreError> = Err(StoreError::Busy);
        notes() -> Option<&dyn Notes> = None;
        sealing() -> Option<&dyn Sealing> = None;
        can_keep(&MemoryPath) -> bool = false;
    }

    struct Plain(&'static Recorder);

    impl Layer for Plain {
        fn inner(&self) -> &dyn Store {
            &self.0
        }
    }

    /// Calls every method once and returns the names of those that reached the recorder.
    fn reached(over: impl FnOnce(&'static Recorder) -> Box<dyn Store>) -> Vec<&'static str> {
        let recorder: &'static Recorder = Box::leak(Box::default());
        let store = over(recorder);
        let (a, b) =
            (MemoryPath::parse("/memories/a").unwrap(), MemoryPath::parse("/memories/b").unwrap());
        let time = SystemTime::UNIX_EPOCH;
        let _ = store.info();
        let _ = store.read(&a);
        let _ = store.list(&a);
        let _ = store.open(&a, 1);
        let _ = store.open_nowait(&a, 1);
        let _ = store.files(&mut |_| {});
        let context = &Context::new();
        let _ = store.read_in(context, &a);
        let _ = store.list_in(context, &a);
        let _ = store.open_in(context, &a, 1);
        let _ = store.files_in(context, &mut |_| {});
        let _ = store.write(&a, b"", OnExisting::Error);
        let _ = store.write_unique(&a, b"");
        let _ = store.update(&a, &mut |_| None);
        let _ = store.delete(&a);
        let _ = store.rename(&a, &b);
        let _ = store.clear();
        let _ = store.modified(&a);
        let _ = store.set_modified(&a, time);
        let _ = store.accessed(&a);
        let _ = store.record_access(&a, time);
        let _ = store.unused(Vec::new(), time);
        let _ = store.delete_unused(&a, time);
        let _ = store.delete_if(&a, &mut |_| true);
        let _ = store.rename_if(&a, &b, &mut |_| true);
        let _ = store.make_directory(&a);
        let _ = store.remove_directory(&a);
        let _ = store.mutate(context, Mutation::Clear);
        let (content, existing) = (&b""[..], OnExisting::Error);
        let file = FileToWrite { path: &a, content, times: Times::default(), existing, note: None };
        let _ = store.write_batch(context, &[file]);
        let file = FileToDelete { path: &a, note: None };
        let _ = store.delete_unused_batch(context, &[file], time, &mut |_| {});
        let _ = store.read_batch(context, &[&a], &mut |_| {});
        let _ = store.read_times(context, &[&a]);
        let _ = store.inspect(&mut |_| {});
        let _ = store.revision();
        let _ = store.notes();
        let _ = store.sealing();
        let _ = store.can_keep(&a);
        drop(store);
        std::mem::take(&mut recorder.0.lock().unwrap())
    }

    /// The methods that make a change.
    const CHANGES: [&str; 13] = [
        "write",
        "write_unique",
        "update",
        "delete",
        "rename",
        "clear",
        "set_modified",
        "record_access",
        "delete_unused",
        "delete_if",
        "rename_if",
        "make_directory",
        "remove_directory",
    ];

    /// The names of the methods in the source of [`Store`], except the one that no layer forwards.
    fn methods_of_store() -> Vec<&'static str> {
        let (_, source) = include_str!("lib.rs").split_once("\npub trait Store:").unwrap();
        let (source, _) = source.split_once("\n}\n").unwrap();
        source
            .lines()
            .filter_map(|line| line.strip_prefix("    fn ")?.split_once('(').map(|(name, _)| name))
            .filter(|name| *name != "mounts")
            .collect()
    }

    #[test]
    fn a_layer_forwards_every_method_of_a_store_once() {
        assert!(methods_of_store().contains(&"can_keep"));
        assert_eq!(reached(|recorder| Box::new(recorder)), methods_of_store());
        let forward = |method: &'static str| match method {
            "read" => "read_in",
            "list" => "list_in",
            "open" => "open_in",
            "files" => "files_in",
            change if CHANGES.contains(&change) => "mutate",
            method => method,
        };
        let forwarded: Vec<&str> = methods_of_store().into_iter().map(forward).collect();
        let bound = |recorder: &'static Recorder| -> Box<dyn Store> {
            let store: &'static &'static Recorder = Box::leak(Box::new(recorder));
            Box::new(InContext::new(store, &Context::new()))
        };
        assert_eq!(reached(bound), forwarded);
        // A layer that forbids or records something must see each file of a batch.
        let forwarded: Vec<&str> = forwarded
            .into_iter()
            .flat_map(|name| match name {
                "write_batch" | "delete_unused_batch" => vec!["mutate"],
                "read_batch" => vec!["read_in"],
                "read_times" => vec!["info", "modified"],
                name => vec![name],
            })
            .collect();
        assert_eq!(reached(|recorder| Box::new(Plain(recorder))), forwarded);
    }

    #[test]
    fn a_read_only_layer_forwards_only_what_is_known_to_change_nothing() {
        assert_eq!(
            reached(|recorder| Box::new(ReadOnly::new(recorder))),
            [
                "info",
                "read_in",
                "list_in",
                "open_in",
                "open_nowait",
                "files_in",
                "read_in",
                "list_in",
                "open_in",
                "files_in",
                "modified",
                "accessed",
                "read_batch",
                "read_times",
                "inspect",
                "revision",
                "notes",
                "sealing",
                "can_keep"
            ]
        );
    }
}
