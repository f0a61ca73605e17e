/**
 * How the plugin ends when it fails: a line with the cause and one with what to do.
 *
 * @returns the text of both
 * @throws Error where it says anything else, or more than one error
 */
export function lastWords(stderr: string): [cause: string, remedy: string] {
  const lines = stderr.trimEnd().split('\n');
  const cause = /^error: (.+)$/.exec(lines.at(-2) ?? '')?.[1];
  const remedy = /^ {2}to do: (.+)$/.exec(lines.at(-1) ?? '')?.[1];
  const errors = lines.filter((line) => line.startsWith('error:'));
  if (cause === undefined || remedy === undefined || errors.length !== 1) {
    throw new Error(`the plugin did not end with one cause and one remedy: ${stderr}`);
  }
  return [cause, remedy];
}
