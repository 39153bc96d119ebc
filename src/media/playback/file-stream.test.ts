import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readlink, rm, truncate, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fastify } from 'fastify';
import { waitFor } from '../../../test/harness/wait-for.ts';
import { FileStream } from './file-stream.ts';

const SIZE = 3_300_000;
const FILES = 6;
const contents = Array.from({ length: FILES }, () => randomBytes(SIZE));
const app = fastify();
let root: string;
let url: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), 'file-stream-'));
  await Promise.all(contents.map((bytes, index) => writeFile(path(index), bytes)));
  app.get<{ Params: { index: string } }>('/:index', async ({ params }, reply) =>
    reply.header('content-length', SIZE).send(await stream(Number(params.index), 0, SIZE - 1)),
  );
  url = await app.listen({ port: 0, host: '127.0.0.1' });
});
after(async () => {
  app.server.closeAllConnections();
  await app.close();
  await rm(root, { recursive: true, force: true });
});

const path = (index: number) => join(root, String(index));
const stream = async (index: number, start: number, end: number) =>
  new FileStream(await open(path(index)), start, end);
const sum = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');

/** Counts our files that this process has open. */
async function openFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((target) => target.startsWith(root)).length;
}

test('many concurrent readers, some of them slow, each get their own bytes', async () => {
  const read = async (turn: number) => {
    const response = await new Promise<IncomingMessage>((resolve) => get(`${url}/${turn % FILES}`, resolve));
    const pieces: Buffer[] = [];
    for await (const piece of response) {
      pieces.push(piece);
      if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(sum(Buffer.concat(pieces)), sum(contents[turn % FILES] ?? Buffer.alloc(0)));
  };
  for (let round = 0; round < 3; round++)
    await Promise.all(Array.from({ length: 12 }, (_, turn) => read(turn)));
  await waitFor(async () => (await openFiles()) === 0, { message: 'every file closed' });
});

test('a reader that disconnects leaves no file open, and other readers are unaffected', async () => {
  for (let turn = 0; turn < 10; turn++) {
    const request = get(`${url}/${turn % FILES}`);
    request.on('error', () => {});
    const [response] = await once(request, 'response');
    response.once('data', () => request.destroy());
  }
  const answer = await fetch(`${url}/1`);
  assert.equal(sum(Buffer.from(await answer.arrayBuffer())), sum(contents[1] ?? Buffer.alloc(0)));
  await waitFor(async () => (await openFiles()) === 0, { message: 'every file closed' });
});

test('a part, read in the usual way', async () => {
  const bytes = await buffer(await stream(0, 1_000_000, 2_500_000));
  assert.equal(sum(bytes), sum(contents[0]?.subarray(1_000_000, 2_500_001) ?? Buffer.alloc(0)));
});

test('a file that has become shorter breaks the answer off', async () => {
  await truncate(path(5), 1_000_000);
  await assert.rejects(buffer(await stream(5, 0, SIZE - 1)), /too short/);
  await assert.rejects(fetch(`${url}/5`).then((answer) => answer.arrayBuffer()));
  await waitFor(async () => (await openFiles()) === 0, { message: 'every file closed' });
});
