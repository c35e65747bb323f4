import { expect, it } from 'vitest';
import { windowOf } from '../geometry';
import type { SheetOrder } from './messages';
import { Pixels } from './pixels';
import { MapSheet } from './sheet';

const ORIGIN = { lat: 51, lon: 10 };

/** A sheet, what it has ordered, and what is looked at. */
function made(): { readonly orders: SheetOrder[]; readonly sheet: MapSheet; readonly want: (x: number, metresPerPixel: number, now: number) => boolean; readonly deliver: () => void } {
  const orders: SheetOrder[] = [];
  const sheet = new MapSheet((order) => orders.push(order));
  const want = (x: number, metresPerPixel: number, now: number) => {
    const camera = { centre: { x: x * metresPerPixel, y: 0 }, metresPerPixel, width: 400, height: 300 };
    return sheet.want({ camera, window: windowOf(camera), ratio: 1, off: [], origin: ORIGIN }, now);
  };
  /** Each of its pixels is numbered by its column. */
  const deliver = () => {
    const order = orders.at(-1);
    if (order === undefined) throw new Error('nothing is ordered');
    const pixels = new Pixels(order.width, order.height);
    pixels.data.forEach((_, at) => { pixels.data[at] = at % order.width; });
    sheet.take({ kind: 'sheet', order, width: order.width, height: order.height, pixels: pixels.data.buffer as ArrayBuffer, names: [], ms: 1 }, ORIGIN);
  };
  return { orders, sheet, want, deliver };
}

it('is ordered once, and again when its edge comes near', () => {
  const { orders, want, deliver } = made();
  expect(want(0, 100, 0)).toBe(false);
  expect(want(5, 100, 1)).toBe(false);
  expect(orders.length).toBe(1);
  deliver();
  expect(want(0, 100, 2)).toBe(true);
  expect(want(150, 100, 3)).toBe(true);
  expect(want(170, 100, 4)).toBe(false);
  expect(orders.length).toBe(2);
  // What is held goes on to be shown, in its place.
  deliver();
  expect(want(170, 100, 5)).toBe(true);
});

it('while it is zoomed is ordered now and then, and when that rests', () => {
  const { orders, want, deliver } = made();
  want(0, 100, 0);
  deliver();
  for (let now = 1000; now < 1390; now += 10) want(0, 100 + now / 100, now);
  expect(orders.length).toBe(2);
  deliver();
  for (let now = 1390; now < 1450; now += 10) want(0, 100 + now / 100, now);
  expect(orders.length).toBe(3);
  deliver();
  want(0, 114.4, 1450);
  want(0, 114.4, 1500);
  expect(orders.length).toBe(3);
  want(0, 114.4, 1540);
  expect(orders.length).toBe(4);
  deliver();
  expect(want(0, 114.4, 1550)).toBe(true);
});

it('shows the same place moved and scaled', () => {
  const { orders, sheet, want, deliver } = made();
  want(0, 100, 0);
  deliver();
  const to = new Pixels(400, 300);
  const paint = (x: number, metresPerPixel: number) => {
    sheet.paint(to, windowOf({ centre: { x: x * metresPerPixel, y: 0 }, metresPerPixel, width: 400, height: 300 }), 1);
    return [...to.data.subarray(150 * 400, 151 * 400)];
  };
  const begin = (orders[0]?.width ?? 0) / 2 - 200;
  expect(paint(0, 100)[0]).toBe(begin);
  expect(paint(40, 100)[0]).toBe(begin + 40);
  // Half as much is seen: the middle stays.
  const closer = paint(0, 50);
  expect(closer[200]).toBe(begin + 200);
  expect(closer[0]).toBe(begin + 100);
  expect(closer[398]).toBe(begin + 299);
});

it('of a plane that is another one by now is not taken', () => {
  const { orders, sheet, want } = made();
  want(0, 100, 0);
  const [order] = orders;
  if (order === undefined) throw new Error('it is ordered');
  expect(sheet.take({ kind: 'sheet', order, width: 1, height: 1, pixels: new ArrayBuffer(4), names: [], ms: 1 }, { lat: 0, lon: 0 })).toBe(false);
  sheet.drop();
  expect(want(0, 100, 1)).toBe(false);
  expect(orders.length).toBe(2);
});
