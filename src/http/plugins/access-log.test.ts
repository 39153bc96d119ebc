import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { accessLog } from './access-log.ts';
import { endpoint } from './endpoint.ts';

test('no line holds a secret, whether its address exists or is almost right', async () => {
  const paths: unknown[] = [];
  const app = Fastify();
  app.decorateRequest('caller', null);
  endpoint(app);
  accessLog(app, {
    accessLog: { note: ({ path }) => void paths.push(path) },
    metrics: { observe: () => {} },
  });
  app.get('/uploads/:token', async () => 'ok');
  app.get('/v/:videoId/:file', async () => 'ok');
  const secret = 'mCemoFIGyL0jhfqtNCnkx4Vsei1Pw8OaU8meDtO9_ho';
  const urls = [
    `/uploads/${secret}`,
    `/uploads/${secret}/`,
    `/uploads%2f${secret}`,
    `/UPLOADS/${secret}?x=${secret}`,
    `/${'a/'.repeat(2000)}`,
    `/v/vid_01m7w8ke6cfjt9wnm6nyf51kf6/master.m3u8?token=${secret}`,
  ];
  for (const url of urls) await app.inject({ method: url.startsWith('/UP') ? 'PUT' : 'GET', url });
  await app.close();
  assert.equal(paths.length, urls.length);
  assert.doesNotMatch(JSON.stringify(paths), new RegExp(secret));
  assert.equal(paths[0], '/uploads/:token');
  assert.equal(String(paths[4]).length, 500);
  assert.equal(paths[5], '/v/vid_01m7w8ke6cfjt9wnm6nyf51kf6/master.m3u8');
});
