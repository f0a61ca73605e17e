import { delimiter, join, resolve } from 'node:path';

/** Which kubeconfig files are read, in order. */
export interface KubeconfigFiles {
  readonly paths: readonly string[];
  /** Named by `--kubeconfig`: the file must exist. Others may be missing, as with kubectl. */
  readonly required: boolean;
}

/** kubectl's rule: `--kubeconfig`, else the list in KUBECONFIG, else `~/.kube/config`. */
export function kubeconfigFiles(from: {
  readonly flag: string | undefined;
  readonly variable: string | undefined;
  readonly home: string;
  readonly workingDirectory: string;
}): KubeconfigFiles {
  if (from.flag !== undefined && from.flag !== '') {
    return { paths: [resolve(from.workingDirectory, from.flag)], required: true };
  }
  const listed = (from.variable ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) {
    const paths = listed.map((path) => resolve(from.workingDirectory, path));
    return { paths: [...new Set(paths)], required: false };
  }
  return { paths: [join(from.home, '.kube', 'config')], required: false };
}
