// Functions that a page of memdir cannot have without a script: following changes, keeping unsaved input, opening branches, and
// keyboard shortcuts. Every page works without the script.
//
// The parts of the script are in separate files, which are served as one. This part has the shared functions.
'use strict';

const memory = document.body.dataset.memory;
const store = document.body.dataset.store;
const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const parsed = (text) => new DOMParser().parseFromString(text, 'text/html');

async function load(address) {
  const response = await fetch(address, { headers: { accept: 'text/html' } });
  if (isSignedOut(response)) {
    say('out', { again: tryAgain });
    throw new Error('out');
  }
  return parsed(await response.text());
}

// Makes an element with these attributes and this text.
function element(name, attributes = {}, text = '') {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
