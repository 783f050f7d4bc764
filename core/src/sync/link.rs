//! [`Link`]: what two memories keep about each other, in a hidden directory of each that no model can reach.
//!
//! ```text
//! .memdir-sync/identity              the id of this memory
//! .memdir-sync/versions              the versions of its files
//! .memdir-sync/PARTNER.token         in one memory: the token of the last sync with the partner
//! .memdir-sync/PARTNER.TOKEN.base    in the other memory: the baseline of that sync
//! .memdir-sync/PARTNER.ID.texts      contents of the baseline, beside it
//! .memdir-sync/PARTNER.merge         beside the baseline: a mark of the text of a function that is being written
//! .memdir-sync/PARTNER.partner       in both memories: when both last agreed, for people (`partners`)
//! ```
//! A memory that was restored from a backup has another token, or another baseline, than its partner. Then they do not match, and there is no
//! baseline: the next sync deletes nothing. A copy of a memory's files has the same identity as its original, and gets a new one when both
//! meet.
//!
//! A sync first writes its baseline under a new token, and then replaces the old token with the new one, if the old one is still there. Until
//! then the old baseline counts, which is as good: both memories once had the contents that it names. Of two syncs at the same time, only the
//! first replaces the token. Its removal of older files spares those of the other, because it lists them before it replaces the token.
//!
//! A memory that is only read keeps nothing but its identity, and its partner keeps the token and `PARTNER.versions` for it. If it cannot be
//! written at all, its place counts as its identity. But another memory may be there in the next sync, or at the same place of another machine.
//! So the baseline counts only if the memory still has most of the files that it names. A read-only memory without a place, in a store of the
//! application, is a new one in each sync.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::Splice;

use super::baseline::{Baseline, Digest, digest};
use super::both::{Both, SyncSide};
use super::error::SyncError;
use super::partners::{PARTNER, note};
use super::place::{IdentityKind, Place, new_id};
use super::report::Synced;
use super::side::Side;
use super::versions::Versions;
use crate::memory::SYNCED_TEXTS;
use crate::reader::Reader;
use crate::store::StoreError;

const VERSIONS: &str = "versions";

/// All that two memories know of each other.
pub(super) struct Link<'s> {
    places: Both<Place<'s>>,
    ids: Both<String>,
    kinds: Both<IdentityKind>,
    /// The memory that has the baseline.
    holder: SyncSide,
    /// The memory that has the token.
    token_at: SyncSide,
    token: Option<String>,
    pub(super) has_baseline: bool,
    /// Whether one of the memories was restored from a backup, or is a copy of the other.
    pub(super) begins_anew: bool,
    may_write: Both<bool>,
    /// Whether the other memory has versions of this one that it now keeps itself.
    has_kept_versions: Both<AtomicBool>,
    /// The name and the bytes of the file of texts that was read last. Merges often need several of its texts.
    last_texts: Mutex<Option<(String, Arc<[u8]>)>>,
}

impl<'s> Link<'s> {
    /// Finds the baseline of two memories. `may_write` says which of them keep something, and `creates` whether a memory may get an identity
    /// now.
    pub(super) fn open(
        sides: &'s Both<Side<'_>>,
        may_write: Both<bool>,
        creates: bool,
    ) -> Result<(Self, Baseline), SyncError> {
        let places = Both::new(|side| Place::new(&sides[side]));
        let identities = Both::try_new(|side| {
            let creates = creates && !sides[side].is_read_only;
            places[side].identity(creates, may_write[side])
        })?;
        let kinds = Both::new(|side| identities[side].1);
        let mut ids = Both::new(|side| identities[side].0.clone());
        let is_copy = ids.a == ids.b;
        if is_copy {
            ids.b = places.b.new_identity(&ids.b, may_write.b && creates)?;
        }
        // The new identity of one memory is also that of the other, if both are the same store, opened twice.
        if (is_copy || kinds.a != IdentityKind::Own)
            && may_write.b
            && places.a.own_identity()?.as_ref() == Some(&ids.b)
        {
            return Err(SyncError::Overlapping);
        }
        let first = if may_write.a { SyncSide::A } else { SyncSide::B };
        let token_at =
            |holder: SyncSide| if may_write[holder.other()] { holder.other() } else { holder };
        let mut link = Self {
            places,
            ids,
            kinds,
            holder: first,
            token_at: token_at(first),
            token: None,
            has_baseline: false,
            begins_anew: is_copy,
            may_write,
            has_kept_versions: Both::default(),
            last_texts: Mutex::default(),
        };
        for holder in [first, first.other()] {
            (link.holder, link.token_at) = (holder, token_at(holder));
            let token = link.places[link.token_at].read(&link.token_name())?;
            link.token = token.and_then(|bytes| String::from_utf8(bytes).ok());
            let Some(token) = &link.token else { continue };
            link.begins_anew = true;
            let kept = link.places[holder].read(&link.base_name(token))?;
            if let Some(baseline) = kept.and_then(|bytes| Baseline::from_bytes(&bytes, holder)) {
                (link.has_baseline, link.begins_anew) = (true, is_copy);
                if !may_write[holder] {
                    link.keep_at(first)?;
                }
                return Ok((link, baseline));
            }
        }
        link.keep_at(first)?;
        // A baseline of syncs in one direction does not show whether the other memory was restored meanwhile. But the versions can be trusted.
        for (holder, one_way) in [(SyncSide::A, &link.places.a), (SyncSide::B, &link.places.b)] {
            let partner = &link.ids[holder.other()];
            let token = one_way.read(&format!("{partner}.token"))?;
            let token = token.and_then(|bytes| String::from_utf8(bytes).ok());
            let Some(token) = token else { continue };
            if one_way.read(&format!("{partner}.{token}.base"))?.is_some() {
                link.begins_anew = is_copy;
            }
        }
        Ok((link, Baseline::default()))
    }

    /// Lets this memory keep the next baseline.
    fn keep_at(&mut self, holder: SyncSide) -> Result<(), SyncError> {
        let other = holder.other();
        self.holder = holder;
        self.token_at = if self.may_write[other] { other } else { holder };
        let token = self.places[self.token_at].read(&self.token_name())?;
        self.token = token.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(())
    }

    /// Whether both memories can be recognized in the next sync. Otherwise nothing is kept about a pair.
    fn keeps(&self) -> bool {
        SyncSide::ALL.iter().all(|side| self.kinds[*side] != IdentityKind::Unknown)
    }

    /// Whether the memory is known only by its place, where another one may be now.
    pub(super) fn is_known_by_place(&self, side: SyncSide) -> bool {
        self.kinds[side] == IdentityKind::Place
    }

    /// Forgets the baseline: it is that of another memory.
    pub(super) fn forget_baseline(&mut self) {
        (self.has_baseline, self.begins_anew) = (false, true);
    }

    /// The memory that is not the holder of the baseline.
    fn partner(&self) -> &str {
        &self.ids[self.holder.other()]
    }

    fn token_name(&self) -> String {
        // The name says of whom the token is, also if the holder keeps it itself.
        format!("{}.token", self.ids[self.token_at.other()])
    }

    fn base_name(&self, token: &str) -> String {
        format!("{}.{token}.base", self.partner())
    }

    /// The memory that keeps the versions of the files on this side, and under which name.
    fn versions_at(&self, side: SyncSide) -> (&Place<'s>, String) {
        match self.may_write[side] {
            true => (&self.places[side], VERSIONS.to_owned()),
            false => (&self.places[side.other()], self.kept_versions(side)),
        }
    }

    /// The versions of the files of both memories. A memory that is written in one sync and only read in another has them in two places.
    pub(super) fn versions(&self) -> Result<Both<Versions>, SyncError> {
        Both::try_new(|side| {
            let own = (&self.places[side], VERSIONS.to_owned());
            let kept = (&self.places[side.other()], self.kept_versions(side));
            let [first, second] = if self.may_write[side] { [own, kept] } else { [kept, own] };
            let read = |(place, name): &(&Place<'_>, String)| -> Result<_, SyncError> {
                Ok(place.read(name)?.and_then(|bytes| Versions::files_of(&bytes)))
            };
            let (place, name) = &first;
            let files = read(&first)?.unwrap_or_default();
            let mut versions = Versions::new(files).map_err(place.failed(name))?;
            if let Some(others) = read(&second)? {
                self.has_kept_versions[side].store(self.may_write[side], Ordering::Relaxed);
                versions.learn(others);
            }
            Ok(versions)
        })
    }

    /// The name of the versions of a memory that is only read, in the other one.
    fn kept_versions(&self, side: SyncSide) -> String {
        format!("{}.{VERSIONS}", self.ids[side])
    }

    /// Saves the versions of a memory, together with what another sync has saved since they were loaded as `before`.
    pub(super) fn save_versions(
        &self,
        side: SyncSide,
        versions: &Versions,
        before: &Versions,
    ) -> Result<(), SyncError> {
        if self.kinds[side] == IdentityKind::Unknown {
            return Ok(());
        }
        let (place, name) = self.versions_at(side);
        match place.write_new(&name, &versions.to_bytes()) {
            Err(SyncError::Store { error: StoreError::AlreadyExists, .. }) => {}
            written => return written,
        }
        let edit = &mut |now: &[u8]| {
            let mut versions = versions.clone();
            if let Some(now) = Versions::files_of(now).filter(|now| *now != *before.files) {
                versions.add(now);
            }
            Some(Splice { range: 0..now.len(), text: versions.to_bytes() })
        };
        place.update(&name, edit)
    }

    /// Saves the baseline. Does nothing if another sync has saved one since this one began: that one counts.
    pub(super) fn save(&self, baseline: &Baseline) -> Result<(), SyncError> {
        if !self.keeps() {
            return Ok(());
        }
        let holder = &self.places[self.holder];
        let prefix = format!("{}.", self.partner());
        let mut older = holder.list()?;
        let is_used = |name: &String| baseline.text_files.iter().any(|file| file.name == *name);
        older.retain(|name| {
            name.starts_with(&prefix)
                && !name.ends_with(".token")
                && !name.ends_with(VERSIONS)
                && !name.ends_with(PARTNER)
                && !is_used(name)
        });
        let token = new_id(holder)?;
        let base = self.base_name(&token);
        holder.write_new(&base, &baseline.to_bytes(self.holder))?;
        let is_ours = self.places[self.token_at].exchange(
            &self.token_name(),
            self.token.as_deref(),
            &token,
        )?;
        for side in SyncSide::ALL {
            if self.has_kept_versions[side].load(Ordering::Relaxed) {
                let _ = self.places[side.other()].remove(&self.kept_versions(side));
            }
        }
        let litter = if is_ours { older } else { vec![base] };
        for name in litter {
            // Whatever is left is removed after the next sync.
            let _ = holder.remove(&name);
        }
        Ok(())
    }

    /// Notes in each memory that may be written that both agree now. The note is for people, so the sync does not fail without it.
    pub(super) fn note_agreement(&self, names: &Both<String>, synced: &Synced) {
        let written = |side: &SyncSide| self.keeps() && self.may_write[*side];
        for side in SyncSide::ALL.into_iter().filter(written) {
            let partner = side.other();
            let _ = note(&self.places[side], &self.ids[partner], &names[partner], synced);
        }
    }

    fn mark_name(&self) -> String {
        format!("{}.merge", self.partner())
    }

    /// Marks a text that is about to be written to both memories. The next sync finds the mark if this one is killed in between.
    pub(super) fn mark_merge(&self, mark: &Digest) -> Result<(), SyncError> {
        if !self.keeps() {
            return Ok(());
        }
        let (holder, name) = (&self.places[self.holder], self.mark_name());
        match holder.write_new(&name, mark) {
            Err(SyncError::Store { error: StoreError::AlreadyExists, .. }) => {
                holder.fill(&name, mark).map(drop)
            }
            written => written,
        }
    }

    /// The mark that a sync has left.
    pub(super) fn merge_mark(&self) -> Result<Option<Digest>, SyncError> {
        let mark = self.places[self.holder].read(&self.mark_name())?;
        Ok(mark.and_then(|bytes| bytes.try_into().ok()))
    }

    /// Claims a name for contents of the baseline. A process that removes a text for good removes the claim, and then the contents that were
    /// read meanwhile are not kept. `None` if nothing is kept about this pair.
    pub(super) fn claim_texts(&self) -> Result<Option<String>, SyncError> {
        if !self.keeps() {
            return Ok(None);
        }
        let holder = &self.places[self.holder];
        let name = format!("{}.{}{SYNCED_TEXTS}", self.partner(), new_id(holder)?);
        holder.write_new(&name, &[])?;
        Ok(Some(name))
    }

    /// Keeps contents under a claimed name. Returns whether they are kept.
    pub(super) fn keep_texts(&self, name: &str, contents: &[Vec<u8>]) -> Result<bool, SyncError> {
        let holder = &self.places[self.holder];
        if contents.is_empty() {
            holder.remove(name)?;
            return Ok(false);
        }
        let mut bytes = Vec::new();
        for content in contents {
            bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
            bytes.extend_from_slice(content);
        }
        holder.fill(name, &bytes)
    }

    fn texts(&self, name: &str) -> Result<Option<Arc<[u8]>>, SyncError> {
        let mut last = self.last_texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, bytes)) = &*last
            && last == name
        {
            return Ok(Some(Arc::clone(bytes)));
        }
        // A sync in one direction does not write to the first memory, which may have kept texts before.
        let bytes = match self.places[self.holder].read(name)? {
            Some(bytes) => Some(bytes),
            None => self.places[self.holder.other()].read(name)?,
        };
        let bytes: Option<Arc<[u8]>> = bytes.map(Arc::from);
        *last = bytes.clone().map(|bytes| (name.to_owned(), bytes));
        Ok(bytes)
    }

    /// The content with this digest, from a file of texts.
    pub(super) fn text(&self, name: &str, wanted: &Digest) -> Result<Option<String>, SyncError> {
        let Some(bytes) = self.texts(name)? else { return Ok(None) };
        let mut reader = Reader { rest: &bytes };
        while let Some(content) = reader.slice() {
            if digest(content) == *wanted {
                return Ok(String::from_utf8(content.to_vec()).ok());
            }
        }
        Ok(None)
    }
}
