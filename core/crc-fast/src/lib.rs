//! CRC-64/NVME, which S3 takes as the checksum of an upload (`AWS_CHECKSUM_ALGORITHM=CRC64NVME`), under the names that
//! `object_store` uses. Cargo.toml says why.

/// The checksums: one.
#[derive(Debug, Clone, Copy)]
pub enum CrcAlgorithm {
    /// CRC-64/NVME.
    Crc64Nvme,
}

/// A checksum that grows with the data.
#[derive(Debug, Clone)]
pub struct Digest(u64);

/// The polynomial 0xad93d23594c93659, its bits reversed.
const POLYNOMIAL: u64 = 0x9a6c_9329_ac4b_c9b5;

const TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

impl Digest {
    /// The checksum of nothing.
    #[must_use]
    pub fn new(algorithm: CrcAlgorithm) -> Self {
        match algorithm {
            CrcAlgorithm::Crc64Nvme => Self(u64::MAX),
        }
    }

    /// Adds data.
    pub fn update(&mut self, data: &[u8]) {
        for byte in data {
            let [low, ..] = self.0.to_le_bytes();
            self.0 = (self.0 >> 8) ^ TABLE[usize::from(low ^ byte)];
        }
    }

    /// The checksum.
    #[must_use]
    pub fn finalize(&self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{CrcAlgorithm, Digest};

    #[test]
    fn it_is_the_checksum_that_catalogues_name() {
        let mut digest = Digest::new(CrcAlgorithm::Crc64Nvme);
        assert_eq!(digest.finalize(), 0);
        digest.update(b"1234");
        digest.update(b"56789");
        assert_eq!(digest.finalize(), 0xae8b_1486_0a79_9888);
    }
}
