import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts';

let app: TestApp;
before(async () => {
  app = await startTestApp();
});
after(() => app.close());

test('slashes and white space around a stream key are ignored, for every protocol', async () => {
  const { key: apiKey } = await app.createKey();
  const created = (await app.request('POST', '/streams', { key: apiKey, body: { title: 'x' } })).assertOk(
    201,
  );
  const streamKey = created.string('data.streamKey');
  const found = async (key: string, protocol: 'rtmp' | 'whip') =>
    (await app.container.signals.authorise({ key, ip: '192.0.2.77', app: 'live', protocol }))?.streamId;
  const typed = ['K/', 'K ', 'K\r\n', ' /K/ \n', '\tK//'].map((text) => text.replace('K', streamKey));
  for (const key of typed)
    for (const protocol of ['rtmp', 'whip'] as const)
      assert.equal(await found(key, protocol), created.string('data.id'), JSON.stringify(key));
  for (const wrong of ['/', ' ', '', `${streamKey}/x`, `${streamKey.slice(0, 9)} ${streamKey.slice(9)}`])
    assert.equal(await found(wrong, 'rtmp'), undefined, JSON.stringify(wrong));
});
