import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { H264, make, pictures, testTranscoder } from '../../../test/transcode/sources.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'captions-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** H.264 SEI message with one pair of CEA-608 bytes, as in ATSC A/53 part 4. */
const MESSAGE = Buffer.from('0000000106040eb500314741393403c1fffc9420ff80', 'hex');
const KEYFRAME = Buffer.from('00000165', 'hex');

test('captions embedded in the video are listed among the omitted parts', async () => {
  const plain = await make(dir, ...pictures('64x64', 10, 0.5), ...H264, 'plain.h264');
  const bytes = await readFile(plain);
  const at = bytes.indexOf(KEYFRAME);
  const path = join(dir, 'with.h264');
  await writeFile(path, Buffer.concat([bytes.subarray(0, at), MESSAGE, bytes.subarray(at)]));
  const notes = [];
  for (const source of [plain, path]) {
    const input = await make(dir, '-f', 'h264', '-r', '10', '-i', source, '-c', 'copy', 'a.mp4');
    notes.push((await testTranscoder().probe(input, AbortSignal.timeout(30_000))).notes);
  }
  const [none, one] = notes;
  assert.deepEqual(none, []);
  assert.deepEqual(
    one?.map(({ code }) => code),
    ['CAPTIONS_LEFT_OUT'],
  );
  assert.match(one?.[0]?.message ?? '', /CEA-608/);
});
