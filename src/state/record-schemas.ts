import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import type { Account, ConnectionRef, Login } from './records.js';

const text = (maxLength: number) => ({ type: 'string', maxLength }) as const;
const name = { type: 'string', minLength: 1, maxLength: 253 } as const;
const sha256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const instant = { type: 'string', minLength: 20, maxLength: 40 } as const;

const connection = {
  type: 'object',
  required: ['cluster', 'name', 'uid'],
  properties: { cluster: name, name, uid: name },
} as const;

const auth = {
  type: 'object',
  required: ['kind'],
  oneOf: [
    { properties: { kind: { const: 'none' } } },
    { required: ['token'], properties: { kind: { const: 'token' }, token: text(65_536) } },
    {
      required: ['cert', 'key'],
      properties: { kind: { const: 'certificate' }, cert: text(262_144), key: text(262_144) },
    },
  ],
} as const;

const offer = {
  type: 'object',
  required: ['template', 'resources', 'permissionClaims'],
  properties: {
    template: name,
    resources: {
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'resource', 'versions'],
        properties: {
          group: text(253),
          resource: name,
          versions: { type: 'array', items: { type: 'string' } },
        },
      },
    },
    permissionClaims: {
      type: 'array',
      items: {
        type: 'object',
        required: ['group', 'resource', 'selector'],
        properties: { group: text(253), resource: name, selector: { type: 'object' } },
      },
    },
  },
} as const;

const account = {
  type: 'object',
  required: ['source', 'credentials', 'contractNamespace', 'offers', 'obtainedAt'],
  properties: {
    source: { enum: ['handshake', 'secret'] },
    credentials: {
      type: 'object',
      required: ['server', 'auth'],
      properties: { server: { type: 'string', pattern: '^https?://', maxLength: 4096 }, auth },
    },
    contractNamespace: name,
    contractNamespaceUid: name,
    offers: { type: 'array', maxItems: 1024, items: offer },
    obtainedAt: instant,
    sourceHash: text(128),
  },
} as const;

const login = {
  type: 'object',
  required: ['idHash', 'wrongCodes', 'expiresAt', 'stage'],
  properties: {
    idHash: sha256,
    challenge: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
    userCodeHash: sha256,
    wrongCodes: { type: 'integer', minimum: 0, maximum: 1000 },
    expiresAt: instant,
    stage: { enum: ['awaited', 'claimed', 'redirected', 'finished', 'ended'] },
    cookieHash: sha256,
    nonceHash: sha256,
    sessionHash: sha256,
    picker: { enum: ['page', 'terminal'] },
    endedBecause: text(4096),
    endedReason: { enum: ['LoginExpired', 'LoginEnded', 'LoginRefused', 'NoOffers', 'BackendRefused'] },
    restartRequestedAt: instant,
  },
} as const;

/** Validators of the three stored records; each narrows. Unknown fields are kept. */
export interface RecordValidators {
  readonly connection: ValidateFunction<ConnectionRef>;
  readonly account: ValidateFunction<Account>;
  readonly login: ValidateFunction<Login>;
}

/** Compiles the validators; call once. */
export function createRecordValidators(): RecordValidators {
  const ajv = new Ajv({ strict: false, allErrors: false });
  return {
    connection: ajv.compile<ConnectionRef>(connection),
    account: ajv.compile<Account>(account),
    login: ajv.compile<Login>(login),
  };
}
