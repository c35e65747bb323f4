import { expect, it } from 'vitest';
import { shortName } from './names';

it('a class stands without the application that stands above it, and with any other', () => {
  const of = { ring: { application: 'CWP' } };
  expect(['CWP::redraw', 'MSG::send', 'CWP::', '::?12'].map((name) => shortName(name, of))).toEqual(['redraw', 'MSG::send', 'CWP::', '::?12']);
});
