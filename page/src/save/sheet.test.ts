import { describe, expect, it } from 'vitest';
import { csv, sheetOfCells } from './sheet';

describe('CSV', () => {
  it('quotes what would end a field, and nothing else', () => {
    expect(csv({ columns: ['a', 'b (ns)'], rows: [['x,y', 1], ['say "no"', null], ['two\nlines', 0.5]] }))
      .toBe('a,b (ns)\r\n"x,y",1\r\n"say ""no""",\r\n"two\nlines",0.5\r\n');
  });

  it('of no rows has its head', () => {
    expect(csv({ columns: ['a'], rows: [] })).toBe('a\r\n');
  });
});

describe('the sheet of a table', () => {
  it('has exact values, with their unit in the head', () => {
    const rows = [
      [{ text: 'redraw' }, { text: '1.23 ms', value: '1234567', unit: 'ns' }, { text: '12,345' }],
      [{ text: '1,2' }, { text: '–' }, { text: '−7' }],
    ];
    expect(sheetOfCells(['Class', 'Elapsed', 'Count'], rows)).toEqual({
      columns: ['Class', 'Elapsed (ns)', 'Count'], rows: [['redraw', '1234567', '12345'], ['1,2', '', '-7']],
    });
  });

  it('leaves a head alone whose column has several units', () => {
    const rows = [[{ text: '1 s', value: '1', unit: 's' }], [{ text: '2', value: '2', unit: 'count' }]];
    expect(sheetOfCells(['Value'], rows).columns).toEqual(['Value']);
  });
});
