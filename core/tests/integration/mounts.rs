//! Several stores in one tree: the store of each path, the entries of directories, permanent
//! directories, and read-only parts.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::failing::UNREACHABLE;
use crate::common::store_helpers::{at, in_process, memory, put, refusal, shown};
use memdir::store::{
    Condition, Edit, Entry, Mount, Mounts, Node, StoreInfo, check_contract, open_mounts,
};
use memdir::{Error, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

/// Mounts seen from another root: below `top`, and without `hidden`.
struct Seen {
    mounts: Mounts,
    top: MemoryPath,
    hidden: MemoryPath,
}

impl Seen {
    fn inside(&self, path: &MemoryPath) -> MemoryPath {
        path.moved(&MemoryPath::root(), &self.top).unwrap_or_else(|_| at("/memories/none"))
    }

    fn outside(&self, entries: Vec<Entry>) -> Vec<Entry> {
        let seen = |mut entry: Entry| {
            let shows = entry.path != self.hidden && !self.hidden.is_above(&entry.path);
            entry.path = entry.path.moved(&self.top, &MemoryPath::root()).unwrap();
            shows.then_some(entry)
        };
        entries.into_iter().filter_map(seen).collect()
    }
}

impl Store for Seen {
    fn info(&self) -> StoreInfo {
        let StoreInfo { conditions_are_atomic, .. } = self.mounts.info();
        StoreInfo { conditions_are_atomic, ..StoreInfo::default() }
    }

    fn delete_if(
        &self,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        self.mounts.delete_if(&self.inside(path), condition)
    }

    fn rename_if(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        self.mounts.rename_if(&self.inside(from), &self.inside(to), condition)
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.mounts.read(&self.inside(path))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.mounts.list(&self.inside(path)).map(|entries| self.outside(entries))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        Ok(match self.mounts.open(&self.inside(path), depth)? {
            Node::Directory(entries) => Node::Directory(self.outside(entries)),
            file => file,
        })
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.mounts.files(&mut |file| {
            if self.top.is_above(&file.path) {
                self.outside(vec![file]).into_iter().for_each(&mut *visit);
            }
        })
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.mounts.write(&self.inside(path), content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.mounts.update(&self.inside(path), edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.mounts.delete(&self.inside(path))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.mounts.rename(&self.inside(from), &self.inside(to))
    }

    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.mounts.make_directory(&self.inside(path))
    }

    fn set_modified(
        &self,
        path: &MemoryPath,
        time: std::time::SystemTime,
    ) -> Result<(), StoreError> {
        self.mounts.set_modified(&self.inside(path), time)
    }
}

#[test]
fn mounts_keep_the_contract() {
    let none = at("/memories/.none");
    let seen = |mounts: Mounts, top: &str, hidden: &str| -> Arc<dyn Store> {
        Arc::new(Seen { mounts, top: at(top), hidden: at(hidden) })
    };
    // No mounts.
    check_contract(&|| Arc::new(Mounts::new(in_process()))).unwrap();
    // Next to a mount point.
    check_contract(&|| {
        let mounts = Mounts::new(in_process()).mount(none.clone(), in_process()).unwrap();
        seen(mounts, "/memories", "/memories/.none")
    })
    .unwrap();
    // Below a mount point, which is below another one.
    check_contract(&|| {
        let mounts = Mounts::new(in_process())
            .mount(at("/memories/outer"), in_process())
            .and_then(|mounts| mounts.mount(at("/memories/outer/deep/inner"), in_process()));
        seen(mounts.unwrap(), "/memories/outer/deep/inner", "/memories/none")
    })
    .unwrap();
}

#[test]
fn the_longest_mount_point_decides() {
    let stores = [in_process(), in_process(), in_process()];
    let [root, team, old] = stores.clone();
    let mounts = Mounts::new(root)
        .mount(at("/memories/team/archive/old"), old)
        .and_then(|mounts| mounts.mount(at("/memories/team"), team))
        .unwrap();
    assert_eq!(
        format!("{mounts:?}"),
        "[\"/memories\", \"/memories/team\", \"/memories/team/archive/old\"]"
    );
    let memory = memory(mounts);
    for path in [
        "/memories/a",
        "/memories/team.md",
        "/memories/teams/b",
        "/memories/team/c",
        "/memories/team/archive/d",
        "/memories/team/archive/older/e",
        "/memories/team/archive/old/f",
        "/memories/team/archive/old/deep/er/g",
    ] {
        memory.create(path, path).unwrap();
        memory.insert(path, 1, "more").unwrap();
        assert!(memory.view(path, None).unwrap().ends_with("more"));
    }
    let held = stores.map(|store| {
        let mut held: Vec<String> = match store.open(&MemoryPath::root(), 9).unwrap() {
            Node::Directory(entries) => {
                let files = entries.into_iter().map(|entry| entry.path);
                files.filter(|path| store.read(path).is_ok()).map(|path| path.to_string()).collect()
            }
            _ => panic!(),
        };
        held.sort();
        held
    });
    assert_eq!(
        held,
        [
            vec!["/memories/a", "/memories/team.md", "/memories/teams/b"],
            vec!["/memories/archive/d", "/memories/archive/older/e", "/memories/c"],
            vec!["/memories/deep/er/g", "/memories/f"],
        ]
    );
}

#[test]
fn a_mount_needs_a_place_of_its_own() {
    let mounts = || Mounts::new(in_process()).mount(at("/memories/a"), in_process()).unwrap();
    for taken in ["/memories", "/memories/a"] {
        let error = mounts().mount(at(taken), in_process()).unwrap_err();
        assert_eq!(error.to_string(), format!("two stores are to be mounted at {taken}"));
    }
    let deep = at(&format!("/memories{}", "/d".repeat(64)));
    let error = mounts().mount(deep, in_process()).unwrap_err();
    assert!(error.to_string().ends_with(": it is too deep"), "{error}");

    let open = |mounts: &[(&str, &str)]| {
        let mounts = mounts.iter().map(|(path, address)| Mount::new(*path, *address));
        open_mounts(mounts, &MemoryOptions::default()).map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        open(&[("/memories/a", "memory:")]),
        "no store is mounted at \"/memories\": one has to be, for all that is in no other"
    );
    assert_eq!(open(&[]), open(&[("/memories/a", "memory:")]));
    assert_eq!(
        open(&[("/memories", "memory:"), ("/memories/a", "memory:"), ("/memories//a/", "memory:")]),
        "two stores are to be mounted at /memories/a"
    );
    assert_eq!(
        open(&[("/memories", "memory:"), ("/memories/../a", "memory:")]),
        "a store cannot be mounted at \"/memories/../a\": the path would escape /memories"
    );
    assert!(open(&[("/memories", "nowhere://user:secret@host")]).contains("\"nowhere:\""));
}

#[test]
fn listings_show_mount_points_as_directories() {
    let (root, team, hidden) = (in_process(), in_process(), in_process());
    put(&*root, "/memories/a.md", "12");
    // Behind the mounts: not shown, and not touched.
    put(&*root, "/memories/team/behind.md", "x");
    put(&*root, "/memories/far", "a file where a directory has to be");
    put(&*root, "/memories/z/own.md", "123");
    put(&*team, "/memories/t.md", "1");
    put(&*team, "/memories/.secret", "1");
    put(&*team, "/memories/sub/s.md", "1");
    put(&*hidden, "/memories/h.md", "1");
    let mounts = [
        ("/memories/team", team),
        ("/memories/far/away/store", in_process()),
        ("/memories/z/mounted", in_process()),
        ("/memories/.hidden/store", hidden),
    ];
    let mounts =
        mounts.into_iter().fold(Mounts::new(Arc::clone(&root)), |mounts, (path, store)| {
            mounts.mount(at(path), store).unwrap()
        });
    let memory = memory(mounts);
    assert_eq!(
        memory.view("/memories", None).unwrap(),
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden \
         items and node_modules:\n\
         4.0K\t/memories\n\
         2B\t/memories/a.md\n\
         4.0K\t/memories/far\n\
         4.0K\t/memories/far/away\n\
         4.0K\t/memories/team\n\
         4.0K\t/memories/team/sub\n\
         1B\t/memories/team/t.md\n\
         4.0K\t/memories/z\n\
         4.0K\t/memories/z/mounted\n\
         3B\t/memories/z/own.md"
    );
    assert_eq!(
        shown(&memory, "/memories/team"),
        "4.0K\t/memories/team\n4.0K\t/memories/team/sub\n1B\t/memories/team/sub/s.md\n\
         1B\t/memories/team/t.md"
    );
    assert_eq!(
        shown(&memory, "/memories/far"),
        "4.0K\t/memories/far\n4.0K\t/memories/far/away\n4.0K\t/memories/far/away/store"
    );
    assert_eq!(
        shown(&memory, "/memories/.hidden"),
        "4.0K\t/memories/.hidden\n4.0K\t/memories/.hidden/store\n1B\t/memories/.hidden/store/h.md"
    );
    let listed = |path| {
        let mut paths: Vec<String> = memory
            .store()
            .list(&at(path))
            .unwrap()
            .into_iter()
            .map(|entry| entry.path.to_string())
            .collect();
        paths.sort();
        paths
    };
    assert_eq!(
        listed("/memories"),
        ["/memories/.hidden", "/memories/a.md", "/memories/far", "/memories/team", "/memories/z"]
    );
    assert_eq!(listed("/memories/far"), ["/memories/far/away"]);
    assert_eq!(listed("/memories/far/away/store"), [] as [&str; 0]);
    // The file behind a mount is still there.
    assert_eq!(root.read(&at("/memories/team/behind.md")).unwrap(), b"x");
    assert!(refusal(memory.view("/memories/team/behind.md", None)).contains("does not exist"));
}

#[test]
fn names_that_the_whole_tree_cannot_have_are_left_out() {
    let team = in_process();
    let deep = format!("/memories{}", "/d".repeat(64));
    put(&*team, &deep, "as deep as can be");
    let mounts = Mounts::new(in_process()).mount(at("/memories/team"), Arc::clone(&team)).unwrap();
    let above = at(&format!("/memories/team{}", "/d".repeat(63)));
    assert_eq!(mounts.list(&above).unwrap(), []);
    // No file gets such a name either.
    put(&mounts, &format!("/memories/team/e{}", "/d".repeat(60)), "61 levels of its own");
    let result = mounts.rename(&at("/memories/team/e"), &at("/memories/team/f/f/f/f"));
    assert!(matches!(result, Err(StoreError::NameTooLong)), "{result:?}");
    mounts.rename(&at("/memories/team/e"), &at("/memories/team/f/f/f")).unwrap();
    // Errors come in the order of the contract.
    put(&mounts, "/memories/team/g", "");
    let into = |to| mounts.rename(&at("/memories/team/f"), &at(to)).unwrap_err();
    assert!(matches!(into("/memories/team/g"), StoreError::AlreadyExists));
    assert!(matches!(into("/memories/team/f/f/f/f"), StoreError::IntoItself));
    assert!(matches!(into("/memories/team/g/g/g/g"), StoreError::NotADirectory));
}

#[test]
fn mount_points_and_what_is_above_them_stay() {
    let memory =
        memory(Mounts::new(in_process()).mount(at("/memories/far/team"), in_process()).unwrap());
    memory.create("/memories/far/team/a.md", "a").unwrap();
    memory.create("/memories/b.md", "b").unwrap();
    let before = shown(&memory, "/memories");
    for fixed in ["/memories/far", "/memories/far/team"] {
        let stays = format!(
            "Error: {fixed} is or holds a fixed directory of this memory, which can be neither \
             deleted nor renamed"
        );
        assert_eq!(refusal(memory.delete(fixed)), stays);
        assert_eq!(refusal(memory.rename(fixed, "/memories/new")), stays);
        assert_eq!(refusal(memory.rename(fixed, &format!("{fixed}/below"))), stays);
        assert_eq!(
            refusal(memory.create(fixed, "x")),
            format!("Error: File {fixed} already exists")
        );
        assert_eq!(
            refusal(memory.rename("/memories/b.md", fixed)),
            format!("Error: The destination {fixed} already exists")
        );
        assert_eq!(
            refusal(memory.rename("/memories/none", fixed)),
            "Error: The path /memories/none does not exist"
        );
        assert_eq!(
            refusal(memory.insert(fixed, 0, "x")),
            format!("Error: The path {fixed} does not exist")
        );
        assert!(matches!(memory.store().modified(&at(fixed)), Err(StoreError::IsADirectory)));
    }
    assert_eq!(refusal(memory.delete("/memories")), "Cannot delete the /memories directory itself");
    assert_eq!(shown(&memory, "/memories"), before);
    // A rename does not create such a path either.
    memory.create("/memories/far/beside/c.md", "c").unwrap();
    memory.delete("/memories/far/beside").unwrap();
    memory.delete("/memories/far/team/a.md").unwrap();
}

#[test]
fn a_check_looks_into_every_store() {
    let place = tempfile::tempdir().unwrap();
    let options = MemoryOptions::default();
    let docs = place.path().join("docs");
    let stores = open_mounts(
        [Mount::new("/memories", "memory:"), Mount::new("/memories/a/docs", docs.clone())],
        &options,
    )
    .unwrap();
    let stores = stores.mount(at("/memories/broken"), Arc::new(UNREACHABLE)).unwrap();
    put(&stores, "/memories/a/docs/b.md", "b");
    std::os::unix::fs::symlink("b.md", docs.join("link")).unwrap();
    let stores: Arc<dyn Store> = Arc::new(stores);
    let mut problems = Vec::new();
    let mut report = |problem: memdir::store::Problem| problems.push(problem.path);
    let checked = memdir::check(&stores, &mut report).unwrap();
    assert_eq!((checked.files, checked.bytes), (1, 1));
    assert_eq!(problems, ["/memories/a/docs/link", "/memories/broken"]);
    // Directories that always exist need not be created.
    for fixed in ["/memories", "/memories/a", "/memories/a/docs"] {
        stores.make_directory(&at(fixed)).unwrap();
    }
}

#[test]
fn a_broken_store_breaks_no_listing_but_its_own() {
    let mounts = Mounts::new(in_process())
        .mount(at("/memories/broken"), Arc::new(UNREACHABLE))
        .and_then(|mounts| mounts.mount(at("/memories/well"), in_process()))
        .unwrap();
    let memory = memory(mounts);
    memory.create("/memories/well/a.md", "a").unwrap();
    memory.create("/memories/b.md", "b").unwrap();
    assert_eq!(
        shown(&memory, "/memories"),
        "4.0K\t/memories\n1B\t/memories/b.md\n4.0K\t/memories/broken\n4.0K\t/memories/well\n\
         1B\t/memories/well/a.md"
    );
    // A command for such a path gets the error.
    for input in [
        r#"{"command": "view", "path": "/memories/broken"}"#,
        r#"{"command": "view", "path": "/memories/broken/a"}"#,
        r#"{"command": "create", "path": "/memories/broken/a", "file_text": ""}"#,
        r#"{"command": "rename", "old_path": "/memories/broken/a", "new_path": "/memories/a"}"#,
        r#"{"command": "rename", "old_path": "/memories/b.md", "new_path": "/memories/broken/b"}"#,
    ] {
        let reply = memory.execute(input);
        assert!(
            reply.is_error
                && reply.content.as_text().unwrap_or_default().contains("cannot be reached"),
            "{input}"
        );
        assert!(reply.cause.unwrap().to_string().contains("db.internal"), "{input}");
    }
    assert!(memory.view("/memories/b.md", None).is_ok());
    let mut files = Vec::new();
    memory.store().files(&mut |file| files.push(file.path)).unwrap();
    files.sort();
    assert_eq!(files, [at("/memories/b.md"), at("/memories/well/a.md")]);
    // Clearing continues with the other stores, and reports that it is incomplete.
    assert!(matches!(memory.clear(), Err(Error::Store(_))));
    assert_eq!(
        shown(&memory, "/memories"),
        "4.0K\t/memories\n4.0K\t/memories/broken\n4.0K\t/memories/well"
    );
    // If the surrounding store is broken, its entries are not reported as missing.
    let around =
        Mounts::new(Arc::new(UNREACHABLE)).mount(at("/memories/a/b"), in_process()).unwrap();
    assert!(around.files(&mut |_| {}).is_err());
    for above in ["/memories", "/memories/a"] {
        assert!(matches!(around.open(&at(above), 2), Err(StoreError::Failed { .. })));
        assert!(matches!(around.list(&at(above)), Err(StoreError::Failed { .. })));
    }
    assert!(around.open(&at("/memories/a/b"), 2).is_ok());
}
