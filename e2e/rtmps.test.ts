import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { createTestCa, type TestCa } from '../test/harness/certificates.ts';
import { createPartner } from '../test/harness/partner.ts';
import { freePort, type RunningPlatform, startPlatform } from '../test/harness/platform.ts';
import { waitFor } from '../test/harness/wait-for.ts';
import { startPublisher } from '../test/rtmp/publisher.ts';

let ca: TestCa;
let folder: string;
let port: number;
let platform: RunningPlatform;

async function install(): Promise<void> {
  const { key, cert } = await ca.issue(['127.0.0.1', 'localhost']);
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'cert.pem'), cert);
}

before(async () => {
  ca = await createTestCa();
  folder = await mkdtemp(join(tmpdir(), 'marquee-rtmps-'));
  await install();
  port = await freePort();
  platform = await startPlatform({
    environment: {
      RTMPS_PORT: String(port),
      TLS_CERT_FILE: join(folder, 'cert.pem'),
      TLS_KEY_FILE: join(folder, 'key.pem'),
    },
  });
});

after(async () => {
  await platform?.stop();
  await ca?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The fingerprint of the certificate that the port shows now. */
function shown(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: ca.pem }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

test('an encoder publishes over TLS, and continues while the certificate is renewed', async (t) => {
  const partner = createPartner(platform);
  const { id, streamKey } = await partner.createStream();
  const { data } = await partner.call('GET', `/streams/${id}`);
  const text = JSON.stringify(data);
  assert.ok(text.includes(`"rtmpsUrl":"rtmps://localhost:${port}/live"`), text);

  const encoder = startPublisher({
    url: `rtmps://127.0.0.1:${port}/live/${streamKey}`,
    width: 320,
    height: 180,
    fps: 15,
  });
  t.after(() => encoder.stop());
  await waitFor(async () => (await partner.stream(id)).hasSignal, {
    timeoutMs: 15_000,
    message: 'the signal',
  });
  await partner.start(id);
  await waitFor(async () => (await fetch(`${platform.url}/live/${id}/master.m3u8`)).ok, {
    timeoutMs: 15_000,
  });

  const before = await shown();
  // An incomplete renewal, as certbot leaves it for a moment: the old certificate stays in use.
  await writeFile(join(folder, 'key.pem'), 'not yet');
  await waitFor(() => platform.output().includes('cannot reload the RTMPS certificate'), {
    timeoutMs: 20_000,
  });
  assert.equal(await shown(), before);
  await install();
  await waitFor(async () => (await shown()) !== before, {
    timeoutMs: 20_000,
    message: 'the new certificate',
  });
  assert.equal((await partner.stream(id)).hasSignal, true);
});

test('a certificate without its key stops the start and is named', async () => {
  const environment = { TLS_CERT_FILE: join(folder, 'cert.pem'), TLS_KEY_FILE: join(folder, 'cert.pem') };
  await assert.rejects(startPlatform({ environment }), /TLS_CERT_FILE and TLS_KEY_FILE/);
});
