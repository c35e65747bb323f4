// A real server on a store that a real run of the radar chain made, and a browser that looks at it.
// `tools/page e2e` says where both are.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set: run tools/page e2e`);
  return value;
}

/** Folder of the programs; and of the store. */
export const BIN = required('BIN');
export const STORE = required('STORE');

/** `chronoscope serve`, which can be killed and started again at the same address. */
export class Server {
  private child: ChildProcess | undefined;
  private readonly rings = mkdtempSync(join(tmpdir(), 'chronoscope-e2e-'));
  origin = '';

  constructor(private readonly token = '') {}

  /** Starts it; at the port that it had before, if it had one. */
  async start(): Promise<void> {
    const port = this.origin === '' ? '0' : new URL(this.origin).port;
    const args = ['serve', '--data', STORE, '--rings', this.rings, '--listen', `127.0.0.1:${port}`];
    if (this.token !== '') {
      const file = join(this.rings, 'token');
      writeFileSync(file, this.token, { mode: 0o600 });
      args.push('--token-file', file);
    }
    const child = spawn(join(BIN, 'chronoscope'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    this.origin = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`serve ended with ${String(code)}: ${said}`)));
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const found = /https?:\/\/127\.0\.0\.1:\d+/.exec(said);
        if (found !== null) resolve(found[0]);
      });
    });
  }

  /** Kills it as a crash would, and waits until it is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.removeAllListeners('exit');
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.rings, { recursive: true, force: true });
  }

  /** What the API itself says, past the page. */
  async api<T>(path: string): Promise<T> {
    const headers: Record<string, string> = this.token === '' ? {} : { authorization: `Bearer ${this.token}` };
    const response = await fetch(`${this.origin}/api/v1/${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}

/** Debian's Chromium, without what it would ask of others at its start. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync',
    ],
  });
}

/** What went wrong in a page, and whom it talked to: to be looked at when a journey ends. */
export interface Watched {
  readonly page: Page;
  readonly errors: string[];
  readonly origins: Set<string>;
}

/** A new page, 1280 pixels wide, that is watched. */
export async function open(browser: Browser, size = { width: 1280, height: 800 }, colorScheme: 'light' | 'dark' = 'light'): Promise<Watched> {
  const context = await browser.newContext({ viewport: size, colorScheme });
  const page = await context.newPage();
  const errors: string[] = [];
  const origins = new Set<string>();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // A question that is over before it is asked about is no error of the page.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  return { page, errors, origins };
}
