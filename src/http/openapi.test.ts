import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Type from 'typebox';
import { openApiDocument } from './openapi.ts';
import { defineRoute, NoBody, NoParams, NoQuery } from './route.ts';

const Thing = Type.Object({ id: Type.String() }, { $id: 'Thing' });

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
  ajv.addSchema(openApiDocument([route('GET'), route('POST')], [], '/api/v1'), 'document');
  const pointer = ['paths', '~1things', 'post', 'responses', '200', 'content', 'application~1json', 'schema'];
  const validate = ajv.compile({ $ref: `document#/${pointer.join('/')}` });
  assert.equal(validate({ success: true, data: { id: 'x' } }), true);
  assert.equal(validate({ success: true, data: {} }), false);
});
