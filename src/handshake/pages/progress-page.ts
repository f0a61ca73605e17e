import { untrustedText } from '../../api/untrusted-text.js';
import { markup } from '../html.js';
import type { Html } from '../html.js';
import type { Page } from './page.js';

/** One KubeBindBinding as it stands. */
export interface BindingProgress {
  readonly name: string;
  readonly phase: string;
  readonly ready: boolean;
  /** Message of condition Ready. */
  readonly message: string;
}

export interface ProgressView {
  readonly workspacePath: string;
  readonly host: string;
  readonly bindings: readonly BindingProgress[];
  /** Names that could not be used, because a binding of another connection or template has them. */
  readonly clashes: readonly string[];
  readonly catalogueHref: string;
  readonly moreOffers: boolean;
}

/** Seconds between two looks. */
const REFRESH = 5;

/** How far the chosen bindings are. Loads itself again until all are ready. */
export function progressPage(view: ProgressView): Page {
  const isWaiting = view.bindings.some(({ ready }) => !ready);
  const heading = isWaiting ? 'Setting up' : 'All is set up';
  const status = isWaiting
    ? 'This page follows along. You can close it at any time; the work goes on.'
    : 'You can close this page and return to your terminal.';
  return {
    title: `${heading} - ${view.workspacePath}`,
    ...(isWaiting ? { refreshSeconds: REFRESH } : {}),
    body: markup`<p class="over">${view.workspacePath}, connected to ${view.host}</p>
<h1>${heading}</h1>
<p role="status">${status}</p>
${view.clashes.map(clashNote)}
${view.bindings.map(progressCard)}
${view.moreOffers && markup`<p><a href="${view.catalogueHref}">Choose more</a></p>`}`,
  };
}

function clashNote(name: string): Html {
  return markup`<p class="bad" role="alert">A binding named ${name} exists already for something else, so that offer was not added. Create a binding of another name with spec.template: ${name}.</p>
`;
}

function progressCard(binding: BindingProgress): Html {
  const message = untrustedText(binding.message, 600);
  return markup`<section class="card">
<h2>${binding.name}</h2>
<p><strong class="${binding.ready ? 'good' : 'over'}">${untrustedText(binding.phase, 40)}</strong></p>
${message !== '' && !binding.ready && markup`<p>${message}</p>`}
</section>
`;
}
