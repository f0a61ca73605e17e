import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...documentsBelow('docs')];

function documentsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path))
    .sort();
}

/** As the common renderers make them: small letters, no punctuation, hyphens for spaces. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe('a document', () => {
  it.each(DOCUMENTS)('has links that lead somewhere: %s', (file) => {
    const text = readFileSync(file, 'utf8').replace(/^```[^]*?^```/gm, '');
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : normalize(join(dirname(file), path));
        if (!existsSync(target)) return true;
        return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
      });
    expect(broken).toEqual([]);
  });

  it.each(DOCUMENTS)('names files that exist: %s', (file) => {
    const named = readFileSync(file, 'utf8').matchAll(
      /`((?:src|cmd|e2e|docs|scripts|apiexport|apiresourceschemas)\/[\w./-]*[\w-])`/g,
    );
    const missing = [...named].map((match) => match[1] ?? '').filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });
});

describe('the table of cases', () => {
  const rows = readFileSync('docs/reference/cases.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| what'));
  /** Files of tests by the short name of a suite's file, `project/file`. */
  const named = [...rows.join('\n').matchAll(/`([a-z]+\/[a-z-]+)`(?:: ((?:\*[^*]+\*(?:, )?)+))?/g)];

  it('names files of suites that exist', () => {
    expect(named.length).toBeGreaterThan(20);
    const missing = named.map((match) => suiteFile(match[1])).filter((path) => !existsSync(path));
    expect(missing).toEqual([]);
  });

  it('quotes titles that their files have', () => {
    const wrong = named.flatMap(([, name, titles = '']) =>
      [...titles.matchAll(/\*([^*]+)\*/g)]
        .map((match) => (match[1] ?? '').replace(/…$/, ''))
        .filter((title) => !plain(readFileSync(suiteFile(name), 'utf8')).includes(plain(title)))
        .map((title) => `${name ?? ''}: ${title}`),
    );
    expect(wrong).toEqual([]);
  });
});

function suiteFile(name = ''): string {
  return `e2e/suites/${name}.test.ts`;
}

/** Quotes are written in several ways. */
function plain(text: string): string {
  return text.replaceAll(/[’']/g, "'");
}
