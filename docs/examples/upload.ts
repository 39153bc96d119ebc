/**
 * Uploads a file and waits until it can be watched. An interrupted upload resumes at its offset.
 *
 *   npm install tus-js-client
 *   MARQUEE_API=https://video.example.com/api/v1 MARQUEE_API_KEY=pk_… node upload.ts clip.mp4
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Upload } from 'tus-js-client';

const { MARQUEE_API, MARQUEE_API_KEY } = process.env;

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${MARQUEE_API}${path}`, {
    method,
    headers: { authorization: `Bearer ${MARQUEE_API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${error.code ?? error}`);
  return data;
}

/** The key stays on your server: any client that has `uploadUrl`, such as a browser, may send the bytes. */
function send(path: string, uploadUrl: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(createReadStream(path), {
      uploadUrl,
      retryDelays: [0, 1000, 3000, 5000, 10_000, 20_000],
      onProgress: (sent, total) => process.stderr.write(`\r${Math.floor((sent / total) * 100)} %`),
      onSuccess: resolve,
      onError: reject,
    });
    upload.start();
  });
}

const path = process.argv[2] ?? 'clip.mp4';
const { size } = await stat(path);
const { videoId, uploadUrl } = await call('POST', '/upload', {
  filename: basename(path),
  sizeBytes: size,
  title: 'My first video',
});
await send(path, uploadUrl);

// A webhook for video.processing.completed tells the same without asking again and again.
let video = await call('GET', `/videos/${videoId}`);
while (video.status !== 'READY' && video.status !== 'FAILED') {
  await sleep(1000);
  video = await call('GET', `/videos/${videoId}`);
}
process.stdout.write(`${video.status} ${video.playbackUrl ?? video.error.message}\n`);
