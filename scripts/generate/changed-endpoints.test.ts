import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointsByTag } from './changed-endpoints.ts';

test('endpointsByTag lists new and changed endpoints by tag, and omits unchanged and removed ones', () => {
  const operation = (tag: string, more = {}) => ({ tags: [tag], responses: {}, ...more });
  const earlier = {
    paths: {
      '/things': { get: operation('things') },
      '/same': { get: operation('same') },
      '/removed': { get: operation('things') },
    },
  };
  const later = {
    paths: {
      '/things': { get: operation('things', { deprecated: true }), post: operation('things') },
      '/same': { get: operation('same', { description: 'Described.' }) },
      '/more': { put: operation('more') },
    },
  };
  const lines = endpointsByTag(earlier, later).split('\n').slice(1);
  assert.deepEqual(lines, [
    'export const FIRST_RELEASE_ENDPOINTS = {',
    "  things: ['GET /things', 'POST /things'],",
    "  more: ['PUT /more'],",
    '} as const;',
    '',
  ]);
});
