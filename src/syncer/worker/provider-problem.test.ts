import { describe, expect, it } from '@jest/globals';
import { BINDING_REASONS } from '../../api/conditions.js';
import { AddressDeniedError, ApiError, ProtocolError, TransportError } from '../../kube/errors.js';
import { providerProblem } from './provider-problem.js';

const SERVER = 'https://provider:6443';

function answer(status: number, message = 'no'): ApiError {
  return new ApiError({ message, status, reason: '' });
}

describe('errors of the provider', () => {
  it.each([
    ['401', answer(401), { condition: 'Connected', reason: 'Unauthorized', retry: 'slowly' }],
    ['403', answer(403), { condition: 'ExportReady', reason: 'ProviderForbidden', retry: 'slowly' }],
    ['404', answer(404), { condition: 'ExportReady', reason: 'ExportNotFound', retry: 'slowly' }],
    ['409', answer(409), { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' }],
    ['429', answer(429), { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' }],
    ['500', answer(500), { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' }],
    [
      'refused',
      new TransportError('no', 'connect'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' },
    ],
    [
      'time-out',
      new TransportError('no', 'timeout'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' },
    ],
    [
      'TLS',
      new TransportError('no', 'tls'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'slowly' },
    ],
    [
      'an HTML page',
      new ProtocolError('no'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'slowly' },
    ],
    [
      'a denied address',
      new AddressDeniedError('no'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'slowly' },
    ],
    [
      'a defect',
      new TypeError('x is undefined'),
      { condition: 'Connected', reason: 'ProviderUnreachable', retry: 'soon' },
    ],
  ] as const)('%s becomes a condition', (_name, error, { condition, reason, retry }) => {
    const problem = providerProblem(error, SERVER);
    expect(problem).toMatchObject({ condition, retry, state: { status: 'False', reason } });
    expect(BINDING_REASONS[condition]).toContain(problem.state.reason);
  });

  it('quotes the server in one bounded line', () => {
    const { state } = providerProblem(answer(403, `a\nb\u202e${'x'.repeat(5000)}`), SERVER);
    expect(state.message).toContain('a b x');
    expect(state.message.length).toBeLessThan(700);
    expect(state.message).not.toMatch(/[\n\u202e]/);
  });

  it('keeps the words of a defect for the log', () => {
    expect(providerProblem(new TypeError('secret detail'), SERVER).state.message).not.toContain('secret');
  });
});
