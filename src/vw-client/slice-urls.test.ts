import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../kube/json-value.js';
import { urlsOfSlice } from './slice-urls.js';

const slice = (status: JsonValue) => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIExportEndpointSlice',
  metadata: { name: 'x' },
  status,
});
const listing = (...urls: JsonValue[]) => slice({ endpoints: urls.map((url) => ({ url })) });

describe('urlsOfSlice', () => {
  it('gives each URL once, without a trailing slash, in order', () => {
    const urls = [
      'https://b:1/services/apiexport/x/e/',
      'https://a:1/y',
      'https://b:1/services/apiexport/x/e',
    ];
    expect(urlsOfSlice(listing(...urls))).toEqual(['https://b:1/services/apiexport/x/e', 'https://a:1/y']);
  });

  it.each([
    [null],
    [{}],
    [{ endpoints: null }],
    [{ endpoints: [] }],
    [{ endpoints: 'x' }],
    [{ endpoints: [null, 1] }],
  ])('gives none for status %j', (status) => expect(urlsOfSlice(slice(status))).toEqual([]));

  it('leaves out what is not a plain http(s) URL', () => {
    const bad = [
      '',
      'x',
      7,
      null,
      'file:///etc/passwd',
      'https://user:pw@a/',
      'https://a/?x=1',
      'https://a/#f',
    ];
    expect(urlsOfSlice(listing(...bad, 'https://ok/z'))).toEqual(['https://ok/z']);
  });

  it('maps URLs, and takes those once that become one', () => {
    expect(
      urlsOfSlice(listing('https://in:1/x', 'https://out:2/x'), (url) => url.replace('in:1', 'out:2')),
    ).toEqual(['https://out:2/x']);
  });

  it('has an end', () => {
    expect(
      urlsOfSlice(listing(...Array.from({ length: 1000 }, (_, i) => `https://h/${String(i)}`))),
    ).toHaveLength(256);
  });
});
