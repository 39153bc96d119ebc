import { STATUS_CODES } from 'node:http';
import { errorsOf } from '../../src/http/openapi/errors.ts';
import type { Route } from '../../src/http/route.ts';
import { AppError, ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';

const ERROR_CODES = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERRORS);

/** Codes with more endpoints than this show no list: `openapi.json` has the codes of each endpoint. */
const MAX_LISTED_ENDPOINTS = 12;

/** Returns the page of all error codes: one section per status, one heading per code. */
export function errorReference(routes: readonly Route[]): string {
  const byStatus = Map.groupBy(ERROR_CODES.toSorted(), (code) => ERRORS[code].status);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => {
      const entries = codes.map((code) => entryOf(code, routes));
      return `## ${status} ${STATUS_CODES[status]}\n\n${entries.join('\n')}`;
    });
  return `<!-- Written by npm run generate from src/kernel/errors.ts. -->
# Error codes

A response with an error has this body. The \`X-SVC-Request-Id\` header identifies the request in the server's log.

\`\`\`json
{ "success": false, "error": { "code": "BAD_REQUEST", "message": "title is required.", "field": "title" } }
\`\`\`

Branch on \`code\`. \`message\` is for people and may change. \`field\` names the input that caused the error, if there is one.

Two kinds of errors have a text in \`error\`. The origin lock sends its code:
[integration_domain_required](#integration_domain_required) or [origin_not_allowed](#origin_not_allowed). Some limits per IP
address send \`{ "success": false, "error": "Too many requests", "retryAfter": 60 }\`.

${sections.join('\n')}`;
}

function entryOf(code: ErrorCode, routes: readonly Route[]): string {
  const { message, description } = ERRORS[code];
  const body = JSON.stringify(new AppError(code).body());
  return `### ${code}\n\n**${message}** ${description}\n\n\`\`\`json\n${body}\n\`\`\`\n\n${endpointsOf(code, routes)}\n`;
}

function endpointsOf(code: ErrorCode, routes: readonly Route[]): string {
  const matching = routes.filter((route) => errorsOf(route).includes(code));
  if (matching.length === 0) return 'No endpoint under `/api/v1` declares it.';
  if (matching.length > MAX_LISTED_ENDPOINTS) return 'Endpoints: many, see `openapi.json`.';
  return `Endpoints: ${matching.map(({ method, path }) => `\`${method} ${path}\``).join(', ')}.`;
}
