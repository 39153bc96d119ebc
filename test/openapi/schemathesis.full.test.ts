import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { request } from 'undici';
import { isJson, type Json } from '../../src/http/openapi/json.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import { resolved } from '../harness/resolved.ts';
import { type Outcome, python, pythonPeerUnavailableReason } from './python.ts';

const skip = pythonPeerUnavailableReason('schemathesis') ?? false;

describe('schemathesis', { skip }, () => {
  let app: TestApp;
  let key: string;
  let folder: string;
  before(async () => {
    app = await startTestApp();
    ({ key } = await app.createKey({ rateLimitPerMinute: 1_000_000 }));
    folder = await mkdtemp(join(tmpdir(), 'marquee-schemathesis-'));
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  const run = (checks: string[], ...options: string[]): Promise<Outcome> =>
    python(
      'schemathesis',
      [
        ...['-c', 'from schemathesis.cli import schemathesis; schemathesis()', 'run'],
        ...[
          `${app.url}/openapi.json`,
          '--url',
          `${app.url}/api/v1`,
          '--header',
          `Authorization: Bearer ${key}`,
        ],
        ...['--checks', checks.join(','), '--phases', 'examples,coverage', '--seed', '1'],
        // Excluded: endless streams, and operations that would end the key of the run.
        ...['--exclude-operation-id', 'events.tail'],
        ...['--exclude-operation-id', 'events.stream'],
        ...['--exclude-operation-id-regex', '^apiKeys\\.(delete|rotate)'],
        ...['--continue-on-failure', '--suppress-health-check', 'all', '--warnings', 'off'],
        ...['--output-truncate', 'false', '--request-timeout', '60', ...options],
      ],
      folder,
    );

  test('schemathesis finds no undeclared response', async () => {
    const { text, failed } = await run([
      'not_a_server_error',
      'status_code_conformance',
      'content_type_conformance',
      'response_headers_conformance',
      'response_schema_conformance',
    ]);
    assert.equal(failed, false, text.slice(-20_000));
    assert.match(text, /[1-9]\d{3,} passed/);
  });

  test('schema-valid input is rejected only if the description of a field restricts it further', async () => {
    const { body } = await request(`${app.url}/openapi.json`);
    const document = resolved(Object(await body.json()));
    const { text } = await run(['positive_data_acceptance'], '--mode', 'positive');
    assert.match(text, /Test cases:/, text.slice(-5000));
    const refused = findRejections(text);
    assert.ok(refused.length > 5, 'the report is read wrong');
    for (const { operation, answer } of refused) {
      const field = /"field":"([^".]+)/.exec(answer)?.[1] ?? '';
      assert.ok(wordsOf(document, operation, field).length > 10, `${operation} refuses ${field}: ${answer}`);
    }
  });
});

/** Returns the rejections in a report, with the operation of their headline. */
function findRejections(report: string): { operation: string; answer: string }[] {
  const found: { operation: string; answer: string }[] = [];
  let operation = '';
  for (const [, headline, answer] of report.matchAll(/^_+ ([A-Z]+ \/\S*) _+$|(\{"success":false.*)/gm)) {
    if (headline !== undefined) operation = headline;
    else if (answer !== undefined) found.push({ operation, answer });
  }
  return found;
}

/** The description of an input: a parameter, or a member of the body. */
function wordsOf(document: Json, operation: string, field: string): string {
  const [method = '', path = ''] = operation.split(' ');
  const declared = at(document, 'paths', path, method.toLowerCase());
  const parameters = Object.values(at(declared, 'parameters')).filter(isJson);
  const parameter = parameters.find(({ name }) => name === field);
  const schema = at(declared, 'requestBody', 'content', 'application/json', 'schema');
  const member = at(schema, 'properties', field);
  return String((parameter ?? member).description ?? '');
}

function at(value: Json, ...keys: string[]): Json {
  let part: unknown = value;
  for (const key of keys) part = Object(part)[key];
  return { ...Object(part) };
}
