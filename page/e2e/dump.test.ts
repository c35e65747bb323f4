// A journey through the page that `sle dump --html` writes, of a capture with whole sessions.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BIN, launchBrowser, open, type Watched } from './world';

const CAPTURE = resolve(import.meta.dirname, '../../systems/sle/tests/corpus/sle_dump/sessions');

const folder = mkdtempSync(join(tmpdir(), 'sle-dump-'));
let browser: Browser;
let watched: Watched;
let page: Page;
beforeAll(async () => {
  const html = join(folder, 'dump.html');
  execFileSync(join(BIN, 'sle'), ['dump', CAPTURE, '--html', html], { stdio: 'pipe' });
  browser = await launchBrowser();
  watched = await open(browser, { width: 1400, height: 900 });
  ({ page } = watched);
  await page.goto(pathToFileURL(html).href);
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const list = () => page.getByRole('listbox', { name: 'Messages' });
const tree = () => page.getByRole('tree');
const marked = () => page.locator('#octets span.marked').count();
const state = () => new URLSearchParams(new URL(page.url()).hash.slice(1));

it('a message is chosen, one of its fields, and its octets are marked', async () => {
  await page.getByRole('searchbox', { name: 'Find' }).fill('FCLTU v5 TRANSFER-DATA invocation');
  expect(await list().getByRole('option').count()).toBeGreaterThan(0);
  await list().getByRole('option').first().click();
  await tree().getByText('cltuIdentification').click();
  // Tag, length and one octet, each as digits and as a letter.
  expect(await marked()).toBe(6);
  expect(await tree().getByRole('treeitem', { selected: true }).count()).toBe(1);
  expect(state().get('octets')).toMatch(/^\d+-\d+$/);
});

it('an octet leads to the innermost field', async () => {
  const [from] = (state().get('octets') ?? '').split('-').map(Number);
  await page.locator(`#octets span[data-at="${String((from ?? 0) + 3)}"]`).first().click();
  expect(await tree().locator('.marked').textContent()).toContain('earliestTransmissionTime');
});

it('keys move in the list and in the tree, and the URL keeps the place', async () => {
  await page.getByRole('searchbox', { name: 'Find' }).fill('RAF v4');
  await list().press('Home');
  await list().press('ArrowDown');
  const chosen = await list().getByRole('option', { selected: true }).textContent();
  expect(chosen).toContain('BIND return');
  await tree().press('ArrowDown');
  await tree().press('ArrowDown');
  const before = page.url();
  await page.reload();
  expect(page.url()).toBe(before);
  expect(await list().getByRole('option', { selected: true }).textContent()).toBe(chosen);
  expect(await tree().locator('.marked').count()).toBe(1);
});

it('fits a narrow window, fetches nothing and reports no error', async () => {
  await page.setViewportSize({ width: 420, height: 800 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(420);
  expect([...watched.origins]).toEqual(['null']);
  expect(watched.errors).toEqual([]);
});
