import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../platform/config.ts';
import { hasSeveralProcesses, maxConnections } from './layout.ts';

test('only processes of roles of this node count', () => {
  assert.equal(hasSeveralProcesses(loadConfig({})), false);
  for (const name of ['API_PROCESSES', 'WORKER_PROCESSES', 'MEDIA_PROCESSES']) {
    assert.equal(hasSeveralProcesses(loadConfig({ [name]: '2' })), true, name);
    const other = name === 'MEDIA_PROCESSES' ? 'api,worker' : 'media';
    assert.equal(hasSeveralProcesses(loadConfig({ [name]: '2', ROLES: other })), false, name);
  }
});

test('each process can use its pool of database connections', () => {
  const connections = (environment: Record<string, string>) =>
    maxConnections(loadConfig({ DATABASE_POOL: '10', ...environment }));
  const one = connections({});
  assert.ok(one >= 30 && one <= 80, `${one} of the usual 100`);
  assert.ok(connections({ API_PROCESSES: '16' }) >= one + 150);
  assert.ok(connections({ ROLES: 'api' }) < one);
});
