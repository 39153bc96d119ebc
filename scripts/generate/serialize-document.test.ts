import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serializeDocument } from './serialize-document.ts';

test('serializeDocument writes one line per operation and component, and keeps the content', () => {
  const document = {
    openapi: '3.1.0',
    tags: [],
    servers: [{ url: '/v1' }],
    paths: { '/things': { get: { tags: ['things'] }, post: { responses: { 201: {} } } } },
    components: { schemas: { Thing: { type: 'object', title: 'a "thing"' } } },
  };
  const text = serializeDocument(document);
  assert.deepEqual(text.split('\n'), [
    '{',
    ' "openapi": "3.1.0",',
    ' "tags": [],',
    ' "servers": [',
    '  {',
    '   "url": "/v1"',
    '  }',
    ' ],',
    ' "paths": {',
    '  "/things": {',
    '   "get": {"tags":["things"]},',
    '   "post": {"responses":{"201":{}}}',
    '  }',
    ' },',
    ' "components": {',
    '  "schemas": {',
    '   "Thing": {"type":"object","title":"a \\"thing\\""}',
    '  }',
    ' }',
    '}',
    '',
  ]);
  assert.deepEqual(JSON.parse(text), document);
});
