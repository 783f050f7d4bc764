//! Threads that edit one file, whose writer waits until a known number of others wait for it.

use std::sync::atomic::AtomicUsize;
use std::thread;

use super::*;
use crate::Cancellation;

const LIMITS: EditLimits =
    EditLimits { lock_timeout: None, max_file_bytes: None, patience: Duration::from_secs(60) };

/// A file whose writer waits until a number of others wait for it.
#[derive(Default)]
struct File {
    edits: GroupCommit<()>,
    content: Mutex<Vec<u8>>,
    writes: AtomicUsize,
}

impl File {
    fn wait_for(&self, others: usize) {
        let waiting = || self.edits.files().get(&()).map_or(0, |queue| queue.state().waiting.len());
        while waiting() < others {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn write(&self, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let mut content = self.content.lock().unwrap();
        if let Some(splice) = edit(&content) {
            *content = splice.apply(&content);
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Appends a line. The first writer waits for the others.
    fn append(&self, limits: EditLimits, line: &str, others: usize) -> Result<(), StoreError> {
        self.edits.edit((), limits, &Context::new(), &mut append(line), &mut |edit| {
            if self.writes.load(Ordering::SeqCst) == 0 {
                self.wait_for(others);
            }
            self.write(edit)
        })
    }

    fn lines(&self) -> Vec<String> {
        let content = String::from_utf8(self.content.lock().unwrap().clone()).unwrap();
        let mut lines: Vec<String> = content.lines().map(str::to_owned).collect();
        lines.sort_by_key(|line| (line.len(), line.clone()));
        lines
    }
}

fn append(line: &str) -> impl FnMut(&[u8]) -> Option<Splice> + use<> {
    let text = format!("{line}\n").into_bytes();
    move |old: &[u8]| Some(Splice { range: old.len()..old.len(), text: text.clone() })
}

/// Lets one thread write, and the others wait for it, in this order.
fn together(file: &File, others: usize, each: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        scope.spawn(|| each(0));
        while others > 0 && file.edits.files().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        for number in 1..=others {
            let each = &each;
            scope.spawn(move || each(number));
            if number < others {
                file.wait_for(number);
            }
        }
    });
    assert!(file.edits.files().is_empty());
}

#[test]
fn edits_that_wait_are_written_together() {
    for others in [0, 1, 2, 62, 63, 64, 65, 127, 128, 1000] {
        let file = File::default();
        together(&file, others, |number| {
            file.append(LIMITS, &number.to_string(), others).unwrap();
        });
        let expected: Vec<String> = (0..=others).map(|number| number.to_string()).collect();
        assert_eq!(file.lines(), expected);
        let writes = file.writes.load(Ordering::SeqCst);
        assert_eq!(writes, (others + 1).div_ceil(MOST_JOINING + 1), "{others} others");
    }
}

#[test]
fn each_edit_gets_the_result_of_those_before_it_and_its_own_answer() {
    let file = File::default();
    let seen = Mutex::new(vec![(false, String::new()); 4]);
    together(&file, 3, |number| {
        let context = Context::new();
        let mut edit = |old: &[u8]| {
            let old_text = String::from_utf8(old.to_vec()).unwrap();
            seen.lock().unwrap()[number] = (context.is_joined(), old_text);
            context.put_note(Note { id: number.to_string(), bytes: Vec::new() });
            // The second one is refused.
            (number != 1).then(|| append(&number.to_string())(old)).flatten()
        };
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            file.wait_for(3);
            file.write(edit)?;
            let ids: Vec<String> = context.take_notes().into_iter().map(|note| note.id).collect();
            assert_eq!(ids, ["0", "1", "2", "3"]);
            Ok(())
        });
        edited.unwrap();
    });
    let seen: Vec<_> = seen.into_inner().unwrap();
    let seen: Vec<_> = seen.iter().map(|(joined, old)| (*joined, old.as_str())).collect();
    assert_eq!(seen, [(false, ""), (true, "0\n"), (true, "0\n"), (true, "0\n2\n")]);
}

#[test]
fn a_group_that_lost_a_race_is_asked_again() {
    let file = File::default();
    together(&file, 2, |number| {
        let context = Context::new();
        let mut tries = 0;
        let mut edit = |old: &[u8]| {
            tries += 1;
            append(&format!("{number} in its {tries}. try"))(old)
        };
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            file.wait_for(2);
            edit(b"").unwrap();
            *file.content.lock().unwrap() = b"by others\n".to_vec();
            file.write(edit)
        });
        edited.unwrap();
    });
    let expected = ["by others", "0 in its 2. try", "1 in its 2. try", "2 in its 2. try"];
    assert_eq!(file.lines(), expected);
}

#[test]
fn a_refusal_of_the_common_write_is_no_refusal_of_each() {
    let file = File::default();
    let (calls, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    together(&file, 5, |number| {
        let context = Context::new();
        let mut edit = append(&number.to_string());
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            if calls.fetch_add(1, Ordering::SeqCst) == 0 {
                file.wait_for(5);
            }
            let mut content = file.content.lock().unwrap();
            let Some(splice) = edit(&content) else { return Ok(()) };
            let new = splice.apply(&content);
            if new.len() > 6 {
                return Err(StoreError::OverLimit { bytes: Some(new.len() as u64), files: None });
            }
            *content = new;
            Ok(())
        });
        match edited {
            Ok(()) => {}
            Err(StoreError::OverLimit { bytes: Some(8), .. }) => {
                refused.fetch_add(1, Ordering::SeqCst);
            }
            other => panic!("{other:?}"),
        }
    });
    assert_eq!((file.lines().len(), refused.into_inner()), (3, 3));
}

#[test]
fn a_write_that_may_have_been_made_says_so_to_all() {
    let file = File::default();
    let unsure = AtomicUsize::new(0);
    together(&file, 3, |number| {
        let context = Context::new();
        let mut edit = append(&number.to_string());
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            file.wait_for(3);
            file.write(edit)?;
            Err(StoreError::failed("editing a file", "the answer is lost"))
        });
        assert!(edited.unwrap_err().may_have_changed());
        unsure.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!((file.lines().len(), unsure.into_inner()), (4, 4));
}

#[test]
fn a_panic_ends_only_the_edits_that_need_it() {
    for panicking in [0, 1] {
        let file = File::default();
        let failed = AtomicUsize::new(0);
        together(&file, 3, |number| {
            let edited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let context = Context::new();
                let mut edit = |old: &[u8]| {
                    assert!(number != 1 || panicking != 1, "on purpose");
                    append(&number.to_string())(old)
                };
                file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
                    if number == 0 {
                        file.wait_for(3);
                    }
                    file.write(edit)?;
                    assert!(number != 0 || panicking != 0, "on purpose");
                    Ok(())
                })
            }));
            if !matches!(edited, Ok(Ok(()))) {
                failed.fetch_add(1, Ordering::SeqCst);
            }
            if let Ok(Err(error)) = edited {
                assert!(error.may_have_changed());
            }
        });
        let (lines, failed) = (file.lines().len(), failed.into_inner());
        assert_eq!((lines, failed), if panicking == 0 { (4, 4) } else { (3, 1) });
    }
}

#[test]
fn a_slow_edit_does_not_hold_up_the_others() {
    let impatient = EditLimits { patience: Duration::from_millis(50), ..LIMITS };
    for slow in [0, 1] {
        let file = File::default();
        let (others_done, is_done) = (AtomicUsize::new(0), |done: &AtomicUsize| {
            while done.load(Ordering::SeqCst) < 2 {
                thread::sleep(Duration::from_millis(1));
            }
        });
        together(&file, 2, |number| {
            let context = Context::new();
            let mut edit = |old: &[u8]| {
                if number == slow && !old.contains(&b'x') {
                    is_done(&others_done);
                }
                append(&number.to_string())(old)
            };
            let edited = file.edits.edit((), impatient, &context, &mut edit, &mut |edit| {
                if number == 0 && slow == 1 && file.content.lock().unwrap().is_empty() {
                    file.wait_for(2);
                }
                // Without a lock, as a store with conditional writes.
                loop {
                    let old = file.content.lock().unwrap().clone();
                    let Some(splice) = edit(&old) else { return Ok(()) };
                    let mut content = file.content.lock().unwrap();
                    if *content == old {
                        *content = splice.apply(&old);
                        return Ok(());
                    }
                }
            });
            edited.unwrap();
            others_done.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(file.lines(), ["0", "1", "2"]);
    }
}

#[test]
fn who_waits_may_give_up_and_leaves_nothing() {
    let file = File::default();
    let busy = EditLimits { lock_timeout: Some(Duration::from_millis(50)), ..LIMITS };
    let released = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let write = &mut |edit: &mut Edit<'_>| {
                while released.load(Ordering::SeqCst) == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                file.write(edit)
            };
            file.edits.edit((), LIMITS, &Context::new(), &mut append("0"), write).unwrap();
        });
        while file.edits.files().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(file.append(busy, "busy", 0), Err(StoreError::Busy)));
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let cancelled = Context::new().cancelled_by(&cancellation);
        let write = &mut |edit: &mut Edit<'_>| file.write(edit);
        let edited = file.edits.edit((), LIMITS, &cancelled, &mut append("cancelled"), write);
        assert!(matches!(edited, Err(StoreError::Cancelled)));
        file.wait_for(0);
        released.store(1, Ordering::SeqCst);
    });
    assert_eq!(file.lines(), ["0"]);
}

#[test]
fn who_is_cancelled_before_the_writer_asks_changes_nothing() {
    let file = File::default();
    let cancellation = Cancellation::new();
    together(&file, 2, |number| {
        let mut context = Context::new();
        if number == 1 {
            context = context.cancelled_by(&cancellation);
        }
        let mut edit = append(&number.to_string());
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            file.wait_for(2);
            cancellation.cancel();
            file.write(edit)
        });
        assert_eq!(matches!(edited, Err(StoreError::Cancelled)), number == 1, "{edited:?}");
    });
    assert_eq!(file.lines(), ["0", "2"]);
}

#[test]
fn the_call_of_the_writer_cannot_cancel_the_edits_of_others() {
    let file = File::default();
    let cancellation = Cancellation::new();
    together(&file, 1, |number| {
        let mut context = Context::new();
        if number == 0 {
            context = context.cancelled_by(&cancellation);
        }
        let mut edit = append(&number.to_string());
        let edited = file.edits.edit((), LIMITS, &context, &mut edit, &mut |edit| {
            file.wait_for(1);
            let mut content = file.content.lock().unwrap();
            let splice = edit(&content).unwrap();
            cancellation.cancel();
            // As a store does before it writes.
            context.check()?;
            *content = splice.apply(&content);
            Ok(())
        });
        edited.unwrap();
        assert_eq!(context.check().is_err(), number == 0);
    });
    assert_eq!(file.lines(), ["0", "1"]);
}

#[test]
fn an_edit_within_an_edit_does_not_wait_for_itself() {
    let file = File::default();
    let mut outer = |old: &[u8]| {
        let mut inner = append("inner");
        let write = &mut |edit: &mut Edit<'_>| {
            assert!(edit(old).is_some());
            Ok(())
        };
        file.edits.edit((), LIMITS, &Context::new(), &mut inner, write).unwrap();
        append("outer")(old)
    };
    let write = &mut |edit: &mut Edit<'_>| file.write(edit);
    file.edits.edit((), LIMITS, &Context::new(), &mut outer, write).unwrap();
    assert_eq!(file.lines(), ["outer"]);
}
