import { describe, expect, it } from '@jest/globals';
import { expectReason } from '../../api/testing/expect-reason.js';
import { AddressDeniedError, ApiError, ProtocolError, TransportError } from '../../kube/errors.js';
import { providerProblem } from './provider-problem.js';

const SERVER = 'https://provider:6443';

function answer(status: number, message = 'no'): ApiError {
  return new ApiError({ message, status, reason: '' });
}

describe('errors of the provider', () => {
  it.each([
    ['401', answer(401), ['binding/Connected/Unauthorized', 'slowly']],
    ['403', answer(403), ['binding/ExportReady/ProviderForbidden', 'slowly']],
    ['404', answer(404), ['binding/ExportReady/ExportNotFound', 'slowly']],
    ['409', answer(409), ['binding/Connected/ProviderUnreachable', 'soon']],
    ['429', answer(429), ['binding/Connected/ProviderUnreachable', 'soon']],
    ['500', answer(500), ['binding/Connected/ProviderUnreachable', 'soon']],
    ['refused', new TransportError('no', 'connect'), ['binding/Connected/ProviderUnreachable', 'soon']],
    ['time-out', new TransportError('no', 'timeout'), ['binding/Connected/ProviderUnreachable', 'soon']],
    ['TLS', new TransportError('no', 'tls'), ['binding/Connected/ProviderUnreachable', 'slowly']],
    ['an HTML page', new ProtocolError('no'), ['binding/Connected/ProviderUnreachable', 'slowly']],
    ['a denied address', new AddressDeniedError('no'), ['binding/Connected/ProviderUnreachable', 'slowly']],
    ['a defect', new TypeError('x is undefined'), ['binding/Connected/ProviderUnreachable', 'soon']],
  ] as const)('%s becomes a condition', (_name, error, [produced, retry]) => {
    const problem = providerProblem(error, SERVER);
    expectReason(produced, problem.state);
    expect(problem).toMatchObject({ condition: produced.split('/')[1], retry, state: { status: 'False' } });
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
