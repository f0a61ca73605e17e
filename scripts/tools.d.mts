/** Where each program is, or will be after `make tools`; and the folder of kube-bind's CRDs. */
export function locate(): Promise<{ programs: Record<string, string>; crds: string }>;
