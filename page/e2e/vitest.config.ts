import { defineConfig } from 'vitest/config';

// Journeys through the page in Chromium (`tools/page e2e`).
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    sequence: { concurrent: false },
  },
});
