// What a page of memdir cannot do by itself: follow changes, keep what is typed, open branches, and be used by keys. Every
// page works without it.
//
// The parts of the script stand in files of their own, and the browser gets them as one. This one: what all of them use.
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

// An element with these attributes and this text.
function element(name, attributes = {}, text = '') {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}
