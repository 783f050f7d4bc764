//! Text editing: `insert`, `str_replace` and `view` on a file, compared with a model that is a list of lines.

use memdir::{Error, Memory, MemoryOptions, MemoryPath};

use crate::{RECORD, UNIT, model};

const PATH: &str = "/memories/a";

/// The maximum length. For longer texts a reply may show only a part.
const MOST: usize = 3_000;

/// The input is the content of a file, which may begin with the limit of a view as a unit, and records: `i`
/// with a line, and a text as a unit; `r` with two units; `v` with two units.
pub fn edits(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.len() > MOST {
        return;
    }
    let mut records = text.split(RECORD);
    let start = records.next().unwrap_or("");
    let (limit, content) = match start.split_once(UNIT) {
        Some((limit, content)) => (limit.parse().ok(), content),
        None => (None, start),
    };
    let mut options = MemoryOptions::default();
    options.max_view_chars = limit;
    let memory = Memory::open("memory:", options).unwrap();
    memory.create(PATH, content).unwrap();
    let mut content = content.to_owned();
    for record in records {
        if content.len() > MOST {
            return;
        }
        let mut units = record.get(1..).unwrap_or("").split(UNIT);
        let mut unit = || units.next().unwrap_or("");
        match record.chars().next() {
            Some('i') => insert(&memory, &mut content, unit().parse().unwrap_or(0), unit()),
            Some('r') => str_replace(&memory, &mut content, unit(), unit(), limit),
            Some('v') => {
                let range = unit().parse().ok().zip(unit().parse().ok());
                let expected = model::view(PATH, &content, range, limit);
                assert_eq!(answer(memory.view(PATH, range)), expected);
            }
            _ => {}
        }
        let stored = memory.store().read(&MemoryPath::parse(PATH).unwrap()).unwrap();
        assert_eq!(String::from_utf8(stored).unwrap(), content);
    }
}

fn insert(memory: &Memory, content: &mut String, line: i64, text: &str) {
    let expected = match model::inserted(content, line, text) {
        Ok(new) => {
            *content = new;
            Ok(format!("The file {PATH} has been edited."))
        }
        Err(lines) => Err(format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {lines}]"
        )),
    };
    assert_eq!(answer(memory.insert(PATH, line, text)), expected);
}

fn str_replace(memory: &Memory, content: &mut String, old: &str, new: &str, limit: Option<usize>) {
    let expected = model::replaced(PATH, content, old, new, limit).map(|(answer, new)| {
        *content = new;
        answer
    });
    assert_eq!(answer(memory.str_replace(PATH, old, new)), expected);
}

fn answer(result: Result<String, Error>) -> Result<String, String> {
    result.map_err(|error| match error {
        Error::Refused(refused) => refused.into_sentence(),
        other => panic!("{other}"),
    })
}
