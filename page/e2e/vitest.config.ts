import { defineConfig } from 'vitest/config';

// Journeys through the page in Chromium (`tools/page e2e`).
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    fileParallelism: false,
    sequence: { concurrent: false },
    // On machines that others share a browser is now and then held up for longer than anybody waits.
    // A journey that only succeeds at the second try is said to.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
});
