import { describe, expect, it } from '@jest/globals';
import { mapUrl } from './servers.js';

describe('--vw-url-map', () => {
  const entries = [
    ['https://kcp.internal:6443/', 'https://kcp.example.com/prefix/'],
    ['https://other', 'https://other.example.com'],
  ] as const;

  it.each([
    [
      'https://kcp.internal:6443/services/apiexport/a/b',
      'https://kcp.example.com/prefix/services/apiexport/a/b',
    ],
    ['https://kcp.internal:6443', 'https://kcp.example.com/prefix'],
    ['https://kcp.internal:64430/services', 'https://kcp.internal:64430/services'],
    ['https://other/x', 'https://other.example.com/x'],
    ['https://otherwise/x', 'https://otherwise/x'],
  ])('turns %s into %s', (url, expected) => {
    expect(mapUrl(url, entries)).toBe(expected);
  });
});
