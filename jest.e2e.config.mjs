import unit from './jest.config.mjs';

/** Suites that load the servers by themselves; `make test` runs their files one after another, after all others. */
export const ALONE = ['modes', 'schema', 'faults'];

/** Suites that `make test` leaves out, since they need the machine for many minutes or are not done. */
export const BY_NAME = ['tenancy', 'migration', 'soak'];

/**
 * End-to-end suites on real servers. Each folder below e2e/suites is a project; projects run beside each
 * other, each in workspaces of its own, on servers that the global set-up starts once for all.
 */
const SUITES = ['demo', 'install', 'lifecycle', 'input', 'sync', 'plugin', ...ALONE, ...BY_NAME];

const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: unit.extensionsToTreatAsEsm,
  moduleNameMapper: unit.moduleNameMapper,
  transform: unit.transform,
  modulePathIgnorePatterns: [
    '<rootDir>/.tools/',
    '<rootDir>/.run/',
    '<rootDir>/dist/',
    '<rootDir>/e2e/tools/',
  ],
  globalSetup: '<rootDir>/e2e/harness/global-setup.mjs',
  globalTeardown: '<rootDir>/e2e/harness/global-teardown.mjs',
};

export default {
  projects: SUITES.map((suite) => ({
    ...common,
    displayName: suite,
    testMatch: [`<rootDir>/e2e/suites/${suite}/**/*.test.ts`],
  })),
  // Two cores carry two kcps and the suites: more at a time would only wait for each other.
  maxWorkers: 3,
  testTimeout: 600_000,
};
