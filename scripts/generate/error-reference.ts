import { STATUS_CODES } from 'node:http';
import { errorsOf } from '../../src/http/openapi/errors.ts';
import type { Route } from '../../src/http/route.ts';
import { AppError, ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';

export const ERROR_CODES = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS);

const NOTICE = '<!-- Written by npm run generate from src/kernel/errors.ts. -->';
/** A longer list says less than "many". */
const LISTED = 12;

const statusOf = (code: ErrorCode) => `${ERRORS[code].status} ${STATUS_CODES[ERRORS[code].status]}`;

/** The page of one code. */
export function errorPage(code: ErrorCode, routes: readonly Route[]): string {
  const { message, description } = ERRORS[code];
  const body = JSON.stringify(new AppError(code).body(), null, 2);
  const answering = routes.filter((route) => errorsOf(route).includes(code));
  return `${NOTICE}
# ${code}

**${statusOf(code)}** · ${message}

${description}

\`\`\`json
${body}
\`\`\`

${answeredBy(answering)}

[All error codes](README.md)
`;
}

function answeredBy(routes: readonly Route[]): string {
  if (routes.length === 0) return 'Answered outside of the declared endpoints, or by none yet.';
  if (routes.length > LISTED) {
    return 'Answered by many endpoints: `openapi.json` has the codes of each.';
  }
  return `Answered by:\n\n${routes.map(({ method, path }) => `- \`${method} ${path}\``).join('\n')}`;
}

/** The index of the pages, by status. */
export function errorIndex(): string {
  const rows = ERROR_CODES.toSorted((a, b) => ERRORS[a].status - ERRORS[b].status || (a < b ? -1 : 1)).map(
    (code) => `| ${ERRORS[code].status} | [\`${code}\`](${code}.md) | ${ERRORS[code].message} |`,
  );
  return `${NOTICE}
# Error codes

Every answer that is not 2xx has this body, and \`X-SVC-Request-Id\` in its headers, which names the request in
the server's log:

\`\`\`json
{ "success": false, "error": { "code": "BAD_REQUEST", "message": "title is required.", "field": "title" } }
\`\`\`

\`code\` is what a program decides on; \`message\` is for people and may change. \`field\` is there where one
input is to blame. Two bodies differ: the origin lock sends its code as the text of \`error\`
([integration_domain_required](integration_domain_required.md), [origin_not_allowed](origin_not_allowed.md)), and
the limiters for addresses send \`{ "success": false, "error": "Too many requests", "retryAfter": 60 }\`.

| Status | Code | Meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}
