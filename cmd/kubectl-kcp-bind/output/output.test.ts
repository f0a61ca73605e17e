import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/kube/object.js';
import { ManualClock } from '../../../src/kube/testing/manual-clock.js';
import { allowsColor } from '../environment.js';
import { createColors } from './colors.js';
import { renderObjects } from './documents.js';
import { formatAge, formatElapsed, parseDuration } from './durations.js';
import { createProgress } from './progress.js';
import { isYes } from './prompt.js';
import { renderTable } from './table.js';

describe('durations', () => {
  it.each([
    ['3s', 3000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['1.5m', 90_000],
  ])('%s is %i ms', (text, ms) => expect(parseDuration(text, '--timeout')).toBe(ms));
  it.each(['', '5', '5 s', '-1s', '0s', '25h', 's', '1d'])('%j is refused', (text) => {
    expect(() => parseDuration(text, '--timeout')).toThrow(/--timeout/);
  });
  it.each([
    [-5, '0s'],
    [59_999, '59s'],
    [125_000, '2m05s'],
    [3_720_000, '1h02m'],
  ])('%i ms reads %s', (ms, text) => expect(formatElapsed(ms)).toBe(text));
  it('shows an age in one unit', () => {
    const now = Date.parse('2026-01-03T00:00:00Z');
    expect(formatAge('2026-01-02T23:59:00Z', now)).toBe('60s');
    expect(formatAge('2026-01-02T22:30:00Z', now)).toBe('90m');
    expect(formatAge('2026-01-02T00:00:00Z', now)).toBe('24h');
    expect(formatAge('2026-01-01T00:00:00Z', now)).toBe('2d');
    expect(formatAge(undefined, now)).toBe('<unknown>');
  });
});

describe('a table', () => {
  it('has aligned columns, no trailing blanks and nothing that moves the cursor', () => {
    const text = renderTable(
      ['NAME', 'READY'],
      [
        ['a', 'True'],
        ['longer', '\u001b[2Jx\ny'],
      ],
    );
    expect(text).toBe('NAME     READY\na        True\nlonger   [2Jx y\n');
  });
});

describe('data', () => {
  const object: KubeObject = {
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindBinding',
    metadata: { name: 'a', managedFields: [{}] },
    spec: { text: '\u001b[31mred' },
  };
  it('is one object, or a list', () => {
    expect(JSON.parse(renderObjects([object], 'json'))).toMatchObject({ kind: 'KubeBindBinding' });
    expect(JSON.parse(renderObjects([object, object], 'json'))).toMatchObject({ kind: 'List' });
    expect(renderObjects([object, object], 'json')).not.toContain('managedFields');
    expect(renderObjects([object], 'name')).toBe('kubebindbinding.kcp.kube-bind.io/a\n');
    expect(renderObjects([{ ...object, apiVersion: 'v1', kind: 'Secret' }], 'name')).toBe('secret/a\n');
  });
  it('as YAML is several documents without anchors and without raw control characters', () => {
    const verbs = ['get'];
    const text = renderObjects([{ ...object, spec: { a: verbs, b: verbs } }, object], 'yaml');
    expect(parseAllDocuments(text)).toHaveLength(2);
    expect(text).not.toMatch(/[&*]a1/);
    expect(text).not.toContain('\u001b');
  });
});

describe('progress', () => {
  function record(style: 'live' | 'plain' | 'silent') {
    const written: string[] = [];
    const clock = new ManualClock();
    const output = { write: (text: string) => void written.push(text), isTerminal: true, columns: 60 };
    const progress = createProgress({ output, clock, colors: createColors(false), style });
    return { written, clock, progress };
  }

  it('is plain lines, each detail once, where nobody watches', async () => {
    const { written, clock, progress } = record('plain');
    const phase = progress.phase('Waiting');
    phase.detail('a');
    phase.detail('a');
    await clock.advance(7000);
    phase.detail('b');
    phase.done('Done');
    expect(written).toEqual(['Waiting ...\n', '  a (0s)\n', '  b (7s)\n', 'Done (7s)\n']);
  });

  it('is one line with the time on a terminal, gone when something else is said', async () => {
    const { written, clock, progress } = record('live');
    const phase = progress.phase('Waiting');
    phase.detail(`for ${'x'.repeat(100)}`);
    await clock.advance(5000);
    const lines = written.filter((text) => text.includes('Waiting'));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.at(-1)).toContain('5s');
    for (const line of lines) expect(line.replace('\r\u001b[K', '').length).toBeLessThan(60);
    progress.line('note');
    expect(written.slice(-2)).toEqual(['\r\u001b[K', 'note\n']);
    phase.done();
    expect(written.at(-1)).toBe('✓ Waiting (5s)\n');
    expect(clock.pending).toBe(0);
  });

  it('is nothing with --quiet', () => {
    const { written, progress } = record('silent');
    progress.phase('Waiting').done();
    progress.line('x');
    expect(written).toEqual([]);
  });
});

describe('answers and colours', () => {
  it.each([
    ['y', true],
    ['YES', true],
    ['', false],
    ['yep', false],
    ['n', false],
  ])('%j counts as %s', (answer, expected) => expect(isYes(answer)).toBe(expected));
  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
  ])('%j allows colour: %s', (variables, expected) => expect(allowsColor(variables)).toBe(expected));
});
