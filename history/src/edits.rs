//! Records and makes an edit: the splice, with the bytes that it removed, is recorded before the store writes.

use memdir_store::Operation;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, Edit, Mutation, Splice, StoreError};

use super::record::{ContentId, Digest, Row};
use super::recorder::{Draft, Recorded, Recorder};

impl Recorder {
    fn record_edit(
        &self,
        context: &Context,
        mut draft: Draft,
        path: &MemoryPath,
        old: &[u8],
        splice: &Splice,
        operation: Operation,
    ) -> Result<Recorded, StoreError> {
        let operation = context.operation(operation);
        let pieces = splice.pieces(old);
        let after_len = pieces.iter().map(|piece| piece.len() as u64).sum();
        let before = ContentId::of(old);
        let after = ContentId { sha256: Digest::of_pieces(&pieces), size: after_len };
        let record = &mut draft.record;
        record.header.is_joined = context.is_joined();
        self.keep_unknown(context, record, before, old)?;
        let removed = &old[pieces[0].len()..old.len() - pieces[2].len()];
        let (same_start, same_end) = common_ends(removed, pieces[1]);
        let at = pieces[0].len() + same_start;
        let removed = &removed[same_start..removed.len() - same_end];
        let inserted = &pieces[1][same_start..pieces[1].len() - same_end];
        let kept = record.keep_splice(at, removed, inserted);
        record.header.rows.push(Row {
            operation,
            path: path.clone(),
            old_path: None,
            before: Some(before),
            after: Some(after),
            splice: Some(kept),
            is_trimmed: false,
        });
        self.append(context, draft)
    }

    /// [`Store::update`](memdir_store::Store::update) for a store in which an edit may not write to the journal. Reads the content first,
    /// and makes the edit only if the file still has this content.
    fn update_in_steps(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        operation: Operation,
    ) -> Result<(), StoreError> {
        const MAX_ATTEMPTS: usize = 1_000;
        let mut found = None;
        let mut look = |content: &[u8]| {
            found = Some(content.to_vec());
            None
        };
        self.store.mutate(context, Mutation::Update { path, edit: &mut look })?;
        for _ in 0..MAX_ATTEMPTS {
            let Some(old) = found.take() else { break };
            let Some(splice) = edit(&old) else { return Ok(()) };
            let draft = self.draft(context)?;
            let recorded = self.record_edit(context, draft, path, &old, &splice, operation)?;
            let mut made = false;
            let mut replace = |content: &[u8]| {
                made = content == old;
                if made {
                    return Some(splice.clone());
                }
                found = Some(content.to_vec());
                None
            };
            let replaced =
                self.store.mutate(context, Mutation::Update { path, edit: &mut replace });
            match replaced {
                Ok(_) if !made => self.withdraw(context, recorded),
                result => return self.finish(context, Some(recorded), result.map(drop)),
            }
        }
        let failed = format!("updating {path}");
        Err(StoreError::failed(failed, "gave up: the content was different at each attempt")
            .unchanged())
    }

    pub(super) fn update_as(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
        operation: Operation,
    ) -> Result<(), StoreError> {
        self.refuse_hidden(path)?;
        if !self.journal.is_apart() {
            return self.update_in_steps(context, path, edit, operation);
        }
        let mut pen = None;
        let (mut recorded, mut broken) = (None, None);
        let mut record = |old: &[u8]| -> Result<Option<Splice>, StoreError> {
            // The store retries with a newer content.
            if let Some(Recorded { id, said, appended, .. }) = recorded.take() {
                self.reader.note(move |index| index.withdrawn(id, said));
                let withdrawn = self.journal.withdraw(context, id, appended);
                let was_left = |_: &_| self.reader.note(move |index| index.was_left(id));
                pen = Some(withdrawn.inspect_err(was_left)?);
            }
            let Some(splice) = edit(old) else { return Ok(None) };
            let draft = match pen.take() {
                Some(pen) => self.draft_with(context, pen)?,
                None => self.draft(context)?,
            };
            recorded = Some(self.record_edit(context, draft, path, old, &splice, operation)?);
            Ok(Some(splice))
        };
        let mut recording = |old: &[u8]| {
            record(old).unwrap_or_else(|error| {
                broken = Some(error);
                None
            })
        };
        let update = Mutation::Update { path, edit: &mut recording };
        let result = self.store.mutate(context, update).map(drop);
        match broken {
            Some(error) => Err(error),
            None => self.finish(context, recorded, result),
        }
    }
}

/// The lengths of the common prefix, and of the common suffix of the rest, in bytes.
pub(super) fn common_ends(a: &[u8], b: &[u8]) -> (usize, usize) {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (start, end)
}
