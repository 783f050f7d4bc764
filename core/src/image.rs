//! [`Image`]: checks that bytes are a complete PNG or JPEG image, and reads its size.
//!
//! The API rejects every request of a conversation that contains an invalid image, so we check the bytes and
//! not the file name.

use memchr::memmem;
use memdir_store::path::MemoryPath;

/// The longest side, in pixels, that Claude's API accepts.
pub(crate) const MAX_IMAGE_SIDE: u32 = 8000;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The properties of an image that are known without decoding it.
///
/// ```
/// use memdir::Image;
///
/// assert_eq!(Image::in_bytes(b"a text"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// `image/png` or `image/jpeg`.
    pub media_type: &'static str,
    /// In pixels; not 0.
    pub width: u32,
    /// In pixels; not 0.
    pub height: u32,
}

impl Image {
    /// Returns the PNG or JPEG image in `bytes`, or `None` if they are not a complete image. Pixels are not
    /// decoded. A view shows a file as an image if this function finds one, whatever the file's name.
    #[must_use]
    pub fn in_bytes(bytes: &[u8]) -> Option<Self> {
        let (media_type, (width, height)) = match bytes.strip_prefix(PNG) {
            Some(chunks) => ("image/png", png_size(chunks)?),
            None => ("image/jpeg", jpeg_size(bytes.strip_prefix(b"\xff\xd8")?)?),
        };
        (width > 0 && height > 0).then_some(Self { media_type, width, height })
    }
}

/// Returns whether a file with this name is shown as an image.
pub(crate) fn has_image_name(path: &MemoryPath) -> bool {
    let extension = path.name().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    extension.is_some_and(|extension| {
        ["png", "jpg", "jpeg"].iter().any(|image| extension.eq_ignore_ascii_case(image))
    })
}

/// Returns the width and height in the first chunk, if all chunks up to the last one are present. A chunk has a
/// length, a type, that many bytes, and a checksum.
fn png_size(mut chunks: &[u8]) -> Option<(u32, u32)> {
    let header = chunks.get(4..16).filter(|header| header.starts_with(b"IHDR"))?;
    let size = (number(header.get(4..8)?), number(header.get(8..12)?));
    loop {
        let (length, rest) = chunks.split_at_checked(4)?;
        if rest.starts_with(b"IEND") {
            return Some(size);
        }
        let whole = usize::try_from(number(length)).ok()?.checked_add(4 + 4)?;
        chunks = rest.get(whole..)?;
    }
}

/// Returns the width and height in the frame's segment, if an end marker follows it. A segment has `ff`, its
/// kind, a length that includes itself, and the data.
fn jpeg_size(mut segments: &[u8]) -> Option<(u32, u32)> {
    loop {
        let [0xff, kind, rest @ ..] = segments else { return None };
        match kind {
            // Padding.
            0xff => segments = &segments[1..],
            // Frames of all kinds. Three numbers in this range are other segments.
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                let size = (number(rest.get(5..7)?), number(rest.get(3..5)?));
                return memmem::rfind(rest, b"\xff\xd9").map(|_| size);
            }
            _ => segments = rest.get(usize::try_from(number(rest.get(..2)?)).ok()?.max(2)..)?,
        }
    }
}

/// Big-endian.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut png = PNG.to_vec();
        let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
        let header = [&size[..], &[8, 2, 0, 0, 0]].concat();
        for (kind, data) in [(b"IHDR", &header[..]), (b"IDAT", b"some"), (b"IEND", b"")] {
            png.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            png.extend([kind.as_slice(), data, b"sum."].concat());
        }
        png
    }

    fn jpeg(width: u16, height: u16, frame: u8) -> Vec<u8> {
        let mut jpeg = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xff, 0xdb, 0, 3, 9];
        jpeg.extend([0xff, frame, 0, 11, 8]);
        jpeg.extend([height.to_be_bytes(), width.to_be_bytes()].concat());
        jpeg.extend([1, 1, 0x11, 0, 0xff, 0xda, 0, 2, 7, 7, 0xff, 0xd9]);
        jpeg
    }

    #[test]
    fn whole_images_tell_what_they_are() {
        let image = |bytes: &[u8]| Image::in_bytes(bytes);
        let of = |media_type, width, height| Some(Image { media_type, width, height });
        assert_eq!(image(&png(640, 480)), of("image/png", 640, 480));
        assert_eq!(image(&[png(1, 2), b"\n".to_vec()].concat()), of("image/png", 1, 2));
        for frame in [0xc0, 0xc2] {
            assert_eq!(image(&jpeg(9000, 3, frame)), of("image/jpeg", 9000, 3));
        }
    }

    #[test]
    fn nothing_else_is_one() {
        for whole in [png(3, 2), jpeg(3, 2, 0xc0)] {
            // The checksum of the last chunk is not checked.
            for end in 0..whole.len() - if whole.starts_with(PNG) { 8 } else { 0 } {
                assert_eq!(Image::in_bytes(&whole[..end]), None, "{end} bytes");
            }
        }
        for none in
            [&b"# notes\n"[..], b"GIF89a", b"\xff\xd8\xff\xd9", &png(0, 2), &jpeg(3, 0, 0xc0)]
        {
            assert_eq!(Image::in_bytes(none), None);
        }
    }
}
