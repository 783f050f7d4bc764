//! [`Secret`]: known only to the user who started the program, and to the browser that got it.

/// 128 random bits, as text for an address.
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new() -> std::io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(data_encoding::HEXLOWER.encode(&bytes)))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text is the secret. The time does not depend on how much of it is right.
    pub(super) fn is(&self, given: &str) -> bool {
        let (ours, given) = (self.0.as_bytes(), given.as_bytes());
        let differences = ours.iter().zip(given).fold(0, |differs, (a, b)| differs | (a ^ b));
        ours.len() == given.len() && differences == 0
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_secret_is_itself_and_nothing_else() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert!(one.is(one.as_str()));
        assert!(!one.is(other.as_str()));
        assert!(!one.is(""));
        assert!(!one.is(&one.as_str()[..31]));
        assert!(!one.is(&format!("{}0", one.as_str())));
    }
}
