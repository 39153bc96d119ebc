import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { resolved } from '../../../test/harness/resolved.ts';
import { isJson, type Json } from './json.ts';

/** The committed document, which another test compares with the program's own. */
const raw: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../../../openapi.json'), 'utf8'));
const document = asJson(raw);
const whole = resolved(document);

function asJson(value: unknown): Json {
  if (!isJson(value)) throw new Error(`${JSON.stringify(value)} is no object`);
  return value;
}

const entries = (value: unknown) => Object.entries(isJson(value) ? value : {});

interface Operation {
  name: string;
  json: Json;
}

const operations: Operation[] = entries(whole.paths).flatMap(([path, methods]) =>
  entries(methods).map(([method, json]) => ({ name: `${method} ${path}`, json: asJson(json) })),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
formatsPlugin.default(ajv);

/** Asserts that the examples of a body or response match the schemas next to them. */
function assertExamples(place: string, body: Json): void {
  for (const [type, media] of entries(body.content)) {
    if (type === 'multipart/form-data') continue;
    const { schema, examples } = asJson(media);
    const all = entries(examples);
    assert.ok(all.length > 0, `${place}: ${type} has no example`);
    const validate = ajv.compile(asJson(schema));
    for (const [name, example] of all) {
      assert.ok(
        validate(asJson(example).value),
        `${place}, example ${name}: ${ajv.errorsText(validate.errors)}`,
      );
    }
  }
}

test('every operation has a name, words, a described tag and examples that its schemas take', () => {
  const tags = new Map(
    [document.tags].flat().map((tag) => [asJson(tag).name, asJson(tag).description] as const),
  );
  assert.ok(operations.length > 90);
  assert.equal(new Set(operations.map(({ json }) => json.operationId)).size, operations.length);
  for (const { name, json } of operations) {
    assert.ok(String(json.summary ?? '').length > 3, `${name} has no summary`);
    // The last paragraph is who may call it.
    const [said = '', ...rest] = String(json.description ?? '').split('\n\n');
    assert.ok(said.length > 10 && rest.length > 0, `${name} has no description of its own`);
    for (const tag of [json.tags].flat())
      assert.ok(tags.get(tag), `${name}: tags.ts does not describe ${tag}`);
    if (isJson(json.requestBody)) assertExamples(`${name}, request`, json.requestBody);
    const answers = entries(json.responses);
    assert.ok(
      answers.some(([status]) => status.startsWith('2')),
      name,
    );
    for (const [status, answer] of answers) assertExamples(`${name}, ${status}`, asJson(answer));
  }
});

test('every parameter has words', () => {
  for (const { name, json } of operations) {
    for (const parameter of [json.parameters].flat()) {
      const { name: of, description } = asJson(parameter);
      assert.ok(String(description ?? '').length > 3, `${name}: ${of} has no description`);
    }
  }
});

test('every answer declares its headers', () => {
  for (const { name, json } of operations) {
    for (const [status, answer] of entries(json.responses)) {
      const headers = asJson(answer).headers;
      assert.ok(isJson(headers) && 'X-SVC-Request-Id' in headers, `${name}, ${status}`);
      assert.equal('Retry-After' in headers, ['429', '503'].includes(status), `${name}, ${status}`);
    }
  }
});

test('every event type is a webhook with an example and no key, and one of the union', () => {
  const { schemas } = asJson(document.components);
  const { oneOf, discriminator } = asJson(asJson(schemas).AnyEvent);
  const mapping = asJson(asJson(discriminator).mapping);
  const types = entries(whole.webhooks);
  assert.ok(types.length > 30);
  assert.equal([oneOf].flat().length, types.length);
  for (const [type, item] of types) {
    const { security, requestBody } = asJson(asJson(item).post);
    assert.deepEqual(security, [], type);
    assert.ok(type in mapping, type);
    assertExamples(type, asJson(requestBody));
  }
});

test('examples of components are valid', () => {
  const { schemas } = asJson(whole.components);
  for (const [name, schema] of entries(schemas)) {
    const { examples } = asJson(schema);
    for (const example of Array.isArray(examples) ? examples : []) {
      const validate = ajv.compile(asJson(schema));
      assert.ok(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`);
    }
  }
});

test('the events that examples name are there to subscribe to', () => {
  const { schemas } = asJson(whole.components);
  const types = entries(whole.webhooks).map(([type]) => type);
  let named = 0;
  const check = (patterns: unknown[], place: string): void => {
    for (const pattern of patterns.map(String)) {
      const isFamily = pattern.endsWith('.*');
      const subscribes = (type: string) =>
        isFamily ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
      assert.ok(types.some(subscribes), `${place}: ${pattern}`);
      named += 1;
    }
  };
  for (const [name, schema] of entries(schemas)) {
    for (const example of [asJson(schema).examples ?? []].flat()) {
      if (name === 'EventTypes') check([example].flat(), name);
      else if (isJson(example) && Array.isArray(example.events)) check(example.events, name);
    }
  }
  assert.ok(named > 5);
});

/** Shorter ones are clearer where they stand. */
const SMALL = 300;

test('every large object is a named component and occurs only once', () => {
  const seen = new Map<string, string>();
  const walk = (value: unknown, place: string): void => {
    if (Array.isArray(value)) for (const [index, part] of value.entries()) walk(part, `${place}/${index}`);
    if (!isJson(value)) return;
    const text = JSON.stringify(value);
    if (value.type === 'object' && isJson(value.properties) && text.length > SMALL) {
      assert.equal(seen.get(text), undefined, `${place} is the same as ${seen.get(text)}`);
      seen.set(text, place);
    }
    for (const [key, part] of Object.entries(value)) {
      if (!['examples', 'default', 'const', 'enum'].includes(key)) walk(part, `${place}/${key}`);
    }
  };
  walk(document, '');
});

test('what the server fills in is not asked for', () => {
  const { schemas } = asJson(document.components);
  assert.deepEqual(asJson(asJson(schemas).ApiKeyCreate).required, ['name']);
});

test('the size of the document per endpoint stays bounded, so that it remains readable', () => {
  const perOperation = JSON.stringify(document).length / operations.length;
  // The 503 that each of them has takes 60.
  assert.ok(perOperation < 4300, `${Math.round(perOperation)} characters for each operation`);
  const responses = asJson(asJson(document.components).responses);
  assert.ok(entries(responses).length < 0.8 * operations.length);
});
