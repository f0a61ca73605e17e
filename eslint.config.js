import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Which folders of src each folder may import, itself aside. The architecture document explains the order. */
const LAYERS = {
  api: [],
  config: ['api', 'kube', 'telemetry', 'syncer/protocol'],
  telemetry: ['api'],
  kube: ['api', 'telemetry'],
  'vw-client': ['api', 'kube', 'telemetry'],
  schema: ['api', 'kube'],
  backend: ['api', 'kube', 'telemetry'],
  state: ['api', 'kube', 'telemetry'],
  'syncer/protocol': ['api', 'kube'],
  'syncer/engine': ['api', 'kube'],
  'syncer/worker': ['api', 'kube', 'telemetry', 'schema', 'backend', 'syncer/engine', 'syncer/protocol'],
  'syncer/pool': ['api', 'kube', 'telemetry', 'syncer/protocol'],
  handshake: ['api', 'kube', 'telemetry', 'vw-client', 'backend', 'state'],
  reconcilers: ['api', 'kube', 'telemetry', 'vw-client', 'backend', 'schema', 'state', 'syncer/protocol'],
};
const FOLDERS = Object.keys(LAYERS);

/** Files in one folder may import only what the table says; deeper files use longer relative paths. */
const layerRules = FOLDERS.map((folder) => {
  const allowed = new Set([folder, ...LAYERS[folder]]);
  const forbidden = FOLDERS.filter((other) => !allowed.has(other));
  return {
    files: [`src/${folder}/**/*.ts`],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(${forbidden.join('|')})/`,
              message: `${folder} may not import this folder`,
            },
            {
              regex: '^(\\.\\./)+(cmd|e2e)/',
              message: 'the product does not import its commands or tests',
            },
            ...EFFECT_LIMITS(folder),
          ],
        },
      ],
    },
  };
});

/** Ways to a foreign host other than the dialler, and the one home of client-node. */
function EFFECT_LIMITS(folder) {
  const limits = [
    {
      regex: '^@kubernetes/client-node',
      message: 'only cmd/kubectl-kcp-bind and src/kube/kubeconfig.ts load kubeconfigs with client-node',
    },
    {
      regex: '^(node:)?(http|https|http2|tls|dns)(/.*)?$',
      message: 'connections go through src/kube/dialler',
    },
    {
      regex: '^(node:)?net$',
      allowImportNames: ['isIP', 'isIPv4', 'isIPv6', 'BlockList'],
      message: 'connections go through src/kube/dialler',
    },
  ];
  if (folder !== 'kube')
    limits.push({ regex: '^undici', message: 'connections go through src/kube/transport' });
  return limits;
}

export default defineConfig(
  { ignores: ['dist', 'node_modules', '.tools', '.run', 'coverage', 'e2e/tools', 'src/api/generated'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/require-await': 'off',
      complexity: ['error', 14],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'connections go through src/kube/transport' },
        { name: 'WebSocket', message: 'connections go through src/kube/transport' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'the environment is read in src/config only' },
      ],
    },
  },
  ...layerRules,
  {
    files: ['src/kube/kubeconfig.ts', 'src/kube/dialler/**/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
  { files: ['src/config/**/*.ts', 'cmd/**/environment.ts'], rules: { 'no-restricted-properties': 'off' } },
  {
    files: ['**/*.test.ts', 'e2e/**/*.ts'],
    rules: {
      'no-restricted-imports': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'max-lines': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { console: 'readonly', process: 'readonly', URL: 'readonly' } },
  },
);
