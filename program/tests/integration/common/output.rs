//! [`Output`]: the output of a process, which can be looked at before the process ends.

use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The output of a process.
pub(crate) struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    pub(crate) fn of(mut output: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut part = [0; 4096];
            // The read of a terminal ends with an error after every process has closed the other end.
            while let Ok(length @ 1..) = output.read(&mut part) {
                read.lock().unwrap().extend_from_slice(&part[..length]);
            }
        });
        Self { bytes, reader }
    }

    /// The output up to now.
    pub(crate) fn now(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// The whole output, after every process has closed it.
    pub(crate) fn end(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8(std::mem::take(&mut *self.bytes.lock().unwrap())).unwrap()
    }
}
