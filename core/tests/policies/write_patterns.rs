//! Read-only and writable paths.

use std::sync::Arc;

use memdir::policy::PathPattern;
use memdir::store::{InProcess, Mounts, ReadOnly};
use memdir::{Memory, Options, Store};

use crate::mounting::{at, put, refusal, tree};
use crate::seams::Seams;
use crate::stores;

fn memory(store: Arc<dyn Store>, read_only: &[&str], writable: Option<&[&str]>) -> Memory {
    let mut options = Options::default();
    options.read_only_paths = PathPattern::all("read_only_paths", read_only).unwrap();
    options.writable_paths =
        writable.map(|writable| PathPattern::all("writable_paths", writable).unwrap());
    Memory::with_store(store, options)
}

fn read_only(path: &str) -> String {
    format!("Error: {path} is read-only: it can be viewed but not changed")
}

#[test]
fn a_refused_command_changes_nothing_whatever_it_would_have_moved() {
    stores::each(|kind, store| {
        for path in ["d/a", "d/b/.c/keep", "d/b/x", "mounted/keep", "mounted/y", "z"] {
            put(&*store, &format!("/memories/{path}"), path);
        }
        let before = tree(&*store, "/memories");
        let memory = memory(Arc::clone(&store), &["/memories/**/keep"], None);
        for (from, to, names) in [
            ("/memories/d", "/memories/e", "/memories/d/b/.c/keep"),
            ("/memories/d/b", "/memories/mounted/b", "/memories/d/b/.c/keep"),
            ("/memories/d/b/.c", "/memories/c", "/memories/d/b/.c/keep"),
            ("/memories/d/b/x", "/memories/d/keep", "/memories/d/keep"),
            ("/memories/z", "/memories/mounted/keep", "/memories/mounted/keep"),
            ("/memories/mounted/keep", "/memories/k", "/memories/mounted/keep"),
        ] {
            assert_eq!(refusal(memory.rename(from, to)), read_only(names), "{kind}: {from}");
        }
        assert_eq!(
            refusal(memory.delete("/memories/d")),
            read_only("/memories/d/b/.c/keep"),
            "{kind}"
        );
        assert_eq!(tree(&*store, "/memories"), before, "{kind}");
        memory.rename("/memories/d/b/x", "/memories/mounted/x").unwrap();
        memory.delete("/memories/d/a").unwrap();
        // For the developer there is no such limit.
        memory.clear().unwrap();
        assert!(memory.view("/memories/d", None).is_err(), "{kind}");
    });
}

#[test]
fn what_cannot_be_looked_into_is_not_moved_past_a_pattern() {
    let mut store = Seams::default();
    put(&store, "/memories/d/closed/secret", "s");
    store.closed = Some(at("/memories/d/closed"));
    let store = Arc::new(store) as Arc<dyn Store>;
    let patterns = ["/memories/*/*/secret"];
    let guarded = memory(Arc::clone(&store), &patterns, None);
    let sentence = "Error: Permission denied: the memory store does not allow this for \
                    /memories/d/closed";
    assert_eq!(refusal(guarded.delete("/memories/d")), sentence);
    assert_eq!(refusal(guarded.rename("/memories/d", "/memories/e")), sentence);
    // Where nothing below can be forbidden, nobody looks.
    memory(store, &[], Some(&["/memories/d"])).delete("/memories/d").unwrap();
}

#[test]
fn patterns_name_paths_of_the_whole_tree_and_of_no_store_in_it() {
    let (team, handbook) = (Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    put(&*team, "/memories/plans/may.md", "may");
    put(&*handbook, "/memories/rules.md", "rules");
    let mounts = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/team"), team)
        .and_then(|mounts| {
            let handbook = ReadOnly::from(handbook as Arc<dyn Store>);
            mounts.mount(at("/memories/handbook"), Arc::new(handbook))
        })
        .unwrap();
    let writable = ["/memories/team", "/memories/handbook"];
    let memory = memory(Arc::new(mounts), &["/memories/team/plans"], Some(&writable));
    let plan = "/memories/team/plans/may.md";
    assert_eq!(refusal(memory.insert(plan, 0, "x")), read_only(plan));
    memory.create("/memories/team/notes.md", "n").unwrap();
    assert_eq!(
        refusal(memory.create("/memories/notes.md", "n")),
        "Error: /memories/notes.md is read-only: only /memories/team, /memories/handbook and what \
         is below can be changed."
    );
    // A store that is read-only stays that, whatever the patterns say.
    let rules = "/memories/handbook/rules.md";
    assert_eq!(refusal(memory.insert(rules, 0, "x")), read_only(rules));
    assert_eq!(
        refusal(memory.rename("/memories/team/notes.md", rules)),
        "Error: The destination /memories/handbook/rules.md already exists"
    );
}
