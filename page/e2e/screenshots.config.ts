import { defineConfig } from 'vitest/config';

// A picture of every view into docs/pictures (`tools/page screenshots`).
export default defineConfig({
  test: { include: ['e2e/screenshots.ts'], testTimeout: 300_000, hookTimeout: 120_000 },
});
