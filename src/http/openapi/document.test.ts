import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Type from 'typebox';
import { defineRoute, NoBody, NoParams, NoQuery } from '../route.ts';
import { openApiDocument } from './document.ts';

const Thing = Type.Object({ id: Type.String() });

const route = (method: 'GET' | 'POST') =>
  defineRoute({
    operationId: `things.${method}`,
    method,
    path: '/things',
    summary: 'Things',
    auth: 'key',
    permission: null,
    gate: null,
    originLock: false,
    idempotent: false,
    params: NoParams,
    query: NoQuery,
    body: NoBody,
    reply: { status: 200, schema: Thing },
    errors: [],
    handler: async () => ({ id: 'x' }),
  });

test('a validator takes the whole document, however often it has a schema', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(
    openApiDocument({
      routes: [route('GET'), route('POST')],
      events: [],
      url: 'https://video.example.com/api/v1',
    }),
    'document',
  );
  const pointer = ['paths', '~1things', 'post', 'responses', '200', 'content', 'application~1json', 'schema'];
  const validate = ajv.compile({ $ref: `document#/${pointer.join('/')}` });
  assert.equal(validate({ success: true, data: { id: 'x' } }), true);
  assert.equal(validate({ success: true, data: {} }), false);
});
