//! A large file, read as it arrives.

use std::io::{self, Read};
use std::process;

use futures_util::StreamExt;
use memdir_store::{Cancellation, runtime};

use super::client::Pieces;
use super::error::ObjectError;

pub(super) struct Stream {
    /// `None` at the end, and after an error.
    pieces: Option<Pieces>,
    cancellation: Cancellation,
    process: u32,
    piece: Vec<u8>,
    at: usize,
}

impl Stream {
    pub(super) fn new(pieces: Pieces, cancellation: Cancellation) -> Self {
        let process = process::id();
        Self { pieces: Some(pieces), cancellation, process, piece: Vec::new(), at: 0 }
    }

    fn advance(&mut self) -> io::Result<()> {
        let Some(mut pieces) = self.pieces.take() else { return Ok(()) };
        if self.process != process::id() {
            std::mem::forget(pieces);
            return Err(io::Error::other("a file that was opened before a fork cannot be read on"));
        }
        let cancellation = self.cancellation.clone();
        let next = runtime::run(async move {
            let read = async {
                let next = pieces.next().await.transpose();
                next.map_err(|error| ObjectError::from(error).during("reading a file"))
            };
            let next = runtime::unless_cancelled(&cancellation, read).await?;
            Ok(next.map(|piece| (pieces, piece)))
        });
        if let Some((pieces, piece)) = next.map_err(io::Error::other)? {
            (self.pieces, self.piece, self.at) = (Some(pieces), piece, 0);
        }
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() && self.pieces.is_some() {
            self.advance()?;
        }
        let read = self.piece.get(self.at..).unwrap_or_default().read(window)?;
        self.at += read;
        Ok(read)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A forked child must not close the connection of its parent.
        if self.process != process::id() {
            std::mem::forget(self.pieces.take());
        }
    }
}
