/** Unit tests: pure logic and local servers on loopback, no real kcp. They run in seconds. */
export default {
  testEnvironment: 'node',
  roots: [
    '<rootDir>/src',
    '<rootDir>/cmd',
    '<rootDir>/docs',
    '<rootDir>/e2e/generator',
    '<rootDir>/e2e/harness',
  ],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  // A test takes milliseconds; a machine that does other things too is no failure.
  testTimeout: 30_000,
  maxWorkers: 2,
  workerIdleMemoryLimit: '512MB',
};
