import { untrustedText } from '../../api/untrusted-text.js';
import { markup } from '../html.js';
import type { Html } from '../html.js';
import { PROBLEMS } from '../problems.js';
import type { PageProblem } from '../problems.js';
import { buttonForm } from './page.js';
import type { Page } from './page.js';

/** The page that says what happened and what to do. */
export function problemPage(problem: PageProblem): Page {
  const { title, what, next } = PROBLEMS[problem.code];
  const detail = untrustedText(problem.detail, 600);
  return {
    title,
    body: markup`<div class="card" role="alert">
<h1>${title}</h1>
<p>${what}</p>
${detail !== '' && markup`<p class="bad">${detail}</p>`}
</div>
<p>${next}</p>
${wayOn(problem)}`,
  };
}

function wayOn({ way }: PageProblem): Html | undefined {
  switch (way?.kind) {
    case undefined:
      return undefined;
    case 'restart':
      return buttonForm(way.action, way.csrf, 'Start another login');
    case 'login-page':
      return markup`<p><a href="${way.href}">Back to the login page</a></p>`;
  }
}
