// A radar chain for the journeys through the working position.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN } from './world';

/** Addresses on this machine that nobody listens on: a pair of trackers has to know each other's before either listens. */
async function freeAddresses(count: number): Promise<string[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const addresses = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return addresses;
}

/** The programs of a chain, ended whatever happens: generator, tracker or two of them, message server, display. */
export class Chain {
  private readonly folder = mkdtempSync(join(tmpdir(), 'working-position-'));
  private readonly programs = new Map<string, ChildProcess>();

  private start(program: string, args: readonly string[], name = program): void {
    const env = { ...process.env, CHRONOSCOPE_DIR: this.folder };
    this.programs.set(name, spawn(join(BIN, program), args, { stdio: 'ignore', env }));
  }

  /** Waits for a file that a program writes when it listens. */
  private async address(file: string): Promise<string> {
    const path = this.path(file);
    for (let turn = 0; turn < 1200; turn++) {
      if (existsSync(path)) return readFileSync(path, 'utf8').trim();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${file}: nobody listens after 60 s`);
  }

  /** Starts all of it, with one tracker; returns where the display is. */
  async begin(): Promise<string> {
    this.start('radar-tracker', ['--plots-port-file', this.path('plots'), '--port-file', this.path('tracks')]);
    await this.feed([await this.address('plots')], 8);
    return this.show([await this.address('tracks')]);
  }

  /** The same with a pair of trackers, `tracker 1` and `tracker 2`, of which the first is in operation. */
  async beginPair(): Promise<string> {
    const [one = '', two = '', plotsOne = '', plotsTwo = ''] = await freeAddresses(4);
    const pair = [['1', one, two, plotsOne], ['2', two, one, plotsTwo]] as const;
    for (const [unit, listen, peer, plots] of pair) {
      const file = `tracks-${unit}`;
      this.start('radar-tracker', ['--unit', unit, '--listen', listen, '--peer', peer, '--plots', plots, '--port-file', this.path(file)], `tracker ${unit}`);
      await this.address(file);
    }
    await this.feed([plotsOne, plotsTwo], 4);
    return this.show([one, two]);
  }

  private path(file: string): string {
    return join(this.folder, file);
  }

  /** Sends plots of circling flights to trackers. */
  private async feed(plots: readonly string[], circles: number): Promise<void> {
    const to = plots.flatMap((address) => ['--to', address]);
    this.start('radar-generator', [
      '--scenario', 'circles', '--circles', String(circles), '--flights', '12', '--radars', '3', '--speed', '4', ...to, '--flight-plans', this.path('plans.csv'),
    ]);
    await this.address('plans.csv');
  }

  private async show(tracks: readonly string[]): Promise<string> {
    const trackers = tracks.flatMap((address) => ['--tracker', address]);
    this.start('radar-messages', [...trackers, '--flight-plans', this.path('plans.csv'), '--port-file', this.path('messages')]);
    await this.address('messages');
    return this.display('127.0.0.1:0');
  }

  /** Starts the display; returns where it is. */
  async display(listen: string): Promise<string> {
    const file = this.path('browsers');
    rmSync(file, { force: true });
    const messages = readFileSync(this.path('messages'), 'utf8').trim();
    this.start('radar-display', ['--messages', messages, '--listen', listen, '--port-file', file]);
    return this.address('browsers');
  }

  async kill(name: string): Promise<void> {
    const child = this.programs.get(name);
    this.programs.delete(name);
    if (child === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** Stops it, or lets it go on. */
  signal(name: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.programs.get(name)?.kill(signal);
  }

  async end(): Promise<void> {
    for (const name of [...this.programs.keys()]) await this.kill(name);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
