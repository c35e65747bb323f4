// What a controller sees when the tracker in operation is killed and the other one of a pair takes over.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { Chain } from './chain';
import { built, launchBrowser, open } from './world';

let browser: Browser;
let address: string;
const chain = new Chain();
beforeAll(async () => {
  address = await chain.beginPair();
  await built(`http://${address}/`);
  browser = await launchBrowser();
});
afterAll(async () => {
  await chain.end();
  await browser.close();
});

it('says which tracker is in operation, and goes on with the same numbers when it is killed', async () => {
  const { page, errors } = await open(browser, { width: 1280, height: 800 });
  await page.goto(`http://${address}/`);
  const numbers = () => page.evaluate(() => [...(window as unknown as { workingPosition: { targets: Map<number, unknown> } }).workingPosition.targets.keys()].sort((a, b) => a - b));
  const all = () => page.waitForFunction(() => (window as unknown as { workingPosition: { targets: Map<number, unknown> } }).workingPosition.targets.size === 48, undefined, { timeout: 60_000 });
  await all();
  await page.getByText('· tracker 1').waitFor();
  const before = await numbers();
  await chain.kill('tracker 1');
  await page.getByText('· tracker 2').waitFor();
  await page.getByText('messages up').waitFor();
  await all();
  expect(await numbers()).toEqual(before);
  expect(errors).toEqual([]);
  await page.context().close();
});
