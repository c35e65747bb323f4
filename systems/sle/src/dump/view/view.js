'use strict';
// Shows a dump. All text from messages is set as text, never as markup. The state is in the URL:
// #entry=NUMBER&octets=FROM-UNTIL&find=TEXT&faulty=1.

const data = JSON.parse(document.getElementById('data').textContent);
const element = (id) => document.getElementById(id);
const [list, tree, octets, find, faulty] = ['list', 'tree', 'octets', 'find', 'faulty'].map(element);

/** A new element with classes and text. */
function made(tag, className, text) {
  const node = document.createElement(tag);
  node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

const state = { entry: 0, from: -1, until: -1 };
/** Row of the chosen entry. */
let chosenRow;
/** Rows that the filter lets through, in order: entry and element. */
let shown = [];
/** Fields of the chosen entry that have a line, in order. */
let lines = [];

function save() {
  const parts = new URLSearchParams();
  if (state.entry > 0) parts.set('entry', String(state.entry));
  if (state.from >= 0) parts.set('octets', `${state.from}-${state.until}`);
  if (find.value !== '') parts.set('find', find.value);
  if (faulty.checked) parts.set('faulty', '1');
  history.replaceState(null, '', `#${parts}`);
}

function load() {
  const parts = new URLSearchParams(location.hash.slice(1));
  find.value = parts.get('find') ?? '';
  faulty.checked = parts.get('faulty') === '1';
  const [from, until] = (parts.get('octets') ?? '').split('-').map(Number);
  filter();
  choose(Number(parts.get('entry')) || shown[0]?.entry.number || 0);
  if (until > from) mark(from, until);
}

/** Rows of the list, made once. */
const rows = data.entries.map((entry) => {
  const row = made('div', entry.fault === null ? 'row' : 'row wrong');
  row.setAttribute('role', 'option');
  row.setAttribute('aria-selected', 'false');
  row.id = `entry-${entry.number}`;
  const sender = entry.isUser ? 'user →' : '← provider';
  for (const text of [entry.number, entry.time, entry.connection, sender, entry.summary]) {
    row.append(made('span', '', String(text)));
  }
  row.addEventListener('click', () => choose(entry.number));
  return { entry, row, text: `${entry.operation} ${entry.summary}`.toLowerCase() };
});

function filter() {
  const wanted = find.value.toLowerCase();
  shown = rows.filter(({ entry, text }) => text.includes(wanted) && (!faulty.checked || entry.fault !== null));
  list.replaceChildren(...shown.map(({ row }) => row));
  const leftOut = data.leftOut > 0 ? `; ${data.leftOut} more are not in this page` : '';
  element('count').textContent = `${shown.length} of ${data.entries.length} messages${leftOut}`;
}

/** Chooses an entry by its number. */
function choose(number) {
  state.entry = number;
  [state.from, state.until] = [-1, -1];
  const chosen = rows.find(({ entry }) => entry.number === number);
  // The one before may be left out by the filter.
  chosenRow?.setAttribute('aria-selected', 'false');
  chosenRow = chosen?.row;
  chosenRow?.setAttribute('aria-selected', 'true');
  list.setAttribute('aria-activedescendant', chosen === undefined ? '' : chosen.row.id);
  chosen?.row.scrollIntoView({ block: 'nearest' });
  show(chosen?.entry);
  save();
}

function show(entry) {
  lines = [];
  tree.replaceChildren();
  octets.replaceChildren();
  if (entry === undefined) return;
  const octetsOf = Uint8Array.from(atob(entry.octets), (letter) => letter.charCodeAt(0));
  const top = [entry.operation, '', 0, octetsOf.length, entry.fault, entry.fields];
  tree.append(branch([top], 1));
  hexadecimal(octetsOf);
}

/** The list of fields at one level. */
function branch(fields, level) {
  const ul = made('ul', '');
  ul.setAttribute('role', level === 1 ? 'presentation' : 'group');
  for (const field of fields) {
    const [name, value, from, until, fault, within] = field;
    const item = made('li', '');
    item.setAttribute('role', 'treeitem');
    item.setAttribute('aria-level', String(level));
    item.setAttribute('aria-selected', 'false');
    item.id = `field-${lines.length}`;
    const line = made('span', fault === null ? 'field' : 'field wrong');
    line.append(made('b', '', name));
    if (value !== '') line.append(`: ${value}`);
    if (fault !== null) line.append(` (${fault})`);
    line.addEventListener('click', () => mark(from, until, item));
    lines.push({ item, line, from, until });
    item.append(line);
    if (within.length > 0) {
      item.setAttribute('aria-expanded', 'true');
      item.append(branch(within, level + 1));
    }
    ul.append(item);
  }
  return ul;
}

/** Octets with positions and letters; a click chooses the innermost field. */
function hexadecimal(all) {
  for (let start = 0; start < all.length; start += 16) {
    const row = made('div', '');
    row.append(made('span', 'soft', `${start.toString(16).padStart(6, '0')}  `));
    const letters = made('span', '');
    for (let at = start; at < start + 16; at++) {
      if (at >= all.length) {
        row.append('   ');
        continue;
      }
      row.append(cell(at, all[at].toString(16).padStart(2, '0')), ' ');
      letters.append(cell(at, all[at] >= 0x20 && all[at] < 0x7f ? String.fromCharCode(all[at]) : '.'));
    }
    row.append(' ', letters);
    octets.append(row);
  }
}

function cell(at, text) {
  const span = made('span', '', text);
  span.dataset.at = String(at);
  span.addEventListener('click', () => {
    const around = lines.filter(({ from, until }) => from <= at && at < until);
    const innermost = around[around.length - 1];
    if (innermost !== undefined) mark(innermost.from, innermost.until, innermost.item);
  });
  return span;
}

/** Marks octets, and the field that they are of. */
function mark(from, until, item) {
  [state.from, state.until] = [from, until];
  const of = item ?? lines.findLast((line) => line.from === from && line.until === until)?.item;
  for (const { item: one, line } of lines) {
    const isChosen = one === of;
    one.setAttribute('aria-selected', String(isChosen));
    line.classList.toggle('marked', isChosen);
    if (isChosen) {
      tree.setAttribute('aria-activedescendant', one.id);
      line.scrollIntoView({ block: 'nearest' });
    }
  }
  for (const span of octets.querySelectorAll('span[data-at]')) {
    const at = Number(span.dataset.at);
    span.classList.toggle('marked', from <= at && at < until);
  }
  octets.querySelector('.marked')?.scrollIntoView({ block: 'nearest' });
  save();
}

/** Where a key moves in a list of so many, from an index. */
function moved(key, index, length) {
  const to = { ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + 20, PageUp: index - 20, Home: 0, End: length - 1 }[key];
  return to === undefined || length === 0 ? -1 : Math.min(Math.max(to, 0), length - 1);
}

list.addEventListener('keydown', (event) => {
  const to = moved(event.key, shown.findIndex(({ entry }) => entry.number === state.entry), shown.length);
  if (to < 0) return;
  event.preventDefault();
  choose(shown[to].entry.number);
});
tree.addEventListener('keydown', (event) => {
  const now = lines.findIndex(({ item }) => item.getAttribute('aria-selected') === 'true');
  const to = moved(event.key, now, lines.length);
  if (to < 0) return;
  event.preventDefault();
  mark(lines[to].from, lines[to].until, lines[to].item);
});
for (const input of [find, faulty]) {
  input.addEventListener('input', () => {
    filter();
    save();
  });
}
window.addEventListener('hashchange', load);
element('title').textContent = data.title;
load();
