import type { KubeObject } from '../../../src/kube/object.js';
import { stringify as stringifyYaml } from 'yaml';
import type { DataFormat } from '../options.js';

/**
 * Renders objects as data: one object as it is, several as a `List` (json) or as documents (yaml); names as
 * `<singular>.<group>/<name>`. managedFields are left out, as kubectl does.
 */
export function renderObjects(objects: readonly KubeObject[], format: DataFormat): string {
  const shown = objects.map(withoutManagedFields);
  switch (format) {
    case 'name':
      return shown.map((object) => `${objectName(object)}\n`).join('');
    case 'json': {
      const only = shown.length === 1 ? shown[0] : undefined;
      const root = only ?? { apiVersion: 'v1', kind: 'List', items: shown, metadata: {} };
      return `${JSON.stringify(root, bigintAsText, 4)}\n`;
    }
    case 'yaml':
      return shown
        .map((object) => stringifyYaml(object, { lineWidth: 0, aliasDuplicateObjects: false }))
        .join('---\n');
  }
}

/** `kubebindbinding.kcp.kube-bind.io/cowboys` */
export function objectName(object: KubeObject): string {
  const group = object.apiVersion.includes('/') ? `.${object.apiVersion.split('/')[0] ?? ''}` : '';
  return `${object.kind.toLowerCase()}${group}/${object.metadata.name}`;
}

function withoutManagedFields(object: KubeObject): KubeObject {
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

/** int64 values beyond float64 are not found in our own kinds; as text they at least stay exact. */
function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
