import assert from 'node:assert/strict';
import { errorsOf } from '../../src/http/openapi/errors.ts';
import type { Route } from '../../src/http/route.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import type { TestResponse } from './response.ts';

/** Errors returned before an endpoint is matched. */
const UNROUTED: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CATALOG_DISABLED',
  'RATE_LIMITED',
  'DAILY_QUOTA_EXCEEDED',
  'INTERNAL_ERROR',
];

const segmentsOf = (path: string) => path.split(/[?#]/, 1)[0]?.split('/') ?? [];

function fits(route: Route, method: string, path: string): boolean {
  if (route.method !== (method === 'HEAD' ? 'GET' : method)) return false;
  const [pattern, sent] = [segmentsOf(route.path), segmentsOf(path)];
  const same = (segment: string, index: number) => /^\{\w+\}$/.test(segment) || segment === sent[index];
  return pattern.length === sent.length && pattern.every(same);
}

/**
 * Returns a function that finds the endpoint of a request; a literal path takes precedence over a parameter.
 */
export function routeFinder(routes: readonly Route[]) {
  const ordered = routes.toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);
  return (method: string, path: string) => ordered.find((one) => fits(one, method, path));
}

/**
 * Fails on a response that its endpoint does not declare: each test that calls the API also tests the OpenAPI
 * document.
 */
export function assertDeclaredResponse(routes: readonly Route[]) {
  const find = routeFinder(routes);
  return (method: string, path: string, answer: TestResponse): void => {
    if (answer.status < 400 || method === 'OPTIONS' || answer.text === '') return;
    const text = answer.at('error');
    const code = typeof text === 'string' ? text : answer.at('error.code');
    const route = find(method, path);
    const declared: readonly string[] = route === undefined ? UNROUTED : errorsOf(route);
    const isText = text === 'Too many requests' && route?.limits?.some(({ refusal }) => refusal === 'text');
    const shown = `${method} ${path.slice(0, 100)} answered ${code}, which it does not declare`;
    assert.ok(isText === true || declared.includes(String(code)) || code === 'METHOD_NOT_ALLOWED', shown);
  };
}
