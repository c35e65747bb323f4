// Managing the stored rows: a time is shown, confirmed and deleted, and a file is imported; without a
// token the page says why not.

import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ManagedData, RangeContent, Scatter } from '../src/api/types';
import { formatCount } from '../src/draw/format';
import { CHAINS, launch, open, Server } from './world';

let browser: Browser;
const server = new Server('sesame');
const closed = new Server();
const folder = mkdtempSync(join(tmpdir(), 'chronoscope-data-'));

beforeAll(async () => {
  await server.start();
  await closed.start();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await server.end();
  await closed.end();
  rmSync(folder, { recursive: true, force: true });
});

it('a time is shown, deleted after a confirmation, and told afterwards; a file is imported once', async () => {
  const watched = await open(browser);
  const { page } = watched;
  watched.expected = /401/; // before the token is given
  const { from_ns, until_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
  const middle = Math.floor((from_ns + until_ns) / 2);
  const range = `from_ns=${from_ns}&until_ns=${middle}`;
  const { rows } = await server.api<RangeContent>(`range?${range}`);
  expect(rows).toBeGreaterThan(0);
  await page.goto(`${server.origin}/data?${range}`);
  await page.getByRole('textbox', { name: 'Token' }).fill('sesame');
  await page.keyboard.press('Enter');
  await page.getByText(`${formatCount(rows)} rows of`).first().waitFor();
  await page.getByRole('button', { name: 'Delete …' }).click();
  // Refused once: nothing changes.
  await page.getByRole('button', { name: 'Keep them' }).click();
  expect((await server.api<RangeContent>(`range?${range}`)).rows).toBe(rows);
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('button', { name: `Delete ${formatCount(rows)} rows` }).click();
  await page.getByText(`${formatCount(rows)} rows were deleted`).waitFor();
  await expect.poll(async () => (await server.api<ManagedData>('data')).deletions.length).toBe(1);
  await page.reload();
  await page.getByText('No rows are stored in this time.', { exact: true }).waitFor();
  await page.getByRole('region', { name: 'Deleted on request' }).getByRole('cell', { name: formatCount(rows), exact: true }).waitFor();

  const file = join(folder, 'rows.csv');
  writeFileSync(file, 'application,class,start,elapsed_ns,id,parent,chain_high,chain_low\nX,a,1795300000000000000,5,1,0,0,9\n');
  await page.getByLabel('file of transactions').setInputFiles(file);
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByText('rows.csv: 1 transaction imported').waitFor();
  await page.getByRole('button', { name: 'Import' }).click();
  await page.getByText('0 transactions imported; 1 was imported before').waitFor();
  expect(watched.errors).toEqual([]);
  await page.context().close();
});

it('a server without a token says why nothing can be changed', async () => {
  const { page, errors } = await open(browser);
  await page.goto(`${closed.origin}/data`);
  await page.getByText('this server has no token').waitFor();
  expect(await page.getByRole('button', { name: 'Import' }).isDisabled()).toBe(true);
  expect(errors).toEqual([]);
  await page.context().close();
});
