import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { waitFor } from '../../../../../test/harness/wait-for.ts';
import {
  audioPlan,
  gate,
  openProcessing,
  type ProcessingRig,
} from '../../../../../test/processing/fixture.ts';
import { MediaFileError } from '../../../../media/contract/index.ts';

let rig: ProcessingRig;

before(async () => {
  rig = await openProcessing();
});
afterEach(() => rig.stop());
after(() => rig.close());

const ready = async (id: string) =>
  (await rig.renditions(id)).filter(({ status }) => status === 'READY').map(({ name }) => name);

test('additional audio tracks are encoded in parallel with the video and are not playable by themselves', async () => {
  const pictures = gate();
  rig.transcoder.audio.push(audioPlan({ name: 'audio-1', track: 1, language: 'de', label: 'Deutsch' }));
  rig.transcoder.before.encode = async (signal) => {
    if (rig.transcoder.calls.at(-1) !== 'encode') await pictures.wait(signal);
  };
  rig.start(2);
  const id = await rig.addVideo();
  await waitFor(async () => (await ready(id)).length === 1, { message: 'the second sound' });
  assert.deepEqual([await ready(id), rig.playable.includes(id)], [['audio-1'], false]);
  pictures.open();
  assert.equal((await rig.ended(id)).status, 'READY');
  assert.deepEqual((await ready(id)).sort(), ['1080p', '360p', '720p', 'audio', 'audio-1']);
  const rows = (await rig.renditions(id)).filter(({ kind }) => kind === 'AUDIO');
  const facts = rows.map(({ track, language, label }) => `${track} ${language} ${label}`);
  assert.deepEqual(facts.sort(), ['0 null Main', '1 de Deutsch']);
});

test('a video becomes READY without an additional audio track that cannot be encoded, and notes it', async () => {
  rig.transcoder.before.encode = async () => {
    if (rig.transcoder.calls.at(-1) !== 'encode') return;
    throw new MediaFileError('CORRUPT_INPUT', 'The file is damaged or incomplete.');
  };
  rig.start();
  const id = await rig.addVideo();
  const video = await rig.ended(id);
  rig.transcoder.before = {};
  assert.equal(video.status, 'READY');
  assert.deepEqual((await rig.renditions(id)).map(({ name }) => name).sort(), [
    ...['1080p', '360p', '720p', 'audio'],
  ]);
  assert.deepEqual(video.processing_notes, [
    {
      code: 'AUDIO_LEFT_OUT',
      message: 'Track 2 (Deutsch) was omitted: its audio could not be encoded.',
    },
  ]);
});

test('captions and chapters of the file become those of the video, except where the owner has provided others', async () => {
  const { source } = rig.transcoder;
  const track = { streamIndex: 2, language: 'en', isDefault: false, isForced: false, isSdh: false };
  const named = (title: string | null, more = {}) => ({ ...track, title, ...more });
  source.captions = [named('Mine'), named('Sounds', { isSdh: true, isDefault: true }), named(null)];
  source.chapters = [{ startSec: 0, title: 'Opening' }];
  source.notes = [{ code: 'VIDEO_LEFT_OUT', message: 'Another picture.' }];
  source.zeroSec = 1.5;
  const id = await rig.addVideo();
  const own = { id: 'cap_1', video_id: id, language: 'en', label: 'English', file: 'cap_1.vtt' };
  await rig.db.insertInto('video_caption').values(own).execute();
  rig.start();
  const video = await rig.ended(id);
  assert.deepEqual([video.status, video.chapters], ['READY', source.chapters]);
  const [first, second] = video.processing_notes;
  assert.deepEqual([first, second?.code], [source.notes[0], 'CAPTIONS_LEFT_OUT']);
  const table = rig.db.selectFrom('video_caption').selectAll().orderBy('position');
  const rows = await table.where('video_id', '=', id).execute();
  const facts = rows.map((row) => `${row.language} ${row.label} ${row.is_default}`);
  assert.deepEqual(facts, ['en English false', 'en-x-sdh Sounds true']);
  const key = `w/${video.workspace_id}/v/${id}/captions/${rows[1]?.file}`;
  const text = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nSounds\n';
  assert.equal(String(await rig.store.read(key)), text);
  const said = (await rig.eventsOf(id)).find(({ type }) => type === 'video.caption.ready');
  assert.deepEqual([said?.data.language, said?.data.isAuto], ['en-x-sdh', false]);
});
