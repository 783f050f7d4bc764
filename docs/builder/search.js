// The search of the site. It replaces the theme's own, which finds only sections that have every word of a question.
//
// A section that has more of the words, rarer ones, and has them in its title, comes first (BM25 over fields). It speaks the
// theme's protocol: a message of type 0 brings the sections, 1 says that they are read, 2 asks, 3 answers.

"use strict";

/** How much more a word counts in a title, or in the titles above it, than in a text. */
const WEIGHTS = { title: 4, path: 2, text: 1 };
/** Words that say nothing about what is asked. */
const EMPTY = new Set(
  `a an and any are as at be been but by can could did do does for from get had has have how i if in into is it its me my no not of
  on or our should so than that the their them then there these they this through to too us was we were what when where which who
  why will with would you your`.split(/\s+/),
);
/** Words that people ask with, and those that the pages use for the same. */
const SAME = [
  ["folder", "directory"],
  ["remove", "delete", "erase"],
  ["find", "search", "grep"],
  ["notify", "watch"],
  ["quota", "limit"],
  ["revert", "rollback", "undo"],
  ["simultaneously", "concurrently", "once"],
];
const LIKENESS = 0.7;
const WORD = /[\p{L}\p{N}]+(?:['’._][\p{L}\p{N}]+)*/gu;
/** The constants of BM25: how soon more of the same word stops to count, and how much a long text counts less. */
const [SATURATION, LENGTH] = [1.2, 0.6];
const RESULTS = 10;
/** As many sections of a page come before other pages. */
const OF_A_PAGE = 2;
/** The page of older names. A question with an older name finds it; other questions have better answers. */
const OLD = /^reference\/older-names/;
const AGE = 0.5;

let sections = [];
/** For each word, the sections that have it: a map from their numbers to how often, weighed. */
let words = new Map();
let average = 1;

/** A word without what grammar adds to it, so that `writes` and `writing` are one. */
function stem(word) {
  let stemmed = word.toLowerCase().replace(/['’].*/, "");
  if (stemmed.length > 3)
    stemmed = stemmed.replace(/ies$/, "y").replace(/([^aiuos])s$/, "$1");
  if (stemmed.length > 5)
    stemmed = stemmed
      .replace(/ied$/, "y")
      .replace(/(?:ing|ed)$/, "")
      .replace(/([^aeiouls])\1$/, "$1");
  return stemmed.length > 3 ? stemmed.replace(/[ey]$/, "") : stemmed;
}

/** The words of a text, with their places. A name such as `max_files`, `maxFiles` or `notes.md` counts as a whole and as its parts. */
function* wordsOf(text) {
  const plain = text.replace(/<[^>]*>|&\w+;/g, (mark) =>
    " ".repeat(mark.length),
  );
  for (const { 0: found, index } of plain.matchAll(WORD)) {
    const parts = [
      ...found.matchAll(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[^\p{Lu}._]+/gu),
    ];
    if (parts.length > 1)
      yield {
        word: found.toLowerCase(),
        start: index,
        end: index + found.length,
      };
    for (const { 0: part, index: at } of parts) {
      yield {
        word: stem(part),
        start: index + at,
        end: index + at + part.length,
      };
    }
  }
}

/** The words of a field. The path is several texts, whose places the theme counts without anything in between. */
function* wordsIn(section, field) {
  let before = 0;
  for (const text of [section[field] ?? []].flat()) {
    for (const { word, start, end } of wordsOf(text)) {
      yield { word, start: before + start, end: before + end };
    }
    before += text.length;
  }
}

function read(index) {
  sections = index.items;
  words = new Map();
  let total = 0;
  sections.forEach((section, number) => {
    section.length = 0;
    for (const [field, weight] of Object.entries(WEIGHTS)) {
      for (const { word } of wordsIn(section, field)) {
        section.length += 1;
        const found = words.get(word) ?? words.set(word, new Map()).get(word);
        found.set(number, (found.get(number) ?? 0) + weight);
      }
    }
    total += section.length;
  });
  average = total / Math.max(1, sections.length);
}

/** The words that a word of a question finds, and how much each counts: itself, those like it, and while it is typed, what begins with it. */
function meant(word, isLast) {
  const found = new Map();
  if (isLast && word.length > 1 && !words.has(word)) {
    for (const known of words.keys())
      if (known.startsWith(word)) found.set(known, 1);
  }
  for (const alike of SAME) {
    const stems = alike.map(stem);
    if (stems.includes(word))
      for (const other of stems) found.set(other, LIKENESS);
  }
  return found.set(word, 1);
}

function ask(question) {
  const asked = [...wordsOf(question)].map(({ word }) => word);
  const telling = asked.filter((word) => !EMPTY.has(word));
  const groups = (telling.length > 0 ? telling : asked).map((word, at, all) =>
    meant(word, at === all.length - 1),
  );
  const scores = new Map();
  for (const group of groups) {
    const best = new Map();
    for (const [word, likeness] of group) {
      const found = words.get(word) ?? new Map();
      const rarity = Math.log(
        1 + (sections.length - found.size + 0.5) / (found.size + 0.5),
      );
      for (const [number, count] of found) {
        const long = 1 - LENGTH + (LENGTH * sections[number].length) / average;
        const score =
          (likeness * rarity * count * (SATURATION + 1)) /
          (count + SATURATION * long);
        best.set(number, Math.max(best.get(number) ?? 0, score));
      }
    }
    for (const [number, score] of best) {
      const { sum, has } = scores.get(number) ?? { sum: 0, has: 0 };
      scores.set(number, { sum: sum + score, has: has + 1 });
    }
  }
  // A section with all of the words counts twice as much as one with half of them.
  const rank = (number, { sum, has }) =>
    ((OLD.test(sections[number].location) ? AGE : 1) * sum * has) /
    groups.length;
  const ordered = [...scores]
    .sort((one, other) => rank(...other) - rank(...one))
    .map(([number]) => number);
  const of = new Map();
  const isEarly = new Map();
  for (const number of ordered) {
    const page = sections[number].location.replace(/#.*/, "");
    of.set(page, (of.get(page) ?? 0) + 1);
    isEarly.set(number, of.get(page) <= OF_A_PAGE);
  }
  const early = ordered.filter((number) => isEarly.get(number));
  const late = ordered.filter((number) => !isEarly.get(number));
  return {
    found: [...early, ...late],
    sought: new Set(groups.flatMap((group) => [...group.keys()])),
  };
}

/** Where in a section the words are, so that the page can mark them. */
function matches(section, sought) {
  return Object.keys(WEIGHTS).map((field) => {
    const ranges = [...wordsIn(section, field)]
      .filter(({ word }) => sought.has(word))
      .map(({ start, end }) => ({ start, end, value: end - start }));
    return { field, value: { highlight: { ranges } } };
  });
}

function answer({ input, page }) {
  const { found, sought } = ask(typeof input === "string" ? input : "");
  const from = page?.from ?? 0;
  const next =
    from + RESULTS < found.length ? { from: from + RESULTS } : undefined;
  const prev = from > 0 ? { from: Math.max(0, from - RESULTS) } : undefined;
  const items = found.slice(from, from + RESULTS).map((number) => ({
    id: number,
    matches: matches(sections[number], sought),
  }));
  return {
    items,
    pagination: { total: found.length, prev, next },
    aggregations: [],
  };
}

self.onmessage = ({ data: { type, data } }) => {
  if (type === 0) {
    read(data);
    self.postMessage({ type: 1 });
  } else if (type === 2) {
    self.postMessage({ type: 3, data: answer(data) });
  }
};
