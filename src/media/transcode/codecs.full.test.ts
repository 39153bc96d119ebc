import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { RARE, testPairs } from '../../../test/transcode/codec-pairs.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'codecs-'));
});
after(() => rm(dir, { recursive: true, force: true }));

testPairs(RARE, () => dir);
