//! The format of an encrypted file: a header of fixed size, followed by the sealed content. So a listing can
//! compute a content's size without reading the file.
//!
//! ```text
//! "MDE" version  generation   the file's key, sealed       the content, sealed
//! 3     1        4            24 + 32 + 16                 24 + size + 16
//! ```
//!
//! Each version of a file has its own key. That key is sealed under the master key of the generation, with
//! the store and the path as context. So moving a file changes only its header.

use memdir_store::StoreError;
use memdir_store::path::MemoryPath;
use zeroize::Zeroizing;

use super::ring::{Generation, Ring};
use super::seal::{self, KEY, Key};

const MAGIC: &[u8; 3] = b"MDE";
const VERSION: u8 = 1;
/// The size of magic, version and generation.
const START: usize = 8;
/// The size of the header before the sealed content.
pub(super) const HEADER: usize = START + KEY + seal::OVERHEAD;
/// The difference between the size of a file and its content, in bytes.
const OVERHEAD: usize = HEADER + seal::OVERHEAD;

/// Why a file cannot be decrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    /// The file does not begin with memdir's magic.
    #[error("it was not written by memdir's encryption, or is damaged")]
    Foreign,
    /// The file has a newer format.
    #[error("it was written by a newer memdir, or is damaged")]
    Newer,
    /// The file's master key is not on the key ring.
    #[error("it was written under a key that this store does not have (any more)")]
    UnknownKey,
    /// The authentication of the key or the content fails.
    #[error("it is damaged, or belongs to another path or another store")]
    Broken,
}

/// The size of the content of a file of `stored` bytes.
pub(super) fn content_size(stored: u64) -> u64 {
    stored.saturating_sub(OVERHEAD as u64)
}

/// Encrypts a new version of a file. The content is given in pieces, in order.
pub(super) fn seal(
    ring: &Ring,
    path: &MemoryPath,
    pieces: &[&[u8]],
) -> Result<Vec<u8>, StoreError> {
    let key: Key = seal::random()?;
    let mut file = header(ring, &ring.current, path, &key)?;
    seal::append(&mut file, &key, &content_context(ring), pieces)?;
    Ok(file)
}

/// Decrypts a file that is bound to `path`, or to one of `origins` if it was moved.
pub(super) fn open(
    ring: &Ring,
    path: &MemoryPath,
    origins: &[MemoryPath],
    file: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Unreadable> {
    let (key, _) = file_key(ring, path, origins, file)?;
    let sealed = file.get(HEADER..).ok_or(Unreadable::Broken)?;
    seal::open(&key, &content_context(ring), sealed).ok_or(Unreadable::Broken)
}

/// The header that binds a file to `path`, if it is bound to one of `origins`. `None` if the file is already
/// bound to `path`, or cannot be decrypted here.
///
/// The generation stays the same, because the owner of that master key may know this file's key.
///
/// # Errors
/// [`StoreError::Failed`] if its master key is not on the key ring.
pub(super) fn rebound(
    ring: &Ring,
    path: &MemoryPath,
    origins: &[MemoryPath],
    file: &[u8],
) -> Result<Option<Vec<u8>>, StoreError> {
    let key = match file_key(ring, path, origins, file) {
        Ok((key, Bound::Elsewhere)) => key,
        Err(problem @ Unreadable::UnknownKey) => {
            return Err(StoreError::failed(format!("binding {path}"), problem));
        }
        Ok((_, Bound::Here)) | Err(_) => return Ok(None),
    };
    let master = generation(file).ok().and_then(|of| Some((of, ring.master(of)?.clone())));
    master.map(|master| header(ring, &master, path, &key)).transpose()
}

/// The generation of the master key that seals the key of a file.
pub(super) fn generation(file: &[u8]) -> Result<Generation, Unreadable> {
    let (start, _) = file.split_first_chunk::<START>().ok_or(Unreadable::Foreign)?;
    let [m, d, e, version, generation @ ..] = *start;
    if [m, d, e] != *MAGIC {
        return Err(Unreadable::Foreign);
    }
    if version != VERSION {
        return Err(Unreadable::Newer);
    }
    Ok(Generation::from_be_bytes(generation))
}

#[derive(Debug, PartialEq, Eq)]
enum Bound {
    Here,
    Elsewhere,
}

fn file_key(
    ring: &Ring,
    path: &MemoryPath,
    origins: &[MemoryPath],
    file: &[u8],
) -> Result<(Key, Bound), Unreadable> {
    let generation = generation(file)?;
    let master = ring.master(generation).ok_or(Unreadable::UnknownKey)?;
    let sealed = file.get(START..HEADER).ok_or(Unreadable::Broken)?;
    let key = |at: &MemoryPath| -> Option<Key> {
        let key = seal::open(master, &key_context(ring, generation, at), sealed)?;
        Some(Zeroizing::new(*key.first_chunk()?))
    };
    if let Some(key) = key(path) {
        return Ok((key, Bound::Here));
    }
    let key = origins.iter().find_map(key).ok_or(Unreadable::Broken)?;
    Ok((key, Bound::Elsewhere))
}

fn header(
    ring: &Ring,
    (generation, master): &(Generation, Key),
    path: &MemoryPath,
    key: &Key,
) -> Result<Vec<u8>, StoreError> {
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.push(VERSION);
    header.extend_from_slice(&generation.to_be_bytes());
    seal::append(&mut header, master, &key_context(ring, *generation, path), &[&**key])?;
    Ok(header)
}

/// All parts except the last have a fixed size, so different contexts have different bytes.
fn key_context(ring: &Ring, generation: Generation, path: &MemoryPath) -> Vec<u8> {
    let generation = generation.to_be_bytes();
    [b"memdir key of a file", &[VERSION][..], &ring.store, &generation, path.as_str().as_bytes()]
        .concat()
}

fn content_context(ring: &Ring) -> Vec<u8> {
    [b"memdir content of a file", &[VERSION][..], &ring.store].concat()
}

#[cfg(test)]
mod tests {
    use memdir_store::settings::{MAX_FILE_BYTES, max_edited_bytes};

    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(text).unwrap()
    }

    #[test]
    fn a_file_of_the_largest_size_can_be_edited_under_its_seal() {
        let largest = MAX_FILE_BYTES + OVERHEAD as u64;
        assert!(max_edited_bytes(Some(MAX_FILE_BYTES)).unwrap() >= largest);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let ring = Ring::new(false).unwrap();
        let at = path("/memories/a");
        let file = seal(&ring, &at, &[b"con", b"", b"tent"]).unwrap();
        assert_eq!(content_size(file.len() as u64), 7);
        assert_eq!(open(&ring, &at, &[], &file).unwrap().as_slice(), b"content");
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(open(&ring, &at, &[], &flipped).is_err(), "bit {bit}");
        }
        for cut in 0..file.len() {
            assert!(open(&ring, &at, &[], &file[..cut]).is_err(), "{cut} bytes");
        }
        assert!(open(&ring, &at, &[], &[&file[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_file_opens_at_its_path_or_where_it_is_known_to_come_from() {
        let ring = Ring::new(false).unwrap();
        let (a, b, c) = (path("/memories/a"), path("/memories/b"), path("/memories/c"));
        let file = seal(&ring, &a, &[b"x"]).unwrap();
        assert_eq!(open(&ring, &b, &[], &file), Err(Unreadable::Broken));
        assert!(open(&ring, &b, std::slice::from_ref(&c), &file).is_err());
        assert!(open(&ring, &b, &[c.clone(), a.clone()], &file).is_ok());
        assert_eq!(rebound(&ring, &a, &[], &file).unwrap(), None);
        assert_eq!(rebound(&ring, &b, &[c], &file).unwrap(), None);
        let mut moved = file.clone();
        let header = rebound(&ring, &b, std::slice::from_ref(&a), &file).unwrap().unwrap();
        moved.splice(..HEADER, header);
        assert_eq!(open(&ring, &b, &[], &moved).unwrap().as_slice(), b"x");
        assert!(open(&ring, &a, &[], &moved).is_err());
    }

    #[test]
    fn no_file_of_another_store_opens() {
        let ring = Ring::new(false).unwrap();
        let at = path("/memories/a");
        let file = seal(&ring, &at, &[b"x"]).unwrap();
        let mut other = ring.clone();
        other.store = [0; 16];
        assert_eq!(open(&other, &at, &[], &file), Err(Unreadable::Broken));
        let newer = ring.advanced().unwrap();
        assert!(open(&newer, &at, &[], &file).is_ok());
        let newest = newer.advanced().unwrap();
        assert_eq!(open(&newest, &at, &[], &file), Err(Unreadable::UnknownKey));
    }

    #[test]
    fn moving_a_file_does_not_make_its_key_a_newer_one() {
        let ring = Ring::new(false).unwrap();
        let (a, b) = (path("/memories/a"), path("/memories/b"));
        let file = seal(&ring, &a, &[b"x"]).unwrap();
        let newer = ring.advanced().unwrap();
        let header = rebound(&newer, &b, &[a], &file).unwrap().unwrap();
        assert_eq!(generation(&header), Ok(1));
    }
}
