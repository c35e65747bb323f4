// build.mjs [FOLDER] [ENTRY]: builds the page (or another one, by its folder) into a folder (dist,
// unless another is named), prints what it weighs on the wire (gzip -9), and fails above the limit.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const LIMIT_BYTES = 300 * 1024;
const top = new URL('..', import.meta.url).pathname;
const dist = resolve(top, process.argv[2] ?? 'dist');
const root = resolve(top, process.argv[3] ?? '.');
await build({ root, logLevel: 'warn', build: { outDir: dist, emptyOutDir: true } });

const files = readdirSync(dist, { recursive: true }).filter((name) => statSync(join(dist, name)).isFile());
let total = 0;
for (const name of files.sort()) {
  const bytes = gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;
  total += bytes;
  console.log(`${(bytes / 1024).toFixed(1).padStart(7)} KiB  ${name}`);
}
console.log(`${(total / 1024).toFixed(1).padStart(7)} KiB  together, gzip; at most ${LIMIT_BYTES / 1024} KiB`);
if (total > LIMIT_BYTES) {
  console.error('the page is too large: find what grew with `npx vite build --sourcemap`');
  process.exit(1);
}
