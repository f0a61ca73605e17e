import { execFile } from 'node:child_process';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl against a kubeconfig. Does not reject when kubectl fails: look at `code`. */
export function runKubectl(
  kubeconfig: string,
  args: readonly string[],
  options: { readonly input?: string; readonly env?: NodeJS.ProcessEnv; readonly timeout?: number } = {},
): Promise<KubectlResult> {
  return new Promise((resolve) => {
    const child = execFile(
      'kubectl',
      args,
      {
        env: { ...process.env, KUBECONFIG: kubeconfig, ...options.env },
        maxBuffer: 64 << 20,
        timeout: options.timeout ?? 120_000,
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
    // A kubectl that ends before it has read everything says so by its code.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input ?? '');
  });
}

/** Runs kubectl and gives its output; rejects with what it printed when it fails. */
export async function kubectl(
  kubeconfig: string,
  args: readonly string[],
  options: { readonly input?: string; readonly timeout?: number } = {},
): Promise<string> {
  const { code, stdout, stderr } = await runKubectl(kubeconfig, args, options);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

/** Applies manifests, given as one YAML or JSON text. */
export async function apply(kubeconfig: string, manifests: string): Promise<string> {
  return kubectl(kubeconfig, ['apply', '-f', '-'], { input: manifests });
}
