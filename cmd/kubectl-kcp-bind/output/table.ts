import { printable } from './printable.js';

const MAX_CELL = 120;

/** Renders rows under headers like kubectl does: columns three blanks apart, no borders, a newline at the end. */
export function renderTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headers, ...rows].map((row) => row.map((cell) => printable(cell, MAX_CELL)));
  const widths = headers.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map(
      (row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('   ')
          .trimEnd() + '\n',
    )
    .join('');
}
