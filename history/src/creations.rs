//! Records the write of a whole file.

use memdir_store::path::MemoryPath;
use memdir_store::{Context, Mutation, OnExisting, Operation, Splice, StoreError};

use super::record::{ContentId, Row};
use super::recorder::Recorder;

impl Recorder {
    pub(super) fn write_recorded(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.refuse_hidden(path)?;
        // For example, a file that is being moved from another mount.
        if path.is_reserved() {
            let write = Mutation::Write { path, content, existing };
            return self.store.mutate(context, write).map(drop);
        }
        const MAX_ATTEMPTS: usize = 1_000;
        for _ in 0..MAX_ATTEMPTS {
            let mut too_large = false;
            if existing == OnExisting::Overwrite {
                let mut whole =
                    |old: &[u8]| Some(Splice { range: 0..old.len(), text: content.to_vec() });
                let replaced = self.update_as(context, path, &mut whole, Operation::Overwritten);
                match replaced {
                    Err(StoreError::NotFound) => {}
                    Err(StoreError::IsADirectory) => return Err(StoreError::AlreadyExists),
                    // The file is too large to be read and recorded, but it can be replaced.
                    Err(StoreError::TooLarge { .. }) => too_large = true,
                    replaced => return replaced,
                }
            } else if !self.journal.is_in_transaction() {
                // Record nothing if the write would be refused.
                match self.store.open_in(context, path, 0) {
                    Ok(_) => return Err(StoreError::AlreadyExists),
                    Err(error) if error.is_failure() => return Err(error.unchanged()),
                    Err(_) => {}
                }
            }
            let whole = ContentId::of(content);
            let mut draft = self.draft(context)?;
            draft.record.keep(whole, content);
            draft.record.header.rows.push(Row {
                operation: context.operation(Operation::Created),
                path: path.clone(),
                old_path: None,
                before: None,
                after: Some(whole),
                splice: None,
                is_trimmed: false,
            });
            let recorded = self.append(context, draft)?;
            let how = if too_large { OnExisting::Overwrite } else { OnExisting::Error };
            let write = Mutation::Write { path, content, existing: how };
            let written = self.store.mutate(context, write).map(drop);
            match self.finish(context, Some(recorded), written) {
                // Another writer created the file meanwhile.
                Err(StoreError::AlreadyExists) if existing == OnExisting::Overwrite => {}
                written => return written,
            }
        }
        Err(StoreError::failed(
            format!("writing {path}"),
            "other programs make and delete it all the time",
        )
        .unchanged())
    }
}
