//! The languages with a stemmer, and the detection of a text's language.
//!
//! A stemmer removes the endings of its language, so a text must be stemmed by its own. The language of a text in Latin letters is the
//! one whose most frequent words it has. Those words carry no meaning, and are not indexed. A word in Cyrillic or Greek letters is
//! stemmed by Russian or Greek in every text.

use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};

use crate::hashing::{WordMap, WordSet};
use crate::scripts::{Alphabet, alphabet};

/// The language of texts in Latin letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[non_exhaustive]
pub enum Language {
    /// Detects the language of each text by its most frequent words. A text without any of them is taken for English.
    #[default]
    Auto,
    /// No language: words have no stems, and all words are indexed.
    None,
    /// Danish.
    Danish,
    /// Dutch.
    Dutch,
    /// English.
    English,
    /// Finnish.
    Finnish,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Norwegian.
    Norwegian,
    /// Polish.
    Polish,
    /// Portuguese.
    Portuguese,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
    /// Turkish.
    Turkish,
}

/// The languages that a text can have, without `Auto`. The place of one in this list is its number in a saved index.
pub(crate) const LANGUAGES: [Language; 14] = [
    Language::None,
    Language::Danish,
    Language::Dutch,
    Language::English,
    Language::Finnish,
    Language::French,
    Language::German,
    Language::Italian,
    Language::Norwegian,
    Language::Polish,
    Language::Portuguese,
    Language::Spanish,
    Language::Swedish,
    Language::Turkish,
];

/// The most frequent words of each language that are only grammar.
const STOP_WORDS: [(Language, &str); 13] = [
    (
        Language::English,
        "a an and are as at be been but by did do does for from had has have how in into is it its of on or our she he \
         so than that the their them then there these they this those to was we were what when where which who whom \
         why with you your",
    ),
    (
        Language::German,
        "aber alle als also am an auch auf aus bei bin bis da damit das dass dem den der des die dies diese dieser du \
         durch ein eine einem einen einer eines er es für gegen hat haben hatte hatten ich ihr ihre im in ist ja kann \
         man mit nach nicht noch nur oder ob ohne sein seine sich sie sind so über um und uns unter vom von vor war \
         waren was welche welchem welchen welcher welches wenn wer werden wie wir wird wo wurde wurden zu zum zur",
    ),
    (
        Language::Spanish,
        "a al algo ante como con cual cuál cuando cuándo de del desde donde dónde e el él ella ellos en entre era es \
         esa ese eso esta está están estas este esto fue ha hasta hay la las le les lo los más me mi muy no nos o para \
         pero por porque que qué quien quién se ser si sí sin sobre son su sus también tiene tienen un una unas uno \
         unos y ya",
    ),
    (
        Language::French,
        "à au aux avec ce ces cette comme d dans de des du elle en est et être eux il ils je l la le les leur leurs \
         lui mais me mes moi ne nos notre nous on ou où par pas pour qu quand que quel quelle qui quoi s sa sans se \
         ses son sont sur ta te tu un une vos votre vous y",
    ),
    (
        Language::Italian,
        "a ad al alla alle anche che chi ci come con cui da dal dalla dei del della delle di dove e è ed era gli ha \
         hanno i il in io la le lei lo loro lui ma mi nei nel nella non noi o per perché più quale quando quella \
         quello questa questo se si sono su sua sue suo tra un una uno vi",
    ),
    (
        Language::Portuguese,
        "a ao aos as às até com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta este foi \
         há isso isto já lhe mais mas me na nas não no nos nós o onde os ou para pela pelo por qual quando que quem \
         se sem ser seu seus são sua suas também te tem um uma você",
    ),
    (
        Language::Dutch,
        "aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe ik in is je kan maar me \
         met mijn naar niet nog nu of om onder ons ook op over te toen tot uit van veel voor waar wanneer was wat \
         welke werd wie wij worden wordt zich zij zijn zo zou",
    ),
    (
        Language::Swedish,
        "alla att av blev både de dem den denna deras dess det detta dig din du där efter ej eller en er ett från för \
         ha hade han hans har hennes hon hur här i icke ingen inte jag kan man med men mig min mot mycket nu när någon \
         och om oss på samma sedan sig sin som till under upp ut var vad vi vid är över",
    ),
    (
        Language::Danish,
        "af alle at blev blive da de dem den denne der deres det dette dig din disse du efter eller en end er et for \
         fra ham han hans har havde hende hun hvad hvis hvor i ikke ind jeg kan man med meget men mig min når noget \
         nogle nu og også om op os over på sig sin skal som til ud under var vi vil være",
    ),
    (
        Language::Norwegian,
        "alle at av ble både da de deg dem den denne der deres det dette du eller en enn er et etter for fra før ha \
         hadde han hans har hun hva hvem hvis hvor hvordan i ikke ingen jeg kan man med meg men min når noe noen nå og \
         også om opp oss over på seg sin skal som så til ut var ved vi vil være",
    ),
    (
        Language::Finnish,
        "ei eivät että hän he ja jo joka jos kanssa koska kuin kuka kun me mikä mitä missä mukaan mutta myös ne niin \
         nyt oli olivat olla on ovat se sekä sen siitä siinä sinä te tai tämä vaan vai vain",
    ),
    (
        Language::Polish,
        "aby ale bo by być był była było były co czy dla do gdy gdzie go i ich ile im ja jak jako je jego jej jest już \
         kiedy kto która które który lub ma mi może na nad nie nich niż o od ona one oni po pod przez przy są się ta \
         tak także te tego tej ten to tu tym w we więc z za że",
    ),
    (
        Language::Turkish,
        "ama ancak bazı ben bir biz bu bunu çok çünkü da daha de değil diye en gibi hangi hem için ile ise kadar kim \
         ki mi mu mü nasıl ne neden nerede nereye niçin o olan olarak oldu onu onun sen siz şey şu var ve veya ya",
    ),
];

/// Those of words in Cyrillic letters, with `ё` folded.
const RUSSIAN_STOP_WORDS: &str = "а без был была были было быть в во вот все вы где да для до его ее если есть еще же за и из или им их \
     к как какая какие какое каким какой каком когда кого кому который кто куда ли либо мне мы на над не него нее нет ни них но о об он \
     она они оно от по под при про с со так также там то того тоже только том тот у уже чем что чтобы чье эта эти это этот я";

/// Those of words in Greek letters, without their diacritics.
const GREEK_STOP_WORDS: &str = "αν απο αυτη αυτο αυτος για δεν ειναι εναν ενας ενα η ηταν θα και κατα με μετα να ο οι ομως οπως οπου \
     οτι που πως σε στη στην στο στον στους στις τα τη την της τι τις το τον του τους των ως";

/// A set of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Languages(u16);

impl Languages {
    pub(crate) fn of(language: Language) -> Self {
        Self(1 << number(language))
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn has(self, language: Language) -> bool {
        self.0 & (1 << number(language)) != 0
    }

    /// Whether it has all of the others.
    pub(crate) fn includes(self, others: Self) -> bool {
        self.0 | others.0 == self.0
    }

    pub(crate) fn all() -> Self {
        Self(u16::MAX)
    }
}

/// The number of a language in a saved index. `Auto` has none of its own, because no text has it.
pub(crate) fn number(language: Language) -> u8 {
    (0_u8..).zip(LANGUAGES).find(|(_, each)| *each == language).map_or(0, |(number, _)| number)
}

/// The languages in which a folded word is a stop word.
static STOPS: LazyLock<WordMap<&'static str, Languages>> = LazyLock::new(|| {
    let mut stops: WordMap<&str, Languages> = WordMap::default();
    for (language, words) in STOP_WORDS {
        for word in words.split_whitespace() {
            let of = stops.entry(word).or_default();
            *of = of.with(Languages::of(language));
        }
    }
    for word in RUSSIAN_STOP_WORDS.split_whitespace().chain(GREEK_STOP_WORDS.split_whitespace()) {
        stops.insert(word, Languages::all());
    }
    stops
});

/// The longest stop word, in bytes.
const LONGEST_STOP_WORD: usize = 14;

/// Whether a folded word is only grammar in a text of this language.
pub(crate) fn is_stop_word(folded: &str, language: Language) -> bool {
    language != Language::None
        && folded.len() <= LONGEST_STOP_WORD
        && STOPS.get(folded).is_some_and(|of| of.has(language))
}

/// Counts the stop words of a text, to detect its language.
///
/// Each stop word counts once, so a name that is a stop word somewhere, such as Ben in Turkish, does not decide.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    counts: [u32; LANGUAGES.len()],
    seen: WordSet<&'static str>,
}

/// The number of different stop words that a text in another language than English has at least.
const LEAST_STOP_WORDS: u32 = 2;

impl Detector {
    /// Takes a folded word into account.
    pub(crate) fn word(&mut self, folded: &str) {
        if folded.len() > LONGEST_STOP_WORD || alphabet(folded) != Alphabet::Latin {
            return;
        }
        if let Some((word, of)) = STOPS.get_key_value(folded)
            && self.seen.insert(word)
        {
            for (count, language) in self.counts.iter_mut().zip(LANGUAGES) {
                *count += u32::from(of.has(language));
            }
        }
    }

    /// The language with the most stop words, or the first of those with as many: Danish and Norwegian have the same ones. It is English
    /// if no other one has at least two, and more than English.
    pub(crate) fn language(&self) -> Language {
        let english = self.counts[usize::from(number(Language::English))];
        let most = self.counts.iter().copied().max().unwrap_or(0);
        if most < LEAST_STOP_WORDS || most <= english {
            return Language::English;
        }
        let mut best = LANGUAGES.iter().zip(self.counts).filter(|(_, count)| *count == most);
        best.next().map_or(Language::English, |(language, _)| *language)
    }
}

/// The stemmers, by language of the text.
pub(crate) struct Stemmers {
    latin: [Option<Stemmer>; LANGUAGES.len()],
    russian: Stemmer,
    greek: Stemmer,
}

/// The stemmers are functions, so one of each is enough.
pub(crate) static STEMMERS: LazyLock<Stemmers> = LazyLock::new(|| Stemmers {
    latin: LANGUAGES.map(|language| algorithm(language).map(Stemmer::new)),
    russian: Stemmer::new(Algorithm::Russian),
    greek: Stemmer::new(Algorithm::Greek),
});

fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Auto | Language::None => return None,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Italian => Algorithm::Italian,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Polish => Algorithm::Polish,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
        Language::Turkish => Algorithm::Turkish,
    })
}

impl Stemmers {
    /// The stem of a folded word in a text of this language; `None` if it has no stemmer, or is no word of letters.
    pub(crate) fn stemmer(&self, folded: &str, language: Language) -> Option<Stemmer> {
        if language == Language::None {
            return None;
        }
        match alphabet(folded) {
            Alphabet::Latin => self.latin[usize::from(number(language))],
            Alphabet::Cyrillic => Some(self.russian),
            Alphabet::Greek => Some(self.greek),
            Alphabet::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(text: &str) -> Language {
        let mut detector = Detector::default();
        text.split_whitespace().for_each(|word| detector.word(word));
        detector.language()
    }

    #[test]
    fn a_language_is_detected_by_its_stop_words() {
        for (text, language) in [
            ("the review of the week was short and without surprises", Language::English),
            ("der rückblick der woche war kurz und ohne überraschungen", Language::German),
            ("el repaso de la semana fue corto y sin sorpresas", Language::Spanish),
            ("la réunion avec les clients est dans le bureau", Language::French),
            ("la riunione con gli utenti è nella sala", Language::Italian),
            ("a reunião com os clientes não foi no escritório", Language::Portuguese),
            ("de vergadering met het team is naar morgen verplaatst", Language::Dutch),
            ("mötet med kunden är på fredag och inte nu", Language::Swedish),
            ("kokous on perjantaina ja se ei ole nyt", Language::Finnish),
            ("spotkanie z klientem jest w piątek i nie jest długie", Language::Polish),
            ("toplantı cuma için ve çok uzun değil", Language::Turkish),
            ("tea", Language::English),
            ("ben likes tea and ben lives in boston", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(detected(text), language, "{text}");
        }
    }

    /// The stemmers are generated code of another crate, and words may come from an attacker.
    #[test]
    fn no_word_makes_a_stemmer_panic() {
        let alphabets = [
            "abcdefghijklmnopqrstuvwxyzäöüßéèêñçåøæłńğışœáíóúý'",
            "абвгдежзийклмнопрстуфхцчшщъыьэюя",
            "αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ",
        ];
        let mut state = memdir_test_support::effort::seed().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        for alphabet in alphabets {
            let letters: Vec<char> = alphabet.chars().collect();
            // Few letters make the endings that stemmers look for.
            for _ in 0..memdir_test_support::effort::times(5_000) {
                let few: Vec<char> = (0..4).map(|_| letters[random(letters.len())]).collect();
                let pool = if random(2) == 0 { &few } else { &letters };
                let word: String = (0..=random(24)).map(|_| pool[random(pool.len())]).collect();
                for language in LANGUAGES {
                    if let Some(stemmer) = STEMMERS.stemmer(&word, language) {
                        stemmer.stem(&word);
                    }
                }
            }
        }
    }

    #[test]
    fn no_stop_word_is_longer_than_the_longest() {
        assert_eq!(STOPS.keys().map(|word| word.len()).max(), Some(LONGEST_STOP_WORD));
    }

    #[test]
    fn each_language_has_a_number_of_its_own() {
        for (at, language) in LANGUAGES.iter().enumerate() {
            assert_eq!(usize::from(number(*language)), at);
        }
    }
}
