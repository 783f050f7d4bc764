//! `bootstrap`: the initial files of a project that spans several sessions.
//!
//! The pattern is from the documentation ("Multi-session software development pattern"): a progress log, a list
//! of features, and notes on how to start the project. Each session begins by reading them.

/// The description of a project, for its initial files.
#[derive(Debug, Clone, Copy)]
pub struct Project<'p> {
    /// The purpose of the project, in a line or a paragraph.
    pub about: &'p str,
    /// The features to build, in order.
    pub features: &'p [&'p str],
    /// The way to set up and start the project, such as a command.
    pub init: &'p str,
}

impl Project<'_> {
    /// Returns the files and their paths.
    pub(crate) fn files(&self) -> [(&'static str, String); 3] {
        let about = self.about.trim();
        let progress = format!(
            "# Progress\n\n{about}\n\nRead this, features.md and init.md before you begin. Before you end, write what \
             was done and what comes next.\n\n## Done\n\n## Next\n"
        );
        let mut features =
            "# Features\n\nWork on one at a time. Mark one as done, with [x], only when it was \
                            verified from end to end.\n\n"
                .to_owned();
        for feature in self.features {
            // A feature is one line of the list, so line breaks in it become spaces.
            let line = feature.split_whitespace().collect::<Vec<_>>().join(" ");
            features.push_str("- [ ] ");
            features.push_str(&line);
            features.push('\n');
        }
        let init =
            format!("# Init\n\nHow to set up and start the project.\n\n{}\n", self.init.trim());
        [
            ("/memories/progress.md", progress),
            ("/memories/features.md", features),
            ("/memories/init.md", init),
        ]
    }
}
