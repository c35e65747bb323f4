import { describe, expect, it } from 'vitest';
import { fileName } from './file';

const MINUTE_NS = 60e9;

describe('a file’s name', () => {
  it('says view, title and time', () => {
    expect(fileName('histogram', 'By path', { from_ns: 0, until_ns: MINUTE_NS, saved_ns: 5 }, 'csv'))
      .toBe('histogram-by-path-19700101T000000Z-to-19700101T000100Z.csv');
  });

  it('says when it was saved where no time is chosen, and its view once', () => {
    expect(fileName('graph', 'Graph', { from_ns: undefined, until_ns: undefined, saved_ns: MINUTE_NS }, 'svg')).toBe('graph-19700101T000100Z.svg');
    expect(fileName('graph', '', { from_ns: undefined, until_ns: MINUTE_NS, saved_ns: 0 }, 'svg')).toBe('graph-to-19700101T000100Z.svg');
  });

  it('has no letter that a file system refuses', () => {
    expect(fileName('worst', 'A::b/c\\d: “e”?', { from_ns: undefined, until_ns: undefined, saved_ns: 0 }, 'png')).toBe('worst-a-b-c-d-e-19700101T000000Z.png');
  });
});
