import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate, Limit, Route } from '../../src/http/route.ts';
import { ROOT } from '../program.ts';

const SOURCES = 'src/features/**/*routes.ts';
const OPERATION = /operationId: (?:'(?<name>[^']+)'|`(?<template>[^`]+)`)/g;

const GATES: Record<Gate, string> = {
  'finance-read': '`FULL_ACCESS` or `finance:read`',
  'finance-write': '`FULL_ACCESS` or `finance:write`',
  owner: '`FULL_ACCESS`, `X-User-Token` or a session',
  user: '`X-User-Token` or a session',
  'session-owner': 'a session: no key is enough',
  admin: "an administrator's session: no key is enough",
};
const KEYS: Record<Route['auth'], string> = {
  key: 'yes',
  session: 'a session',
  public: 'optional',
  optional: 'optional, checked',
  none: 'not read',
};

/** Every endpoint with its policy and the file that declares it, a table for each resource. */
export function endpointTables(routes: readonly Route[]): string {
  const sourceOf = readSources();
  const tables = Map.groupBy(routes, ({ operationId }) => operationId.split('.')[0] ?? '');
  const sections = [...tables]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([resource, own]) => `## ${resource}

| Endpoint | Operation | Key | Asks for | Limits | Idempotency-Key | Source |
| --- | --- | --- | --- | --- | --- | --- |
${own.map((route) => row(route, sourceOf(route.operationId))).join('\n')}
`,
    );
  return `<!-- Written by npm run generate from the declarations of the routes. -->
# Endpoints

Paths are below \`/api/v1\`.

- **Key**: whether an API key is required. A dashboard session works wherever a key does. "optional, checked": works without a key, and rejects an invalid one.
- **Asks for**: what the key must have. "any": any key. A permission: required if the key has a list of permissions; \`:write\` includes \`:read\`, and the reads of videos, streams, restreams and rooms are required only if the list names one of these four ([API keys](guides/api-keys.md)). Writes require a key that is not \`READ_ONLY\` unless the row says otherwise.
- **Limits**: limits of the endpoint, in addition to the key's own. Endpoints with the same name in brackets share a limit.

${sections.join('\n')}`;
}

function row(route: Route, source: string): string {
  const cells = [
    `\`${route.method} ${route.path}\``,
    `\`${route.operationId}\``,
    KEYS[route.auth],
    policyOf(route),
    (route.limits ?? []).map(limit).join('<br>'),
    route.idempotent ? 'yes' : '',
    `[${source.replace('src/features/', '')}](../${source})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function policyOf(route: Route): string {
  const { permission, gate, writes, onlyMode, ownKey, originLock, recentPassword, ownOrigin } = route;
  const asks = [
    ...(permission === null ? [] : [`\`${permission}\``]),
    ...(gate === null ? [] : [GATES[gate]]),
    ...(writes === false ? ['`READ_ONLY` is enough'] : []),
    ...(onlyMode === undefined ? [] : [`a ${onlyMode} key`]),
    ...(ownKey === undefined ? [] : ['or the key that it is about']),
    ...(originLock ? ['a verified origin'] : []),
    ...(recentPassword === true ? ["a session's password"] : []),
    ...(ownOrigin === true ? ['a page of the platform'] : []),
  ];
  return asks.length === 0 && route.auth === 'key' ? 'any' : asks.join(', ');
}

function limit({ bucket, per, param, max, windowSec }: Limit): string {
  const whom = per === 'ip' ? 'address' : 'key';
  const what = param === undefined ? whom : `${whom} and ${param}`;
  return `${max} in ${windowSec} s for each ${what} (${bucket})`;
}

/**
 * Finds the file that declares each operation. A computed operation name matches the operations not declared
 * elsewhere.
 */
function readSources(): (operationId: string) => string {
  const names = new Map<string, string>();
  const templates: [pattern: RegExp, file: string][] = [];
  for (const file of globSync(SOURCES, { cwd: ROOT }).sort()) {
    for (const { groups = {} } of readFileSync(join(ROOT, file), 'utf8').matchAll(OPERATION)) {
      const { name, template } = groups;
      if (name !== undefined) names.set(name, file);
      if (template === undefined) continue;
      templates.push([
        new RegExp(
          `^${template
            .split(/\$\{\w+\}/)
            .map(RegExp.escape)
            .join('\\w+')}$`,
        ),
        file,
      ]);
    }
  }
  return (operationId) => {
    const source = names.get(operationId) ?? templates.find(([pattern]) => pattern.test(operationId))?.[1];
    if (source === undefined) throw new Error(`no ${SOURCES} declares ${operationId}`);
    return source;
  };
}
