// What goes on now, seen from one of two servers before a real ClickHouse of two shards.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Now, Status } from '../src/api/types';
import { answered, ask, BIN, built, launchBrowser, open } from './world';

const folder = mkdtempSync(join(tmpdir(), 'chronoscope-e2e-'));
const children: ChildProcess[] = [];

/** Starts a program, and waits until it says what is looked for. */
async function started(command: string, args: readonly string[], looked: RegExp): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let said = '';
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${String(code)}: ${said}`)));
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      const found = looked.exec(said)?.[0];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
  });
}

/** A chain of two spans that has just ended. */
async function chain(origin: string, number: number): Promise<void> {
  const id = (of: number, digits: number) => of.toString(16).padStart(digits, '0');
  const end = BigInt(Date.now()) * 1_000_000n;
  const span = (name: string, own: number, parent: number, elapsedMs: bigint) => ({
    traceId: id(number, 32), spanId: id(own, 16), parentSpanId: parent === 0 ? '' : id(parent, 16), name, kind: 1,
    startTimeUnixNano: String(end - elapsedMs * 1_000_000n), endTimeUnixNano: String(end),
  });
  const spans = [span('order', 2 * number, 0, 30n), span('payment', 2 * number + 1, 2 * number, 20n)];
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  const response = await fetch(`${origin}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

let browser: Browser;
let origins: readonly string[] = [];
beforeAll(async () => {
  const clickhouse = join(import.meta.dirname, '../../tools/clickhouse');
  const store = await started(clickhouse, ['run', join(folder, 'shards'), '2'], /clickhouse:\S+/);
  const limits = join(folder, 'limits.toml');
  writeFileSync(limits, "[[limit]]\nclass = 'shop::order'\nlimit = '1ms'\n");
  const serve = async () => started(join(BIN, 'chronoscope'), ['serve', '--store', store, '--listen', '127.0.0.1:0', '--limits', limits], /https?:\/\/127\.0\.0\.1:\d+(?=\/)/);
  // The shards answer when they are up.
  await vi.waitFor(async () => {
    const hosts = store.slice('clickhouse://'.length).split('/')[0] ?? '';
    const up = hosts.split(',').map(async (host) => (await fetch(`http://${host}/ping`)).ok);
    expect(await Promise.all(up)).not.toContain(false);
  }, { timeout: 100_000, interval: 500 });
  origins = [await serve(), await serve()];
  await built(origins[0] ?? '');
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  for (const child of children) {
    child.removeAllListeners('exit');
    child.kill('SIGTERM');
  }
  rmSync(folder, { recursive: true, force: true });
});

describe('now', () => {
  it('shows what came in by the other server, live, and without an error', async () => {
    const [one = '', other = ''] = origins;
    for (let number = 1; number <= 20; number += 1) await chain(one, number);
    await expect.poll(async () => (await ask<Status>(other, 'status')).collectors.length, { timeout: 60_000 }).toBe(2);
    const count = async () => {
      const now = await ask<Now>(other, 'now');
      const classes = now.applications.flatMap((each) => each.classes);
      return [now.live, classes.find((each) => each.class === 'order')?.count];
    };
    await expect.poll(count, { timeout: 60_000 }).toEqual([true, 20]);
    const watched = await open(browser);
    const { page } = watched;
    await page.goto(`${other}/now`);
    await answered(page);
    const board = page.locator('.board');
    await board.getByRole('rowheader', { name: 'shop' }).first().waitFor();
    for (const each of ['order', 'payment']) await board.getByRole('rowheader', { name: each, exact: true }).first().waitFor();
    await page.getByText(/until \d\d:\d\d:\d\d UTC, refreshed every/).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(watched.errors).toEqual([]);
    await page.context().close();
  });
});
