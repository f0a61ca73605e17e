import { createHash } from 'node:crypto';

/** All styling of the pages: readable on a phone, in the light and in the dark, with visible focus. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#4d5661;--page:#f6f7f9;--card:#fff;--line:#d3d8de;--act:#0b57d0;--on-act:#fff;--warn:#7a4100;--warn-page:#fff4e0;--bad:#a11212;--good:#14622b}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebef;--soft:#a9b3bf;--page:#111418;--card:#1a1f25;--line:#39424d;--act:#8ab4f8;--on-act:#0a1a33;--warn:#ffcf8a;--warn-page:#33260f;--bad:#ff9a9a;--good:#8fdca6}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.55 system-ui,sans-serif}
main{max-width:44rem;margin:0 auto;padding:1.5rem 1rem 3rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem;margin:1rem 0}
h1{font-size:1.6rem;line-height:1.25;margin:.25rem 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0 0 .5rem;overflow-wrap:anywhere}
p,li,dd{overflow-wrap:anywhere}
.over,.caption,.hint{color:var(--soft)}
.over{margin:0}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.35rem 1rem;margin:0}
dt{color:var(--soft)}
dd{margin:0}
@media (max-width:30rem){dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}}
.note{border-left:.3rem solid var(--warn);background:var(--warn-page);color:var(--warn);padding:.6rem .9rem;border-radius:.3rem}
.bad{color:var(--bad)}.good{color:var(--good)}
button{font:inherit;font-weight:600;background:var(--act);color:var(--on-act);border:0;border-radius:.5rem;padding:.7rem 1.2rem;min-height:2.75rem;cursor:pointer;max-width:100%;overflow-wrap:anywhere}
input[type=text]{font:inherit;font-size:1.3rem;letter-spacing:.12em;text-transform:uppercase;padding:.55rem .7rem;border:1px solid var(--soft);border-radius:.4rem;background:var(--page);color:var(--ink);width:100%;max-width:16rem}
input[type=checkbox]{width:1.25rem;height:1.25rem;margin:.15rem .6rem 0 0;flex:none}
label.tick{display:flex;align-items:flex-start;padding:.35rem 0}
fieldset{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:1rem 0 0}
legend{font-weight:600;padding:0 .4rem}
code{font-family:ui-monospace,monospace;font-size:.92em;background:var(--page);border:1px solid var(--line);border-radius:.3rem;padding:.05rem .3rem}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
`;

/** What a content security policy allows this style, and no other, by. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
