// A real server on a store that a real run of the radar chain made, another that collects what the
// chain goes on to record, and a browser that looks at them. `tools/world` makes both and says where
// they are; `tools/page e2e` runs it.

import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set: run tools/page e2e`);
  return value;
}

/** Folder of the programs; and of the store that nobody writes any more. */
export const BIN = required('BIN');
export const STORE = required('STORE');

/** When half of the displays began to collect their updates, in that store: UTC ns since 1970. */
export const HALF_NS = Number(required('HALF'));

/** Where the page is of what is being recorded. */
export const LIVE = required('LIVE');

/** Chains from the first program to the last. */
export const CHAINS = 'kind=acpd&root=MRTS::decodePlots&leaf=CWP::TargetView_redraw';

/** `chronoscope serve`, which can be killed and started again at the same address. */
export class Server {
  private child: ChildProcess | undefined;
  private readonly rings = mkdtempSync(join(tmpdir(), 'chronoscope-e2e-'));
  /** A copy of the store for this server alone: one server writes a store, and files of tests run side by side. */
  readonly store = join(this.rings, 'store');
  origin = '';

  constructor(private readonly token = '', private readonly options: readonly string[] = []) {
    cpSync(STORE, this.store, { recursive: true });
  }

  /** Starts it; at the port that it had before, if it had one. */
  async start(): Promise<void> {
    const port = this.origin === '' ? '0' : new URL(this.origin).port;
    const args = ['serve', '--data', this.store, '--rings', this.rings, '--listen', `127.0.0.1:${port}`, ...this.options];
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
    return ask<T>(this.origin, path, this.token === '' ? {} : { authorization: `Bearer ${this.token}` });
  }
}

/** What a server's API itself says, past the page. */
export async function ask<T>(origin: string, path: string, headers: Record<string, string> = {}): Promise<T> {
  const response = await fetch(`${origin}/api/v1/${path}`, { headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Refuses programs that were built without the page that is at `url`. */
export async function built(url: string): Promise<void> {
  const page = await (await fetch(url)).text();
  if (!page.includes('/assets/')) throw new Error(`the programs in ${BIN} were built without the page: make page, then cargo build --workspace --bins`);
}

/** A browser to look at `chronoscope serve`. */
export async function launch(): Promise<Browser> {
  await built(LIVE);
  return launchBrowser();
}

/** Debian's Chromium, without what it would ask of others at its start. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    timeout: 110_000,
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
  /** What of it the journey brings about itself: an answer 401, a connection that is refused. */
  expected: RegExp | undefined;
}

/** How a page is looked at. */
export interface Looks {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** By a finger and not by a mouse. */
  readonly touch?: boolean;
}

/** A new page that is watched. Whatever the browser logs as an error is one: a request that fails, too. */
export async function open(browser: Browser, { width = 1280, height = 800, colorScheme = 'light', touch = false }: Looks = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce', hasTouch: touch, isMobile: touch });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const watched: Watched = { page, errors: [], origins: new Set(), expected: undefined };
  page.on('pageerror', (error) => watched.errors.push(error.message));
  page.on('console', (message) => {
    const text = `${message.text()} (${message.location().url})`;
    if (message.type() === 'error' && watched.expected?.test(text) !== true) watched.errors.push(text);
  });
  page.on('request', (request) => watched.origins.add(new URL(request.url()).origin));
  return watched;
}

/** Waits until everything that the view asked has been answered. */
export async function answered(page: Page): Promise<void> {
  await page.locator('main h1').waitFor({ state: 'attached' });
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}
