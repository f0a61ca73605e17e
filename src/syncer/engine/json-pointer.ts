/** Steps from an object's root to a value: field names and list indexes. */
export type JsonPath = readonly (string | number)[];

/** RFC 6901. */
export function toPointer(path: JsonPath): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** For people: `spec.items[2].name`, keys that are no plain names in brackets. */
export function toFieldPath(path: JsonPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}
