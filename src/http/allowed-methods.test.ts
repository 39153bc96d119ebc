import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AllowedMethods } from './allowed-methods.ts';

function table(...routes: string[]): AllowedMethods {
  const made = new AllowedMethods();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    made.add(method, path);
  }
  return made;
}

test('the methods of a path, whatever its parameters are called', () => {
  const paths = table('GET /a', 'POST /a', 'GET /a/{id}', 'PATCH /a/{aId}', 'POST /a/{id}/go');
  assert.deepEqual(paths.methods('/a'), ['GET', 'POST']);
  assert.deepEqual(paths.methods('/a/x'), ['GET', 'PATCH']);
  assert.deepEqual(paths.methods('/a/x/go'), ['POST']);
  assert.deepEqual(paths.methods('/a/x/stop'), []);
  assert.deepEqual(paths.methods('/b'), []);
  assert.deepEqual(paths.methods('/a/'), []);
  assert.deepEqual(paths.methods('/a//go'), []);
});

test('a literal path has its own methods', () => {
  const paths = table('GET /a/{id}', 'DELETE /a/{id}', 'GET /a/events');
  assert.deepEqual(paths.methods('/a/events'), ['GET']);
  assert.deepEqual(paths.methods('/a/other'), ['GET', 'DELETE']);
});

test('two routes of the same method and path are refused at boot', () => {
  assert.throws(() => table('GET /a/{id}', 'GET /a/{other}'), /two routes for GET \/a\/\{other\}/);
});

test('it knows which paths the router would take for another', () => {
  const paths = table('DELETE /a/{id}', 'GET /a/events', 'GET /a/{id}', 'POST /a/{id}/b', 'GET /a/{id}/{x}');
  assert.deepEqual(paths.shadowed(), [
    { method: 'DELETE', path: '/a/events' },
    { method: 'GET', path: '/a/{id}/b' },
  ]);
});
