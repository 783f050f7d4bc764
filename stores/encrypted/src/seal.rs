//! Seals bytes with XChaCha20-Poly1305. The random nonce comes before the ciphertext.

use chacha20poly1305::aead::common::getrandom;
use chacha20poly1305::{AeadInOut, KeyInit, Tag, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use memdir_store::StoreError;

pub(super) const KEY: usize = 32;
const NONCE: usize = 24;
const TAG: usize = 16;
/// The difference between the size of a sealed text and the text, in bytes.
pub(super) const OVERHEAD: usize = NONCE + TAG;

pub(super) type Key = Zeroizing<[u8; KEY]>;

/// Random bytes from the operating system.
pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, StoreError> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|error| {
        StoreError::failed("drawing random bytes from the operating system", error)
    })?;
    Ok(bytes)
}

/// Seals a text, given in pieces, and appends it to `sealed`. Opening it requires the same `key` and
/// `context`.
pub(super) fn append(
    sealed: &mut Vec<u8>,
    key: &Key,
    context: &[u8],
    pieces: &[&[u8]],
) -> Result<(), StoreError> {
    let nonce = random::<NONCE>()?;
    // Reserve all memory at once, so the vector does not grow and leave plaintext in freed memory.
    sealed.reserve_exact(pieces.iter().map(|piece| piece.len()).sum::<usize>() + OVERHEAD);
    sealed.extend_from_slice(&*nonce);
    let start = sealed.len();
    for piece in pieces {
        sealed.extend_from_slice(piece);
    }
    let text = sealed.get_mut(start..).unwrap_or_default();
    let tag = cipher(key)
        .encrypt_inout_detached(&XNonce::from(*nonce), context, text.into())
        .map_err(|_| StoreError::failed("encrypting", "there is too much to encrypt"))?;
    sealed.extend_from_slice(&tag);
    Ok(())
}

/// Seals one text into a new vector.
pub(super) fn seal(key: &Key, context: &[u8], text: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut sealed = Vec::new();
    append(&mut sealed, key, context, &[text])?;
    Ok(sealed)
}

/// Opens a sealed text; `None` if the key, the context or any bit differs.
pub(super) fn open(key: &Key, context: &[u8], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
    let (text, tag) = rest.split_last_chunk::<TAG>()?;
    let mut text = Zeroizing::new(text.to_vec());
    cipher(key)
        .decrypt_inout_detached(
            &XNonce::from(*nonce),
            context,
            text.as_mut_slice().into(),
            &Tag::from(*tag),
        )
        .ok()?;
    Some(text)
}

fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new((&**key).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_context_open_it() {
        let (key, other) = (random().unwrap(), random().unwrap());
        let sealed = seal(&key, b"here", b"text").unwrap();
        assert_eq!(sealed.len(), 4 + OVERHEAD);
        assert_eq!(open(&key, b"here", &sealed).unwrap().as_slice(), b"text");
        assert!(open(&key, b"there", &sealed).is_none());
        assert!(open(&other, b"here", &sealed).is_none());
        assert!(open(&key, b"here", &sealed[..sealed.len() - 1]).is_none());
        assert!(open(&key, b"here", &[]).is_none());
        assert_ne!(sealed, seal(&key, b"here", b"text").unwrap());
    }
}
