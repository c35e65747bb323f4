import { describe, expect, it } from 'vitest';
import { decode, FLAGS, words } from './wire';

// The octets that the Rust side's test keeps (browser/wire.rs).
const HEX = '0101010007000000020000000000000000408f40'
  + '010102031040b0191e602615fb900138ff9c02790560ffa005'
  + '0101000000ffffffff' + '06444c48344142' + '0441333230' + '00' + '044544444d' + '000200';

function octets(hex: string): ArrayBuffer {
  return Uint8Array.from(hex.match(/../g) ?? [], (two) => parseInt(two, 16)).buffer;
}

describe('a frame', () => {
  it('of version 1 is read as it was written', () => {
    const frame = decode(octets(HEX));
    expect(frame).toEqual({
      number: 7, anew: true, utcMs: 1000, gone: [2],
      tracks: [{
        number: 513, flags: FLAGS.plan | FLAGS.coasting | FLAGS.silent, at: { lat: 50.5, lon: -8.25 },
        east: 100, north: -50, code: 0o1234, level: 350.25, climb: -1000, cleared: 360,
        history: [{ lat: 1e-7, lon: -1e-7 }],
        callsign: 'DLH4AB', type: 'A320', departure: '', destination: 'EDDM',
      }],
    });
  });

  it('that is cut anywhere, or goes on, is refused in words', () => {
    for (let end = 0; end < HEX.length / 2; end++) {
      expect(() => decode(octets(HEX.slice(0, 2 * end)))).toThrow(/^frame of \d+ octets, at \d+: /);
    }
    expect(() => decode(octets(`${HEX}00`))).toThrow('there are octets after the last record');
    expect(() => decode(octets(`02${HEX.slice(2)}`))).toThrow('another kind or version');
  });
});

it('words of a kind that is not known are passed over', () => {
  expect(words('{"kind":"ping","ping":3}')).toEqual({ kind: 'ping', ping: 3 });
  expect(words('{"kind":"later"}')).toBeNull();
  expect(words('{}')).toBeNull();
});
